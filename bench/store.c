/* The store's speeds, as ratios within one run: what a save costs the application, and against what
 * it must be measured. */
#include <mpi.h>

#include <isa-l.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <base/event.h>
#include <code/erasure.h>
#include <mend/store.h>

#define ROUNDS 15
#define MIB    ((size_t)1 << 20)

static int rank, size;
static char dir[200];

static void row(const char *name, double value, const char *unit, double baseline, double ratio,
                double target, int at_most)
{
    const char *path = getenv("MEND_BENCH_OUT");
    FILE *out = path && rank == 0 ? fopen(path, "a") : NULL;
    int ok = at_most ? ratio <= target : ratio >= target;
    if (rank == 0)
        printf("%-44s %10.4g %-4s baseline %10.4g ratio %6.3f (target %s %g) %s\n", name, value,
               unit, baseline, ratio, at_most ? "<=" : ">=", target, ok ? "ok" : "MISSED");
    if (out) {
        fprintf(out,
                "{\"name\":\"%s\",\"value\":%.6g,\"unit\":\"%s\",\"baseline\":%.6g,\"ratio\":%.4f,"
                "\"target\":%g,\"ok\":%s}\n",
                name, value, unit, baseline, ratio, target, ok ? "true" : "false");
        fclose(out);
    }
    fflush(stdout);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Noise comes in bursts: the median of many rounds, on both sides of a ratio. */
static double median(double *t, int n)
{
    qsort(t, (size_t)n, sizeof *t, compare);
    return t[n / 2];
}

/* From the first rank's start to the last one's end: with more ranks than cores they take turns, and
 * a rank's own time says nothing of the turns before it. All ranks are on one machine: one clock. */
static double span(double start)
{
    double mine[2] = {-start, mend_now()}, all[2];
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all[1] + all[0];
}

static double together(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return mend_now();
}

/* The engine sums its copies when it is idle: not while something else is measured. */
static void settle(void)
{
    usleep(60000);
}

static uint8_t *touched(size_t bytes)
{
    uint8_t *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        abort();
    madvise(p, bytes, MADV_HUGEPAGE);
    memset(p, 1, bytes);
    return p;
}

static mend_store_options plain(void)
{
    static char local[256], global[256], domain[32];
    mend_store_options o;
    if (mend_store_defaults(&o))
        abort();
    snprintf(local, sizeof local, "%s/%%d", dir);
    snprintf(domain, sizeof domain, "node%d", rank);
    snprintf(global, sizeof global, "%s/global", dir);
    o.local_dir = local;
    o.global_dir = global;
    o.domain = domain;
    for (int i = 0; i < MEND_LEVEL_COUNT; i++)
        o.level[i] = (mend_level_options){.every = 0, .keep = 1};
    return o;
}

static mend_store *open_store(const char *name, const mend_store_options *o, void *data,
                              size_t bytes)
{
    mend_store *s = NULL;
    if (mend_store_open(MPI_COMM_WORLD, -1, name, o, &s) ||
        mend_store_region(s, 1, "data", data, bytes)) {
        fprintf(stderr, "%s\n", mend_error_text());
        abort();
    }
    return s;
}

static void must(int rc)
{
    if (rc) {
        fprintf(stderr, "rank %d: %s\n", rank, mend_error_text());
        abort();
    }
}

static double time_copy(uint8_t *to, const uint8_t *from, size_t bytes)
{
    double start = together();
    memcpy(to, from, bytes);
    return span(start);
}

/* What the application waits for, the levels being written behind its back. */
static void blocking(size_t mib, int later)
{
    size_t bytes = mib * MIB;
    uint8_t *data = touched(bytes), *copy = touched(bytes);
    mend_store_options o = plain();
    o.level[MEND_LEVEL_LOCAL].every = 1;
    o.copy_on_write = later;
    mend_store *s = open_store("blocking", &o, data, bytes);
    double copies[ROUNDS], saves[ROUNDS];
    int rounds = mib < 1024 ? ROUNDS : ROUNDS / 2;
    char name[100];

    for (int i = -2; i < rounds; i++) {
        double c = time_copy(copy, data, bytes);
        double start = together();
        must(mend_store_save(s, i + 2));
        double t = span(start);
        must(mend_store_wait(s));
        if (i >= 0) {
            copies[i] = c;
            saves[i] = t;
        }
    }
    must(mend_store_close(s));
    double t = median(saves, rounds), c = median(copies, rounds);
    snprintf(name, sizeof name, "store: blocking time of a save%s, %zu MiB x %d",
             later ? " (copy on write)" : "", mib, size);
    row(name, t * 1e3, "ms", c * 1e3, t / c, later ? 0.5 : 1.2, 1);
    munmap(data, bytes);
    munmap(copy, bytes);
}

/* Memory alone, end to end; or with a global level now and then, for the memory it takes. */
static void memory_partner(size_t mib, int with_global)
{
    size_t bytes = mib * MIB;
    uint8_t *data = touched(bytes), *copy = touched(bytes), *other = touched(bytes);
    mend_store_options o = plain();
    mend_store_stats stats;
    o.level[MEND_LEVEL_MEMORY].every = 1;
    if (with_global)
        o.level[MEND_LEVEL_GLOBAL] = (mend_level_options){.every = 8, .keep = 1};
    mend_store *s = open_store("memory", &o, data, bytes);
    double plain_time[ROUNDS], saves[ROUNDS];
    char name[100];

    for (int i = -3; i < ROUNDS; i++) {
        double start = together();
        memcpy(copy, data, bytes);
        MPI_Sendrecv(copy, (int)bytes, MPI_BYTE, (rank + 1) % size, 1, other, (int)bytes, MPI_BYTE,
                     (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double c = span(start);
        settle();
        start = together();
        must(mend_store_save(s, i + 3));
        must(mend_store_wait(s));
        double t = span(start);
        settle();
        if (i >= 0) {
            plain_time[i] = c;
            saves[i] = t;
        }
    }
    mend_store_statistics(s, &stats);
    must(mend_store_close(s));
    double t = median(saves, ROUNDS), c = median(plain_time, ROUNDS);
    snprintf(name, sizeof name, "store: memory + partner, %zu MiB x %d", mib, size);
    if (!with_global)
        row(name, t * 1e3, "ms", c * 1e3, t / c, 1.2, 1);
    else
        row("store: peak memory of the memory level", (double)stats.memory_peak / MIB, "MiB",
            (double)mib, (double)stats.memory_peak / (double)bytes, 2.1, 1);
    munmap(data, bytes);
    munmap(copy, bytes);
    munmap(other, bytes);
}

static void encode(int k, int m)
{
    size_t bytes = 256 << 10;
    uint8_t *data[16], *parity[4], tables[16 * 4 * 32], matrix[20 * 16];
    double ours[ROUNDS], raw[ROUNDS];
    mend_code *code = NULL;
    char name[100];

    must(mend_code_new(k, m, &code));
    for (int i = 0; i < k; i++)
        data[i] = touched(bytes);
    for (int i = 0; i < m; i++)
        parity[i] = touched(bytes);
    gf_gen_cauchy1_matrix(matrix, k + m, k);
    ec_init_tables(k, m, matrix + k * k, tables);
    for (int i = 0; i < ROUNDS; i++) {
        double start = mend_now();
        for (int n = 0; n < 100; n++)
            ec_encode_data((int)bytes, k, m, tables, data, parity);
        raw[i] = mend_now() - start;
        start = mend_now();
        for (int n = 0; n < 100; n++)
            mend_code_encode(code, bytes, data, parity);
        ours[i] = mend_now() - start;
    }
    double work = 100.0 * (double)bytes * k, t = median(ours, ROUNDS), r = median(raw, ROUNDS);
    snprintf(name, sizeof name, "store: encode %d+%d against ISA-L", k, m);
    row(name, work / t / 1e9, "GB/s", work / r / 1e9, r / t, 0.9, 0);
    mend_code_free(code);
}

/* One page of a hundred changes. */
static void sparse(size_t mib)
{
    size_t bytes = mib * MIB, pages = bytes / 4096, dirty = pages / 100;
    uint8_t *data = touched(bytes), *copy = touched(bytes);
    mend_store_options o = plain();
    mend_store_stats before, after;
    o.level[MEND_LEVEL_LOCAL].every = 1;
    o.delta = MEND_DELTA_PAGES;
    o.delta_chain = 1000;
    mend_store *s = open_store("sparse", &o, data, bytes);
    double copies[ROUNDS], saves[ROUNDS];

    mend_store_statistics(s, &before);
    for (int i = -3; i < ROUNDS; i++) {
        double c = time_copy(copy, data, bytes);
        for (size_t p = 0; p < dirty; p++) /* contiguous runs of ten pages */
            data[((p / 10 * 1000 + p % 10 + (size_t)(i + 3) * 17) % pages) * 4096] ^= 1;
        double start = together();
        must(mend_store_save(s, i + 3));
        double t = span(start);
        must(mend_store_wait(s));
        if (i == -1)
            mend_store_statistics(s, &before);
        if (i >= 0) {
            copies[i] = c;
            saves[i] = t;
        }
    }
    mend_store_statistics(s, &after);
    must(mend_store_close(s));
    double t = median(saves, ROUNDS), c = median(copies, ROUNDS);
    double moved = (double)(after.bytes_written - before.bytes_written) / ROUNDS,
           wanted = (double)dirty * 4096;
    row("store: save with 1 % of the pages changed", t * 1e3, "ms", c * 1e3, t / c, 0.3, 1);
    row("store: bytes written for them", moved, "B", wanted, moved / wanted, 1.1, 1);
    munmap(data, bytes);
    munmap(copy, bytes);
}

/* All changes, all the time: the application's writing and its saves, with and without looking for
 * changes. */
static double dense_time(mend_delta mode, size_t bytes, uint8_t *data)
{
    mend_store_options o = plain();
    o.level[MEND_LEVEL_LOCAL].every = 1;
    o.delta = mode;
    mend_store *s = open_store("dense", &o, data, bytes);
    double t[2 * ROUNDS];
    for (int i = -3; i < 2 * ROUNDS; i++) {
        double start = together();
        memset(data, i, bytes);
        must(mend_store_save(s, i + 3));
        must(mend_store_wait(s));
        double all = span(start);
        if (i >= 0)
            t[i] = all;
    }
    must(mend_store_close(s));
    double sum = 0;
    qsort(t, 2 * ROUNDS, sizeof *t, compare);
    for (int i = 0; i < 2 * ROUNDS - 2;
         i++) /* the mean counts the rounds in which it looks; without the two worst */
        sum += t[i];
    return sum / (2 * ROUNDS - 2);
}

static void dense(size_t mib)
{
    size_t bytes = mib * MIB;
    uint8_t *data = touched(bytes);
    double full = dense_time(MEND_DELTA_OFF, bytes, data);
    double pages = dense_time(MEND_DELTA_PAGES, bytes, data);
    double hash = dense_time(MEND_DELTA_HASH, bytes, data);
    row("store: all changed, write tracking on", pages * 1e3, "ms", full * 1e3, pages / full, 1.3,
        1);
    row("store: all changed, block hashes on", hash * 1e3, "ms", full * 1e3, hash / full, 1.3, 1);
    munmap(data, bytes);
}

int main(int argc, char **argv)
{
    int provided;
    char command[256];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(dir, sizeof dir, "/dev/shm/mend-bench-%d", (int)getuid());
    if (size == 1) {
        encode(4, 1);
        encode(4, 2);
        encode(8, 2);
        sparse(256);
        dense(64);
    } else {
        memory_partner(64, 0);
        memory_partner(64, 1);
    }
    blocking(64, 0);
    blocking(256, 0);
    blocking(256, 1);
    if (size == 1)
        blocking(1024, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    if (rank == 0 && system(command) != 0)
        return 1;
    MPI_Finalize();
    return 0;
}
