/* anytime.c - MPI_THREAD_FUNNELED: the main thread posts small receives and goes on, while other threads make the calls that any
 * thread may make at any time. Two ranks. usage: anytime HOW [rounds|FILE] (see until.h; HOW is not looked at)
 *
 * What is received is the same in any case.
 */
#include "../../fault/apps/until.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ASKERS = 2, FEW = 8, MODULUS = 1000000007 };
static volatile int over;

static void *ask(void *unused)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int n, m, length, wrong = 0;
    while (!over) {
        MPI_Initialized(&n);
        MPI_Finalized(&m);
        wrong += !n || m;
        MPI_Query_thread(&n);
        wrong += n < MPI_THREAD_FUNNELED;
        MPI_Is_thread_main(&n);
        wrong += n;
        MPI_Get_version(&n, &m);
        wrong += n < 3;
        MPI_Get_library_version(text, &length);
        wrong += length <= 0;
    }
    if (wrong)
        printf("anytime: %d wrong answers\n", wrong);
    return unused;
}

int main(int argc, char **argv)
{
    struct until rounds = until(argc > 2 ? argv[2] : NULL, 20000);
    int rank, provided, in[FEW], out[FEW];
    long sum = 0, total;
    pthread_t id[ASKERS];
    MPI_Request q[2 * FEW];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < ASKERS; t++)
        pthread_create(&id[t], NULL, ask, NULL);
    for (int r = 0; until_more(&rounds, r); r++) {
        for (int i = 0; i < FEW; i++)
            MPI_Irecv(&in[i], 1, MPI_INT, rank ^ 1, i % 3, MPI_COMM_WORLD, &q[i]);
        for (int i = 0; i < FEW; i++) {
            out[i] = r * FEW + i;
            MPI_Isend(&out[i], 1, MPI_INT, rank ^ 1, i % 3, MPI_COMM_WORLD, &q[FEW + i]);
        }
        if (r % 2)
            MPI_Waitall(2 * FEW, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 2 * FEW; i++)
            MPI_Wait(&q[i], MPI_STATUS_IGNORE);
        for (int i = 0; i < FEW; i++)
            sum = (sum * 31 + in[i]) % MODULUS;
    }
    over = 1;
    for (int t = 0; t < ASKERS; t++)
        pthread_join(id[t], NULL);
    MPI_Reduce(&sum, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("anytime: %d rounds, %ld\n", rounds.steps, total);
    MPI_Finalize();
    return 0;
}
