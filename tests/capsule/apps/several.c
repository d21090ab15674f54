/* several.c - several threads of each rank inside MPI at once: messages, collectives, probes, communicators and windows.
 *
 *   several ROUNDS [THREADS] [omp] [no-windows] [elsewhere]
 *
 * elsewhere: another thread than that of main() calls MPI_Init_thread, and is the main one to MPI.
 *
 * Each thread has communicators of its own; messages between the threads of all ranks go over one that they share. What a
 * thread receives depends on nothing but its number, so the sums are the same however the threads are run.
 */
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, LONG_ONE = 40000 };
static int rank, size, rounds, threads = 4, with_windows = 1;
static MPI_Comm shared, own[MOST];
static long sums[MOST];

static long mix(long sum, long value)
{
    return (sum * 31 + value) % 1000000007;
}

/* A ring among the threads of one number: blocking, combined and non-blocking; short and long. */
static long messages(int t, int round)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, in[4] = {0}, out[4], n = 4;
    static __thread int big_out[LONG_ONE], big_in[LONG_ONE];
    MPI_Request q[3];
    MPI_Status st[3];
    long sum = 0;
    for (int i = 0; i < 4; i++)
        out[i] = rank * 1000 + t * 100 + round + i;
    if (rank % 2) {
        MPI_Recv(in, n, MPI_INT, left, t, shared, MPI_STATUS_IGNORE);
        MPI_Send(out, n, MPI_INT, right, t, shared);
    } else {
        MPI_Ssend(out, n, MPI_INT, right, t, shared);
        MPI_Recv(in, n, MPI_INT, left, t, shared, &st[0]);
    }
    sum = mix(sum, in[0] + in[3]);
    MPI_Sendrecv(out, n, MPI_INT, left, 100 + t, in, n, MPI_INT, right, 100 + t, shared, &st[0]);
    sum = mix(sum, in[1] + st[0].MPI_SOURCE);
    for (int i = 0; i < LONG_ONE; i++)
        big_out[i] = round + i + t + rank;
    MPI_Irecv(big_in, LONG_ONE, MPI_INT, left, 200 + t, shared, &q[0]);
    MPI_Isend(big_out, LONG_ONE, MPI_INT, right, 200 + t, shared, &q[1]);
    MPI_Isend(out, 1, MPI_INT, right, 300 + t, shared, &q[2]);
    MPI_Waitall(3, q, st);
    sum = mix(sum, big_in[LONG_ONE - 1]);
    MPI_Message m;
    MPI_Mprobe(MPI_ANY_SOURCE, 300 + t, shared, &m, &st[0]);
    MPI_Mrecv(in, 1, MPI_INT, &m, &st[0]);
    return mix(sum, in[0] + st[0].MPI_SOURCE);
}

static long collectives(MPI_Comm c, int t, int round)
{
    long mine = rank + t + round, all = 0, root = round % size == rank ? mine : 0, scanned = 0;
    long each[64], got[64];
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, c);
    MPI_Bcast(&root, 1, MPI_LONG, round % size, c);
    MPI_Scan(&mine, &scanned, 1, MPI_LONG, MPI_MAX, c);
    for (int i = 0; i < size; i++)
        each[i] = mine * 10 + i;
    MPI_Alltoall(each, 1, MPI_LONG, got, 1, MPI_LONG, c);
    MPI_Barrier(c);
    return mix(mix(mix(all, root), scanned), got[size - 1]);
}

/* Made by several threads at once, each in its own order. */
static long communicators(int t, int round)
{
    MPI_Comm half, copy, few;
    MPI_Group all, some;
    int n, first[3] = {0, size - 1, 1};
    long sum = 0;
    MPI_Comm_split(own[t], (rank + round) % 2, rank, &half);
    MPI_Comm_size(half, &n);
    sum = mix(sum, n);
    MPI_Comm_dup(half, &copy);
    MPI_Comm_rank(copy, &n);
    MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT, MPI_SUM, copy);
    sum = mix(sum, n);
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
    MPI_Comm_group(own[t], &all);
    MPI_Group_incl(all, size > 1 ? 2 : 1, first, &some);
    if (rank == first[0] || rank == first[1]) {
        MPI_Comm_create_group(own[t], some, t, &few);
        MPI_Allreduce(&rank, &n, 1, MPI_INT, MPI_SUM, few);
        sum = mix(sum, n);
        MPI_Comm_free(&few);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&some);
    return sum;
}

static long windows(int t, int round)
{
    MPI_Win w;
    long *base, one = 1, sum;
    MPI_Win_allocate(2 * sizeof *base, sizeof *base, MPI_INFO_NULL, own[t], &base, &w);
    base[0] = base[1] = 0;
    MPI_Win_fence(0, w);
    for (int i = 0; i < 3; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, (rank + i) % size, 0, w);
        MPI_Accumulate(&one, 1, MPI_LONG, (rank + i) % size, 0, 1, MPI_LONG, MPI_SUM, w);
        MPI_Win_unlock((rank + i) % size, w);
    }
    MPI_Barrier(own[t]);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w);
    sum = base[0];
    MPI_Win_unlock(rank, w);
    MPI_Win_free(&w);
    return mix(sum, round);
}

static void work(int t)
{
    for (int round = 0; round < rounds; round++) {
        sums[t] = mix(sums[t], messages(t, round));
        sums[t] = mix(sums[t], collectives(own[t], t, round));
        if ((round + t) % 5 == 0)
            sums[t] = mix(sums[t], communicators(t, round));
        if (with_windows && (round + t) % 20 == 7)
            sums[t] = mix(sums[t], windows(t, round));
    }
}

static void *thread_main(void *t)
{
    work((int)(long)t);
    return NULL;
}

static int provided;
static void *begin(void *is_main)
{
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Is_thread_main(is_main);
    return NULL;
}

int main(int argc, char **argv)
{
    int omp = 0, elsewhere = 0, here = 0, there = 0;
    pthread_t id[MOST];
    for (int i = 3; i < argc; i++) {
        omp |= !strcmp(argv[i], "omp");
        with_windows &= strcmp(argv[i], "no-windows") != 0;
        elsewhere |= !strcmp(argv[i], "elsewhere");
    }
    rounds = argc > 1 ? atoi(argv[1]) : 20;
    threads = argc > 2 ? atoi(argv[2]) : 4;
    if (elsewhere) {
        pthread_create(&id[0], NULL, begin, &there);
        pthread_join(id[0], NULL);
    } else {
        begin(&there);
    }
    MPI_Is_thread_main(&here);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided != MPI_THREAD_MULTIPLE || threads > MOST || size > 64 || !there ||
        here == elsewhere) {
        fprintf(stderr, "several: thread level %d, main thread %d %d\n", provided, there, here);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &shared);
    for (int t = 0; t < threads; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &own[t]);
    if (omp) {
#pragma omp parallel num_threads(threads)
        work(omp_get_thread_num());
    } else {
        for (long t = 1; t < threads; t++)
            pthread_create(&id[t], NULL, thread_main, (void *)t);
        work(0);
        for (int t = 1; t < threads; t++)
            pthread_join(id[t], NULL);
    }
    long all[MOST];
    MPI_Reduce(sums, all, threads, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int t = 0; t < threads && rank == 0; t++)
        printf("thread %d: %ld\n", t, all[t]);
    MPI_Finalize();
    return 0;
}
