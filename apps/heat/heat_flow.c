/* heat: the two-dimensional heat distribution benchmark.
 *
 * A square plate per rank, rows stacked over the ranks; the top edge of the whole plate is hot in
 * the middle, the bottom edge is cold. Every iteration copies the plate, exchanges the rows at the
 * borders and replaces each point by the mean of its four neighbours. The two arrays are all the
 * data there is; only `plate` lives from one iteration to the next.
 *
 * The result is bitwise the same for every run with the same number of ranks: the only reductions
 * are a maximum and a sum of integers.
 */
#include <mend/flow.h>

#include "plate.h"

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
    spent.start = spent.start ? spent.start : MPI_Wtime();

    mend_view("plate", plate, points, MPI_DOUBLE, 0);
    mend_view("step", &step, 1, MPI_INT, MEND_CONTROL);
    mend_view("error", &error, 1, MPI_DOUBLE, MEND_CONTROL);
    for (; mend_point() && step < o.steps && error > o.until; step++) {
        kill_plan_act(&o.kills, rank, step);
        double mine = iterate(plate, old, rows, columns, rank, ranks, MPI_COMM_WORLD);
        MPI_Allreduce(&mine, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (o.report && rank == 0 && step % o.report == 0)
            printf("heat: iteration %d error %.6e\n", step, error);
    }

    print_result(&o, plate, rows, columns, step, error, MPI_COMM_WORLD);
    free(plate);
    free(old);
    MPI_Finalize();
    return 0;
}
