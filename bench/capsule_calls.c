/* capsule_calls.c - what a call costs: run natively and in the capsule by capsule.sh. Two ranks.
 * Time is taken over short batches; the 10th percentile is printed, for machines that are not quiet.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BATCHES = 1500 };
static double t[BATCHES];
static int rank;
static int compare(const void *a, const void *b)
{
    double d = *(const double *)a - *(const double *)b;
    return d < 0 ? -1 : d > 0;
}
#define BENCH(name, batches, calls, code)                     \
    do {                                                      \
        for (int b = 0; b < batches; b++) {                   \
            MPI_Barrier(MPI_COMM_WORLD);                      \
            double start = MPI_Wtime();                       \
            for (int i = 0; i < calls; i++) {                 \
                code;                                         \
            }                                                 \
            t[b] = (MPI_Wtime() - start) / calls;             \
        }                                                     \
        qsort(t, batches, sizeof *t, compare);                \
        if (rank == 0)                                        \
            printf("%s %.1f\n", name, 1e9 * t[batches / 10]); \
    } while (0)

/* Atomics on memory that the library has allocated, and the same with a lock for each. */
static void atomics(void)
{
    long *memory, one = 1, old;
    MPI_Win w;
    MPI_Win_allocate(sizeof one, sizeof one, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w);
    MPI_Win_lock_all(0, w);
    BENCH("fetch_and_op8", BATCHES, 100, {
        MPI_Fetch_and_op(&one, &old, MPI_LONG, 1 - rank, 0, MPI_SUM, w);
        MPI_Win_flush(1 - rank, w);
    });
    MPI_Win_unlock_all(w);
    BENCH("locked_put8", BATCHES, 100, {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1 - rank, 0, w);
        MPI_Put(&one, 1, MPI_LONG, 1 - rank, 0, 1, MPI_LONG, w);
        MPI_Win_unlock(1 - rank, w);
    });
    MPI_Win_free(&w);
}

static void pingpong(char *buf, int bytes)
{
    for (int k = 0; k < 2; k++)
        if ((k ^ rank) == 0)
            MPI_Send(buf, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(buf, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    double x = 1, y;
    enum { N = 64, MIB = 1 << 20 };
    static char out[N][8], in[N][8];
    char *big = aligned_alloc(2 * MIB, 2 * MIB);
    MPI_Request q[2 * N];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    madvise(big, 2 * MIB, MADV_HUGEPAGE); /* else the time depends on which pages it gets */
    memset(big, 1, MIB);
    for (int i = 0; i < 20000; i++)
        MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    BENCH("pingpong8", BATCHES, 100, pingpong(out[0], 8));
    BENCH("allreduce8", BATCHES, 100,
          MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    BENCH("pingpong1M", 200, 4, pingpong(big, MIB));
    BENCH("waitall64", BATCHES / 2, 4, {
        for (int m = 0; m < N; m++)
            MPI_Irecv(in[m], 8, MPI_BYTE, 1 - rank, m, MPI_COMM_WORLD, &q[m]);
        for (int m = 0; m < N; m++)
            MPI_Isend(out[m], 8, MPI_BYTE, 1 - rank, m, MPI_COMM_WORLD, &q[N + m]);
        MPI_Waitall(2 * N, q, MPI_STATUSES_IGNORE);
    });
    atomics();
    MPI_Finalize();
    return 0;
}
