/* Checkpoints of device memory, against the copies that the machine can do, within one run: what a save
 * blocks, how fast it is drained, what changes cost, restores, and what a kernel loop notices of it.
 *
 *     bench_gpu [GIB]      without a GPU it says so. With the stand-in of the driver it runs, and its
 *                          figures mean nothing. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <base/event.h>
#include <mend/store.h>

#include "../../tests/harness/driver/gpu.h"

#define ROUNDS 5
#define PAGE   4096u

static const char loop_text[] =
#include "loop.ptx.inc"
    ;

static size_t bytes;
static uint8_t *data, *other; /* on the device */
static void *pinned;
static struct {
    int (*inside)(uint64_t, uint64_t, size_t, void *);
    int (*host)(void **, size_t), (*free_host)(void *);
    int (*load)(void **, const void *), (*function)(void **, void *, const char *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **);
    int (*wait)(void *);
} more;
static void *loop, *touch, *stream;
static double inside, to_host, to_device; /* seconds for all bytes */

static void row(const char *name, double value, const char *unit, double baseline, double ratio,
                double target, int at_most)
{
    const char *path = getenv("MEND_BENCH_OUT");
    FILE *out = path ? fopen(path, "a") : NULL;
    int ok = at_most ? ratio <= target : ratio >= target;
    printf("%-44s %10.4g %-4s baseline %10.4g ratio %6.3f (target %s %g) %s\n", name, value, unit,
           baseline, ratio, at_most ? "<=" : ">=", target, ok ? "ok" : "MISSED");
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

static double median(double *t, int n)
{
    qsort(t, (size_t)n, sizeof *t, compare);
    return t[n / 2];
}

static void must(int rc)
{
    if (rc) {
        fprintf(stderr, "%s\n", mend_error_text());
        abort();
    }
}

static void look_up(void)
{
    const char *path = getenv("MEND_DEVICE_DRIVER");
    void *library = dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW);
    static const char *const names[] = {
        "cuMemcpyDtoDAsync_v2", "cuMemAllocHost_v2", "cuMemFreeHost",      "cuModuleLoadData",
        "cuModuleGetFunction",  "cuLaunchKernel",    "cuStreamSynchronize"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!(((void **)&more)[i] = dlsym(library, names[i])))
            abort();
}

/* ---- what the machine can do ----------------------------------------------------------------- */

static double time_of(int way)
{
    double t[ROUNDS];
    uint64_t a = (uintptr_t)data, b = (uintptr_t)other;
    for (int i = -1; i < ROUNDS; i++) {
        double start = mend_now();
        if (way == 0)
            GPU_OK(more.inside(b, a, bytes, NULL));
        else if (way == 1)
            GPU_OK(gpu.out(pinned, a, bytes, NULL));
        else
            GPU_OK(gpu.in(b, pinned, bytes, NULL));
        GPU_OK(gpu.sync());
        if (i >= 0)
            t[i] = mend_now() - start;
    }
    return median(t, ROUNDS);
}

/* Every page has content of its own. */
static void fill(void)
{
    uint64_t *p = pinned;
    for (size_t i = 0; i < bytes / sizeof *p; i++)
        p[i] = i * 0x9E3779B97F4A7C15u;
    gpu_fill(data, pinned, bytes);
}

static void touch_pages(int step)
{
    uint64_t pages = bytes / PAGE;
    void *arguments[] = {&data, &pages, &step};
    unsigned blocks = (unsigned)(pages / (unsigned)step / 256 + 1);
    if (!touch) /* the stand-in knows no such kernel */
        return;
    GPU_OK(more.launch(touch, blocks, 1, 1, 256, 1, 1, 0, NULL, arguments, NULL));
    GPU_OK(gpu.sync());
}

/* ---- the store ------------------------------------------------------------------------------- */

static mend_store *opened(const char *name, mend_delta delta)
{
    mend_store_options o;
    mend_store *s = NULL;
    must(mend_store_defaults(&o));
    for (int i = 0; i < MEND_LEVEL_COUNT; i++)
        o.level[i] = (mend_level_options){.every = 0, .keep = 1};
    o.level[MEND_LEVEL_MEMORY].every = 1;
    o.delta = delta;
    must(mend_store_open(MPI_COMM_WORLD, -1, name, &o, &s));
    must(mend_store_region(s, 1, "data", data, bytes));
    return s;
}

/* The engine sums its copies when it is idle: not while something is measured. */
static void settle(void)
{
    usleep((useconds_t)(100000 + bytes / 8000));
}

/* Seconds that a save blocks and that its drain takes; the first two find fresh memory. */
static void time_saves(mend_store *s, int step, double *blocked, double *drained, double *moved)
{
    double b[ROUNDS], d[ROUNDS];
    mend_store_stats before, after;
    for (int i = -2; i < ROUNDS; i++) {
        touch_pages(step);
        mend_store_statistics(s, &before);
        double start = mend_now();
        must(mend_store_save(s, i + 2));
        double seconds = mend_now() - start;
        must(mend_store_wait(s));
        mend_store_statistics(s, &after);
        if (i >= 0) {
            b[i] = seconds;
            d[i] = after.device_seconds;
        }
        *moved = (double)(after.device_moved - before.device_moved);
        settle();
    }
    *blocked = median(b, ROUNDS);
    *drained = median(d, ROUNDS);
}

