/* heat, with both of its arrays named: what the program writes anew in every iteration before it
 * reads it (old) must be found dead, what it reads (plate) must not. */
#include <mend/flow.h>

#include "../../apps/heat/plate.h"

int main(int argc, char **argv)
{
    struct options o;
    if (parse(argc, argv, &o)) {
        fputs(usage, stderr);
        return 2;
    }
    MPI_Init(&argc, &argv);
    int rank, ranks, step = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    int rows = side_of(o.mib), columns = rows;
    size_t points = (size_t)(rows + 2) * columns;
    double *plate = calloc(points, sizeof *plate), *old = calloc(points, sizeof *old), error = 1;
    if (!plate || !old)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0)
        heat_edge(plate, columns);
    spent.start = MPI_Wtime();

    mend_view("plate", plate, points, MPI_DOUBLE, 0);
    mend_view("old", old, points, MPI_DOUBLE, 0);
    mend_view("step", &step, 1, MPI_INT, MEND_CONTROL);
    mend_view("error", &error, 1, MPI_DOUBLE, MEND_CONTROL);
    for (; mend_point() && step < o.steps && error > o.until; step++) {
        kill_plan_act(&o.kills, rank, step);
        double mine = iterate(plate, old, rows, columns, rank, ranks, MPI_COMM_WORLD);
        MPI_Allreduce(&mine, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }

    print_result(&o, plate, rows, columns, step, error, MPI_COMM_WORLD);
    free(plate);
    free(old);
    MPI_Finalize();
    return 0;
}
