/* locks.c - threads that hold locks of the C library most of the time, beside a main thread that calls MPI: of malloc() (one
 * arena for all) and of streams. Some of them need such a lock while they begin a thread or open a file, where no checkpoint
 * may park them.
 *
 *   locks HOW [rounds|FILE]    HOW: any word; see until.h
 */
#include "../../fault/apps/until.h"

#include <malloc.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGE = 5000, EACH = 2 }; /* bytes: more than what malloc keeps for each thread */
static volatile int over;
static FILE *nowhere;

static void *allocate(void *unused)
{
    (void)unused;
    while (!over) {
        char *volatile some[8];
        for (int i = 0; i < 8; i++)
            some[i] = malloc(LARGE + 100 * i);
        for (int i = 0; i < 8; i++)
            free(some[i]);
    }
    return NULL;
}
static void *write_lines(void *unused)
{
    (void)unused;
    while (!over)
        fprintf(nowhere, "%d %f\n", over, 0.5);
    return NULL;
}
static void *open_files(void *unused)
{
    (void)unused;
    while (!over) {
        FILE *f = fopen("/dev/null", "w");
        if (f) {
            fputs("word", f);
            fclose(f);
        }
        fflush(NULL);
    }
    return NULL;
}
static void *nothing(void *unused)
{
    return malloc(1) ? unused : NULL;
}
static void *begin_threads(void *unused)
{
    (void)unused;
    while (!over) {
        pthread_t id;
        if (!pthread_create(&id, NULL, nothing, NULL))
            pthread_join(id, NULL);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static void *(*const work[])(void *) = {allocate, write_lines, open_files, begin_threads};
    enum { KINDS = sizeof work / sizeof *work };
    int rank, size, provided;
    long sum = 1;
    pthread_t id[KINDS * EACH];
    struct until rounds = until(argc > 2 ? argv[2] : NULL, 1000);
    mallopt(M_ARENA_MAX, 1);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    nowhere = fopen("/dev/null", "w");
    for (int i = 0; i < KINDS * EACH; i++)
        pthread_create(&id[i], NULL, work[i % KINDS], NULL);
    for (int r = 0; until_more(&rounds, r); r++) {
        long in = 0, out = (sum + rank) % 1000000007;
        MPI_Sendrecv(&out, 1, MPI_LONG, (rank + 1) % size, 0, &in, 1, MPI_LONG,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum = (sum * 31 + in) % 1000000007;
        char *volatile some = malloc(LARGE);
        free(some);
    }
    over = 1;
    for (int i = 0; i < KINDS * EACH; i++)
        pthread_join(id[i], NULL);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("locks: %d rounds, %ld\n", rounds.steps, sum);
    MPI_Finalize();
    return 0;
}
