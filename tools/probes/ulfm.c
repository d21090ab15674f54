/* One of three ranks kills itself; the others notice, shrink and add up. Rank 0 prints
 * "ulfm DETECT_MS SHRINK_MS". With --story it explains every step to a newcomer. */
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { VICTIM = 1 };

static int story;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

#define tell(...)                \
    do {                         \
        if (story) {             \
            printf(__VA_ARGS__); \
            fflush(stdout);      \
        }                        \
    } while (0)

static int sum_of(int value, MPI_Comm comm)
{
    int sum = 0;
    return MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS ? sum : -1;
}

int main(int argc, char **argv)
{
    story = argc > 1 && strcmp(argv[1], "--story") == 0;
    MPI_Init(&argc, &argv);
    int rank, size, left;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    tell("  rank %d of %d is process %d\n", rank, size, (int)getpid());
    int sum = sum_of(1 << rank, MPI_COMM_WORLD);
    usleep(rank == 0 ? 100000 : 0); /* let all of them speak before the first one says more */
    if (rank == 0)
        tell("  all together: 1 + 2 + 4 = %d\n\n", sum);
    /* all know when it will be: the clock is the machine's */
    double death = now_ms() + 100;
    MPI_Bcast(&death, 1, MPI_DOUBLE, VICTIM, MPI_COMM_WORLD);
    if (rank == VICTIM) {
        while (now_ms() < death)
            usleep(100);
        tell("  rank %d: kill -9 %d (a real SIGKILL: no goodbye, no handler)\n", rank,
             (int)getpid());
        kill(getpid(), SIGKILL);
    }
    while (MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS)
        ;
    double noticed = now_ms();
    tell("  rank %d: a call failed after %.0f ms instead of hanging forever: a process is dead\n",
         rank, noticed - death);
    MPI_Comm survivors;
    MPIX_Comm_revoke(MPI_COMM_WORLD);
    if (MPIX_Comm_shrink(MPI_COMM_WORLD, &survivors) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    double repaired = now_ms();
    MPI_Comm_size(survivors, &left);
    sum = sum_of(1 << rank, survivors);
    int ok = left == size - 1 && sum == (1 << size) - 1 - (1 << VICTIM);
    usleep(rank == 0 ? 100000 : 0);
    if (rank == 0 && ok) {
        tell("\n  the %d survivors agreed on a new communicator in %.1f ms, without a restart: 1 + "
             "4 = %d\n",
             left, repaired - noticed, sum);
        printf(story ? "  noticed after %.0f ms, repaired in %.1f ms\n" : "ulfm %.1f %.3f\n",
               noticed - death, repaired - noticed);
        fflush(stdout);
    }
    MPI_Finalize();
    return !ok;
}
