/* What the versions of heat share: options, the plate, one iteration's parts. */
#ifndef MEND_APPS_PLATE_H
#define MEND_APPS_PLATE_H

#ifndef MPI_VERSION
#include <mpi.h>
#endif

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../common/checksum.h"
#include "../common/kill.h"
#include "../common/times.h"

static const char usage[] =
    "usage: heat [options]\n"
    "  -m, --mib M        data of a rank in MiB, both arrays (default 8)\n"
    "  -s, --steps N      iterations (default 500); with --until at most N\n"
    "  -u, --until E      stop when no point changes by more than E\n"
    "  -r, --report N     print the error every N iterations\n"
    "  -k, --kill R@I     rank R kills itself at iteration I (once; may be repeated)\n"
    "      --mark PATH    where kills are noted, see apps/common/kill.h\n"
    "      --times        print where the time of rank 0 went\n"
    "      --events PATH  the same as a line of that file, see apps/common/times.h\n";

struct options {
    double mib, until;
    int steps, report, times;
    struct kill_plan kills;
    char events[512];
};

static int parse(int argc, char **argv, struct options *o)
{
    static const struct option names[] = {
        {"mib", 1, 0, 'm'},  {"steps", 1, 0, 's'}, {"until", 1, 0, 'u'}, {"report", 1, 0, 'r'},
        {"kill", 1, 0, 'k'}, {"mark", 1, 0, 'M'},  {"times", 0, 0, 'T'}, {"events", 1, 0, 'E'},
        {"help", 0, 0, 'h'}, {0, 0, 0, 0}};
    *o = (struct options){.mib = 8, .steps = 500};
    for (int c; (c = getopt_long(argc, argv, "m:s:u:r:k:h", names, 0)) != -1;) {
        switch (c) {
        case 'm': o->mib = atof(optarg); break;
        case 's': o->steps = atoi(optarg); break;
        case 'u': o->until = atof(optarg); break;
        case 'r': o->report = atoi(optarg); break;
        case 'T': o->times = 1; break;
        case 'E': snprintf(o->events, sizeof o->events, "%s", optarg); break;
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
static void exchange_borders(double *old, int rows, int columns, int rank, int ranks, MPI_Comm comm)
{
    int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int below = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
    double *first = old + columns, *last = old + (size_t)rows * columns;
    MPI_Sendrecv(first, columns, MPI_DOUBLE, above, 1, last + columns, columns, MPI_DOUBLE, below,
                 1, comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(last, columns, MPI_DOUBLE, below, 2, old, columns, MPI_DOUBLE, above, 2, comm,
                 MPI_STATUS_IGNORE);
}

static double relax(double *restrict plate, const double *restrict old, int rows, int columns)
{
    double error = 0;
    for (int i = 1; i <= rows; i++) {
        for (int j = 1; j < columns - 1; j++) {
            size_t p = (size_t)i * columns + j;
            plate[p] = 0.25 * (old[p - columns] + old[p + columns] + old[p - 1] + old[p + 1]);
            double change = fabs(plate[p] - old[p]);
            error = change > error ? change : error; /* fmax() would be a call on x86_64 */
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
static double mean_of(const double *plate, int rows, int columns, int ranks, MPI_Comm comm)
{
    double sum = 0, total = 0, *sums = calloc((size_t)ranks, sizeof *sums);
    for (size_t p = 0; p < (size_t)rows * columns; p++)
        sum += plate[columns + p];
    if (!sums)
        MPI_Abort(comm, 1);
    MPI_Allgather(&sum, 1, MPI_DOUBLE, sums, 1, MPI_DOUBLE, comm);
    for (int r = 0; r < ranks; r++)
        total += sums[r];
    free(sums);
    return total / ((double)rows * columns * ranks);
}

/* Where the time went, counting iterations that were computed twice. Not part of the result. */
static struct {
    double start, compute;
    int iterations;
} spent;

/* Of all threads of this process. */
static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The line with the result; rank 0 prints it. */
static void print_result(const struct options *o, const double *plate, int rows, int columns,
                         int step, double error, MPI_Comm comm)
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    double loop = MPI_Wtime() - spent.start, mean = mean_of(plate, rows, columns, ranks, comm);
    uint64_t sum = checksum(plate, rows, columns, rank), total;
    MPI_Reduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, 0, comm);
    if (rank != 0)
        return;
    printf("heat: ranks %d plate %dx%d iterations %d error %.17g mean %.17g checksum %016llx\n",
           ranks, rows, columns, step, error, mean, (unsigned long long)total);
    if (o->times)
        printf("heat: times loop %.6f compute %.6f cpu %.6f computed %d\n", loop, spent.compute,
               cpu_seconds(), spent.iterations);
    times_event(o->events, "app.times", "\"loop\":%.6f,\"compute\":%.6f,\"computed\":%d", loop,
                spent.compute, spent.iterations);
    kill_plan_forget(&o->kills);
}

static int side_of(double mib)
{
    int side = (int)sqrt(mib * (1 << 20) / 2 / sizeof(double));
    return side < 4 ? 4 : side;
}

/* One iteration; returns the largest change on this rank.
 *
 * Not inlined: in a function that calls setjmp, as a safe point does, gcc keeps in memory whatever
 * is alive across it, and the loop over the plate took 12 % longer there. */
__attribute__((noinline)) static double iterate(double *plate, double *old, int rows, int columns,
                                                int rank, int ranks, MPI_Comm comm)
{
    double begin = MPI_Wtime();
    memcpy(old, plate, (size_t)(rows + 2) * columns * sizeof *old);
    spent.compute += MPI_Wtime() - begin;
    exchange_borders(old, rows, columns, rank, ranks, comm);
    begin = MPI_Wtime();
    double mine = relax(plate, old, rows, columns);
    spent.compute += MPI_Wtime() - begin;
    spent.iterations++;
    return mine;
}

#endif
