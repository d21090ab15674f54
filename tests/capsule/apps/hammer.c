/* hammer.c - MPI calls as fast as the machine makes them: short messages of every kind and collectives, nothing in between.
 * Whatever is received goes into one sum, which is printed at the end.
 * usage: hammer ROUNDS
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { RING = 16 };
static int rank, size;
static uint64_t sum = 14695981039346656037ull;

static void take(uint64_t x)
{
    sum = (sum ^ x) * 1099511628211ull;
}

static void back_and_forth(uint64_t i)
{
    int partner = rank ^ 1;
    uint64_t x = i ^ sum;
    if (partner >= size)
        return;
    for (int k = 0; k < 2; k++)
        if ((rank & 1) == k)
            MPI_Send(&x, 1, MPI_UINT64_T, partner, 1, MPI_COMM_WORLD);
        else {
            uint64_t in = 0;
            MPI_Status s;
            MPI_Recv(&in, 1, MPI_UINT64_T, k == 0 ? partner : MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
                     &s);
            take(in + (uint64_t)s.MPI_SOURCE);
        }
}

static void ring(uint64_t i)
{
    uint64_t out[RING], in[RING];
    MPI_Request q[2 * RING];
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int m = 0; m < RING; m++) {
        out[m] = sum + i * RING + (uint64_t)m;
        MPI_Irecv(&in[m], 1, MPI_UINT64_T, before, 100 + m, MPI_COMM_WORLD, &q[m]);
    }
    for (int m = RING - 1; m >= 0; m--)
        MPI_Isend(&out[m], 1, MPI_UINT64_T, next, 100 + m, MPI_COMM_WORLD, &q[RING + m]);
    if (i & 1)
        MPI_Waitall(2 * RING, q, MPI_STATUSES_IGNORE);
    else
        for (int m = 0; m < 2 * RING; m++)
            MPI_Wait(&q[m], MPI_STATUS_IGNORE);
    for (int m = 0; m < RING; m++)
        take(in[m]);
}

static void probed(uint64_t i)
{
    uint64_t out = sum ^ (i << 1), in = 0;
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Request q;
    MPI_Status s;
    MPI_Isend(&out, 1, MPI_UINT64_T, next, 2, MPI_COMM_WORLD, &q);
    MPI_Probe(before, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
    MPI_Recv(&in, 1, MPI_UINT64_T, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    take(in);
}

static void together(uint64_t i)
{
    uint64_t x = sum, y = 0;
    MPI_Allreduce(&x, &y, 1, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD);
    take(y);
    MPI_Bcast(&y, 1, MPI_UINT64_T, (int)(i % (uint64_t)size), MPI_COMM_WORLD);
    take(y);
}

int main(int argc, char **argv)
{
    uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    take((uint64_t)rank);
    for (uint64_t i = 0; i < rounds; i++) {
        back_and_forth(i);
        ring(i);
        probed(i);
        if (i % 4 == 0)
            together(i);
    }
    MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("hammer: %llu rounds, %016llx\n", (unsigned long long)rounds,
               (unsigned long long)all);
    MPI_Finalize();
    return 0;
}
