/* step5: everything. Two phases, each with its own loop, the first until it converges; saves when the planner says so;
 * files that outlive the job (set MEND_STORE_LOCAL), so that you can kill the whole job and start it again with the
 * same command; a report at the end. */
#include <mend/flow.h>

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 5000 };

static double field[CELLS], change = 1;
static int step, round_number;
MEND_STATE(field);
MEND_STATE_FLAGS(change, MEND_CONTROL);
MEND_STATE_FLAGS(step, MEND_CONTROL);
MEND_STATE_FLAGS(round_number, MEND_CONTROL);

static int launched_as(void)
{
    return atoi(getenv("OMPI_COMM_WORLD_RANK"));
}

static void relax(int rank)
{
    double mine = 0;
    for (; mend_point() && change > 1e-6; step++) {
        if (step == 25 && launched_as() == 1 && !getenv("CALM"))
            raise(SIGKILL);
        mine = 0;
        for (int i = 1; i < CELLS - 1; i++) {
            double next =
                0.5 * field[i] + 0.2 * (field[i - 1] + field[i + 1]) + 0.01 * (rank + i % 3);
            mine = fmax(mine, fabs(next - field[i]));
            field[i] = next;
        }
        MPI_Allreduce(&mine, &change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
}

static void sweep(int rank)
{
    for (; mend_point() && round_number < 40; round_number++) {
        if (round_number == 20 && launched_as() == 0 && !getenv("CALM"))
            raise(SIGKILL);
        for (int i = 0; i < CELLS; i++)
            field[i] = 0.9 * field[i] + 0.001 * ((i + rank + round_number) % 5);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    double sum = 0, all;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    relax(rank);
    sweep(rank);
    for (int i = 0; i < CELLS; i++)
        sum += field[i];
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("step5: %.17g after %d steps and %d rounds\n", all, step, round_number);
    MPI_Finalize();
    return 0;
}
