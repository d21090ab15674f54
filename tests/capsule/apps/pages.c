/* pages.c - a program whose library has been written to in every way that there is: pages of its data that were
 * changed, became zero, or lie behind PROT_NONE; a page of its tables that was patched; and the rest, which is as it is in the
 * file. Sums of all of it, at every step, tell whether a resume has put each page back.
 *   pages STEPS|ENOUGH FILE [MICROSECONDS a step]   (see until.h)
 * -DLIBRARY makes the library.
 */
#ifdef LIBRARY
__asm__(".section .rodata\n.balign 65536\nthe_table:\n.rept 65536\n"
        ".quad 0x0123456789abcdef, 0x1122334455667788, 0x8877665544332211, 0xfedcba9876543210\n"
        ".quad 1, 2, 3, 4\n.endr\n"
        ".data\n.balign 65536\nthe_data:\n.rept 131072\n.quad 0x5555555555555555\n.endr\n.text\n");
extern unsigned long the_table[] __attribute__((visibility("hidden")));
extern unsigned long the_data[] __attribute__((visibility("hidden")));
unsigned long *pages_table(void)
{
    return the_table;
}
unsigned long *pages_data(void)
{
    return the_data;
}
#else
#include "../../fault/apps/until.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 65536, TABLE = 4 << 20, DATA = 1 << 20 }; /* as large as pages are anywhere */
unsigned long *pages_table(void), *pages_data(void);

static uint64_t sum(const uint64_t *words, size_t bytes)
{
    uint64_t s = 0;
    for (size_t i = 0; i < bytes / 8; i++)
        s = s * 31 + words[i];
    return s;
}

static void must(int ok, const char *what)
{
    if (!ok) {
        perror(what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv)
{
    int rank, pause = argc > 3 ? atoi(argv[3]) : 0;
    struct until steps = until(argc > 1 ? argv[1] : NULL, 100);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    uint64_t *words = (uint64_t *)pages_data();
    char *data = (char *)words, *table = (char *)pages_table();
    int fd = open(argv[2], O_RDONLY);
    uint64_t *file = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    must(fd >= 0 && file != MAP_FAILED, argv[2]);
    close(fd);

    memset(data + 3 * PAGE, 7 + rank, 100);
    memset(data + 5 * PAGE, 0, PAGE);
    memset(data + 7 * PAGE, 9, PAGE);
    must(!mprotect(data + 7 * PAGE, PAGE, PROT_NONE), "mprotect");
    must(!mprotect(table + 2 * PAGE, PAGE, PROT_READ | PROT_WRITE), "mprotect");
    table[2 * PAGE + 5] = (char)(rank + 1);
    must(!mprotect(table + 2 * PAGE, PAGE, PROT_READ), "mprotect");
    file[PAGE / 8] = 4;

    uint64_t all = 0;
    for (int i = 0; until_more(&steps, i); i++) {
        int hidden = i % 10 != 9; /* a checkpoint mostly finds it so */
        must(!mprotect(data + 7 * PAGE, PAGE, hidden ? PROT_NONE : PROT_READ), "mprotect");
        uint64_t mine = sum(words, 7 * PAGE) + sum(words + 8 * PAGE / 8, DATA - 8 * PAGE) +
                        sum(file, 4 * PAGE) + (i % 50 == 49 ? sum((uint64_t *)table, TABLE) : 0),
                 total;
        if (!hidden)
            mine += sum(words + 7 * PAGE / 8, PAGE);
        MPI_Allreduce(&mine, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        words[(9 * PAGE + 8 * i) % (DATA - 9 * PAGE) / 8 + 9 * PAGE / 8] += total;
        all = all * 31 + total;
        if (i % 10 == 9 && rank == 0)
            printf("%d %016llx\n", i, (unsigned long long)all);
        usleep((useconds_t)pause);
    }
    if (rank == 0)
        printf("pages: %d steps, %016llx\n", steps.steps, (unsigned long long)all);
    MPI_Finalize();
    return 0;
}
#endif
