/* dups.c - plain MPI: MPI_Comm_idup with everything else pending. In each round several duplicates are under way while receives
 * and a non-blocking collective wait, other communicators are made and freed, and the ranks are early and late in turns; then all
 * of it is completed in one of three ways, and the duplicates are used. usage: dups [rounds|FILE] (see until.h)
 *
 * All that is made at a time has one parent: Open MPI (5.0.7) hangs if duplicates of two are pending, and in an MPI_Comm_split.
 * With -DTHREADS three threads do that at once, each with communicators of its own.
 */
#include "../../fault/apps/until.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { DUPS = 4, REQUESTS = DUPS + 3, LONG_ONE = 40000, MODULUS = 1000000007 };
#ifdef THREADS
enum { WORKERS = 3, LEVEL = MPI_THREAD_MULTIPLE };
#else
enum { WORKERS = 1, LEVEL = MPI_THREAD_SINGLE };
#endif
static struct worker {
    MPI_Comm parent[2]; /* all ranks; those that are even, or odd */
    int round;
    long sum;
    int out[LONG_ONE], in[LONG_ONE];
} workers[WORKERS];

static void note(struct worker *w, long value)
{
    w->sum = (w->sum * 31 + value) % MODULUS;
}

/* Makes and uses other communicators while the duplicates are pending. */
static void meanwhile(struct worker *w, MPI_Comm parent, int rank, int size)
{
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Group all, some;
    int step[1][3] = {{0, size - 1, 2}}, got = 0;
    switch (w->round % 5) {
    case 0: MPI_Comm_dup(parent, &other); break;
#ifndef OPEN_MPI /* it hangs */
    case 1: MPI_Comm_split(parent, rank / 2, -rank, &other); break;
#endif
    case 2:
        MPI_Comm_group(parent, &all);
        MPI_Group_range_incl(all, 1, step, &some);
        if (rank % 2 == 0)
            MPI_Comm_create_group(parent, some, w->round % 1000, &other);
        MPI_Group_free(&all);
        MPI_Group_free(&some);
        break;
    case 3: MPI_Barrier(parent); break;
    default:
        MPI_Sendrecv(&w->round, 1, MPI_INT, (rank + 1) % size, 3, &got, 1, MPI_INT,
                     (rank + size - 1) % size, 3, parent, MPI_STATUS_IGNORE);
        MPI_Bcast(&got, 1, MPI_INT, 0, parent);
    }
    if (other != MPI_COMM_NULL) {
        MPI_Allreduce(&rank, &got, 1, MPI_INT, MPI_SUM, other);
        MPI_Comm_free(&other);
    }
    note(w, got);
}

static void complete(int how, int n, MPI_Request *q)
{
    int done = 0, at;
    if (how == 0)
        MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
    while (how == 1 && !done)
        MPI_Testall(n, q, &done, MPI_STATUSES_IGNORE);
    for (int i = 0; how == 2 && i < n; i++)
        MPI_Waitany(n, q, &at, MPI_STATUS_IGNORE);
}

static void use(struct worker *w, MPI_Comm comm)
{
    int rank, size, got = 0, sum = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Sendrecv(&w->round, 1, MPI_INT, (rank + 1) % size, 1, &got, 1, MPI_INT,
                 (rank + size - 1) % size, 1, comm, MPI_STATUS_IGNORE);
    got += rank;
    MPI_Allreduce(&got, &sum, 1, MPI_INT, MPI_SUM, comm);
    note(w, sum);
}

static void *one_round(void *which)
{
    struct worker *w = which;
    MPI_Comm dup[DUPS], parent = w->parent[w->round % 2];
    MPI_Request q[REQUESTS];
    int rank, size, r = w->round, n = r % 4 ? 10 : LONG_ONE, mine = r, all = 0;
    MPI_Comm_rank(parent, &rank);
    MPI_Comm_size(parent, &size);
    MPI_Irecv(w->in, n, MPI_INT, (rank + size - 1) % size, 2, parent, &q[DUPS]);
    for (int i = 0; i < DUPS; i++)
        MPI_Comm_idup(parent, &dup[i], &q[i]);
    MPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_SUM, parent, &q[DUPS + 1]);
    usleep((unsigned)((rank * 7 + r * 3) % 5) * 200);
    meanwhile(w, parent, rank, size);
    w->out[n - 1] = r * 10 + rank;
    MPI_Isend(w->out, n, MPI_INT, (rank + 1) % size, 2, parent, &q[DUPS + 2]);
    complete(r % 3, REQUESTS, q);
    note(w, w->in[n - 1] + all);
    for (int i = 0; i < DUPS; i++) {
        use(w, dup[i]);
        MPI_Comm_free(&dup[i]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct until rounds = until(argc > 1 ? argv[1] : NULL, 200);
    int rank, provided;
    long mine = 0, total;
    pthread_t id[WORKERS];
    MPI_Init_thread(&argc, &argv, LEVEL, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < WORKERS; t++) {
        workers[t].parent[0] = MPI_COMM_WORLD;
        if (WORKERS > 1)
            MPI_Comm_dup(MPI_COMM_WORLD, &workers[t].parent[0]);
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &workers[t].parent[1]);
    }
    for (int r = 0; until_more(&rounds, r); r++) {
        for (int t = 0; t < WORKERS; t++)
            workers[t].round = r;
        for (int t = 1; t < WORKERS; t++)
            pthread_create(&id[t], NULL, one_round, &workers[t]);
        one_round(&workers[0]);
        for (int t = 1; t < WORKERS; t++)
            pthread_join(id[t], NULL);
    }
    for (int t = 0; t < WORKERS; t++)
        mine = (mine * 7 + workers[t].sum) % MODULUS;
    MPI_Reduce(&mine, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("dups: %d rounds, %ld\n", rounds.steps, total);
    MPI_Finalize();
    return 0;
}
