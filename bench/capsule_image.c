/* capsule_image.c - a program with MIB MiB of touched memory; rank 0 also times write() of the same bytes to
 * the folder FOLDER: the yardstick for an image. Used by capsule.sh.
 */
#include <mpi.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank;
    size_t n = (argc > 1 ? strtoul(argv[1], NULL, 10) : 256) << 20;
    char *p = malloc(n), name[4096];
    double best = 1e9;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t i = 0; i < n; i += 8)
        *(size_t *)(p + i) = i * 0x9e3779b97f4a7c15ull;
    snprintf(name, sizeof name, "%s/plain.%d", argv[2], rank);
    for (int k = 0; k < 5; k++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600);
        for (size_t at = 0; at < n; at += 1 << 20)
            if (write(fd, p + at, 1 << 20) != 1 << 20)
                return 1;
        fsync(fd);
        close(fd);
        double s = MPI_Wtime() - start, all;
        MPI_Allreduce(&s, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        best = all < best ? all : best;
        unlink(name);
    }
    if (rank == 0) {
        long pages = 0, resident = 0;
        FILE *f = fopen("/proc/self/statm", "r");
        if (f && fscanf(f, "%ld %ld", &pages, &resident) == 2)
            printf("plain %.6f resident %ld\n", best, resident * sysconf(_SC_PAGESIZE));
        fflush(stdout);
    }
    for (int k = 0; k < 400; k++) { /* the checkpoints come here */
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(5000);
    }
    MPI_Finalize();
    return p[n - 8] == 77;
}
