/* The FTI face: what a program written for FTI does, checked by results. One launch of several:
 *
 *   compat_fti CONFIG LEVEL STEPS [DIE]
 *
 * A checkpoint every tenth step at LEVEL (0: FTI_Snapshot decides); all ranks die after step DIE. "status S from STEP"
 * is printed, and at the end PASS goes to the marker if the data is what STEPS steps give. */
#include <fti.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                         \
    do {                                                                                         \
        if (!(condition)) {                                                                      \
            fprintf(stderr, "rank %d, line %d: %s does not hold\n", rank, __LINE__, #condition); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                        \
        }                                                                                        \
    } while (0)

struct pair {
    int step;
    double time;
};

static int rank, size;
static struct pair now;
static double *grid;
static long cells;

/* The list grows, so that a restart must ask for its size. */
static void work(void)
{
    now.step++;
    now.time += 0.5;
    if (now.step % 10 == 1) {
        grid = realloc(grid, (size_t)(cells + 1000) * sizeof *grid);
        memset(grid + cells, 0, 1000 * sizeof *grid);
        cells += 1000;
    }
    for (long i = 0; i < cells; i++)
        grid[i] = grid[i] * 0.75 + rank + now.step + (double)i;
}

static double sum(void)
{
    double total = now.time + now.step;
    for (long i = 0; i < cells; i++)
        total += grid[i];
    return total;
}

static double undisturbed(int steps)
{
    now = (struct pair){0, 0};
    cells = 0;
    free(grid);
    grid = NULL;
    for (int i = 0; i < steps; i++)
        work();
    return sum();
}

int main(int argc, char **argv)
{
    int level, steps, die, given;
    FTIT_type pair;
    CHECK(argc >= 4);
    level = atoi(argv[2]), steps = atoi(argv[3]), die = argc > 4 ? atoi(argv[4]) : -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    CHECK(FTI_Protect(0, &now, 1, FTI_INTG) == FTI_NSCS); /* too early */
    if (FTI_Init(argv[1], MPI_COMM_WORLD) != FTI_SCES) {
        MPI_Finalize();
        return 3;
    }
    MPI_Comm_rank(FTI_COMM_WORLD, &rank);
    MPI_Comm_size(FTI_COMM_WORLD, &size);
    double right = undisturbed(steps);
    undisturbed(0);
    CHECK(FTI_InitType(&pair, sizeof now) == FTI_SCES);
    CHECK(FTI_Protect(1, &now, 1, pair) == FTI_SCES);
    CHECK(FTI_Protect(2, grid, 0, FTI_DBLE) == FTI_SCES);
    CHECK(FTI_Protect(3, &now, 1, 77) == FTI_NSCS); /* no such type */
    int status = FTI_Status();
    if (status) {
        cells = FTI_GetStoredSize(2) / (long)sizeof *grid;
        if (cells) {
            CHECK(FTI_Recover() == FTI_NREC); /* another size: nothing changes */
            CHECK(now.step == 0);
            grid = FTI_Realloc(2, grid);
            CHECK(grid);
        }
        CHECK(FTI_RecoverVar(1) == FTI_SCES && now.step > 0);
        CHECK(FTI_Recover() == FTI_SCES);
        CHECK(FTI_Status() == 0);
    }
    if (rank == 0)
        printf("status %d from %d\n", status, now.step), fflush(stdout);
    while (now.step < steps) {
        work();
        CHECK(FTI_Protect(2, grid, cells, FTI_DBLE) == FTI_SCES);
        if (level == 0) {
            usleep(2000);
            CHECK(FTI_Snapshot() >= FTI_SCES);
        } else if (now.step % 10 == 0) {
            CHECK(FTI_Checkpoint(now.step / 10, level) == FTI_DONE);
        }
        if (now.step == die)
            raise(SIGKILL);
        MPI_Barrier(FTI_COMM_WORLD);
    }
    CHECK(FTI_Checkpoint(1, 9) == FTI_NSCS);
    int equal = sum() == right, all;
    MPI_Allreduce(&equal, &all, 1, MPI_INT, MPI_MIN, FTI_COMM_WORLD);
    memset(grid, 0xff, (size_t)cells * sizeof *grid); /* programs free their variables here */
    free(grid);
    grid = NULL;
    memset(&now, 0xff, sizeof now);
    CHECK(FTI_Finalize() == FTI_SCES);
    if (rank == 0 && all) {
        FILE *marker = fopen(getenv("MEND_TEST_MARKER"), "w");
        fputs("PASS\n", marker);
        fclose(marker);
    }
    free(grid);
    MPI_Finalize();
    return all ? 0 : 1;
}
