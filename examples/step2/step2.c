/* step2: a loop with a safe point. mend_view() names the data that must survive; mend_point() at the top of the loop
 * says when to save, and where to come back to. Rank 2 dies at step 70; nothing before the last save is computed
 * again. */
#include <mend/flow.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 10000, STEPS = 100 };

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, step = 0;
    double *cells = calloc(CELLS, sizeof *cells), most = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mend_view("cells", cells, CELLS, MPI_DOUBLE, 0);
    mend_view("step", &step, 1, MPI_INT, MEND_CONTROL);
    for (; mend_point() && step < STEPS; step++) {
        if (step == 70 && atoi(getenv("OMPI_COMM_WORLD_RANK")) == 2 && !getenv("CALM"))
            raise(SIGKILL);
        for (int i = 0; i < CELLS; i++)
            cells[i] = 0.5 * cells[i] + rank + i % 10;
        MPI_Allreduce(&cells[step], &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        cells[0] += most;
    }
    if (rank == 0)
        printf("step2: %.17g after %d steps, %d repairs\n", cells[0], step, mend_repairs());
    MPI_Finalize();
    free(cells);
    return 0;
}
