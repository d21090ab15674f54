/* Data through fenix.h: what store and commit of a member cost, as multiples of a memcpy of it, and
 * the memory that is held, as multiples of the data. The targets are Fenix' own figures, measured
 * side by side: with a copy 12.7 and 6.0, with parity 6.4 and 4.3. */
#include <compat/fenix.h>
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 9
#define MIB    ((size_t)1 << 20)

static int rank, size;

static void row(const char *name, double value, const char *unit, double baseline, double target)
{
    double ratio = value / baseline;
    const char *path = getenv("MEND_BENCH_OUT");
    FILE *out = path && rank == 0 ? fopen(path, "a") : NULL;
    if (rank == 0)
        printf("%-44s %10.4g %-4s baseline %10.4g ratio %6.3f (target <= %g) %s\n", name, value,
               unit, baseline, ratio, target, ratio <= target ? "ok" : "MISSED");
    if (out) {
        fprintf(out,
                "{\"name\":\"%s\",\"value\":%.6g,\"unit\":\"%s\",\"baseline\":%.6g,\"ratio\":%.4f,"
                "\"target\":%g,\"ok\":%s}\n",
                name, value, unit, baseline, ratio, target, ratio <= target ? "true" : "false");
        fclose(out);
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *t, int n)
{
    qsort(t, (size_t)n, sizeof *t, compare);
    return t[n / 2];
}

/* From the first rank's start to the last one's end. */
static double span(double start)
{
    double mine[2] = {-start, MPI_Wtime()}, all[2];
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all[1] + all[0];
}

static double together(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime();
}

/* Bytes of a line of /proc/self/status, at most of all ranks. */
static double memory(const char *key)
{
    char line[256];
    double bytes = 0, most = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0)
            bytes = 1024 * atof(line + strlen(key));
    if (f)
        fclose(f);
    MPI_Allreduce(&bytes, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static void measure(MPI_Comm comm, int mode, const char *what, double time_target,
                    double memory_target)
{
    enum { GROUP = 1, MEMBER = 1 };
    size_t bytes = 32 * MIB;
    char *data = malloc(bytes), *copy = malloc(bytes), name[100];
    int policy[3] = {mode, 1, size < 4 ? size : 4}, flag;
    double copies[ROUNDS], saves[ROUNDS];
    if (!data || !copy)
        abort();
    memset(data, 1, bytes);
    memset(copy, 1, bytes);
    double before = memory("VmRSS:");
    if (Fenix_Data_group_create(GROUP, comm, 0, 1, FENIX_DATA_POLICY_IN_MEMORY_RAID, policy,
                                &flag) ||
        Fenix_Data_member_create(GROUP, MEMBER, data, (int)bytes, MPI_BYTE))
        abort();
    for (int i = -3; i < ROUNDS; i++) {
        double start = together();
        memcpy(copy, data, bytes);
        double c = span(start);
        memset(data, i, bytes);
        start = together();
        if (Fenix_Data_member_store(GROUP, MEMBER, FENIX_DATA_SUBSET_FULL) ||
            Fenix_Data_commit(GROUP, NULL))
            abort();
        double t = span(start);
        if (i >= 0) {
            copies[i] = c;
            saves[i] = t;
        }
    }
    double held = memory("VmHWM:") - before;
    if (mode == 5) /* own file and parity are files in memory, two versions of each: the oldest goes
                      before the next one is written */
        held += 2 * (double)bytes * (1 + 1.0 / (policy[2] - 1));
    snprintf(name, sizeof name, "fenix: store + commit, %s, 32 MiB x %d", what, size);
    row(name, median(saves, ROUNDS) * 1e3, "ms", median(copies, ROUNDS) * 1e3, time_target);
    snprintf(name, sizeof name, "fenix: memory held, %s", what);
    row(name, held / (double)MIB, "MiB", (double)bytes / (double)MIB, memory_target);
    Fenix_Data_group_delete(GROUP);
    free(data);
    free(copy);
}

int main(int argc, char **argv)
{
    int role, error, provided;
    MPI_Comm comm;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, 0, MPI_INFO_NULL, &error);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    /* parity first: the peak of memory is the process's */
    measure(comm, 5, "parity", 6.4, 4.3);
    measure(comm, 1, "a copy", 12.7, 6.0);
    Fenix_Finalize();
    MPI_Finalize();
    return 0;
}
