/* sparse: a plain MPI program with much memory, of which each step changes a small part. Its output depends on every page.
 * usage: sparse [steps|FILE] [MiB] [per cent of the pages that a step changes] [pause µs] [steps that change the same pages]
 * (see until.h) */
#include "until.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORDS = 512 }; /* of a page of 4 KiB */

int main(int argc, char **argv)
{
    int rank, size;
    struct until steps = until(argc > 1 ? argv[1] : NULL, 2000);
    size_t pages = (size_t)(argc > 2 ? atoi(argv[2]) : 8) << 8;
    size_t share = (size_t)(argc > 3 ? atoi(argv[3]) : 1);
    int pause = argc > 4 ? atoi(argv[4]) : 500, same = argc > 5 ? atoi(argv[5]) : 50;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    uint64_t *data = malloc(pages * WORDS * sizeof *data), sum = 0, all = 0;
    size_t next = 0, count = pages * share / 100 + 1;
    for (size_t i = 0; i < pages * WORDS; i++)
        data[i] = i * 2654435761u + (uint64_t)rank;
    for (int s = 0; until_more(&steps, s); s++) {
        size_t first = (size_t)(s / same) * count; /* for a while the same pages */
        for (size_t i = 0; i < count; i++)
            data[(first + i) % pages * WORDS + (size_t)s % WORDS] += all + (uint64_t)s;
        sum = sum * 31 + data[next * WORDS + (size_t)s % WORDS];
        next = (next + 1) % pages;
        MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        if (s % 200 == 0 && rank == 0)
            printf("sparse: step %d sum %llx\n", s, (unsigned long long)all);
        if (pause)
            usleep((useconds_t)pause);
    }
    for (size_t i = 0; i < pages * WORDS; i++)
        sum = sum * 31 + data[i];
    MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sparse: %d steps, %zu pages: %llx\n", steps.steps, pages, (unsigned long long)all);
    MPI_Finalize();
    return 0;
}