static void saves_and_restores(void)
{
    double blocked, full, changed, moved, speed = (double)bytes;
    char name[100];
    mend_store *s = opened("full", MEND_DELTA_OFF);
    time_saves(s, 1, &blocked, &full, &moved);
    snprintf(name, sizeof name, "GPU save blocks, %.3g GB", speed / 1e9);
    row(name, blocked, "s", inside, blocked / inside, 1.2, 1);
    row("GPU drain to host memory", speed / full / 1e9, "GB/s", speed / to_host / 1e9,
        to_host / full, 0.85, 0);
    double t[ROUNDS];
    long version = 0;
    mend_store_stats stats;
    for (int i = 0; i < ROUNDS; i++) {
        must(mend_store_newest(s, &version));
        must(mend_store_restore(s, version));
        mend_store_statistics(s, &stats);
        t[i] = stats.restore_seconds;
        settle();
    }
    double restored = median(t, ROUNDS);
    row("GPU restore from host memory", speed / restored / 1e9, "GB/s", speed / to_device / 1e9,
        to_device / restored, 0.85, 0);
    mend_store_close(s);

    s = opened("changes", MEND_DELTA_HASH);
    time_saves(s, 100, &blocked, &changed, &moved);
    row("GPU 1 % changed: save blocks", blocked, "s", inside, blocked / inside, 1.2, 1);
    row("GPU 1 % changed: time of the drain", changed, "s", full, changed / full, 0.1, 1);
    /* a copy is two versions old, and one page in a hundred changes between two */
    row("GPU 1 % changed: bytes over the bus", moved, "B", speed, moved / speed,
        0.011 + 16.0 / PAGE, 1);
    mend_store_close(s);
}

/* No room for a snapshot: straight into pinned memory. */
static void without_room(void)
{
    size_t left, all;
    double blocked, drained, moved;
    GPU_OK(gpu.info(&left, &all));
    void *hog = left > bytes / 2 ? gpu_new(left - bytes / 2) : NULL;
    mend_store *s = opened("direct", MEND_DELTA_OFF);
    time_saves(s, 1, &blocked, &drained, &moved);
    row("GPU save blocks, no room on the device", blocked, "s", to_host, blocked / to_host, 1.1, 1);
    mend_store_close(s);
    if (hog)
        gpu_drop(hog);
}

/* A kernel, again and again, for so many seconds or until the store is done: seconds of one. */
static double time_loop(mend_store *s, double seconds)
{
    uint64_t n = bytes / 4 / 16;
    int rounds = 64, done = 0, count = 0;
    void *arguments[] = {&other, &n, &rounds};
    double start = mend_now();
    while (s ? !done : mend_now() - start < seconds) {
        GPU_OK(more.launch(loop, 1024, 1, 1, 256, 1, 1, 0, stream, arguments, NULL));
        GPU_OK(more.wait(stream));
        count++;
        if (s)
            must(mend_store_test(s, &done));
    }
    return (mend_now() - start) / count;
}

static void disturbance(mend_delta delta, const char *name)
{
    mend_store *s = opened("disturb", delta);
    double quiet[ROUNDS], busy[ROUNDS];
    for (int i = -2; i < ROUNDS; i++) {
        touch_pages(delta == MEND_DELTA_OFF ? 1 : 100);
        double a = time_loop(NULL, 0.3);
        must(mend_store_save(s, i + 2));
        double b = time_loop(s, 0);
        must(mend_store_wait(s));
        if (i >= 0) {
            quiet[i] = a;
            busy[i] = b;
        }
        settle();
    }
    double a = median(quiet, ROUNDS), b = median(busy, ROUNDS);
    row(name, b, "s", a, b / a, 1.05, 1);
    mend_store_close(s);
}

int main(int argc, char **argv)
{
    int provided;
    void *module = NULL;
    size_t left, all;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (!gpu_start(0)) {
        printf("no GPU: nothing is measured\n");
        MPI_Finalize();
        return 0;
    }
    look_up();
    GPU_OK(gpu.info(&left, &all));
    bytes = (size_t)(atof(argc > 1 ? argv[1] : "7.45") * (double)((size_t)1 << 30)) / PAGE * PAGE;
    if (gpu.fake)
        bytes = (size_t)32 << 20;
    while (bytes > left / 5)
        bytes = bytes / 2 / PAGE * PAGE;
    if (!gpu.fake) {
        GPU_OK(more.load(&module, loop_text));
        GPU_OK(more.function(&loop, module, "mend_bench_loop"));
        GPU_OK(more.function(&touch, module, "mend_bench_touch"));
        GPU_OK(gpu.stream(&stream, 1));
    }
    data = gpu_new(bytes);
    other = gpu_new(bytes);
    GPU_OK(more.host(&pinned, bytes));
    fill();
    inside = time_of(0);
    to_host = time_of(1);
    to_device = time_of(2);
    printf("GPU copies of %.3g GB: %.4g GB/s inside (counted once), %.4g to pinned memory, %.4g "
           "back\n",
           (double)bytes / 1e9, (double)bytes / inside / 1e9, (double)bytes / to_host / 1e9,
           (double)bytes / to_device / 1e9);
    saves_and_restores();
    without_room();
    if (loop) {
        disturbance(MEND_DELTA_OFF, "GPU kernel loop while all is drained");
        disturbance(MEND_DELTA_HASH, "GPU kernel loop while changes are drained");
    }
    more.free_host(pinned);
    gpu_drop(data);
    gpu_drop(other);
    GPU_OK(gpu.info(&all, &left));
    MPI_Finalize();
    return 0;
}
