/* capsule_image.c MIB FOLDER - a program with MIB MiB of touched memory, which also times write() of the same bytes to
 * the folder FOLDER: the yardstick for an image. As with images, the last two files are there while a new one is written;
 * once more, each file is gone before the next is written, which then gets its pages, still in the cache. It goes on until there is a file FOLDER/enough. With FILE after these, one
 * for each rank, it times read() of them into memory that is new, and that is all: the yardstick for a restart. Used by
 * capsule.sh.
 */
#include <mpi.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The best of five, of the slower rank. */
static int read_files(char **files, int rank)
{
    enum { PIECE = 1 << 20 };
    double best = 1e9;
    for (int k = 0; k < 5; k++) {
        struct stat st;
        int fd = open(files[rank], O_RDONLY);
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        if (fd < 0 || fstat(fd, &st))
            return 1;
        size_t n = (size_t)st.st_size, at = 0;
        char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (ssize_t r = 1; p != MAP_FAILED && r > 0; at += (size_t)r)
            r = read(fd, p + at, n - at < PIECE ? n - at : PIECE);
        double s = MPI_Wtime() - start, all;
        munmap(p, n);
        close(fd);
        MPI_Allreduce(&s, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        best = all < best ? all : best;
        if (at < n)
            return 1;
    }
    if (rank == 0)
        printf("read %.6f\n", best);
    MPI_Finalize();
    return 0;
}

/* The best of ten, of the slower rank: files of n bytes at p, with so many earlier ones kept; < 0: an error. */
static double write_files(const char *p, size_t n, const char *folder, int rank, int kept)
{
    enum { TIMES = 10 };
    char name[4096];
    double best = 1e9;
    for (int k = 0; k < TIMES + kept; k++) {
        snprintf(name, sizeof name, "%s/plain.%d.%d", folder, rank, k);
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600);
        for (size_t at = 0; at < n && k < TIMES; at += 1 << 20)
            if (write(fd, p + at, 1 << 20) != 1 << 20)
                return -1;
        fsync(fd);
        close(fd);
        double s = k < kept || k >= TIMES ? 1e9 : MPI_Wtime() - start, all;
        MPI_Allreduce(&s, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        best = all < best ? all : best;
        snprintf(name, sizeof name, "%s/plain.%d.%d", folder, rank, k - kept);
        unlink(name); /* the one before the last `kept`, if there is one */
        snprintf(name, sizeof name, "%s/plain.%d.%d", folder, rank, k);
        if (k >= TIMES)
            unlink(name);
    }
    return best;
}

/* Collective; rank 0 looks. */
static int is_enough(const char *folder, int rank)
{
    char name[4096];
    snprintf(name, sizeof name, "%s/enough", folder);
    int yes = rank == 0 && access(name, F_OK) == 0;
    MPI_Bcast(&yes, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return yes;
}

int main(int argc, char **argv)
{
    int rank;
    size_t n = (argc > 1 ? strtoul(argv[1], NULL, 10) : 256) << 20;
    char *p = malloc(n);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 3)
        return read_files(argv + 3, rank);
    for (size_t i = 0; i < n; i += 8)
        *(size_t *)(p + i) = i * 0x9e3779b97f4a7c15ull;
    double best = write_files(p, n, argv[2], rank, 2), alone = write_files(p, n, argv[2], rank, 0);
    if (best < 0 || alone < 0)
        return 1;
    if (rank == 0) {
        long pages = 0, resident = 0;
        FILE *f = fopen("/proc/self/statm", "r");
        if (f && fscanf(f, "%ld %ld", &pages, &resident) == 2)
            printf("plain %.6f resident %ld alone %.6f\n", best, resident * sysconf(_SC_PAGESIZE),
                   alone);
        fflush(stdout);
    }
    while (!is_enough(argv[2], rank)) /* the checkpoints come here */
        usleep(5000);
    MPI_Finalize();
    return p[n - 8] == 77;
}
