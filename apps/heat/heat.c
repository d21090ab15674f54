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
#include <mpi.h>

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/checksum.h"
#include "../common/kill.h"

static const char usage[] =
    "usage: heat [options]\n"
    "  -m, --mib M        data of a rank in MiB, both arrays (default 8)\n"
    "  -s, --steps N      iterations (default 500); with --until at most N\n"
    "  -u, --until E      stop when no point changes by more than E\n"
    "  -r, --report N     print the error every N iterations\n"
    "  -k, --kill R@I     rank R kills itself at iteration I (once; may be repeated)\n"
    "      --mark PATH    where kills are noted, see apps/common/kill.h\n";

struct options {
    double mib, until;
    int steps, report;
    struct kill_plan kills;
};

static int parse(int argc, char **argv, struct options *o)
{
    static const struct option names[] = {
        {"mib", 1, 0, 'm'},  {"steps", 1, 0, 's'}, {"until", 1, 0, 'u'}, {"report", 1, 0, 'r'},
        {"kill", 1, 0, 'k'}, {"mark", 1, 0, 'M'},  {"help", 0, 0, 'h'},  {0, 0, 0, 0}};
    *o = (struct options){.mib = 8, .steps = 500};
    for (int c; (c = getopt_long(argc, argv, "m:s:u:r:k:h", names, 0)) != -1;) {
        switch (c) {
        case 'm': o->mib = atof(optarg); break;
        case 's': o->steps = atoi(optarg); break;
        case 'u': o->until = atof(optarg); break;
        case 'r': o->report = atoi(optarg); break;
        case 'M': snprintf(o->kills.mark, sizeof o->kills.mark, "%s", optarg); break;
        case 'k':
            if (kill_plan_add(&o->kills, optarg))
                return -1;
            break;
        default: return -1;
        }
    }
    return optind == argc && o->mib > 0 && o->steps >= 0 ? 0 : -1;
}

/* The hot part of the edge above the first rank. */
static void heat_edge(double *row, int columns)
{
    for (int j = columns / 10; j < columns - columns / 10; j++)
        row[j] = 100;
}

/* Row 0 and row rows+1 are those of the neighbours. */
static void exchange_borders(double *old, int rows, int columns, int rank, int ranks)
{
    int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int below = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
    double *first = old + columns, *last = old + (size_t)rows * columns;
    MPI_Sendrecv(first, columns, MPI_DOUBLE, above, 1, last + columns, columns, MPI_DOUBLE, below,
                 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(last, columns, MPI_DOUBLE, below, 2, old, columns, MPI_DOUBLE, above, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double relax(double *restrict plate, const double *restrict old, int rows, int columns)
{
    double error = 0;
    for (int i = 1; i <= rows; i++) {
        for (int j = 1; j < columns - 1; j++) {
            size_t p = (size_t)i * columns + j;
            plate[p] = 0.25 * (old[p - columns] + old[p + columns] + old[p - 1] + old[p + 1]);
            error = fmax(error, fabs(plate[p] - old[p]));
        }
    }
    return error;
}

static uint64_t checksum(const double *plate, int rows, int columns, int rank)
{
    uint64_t sum = 0;
    for (size_t p = 0; p < (size_t)rows * columns; p++)
        sum += checksum_of(plate[columns + p], p + (size_t)rank * rows * columns);
    return sum;
}

/* The mean temperature, added up in the order of the ranks. */
static double mean_of(const double *plate, int rows, int columns, int ranks)
{
    double sum = 0, total = 0, *sums = calloc((size_t)ranks, sizeof *sums);
    for (size_t p = 0; p < (size_t)rows * columns; p++)
        sum += plate[columns + p];
    if (!sums)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Allgather(&sum, 1, MPI_DOUBLE, sums, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++)
        total += sums[r];
    free(sums);
    return total / ((double)rows * columns * ranks);
}

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

    int side = (int)sqrt(o.mib * (1 << 20) / 2 / sizeof(double));
    int rows = side < 4 ? 4 : side, columns = rows;
    size_t points = (size_t)(rows + 2) * columns;
    double *plate = calloc(points, sizeof *plate), *old = calloc(points, sizeof *old), error = 1;
    if (!plate || !old)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0)
        heat_edge(plate, columns);

    for (; step < o.steps && error > o.until; step++) {
        kill_plan_act(&o.kills, rank, step);
        memcpy(old, plate, points * sizeof *old);
        exchange_borders(old, rows, columns, rank, ranks);
        double mine = relax(plate, old, rows, columns);
        MPI_Allreduce(&mine, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (o.report && rank == 0 && step % o.report == 0)
            printf("heat: iteration %d error %.6e\n", step, error);
    }

    double mean = mean_of(plate, rows, columns, ranks);
    uint64_t sum = checksum(plate, rows, columns, rank), total;
    MPI_Reduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("heat: ranks %d plate %dx%d iterations %d error %.17g mean %.17g checksum %016llx\n",
               ranks, rows, columns, step, error, mean, (unsigned long long)total);
        kill_plan_forget(&o.kills);
    }
    free(plate);
    free(old);
    MPI_Finalize();
    return 0;
}
