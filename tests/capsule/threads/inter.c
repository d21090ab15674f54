/* inter.c - several threads of each rank call MPI_Intercomm_create at once, with the same tag, each with communicators of its
 * own; merge the two sides, and add up.
 *
 *   inter [rounds|FILE]    (see until.h)
 */
#include "../../fault/apps/until.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4 };
static int rank, size, rounds_now = 2;
static MPI_Comm half[THREADS], peer[THREADS];
static long sums[THREADS];

static void *together(void *which)
{
    int t = (int)(long)which, first = rank % 2;
    for (int r = 0; r < rounds_now; r++) {
        MPI_Comm both, all;
        long mine = rank + 10 * t, sum = 0;
        MPI_Intercomm_create(half[t], 0, peer[t], !first, 7, &both);
        MPI_Intercomm_merge(both, first, &all);
        MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, all);
        sums[t] = (sums[t] * 31 + sum) % 1000000007;
        MPI_Comm_free(&all);
        MPI_Comm_free(&both);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    struct until rounds = until(argc > 1 ? argv[1] : NULL, 5);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int t = 0; t < THREADS; t++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &peer[t]);
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half[t]);
    }
    for (int r = 0; until_more(&rounds, r); r++) {
        pthread_t id[THREADS];
        for (long t = 0; t < THREADS; t++)
            pthread_create(&id[t], NULL, together, (void *)t);
        for (int t = 0; t < THREADS; t++)
            pthread_join(id[t], NULL);
    }
    long all = 0;
    for (int t = 0; t < THREADS; t++)
        all = (all * 31 + sums[t]) % 1000000007;
    if (rank == 0)
        printf("inter: %d rounds, %ld\n", rounds.steps, all);
    MPI_Finalize();
    return 0;
}
