/* rows: a plain MPI program that begins small receives in a row, computes for a while, and only then sends: versions and
 * deaths find receives that no call has followed. Every step begins them in another order and completes them in another way.
 * usage: rows [steps|FILE] [pause µs] (see until.h)
 */
#include "until.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROW = 6, MOST = 513 };
static const int count[ROW] = {1, 4, 512, MOST, 0, 2}; /* the capsule holds back up to 512 items */
static const int tag[ROW] = {7, 7, 8, 7, 9, 40000};    /* and tags below 32768 */

static int in[ROW][MOST], out[ROW][MOST];
static MPI_Request q[ROW];
static MPI_Status st[ROW];

static void one_by_one(int step)
{
    for (int i = ROW - 1; i >= 0; i--)
        if (step % 3)
            MPI_Wait(&q[i], i % 2 ? &st[i] : MPI_STATUS_IGNORE);
        else
            for (int flag = 0; !flag;)
                MPI_Test(&q[i], &flag, &st[i]);
}

static void any(void)
{
    for (int n = 0, i; n < ROW; n++)
        MPI_Waitany(ROW, q, &i, MPI_STATUS_IGNORE);
}

static void complete(int step, int left)
{
    int got;
    switch (step % 4) {
    case 0: MPI_Waitall(ROW, q, MPI_STATUSES_IGNORE); return;
    case 1: one_by_one(step); return;
    case 2: any(); return;
    default: MPI_Waitall(ROW, q, st);
    }
    for (int i = 0; i < ROW; i++)
        if (MPI_Get_count(&st[i], MPI_INT, &got) || got != count[i] || st[i].MPI_TAG != tag[i] ||
            st[i].MPI_SOURCE != left)
            printf("rows: step %d: message %d has a wrong status\n", step, i);
}

int main(int argc, char **argv)
{
    int rank, size;
    struct until steps = until(argc > 1 ? argv[1] : NULL, 300);
    int pause = argc > 2 ? atoi(argv[2]) : 2000;
    uint64_t sum = 0, all;
    MPI_Comm comm[2] = {MPI_COMM_WORLD, MPI_COMM_NULL};
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[1]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int s = 0; until_more(&steps, s); s++) {
        for (int k = 0; k < ROW; k++) {
            int i = (k + s) % ROW; /* the same on all ranks: equal tags match in their order */
            MPI_Irecv(in[i], count[i], MPI_INT, left, tag[i], comm[s / 8 % 2], &q[i]);
        }
        usleep((useconds_t)pause);
        for (int k = 0; k < ROW; k++) {
            int i = (k + s) % ROW;
            for (int j = 0; j < count[i]; j++)
                out[i][j] = (int)(sum >> (j % 32)) + rank + i + j;
            MPI_Send(out[i], count[i], MPI_INT, right, tag[i], comm[s / 8 % 2]);
        }
        complete(s, left);
        for (int i = 0; i < ROW; i++)
            for (int j = 0; j < count[i]; j++)
                sum = sum * 31 + (uint64_t)in[i][j];
        if (s % 50 == 0 && rank == 0)
            printf("rows: step %d sum %llx\n", s, (unsigned long long)sum);
    }
    MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("rows: %d steps, sum %llx\n", steps.steps, (unsigned long long)all);
    MPI_Comm_free(&comm[1]);
    MPI_Finalize();
    return 0;
}
