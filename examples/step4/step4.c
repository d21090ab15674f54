/* step4: let the library find out what need not be saved (MEND_FLOW_LEARN=yes), and read its report. One of the three
 * arrays is a work space, overwritten before it is read; learn mode tests this at every save and leaves it out. */
#include <mend/flow.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 20000, STEPS = 80 };

static double now[CELLS], before[CELLS], table[CELLS];
static int step;
MEND_STATE(now);
MEND_STATE(before);
MEND_STATE(table);
MEND_STATE_FLAGS(step, MEND_CONTROL);

int main(int argc, char **argv)
{
    setenv("MEND_FLOW_LEARN", "yes", 0);
    MPI_Init(&argc, &argv);
    int rank;
    double sum = 0, all;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < CELLS; i++)
        table[i] = i % 7;
    /* the type of a file-scope view is not known; learn mode may fill these with zeros */
    mend_view("before", before, CELLS, MPI_DOUBLE, 0);
    for (; mend_point() && step < STEPS; step++) {
        if (step == 44 && atoi(getenv("OMPI_COMM_WORLD_RANK")) == 1 && !mend_rehearsal() &&
            !getenv("CALM"))
            raise(SIGKILL);
        memcpy(before, now, sizeof before);
        for (int i = 1; i < CELLS - 1; i++)
            now[i] = 0.25 * (before[i - 1] + before[i + 1]) + 0.5 * table[i] + rank;
        MPI_Allreduce(&now[step + 1], &now[0], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    for (int i = 0; i < CELLS; i++)
        sum += now[i];
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("step4: %.17g after %d steps\n", all, step);
        mend_report(stderr);
    }
    MPI_Finalize();
    return 0;
}
