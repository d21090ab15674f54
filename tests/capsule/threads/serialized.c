/* serialized.c - threads of each rank that call MPI one at a time.
 *
 *   serialized HOW [rounds|FILE]    (see until.h)
 *
 * worker     one thread makes all calls, and main() waits for its end
 * compute    one thread makes all calls, and main() computes, allocates and asks for the time
 * clocks     as worker, and three threads do nothing but look at the clock
 * turns      three threads; who has the mutex makes a round of calls
 * omp        the threads of a parallel region compute, and one of them makes the calls
 * elsewhere  as worker, but that thread initializes MPI, too, with MPI_THREAD_FUNNELED
 *
 * What a rank sends depends on the number of the round alone, so the sum is the same however the threads are run.
 */
#include "../../fault/apps/until.h"

#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, CLOCKS = 3, LONG_ONE = 40000, MODULUS = 1000000007 };
static int rank, size, provided, next_round, more = 1;
static long sum;
static struct until rounds;
static volatile int over;
static volatile double spent;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void note(long value)
{
    sum = (sum * 31 + value) % MODULUS;
}

/* Blocking and other messages, short and long, and collectives. */
static void talk(int round)
{
    static int long_out[LONG_ONE], long_in[LONG_ONE];
    int right = (rank + 1) % size, left = (rank + size - 1) % size, out = rank * 1000 + round,
        in = 0;
    long all = 0;
    MPI_Request q[4];
    MPI_Status st;
    if (rank % 2) {
        MPI_Recv(&in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &st);
        MPI_Send(&out, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
    } else {
        MPI_Send(&out, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
        MPI_Recv(&in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &st);
    }
    note(in + st.MPI_SOURCE);
    MPI_Irecv(&in, 1, MPI_INT, right, 2, MPI_COMM_WORLD, &q[0]);
    MPI_Irecv(long_in, LONG_ONE, MPI_INT, left, 3, MPI_COMM_WORLD, &q[1]);
    for (int i = 0; i < LONG_ONE; i += 100)
        long_out[i] = round + i + rank;
    MPI_Isend(&out, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &q[2]);
    MPI_Isend(long_out, LONG_ONE, MPI_INT, right, 3, MPI_COMM_WORLD, &q[3]);
    MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
    note(in + long_in[100 * (round % (LONG_ONE / 100))]);
    if (round % 3 == 0) {
        long mine = sum % 1000;
        MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        note(all);
    }
    if (round % 7 == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    if (round % 20 == 0) {
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Bcast(&out, 1, MPI_INT, round % size, copy);
        note(out);
        MPI_Comm_free(&copy);
    }
}

static double compute(int n)
{
    double x = 1;
    char *some = malloc((size_t)(n % 7000 + 1));
    some[n % 7000] = 1;
    for (int i = 0; i < n; i++)
        x = x * 1.000001 + some[n % 7000];
    free(some);
    return x;
}

static void *look(void *unused)
{
    while (!over) {
        for (int i = 0; i < 1000; i++)
            spent += MPI_Wtime();
        sched_yield();
    }
    return unused;
}

static void finish(void)
{
    long all = 0;
    MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("serialized: %d rounds, %ld\n", rounds.steps, all);
    MPI_Finalize();
}

static void *worker(void *elsewhere)
{
    if (elsewhere)
        MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int r = 0; until_more(&rounds, r); r++) {
        talk(r);
        spent += compute(r % 50 ? 100 : 100000);
    }
    if (elsewhere)
        finish();
    over = 1;
    return NULL;
}

static void *taker(void *unused)
{
    (void)unused;
    for (int going = 1; going;) {
        pthread_mutex_lock(&turn);
        if (more && (more = until_more(&rounds, next_round)))
            talk(next_round++);
        going = more;
        pthread_mutex_unlock(&turn);
        spent += compute(1000);
    }
    return NULL;
}

static void in_regions(void)
{
    double total = 0;
#pragma omp parallel num_threads(THREADS) reduction(+ : total)
    for (int going = 1; going;) {
        total += compute(2000 * (1 + omp_get_thread_num()));
#pragma omp single
        if ((more = until_more(&rounds, next_round)))
            talk(next_round++);
        going = more;
#pragma omp barrier
    }
    spent += total;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "worker";
    int elsewhere = !strcmp(how, "elsewhere");
    pthread_t id[THREADS];
    rounds = until(argc > 2 ? argv[2] : NULL, 1000);
    if (!elsewhere)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    if (!elsewhere) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    }
    if (!strcmp(how, "turns")) {
        for (int t = 0; t < THREADS; t++)
            pthread_create(&id[t], NULL, taker, NULL);
        for (int t = 0; t < THREADS; t++)
            pthread_join(id[t], NULL);
    } else if (!strcmp(how, "omp")) {
        in_regions();
    } else {
        pthread_t clock[CLOCKS];
        int clocks = strcmp(how, "clocks") ? 0 : CLOCKS;
        for (int t = 0; t < clocks; t++)
            pthread_create(&clock[t], NULL, look, NULL);
        pthread_create(&id[0], NULL, worker, elsewhere ? &id : NULL);
        while (!strcmp(how, "compute") && !over)
            spent += compute(5000) + MPI_Wtime();
        pthread_join(id[0], NULL);
        for (int t = 0; t < clocks; t++)
            pthread_join(clock[t], NULL);
    }
    if (!elsewhere)
        finish();
    return 0;
}
