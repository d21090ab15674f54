/* Every kind of memory that CUDA gives out, as a region: from plain allocations, from a pool, managed, and mapped by hand.
 * Saved, changed, saved again, restored from memory, from a file, into host memory, and from the host's file into the
 * device, bit for bit. Over the machine's GPU, or over the stand-in of its driver (MEND_DEVICE_DRIVER).
 *
 *     kinds FOLDER [MIB]      exit code 77: no GPU */
#define MEND_STORE_NO_MPI
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mend/store.h>

#include "../harness/driver/gpu.h"

#define PAGE 4096u

/* As cuda.h has them. */
struct location {
    int type, id;
};
struct properties {
    int type, handles;
    struct location where;
    void *security;
    unsigned char flags[8];
};
struct access {
    struct location where;
    int flags;
};

static struct {
    int (*managed)(uint64_t *, size_t, unsigned), (*from_pool)(uint64_t *, size_t, void *);
    int (*to_pool)(uint64_t, void *);
    int (*reserve)(uint64_t *, size_t, size_t, uint64_t, unsigned long long);
    int (*create)(unsigned long long *, size_t, const struct properties *, unsigned long long);
    int (*map)(uint64_t, size_t, size_t, unsigned long long, unsigned long long);
    int (*allow)(uint64_t, size_t, const struct access *, size_t);
    int (*unmap)(uint64_t, size_t), (*release)(unsigned long long), (*give_up)(uint64_t, size_t);
    int (*granularity)(size_t *, const struct properties *, int);
} more;

static size_t bytes;
static uint8_t *is, *back;
static char folder[400];
static int failures;

static void look_up(void)
{
    const char *path = getenv("MEND_DEVICE_DRIVER");
    void *library = dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW);
    static const char *const names[] = {"cuMemAllocManaged",
                                        "cuMemAllocAsync",
                                        "cuMemFreeAsync",
                                        "cuMemAddressReserve",
                                        "cuMemCreate",
                                        "cuMemMap",
                                        "cuMemSetAccess",
                                        "cuMemUnmap",
                                        "cuMemRelease",
                                        "cuMemAddressFree",
                                        "cuMemGetAllocationGranularity"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!(((void **)&more)[i] = dlsym(library, names[i]))) {
            fprintf(stderr, "no %s\n", names[i]);
            exit(1);
        }
}

static void must(int rc, const char *what)
{
    if (rc) {
        printf("kinds: %s: %s\n", what, mend_error_text());
        exit(1);
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

enum kind { PLAIN, INSIDE, POOL, MANAGED, MAPPED, KINDS };
static const char *const names[] = {"cuMemAlloc", "within an allocation", "cuMemAllocAsync",
                                    "cuMemAllocManaged", "cuMemMap"};

static uint8_t *mapped(size_t *length, unsigned long long *handle)
{
    struct properties p = {.type = 1, .where = {1, 0}};
    struct access a = {.where = {1, 0}, .flags = 3};
    size_t step = 0;
    uint64_t at = 0;
    GPU_OK(more.granularity(&step, &p, 0));
    *length = (bytes + step - 1) / step * step;
    GPU_OK(more.reserve(&at, *length, 0, 0, 0));
    GPU_OK(more.create(handle, *length, &p, 0));
    GPU_OK(more.map(at, *length, 0, *handle, 0));
    GPU_OK(more.allow(at, *length, &a, 1));
    return (uint8_t *)(uintptr_t)at;
}

struct memory {
    enum kind kind;
    uint8_t *at;
    size_t length;
    unsigned long long handle;
};

static struct memory take(enum kind kind)
{
    struct memory m = {.kind = kind};
    uint64_t at = 0;
    switch (kind) {
    case PLAIN: m.at = gpu_new(bytes); break;
    case INSIDE: m.at = (uint8_t *)gpu_new(bytes + 1000) + 424; break;
    case POOL: GPU_OK(more.from_pool(&at, bytes, NULL)); break;
    case MANAGED: GPU_OK(more.managed(&at, bytes, 1)); break;
    default: m.at = mapped(&m.length, &m.handle); break;
    }
    GPU_OK(gpu.sync());
    if (at)
        m.at = (uint8_t *)(uintptr_t)at;
    return m;
}

static void give(const struct memory *m)
{
    uint64_t at = (uintptr_t)m->at;
    GPU_OK(gpu.sync());
    switch (m->kind) {
    case PLAIN:
    case MANAGED: gpu_drop(m->at); break;
    case INSIDE: gpu_drop(m->at - 424); break;
    case POOL: GPU_OK(more.to_pool(at, NULL)); break;
    default:
        GPU_OK(more.unmap(at, m->length));
        GPU_OK(more.release(m->handle));
        GPU_OK(more.give_up(at, m->length));
    }
    GPU_OK(gpu.sync());
}

/* ---- one kind -------------------------------------------------------------------------------- */

static mend_store *opened(void *at)
{
    mend_store_options o;
    mend_store *s = NULL;
    must(mend_store_defaults(&o), "defaults");
    for (int i = 0; i < MEND_LEVEL_COUNT; i++)
        o.level[i].every = 0;
    o.level[MEND_LEVEL_MEMORY] = (mend_level_options){.every = 1, .keep = 1};
    o.level[MEND_LEVEL_LOCAL] = (mend_level_options){.every = 1, .keep = 2};
    o.local_dir = folder;
    o.delta = MEND_DELTA_HASH;
    must(mend_store_open_single("kinds", &o, &s), "open");
    must(mend_store_region(s, 1, "data", at, bytes), "region");
    return s;
}

static void change(uint8_t *at, int some)
{
    for (int i = 0; i < some; i++)
        is[(size_t)rand() * 31 % bytes] ^= (uint8_t)(1 + rand() % 255);
    gpu_fill(at, is, bytes);
}

static void check(enum kind kind, const char *what, const uint8_t *at)
{
    memset(back, 0, bytes);
    gpu_look(back, at, bytes);
    if (memcmp(back, is, bytes) != 0) {
        printf("kinds: %s: %s: WRONG\n", names[kind], what);
        failures++;
    }
}

static void spoil(uint8_t *at)
{
    memset(back, 0x5e, bytes);
    gpu_fill(at, back, bytes);
}

static void save(mend_store *s, long version, uint8_t *at)
{
    must(mend_store_save(s, version), "save");
    spoil(at); /* at once: the save has what was there before */
    must(mend_store_wait(s), "wait");
}

static void one(enum kind kind)
{
    struct memory m = take(kind);
    mend_store_stats a, b;
    uint8_t *host = malloc(bytes);
    mend_store *s = opened(m.at);
    for (long v = 0; v < 6; v++) {
        mend_store_statistics(s, &a);
        change(m.at, v ? 20 : 10000);
        save(s, v, m.at);
        must(mend_store_restore(s, v), "restore from memory");
        check(kind, "from memory", m.at);
        mend_store_statistics(s, &b);
    }
    double moved = (double)(b.device_moved - a.device_moved) / (double)bytes;
    must(mend_store_close(s), "close");
    s = opened(m.at);
    spoil(m.at);
    must(mend_store_restore(s, 5), "restore from a file");
    check(kind, "from a file", m.at);
    must(mend_store_close(s), "close");
    s = opened(host);
    must(mend_store_restore(s, 5), "restore into host memory");
    if (memcmp(host, is, bytes) != 0) {
        printf("kinds: %s: into host memory: WRONG\n", names[kind]);
        failures++;
    }
    host[bytes / 2] ^= 1;
    memcpy(is, host, bytes);
    must(mend_store_save(s, 6), "save from the host");
    must(mend_store_close(s), "close");
    s = opened(m.at);
    must(mend_store_restore(s, 6), "restore what was saved from the host");
    check(kind, "saved from the host", m.at);
    must(mend_store_close(s), "close");
    printf("kinds: %s: %.0f MiB, %.2f %% of it moved by the last save: ok\n", names[kind],
           (double)bytes / 1048576, 100 * moved);
    give(&m);
    free(host);
    char command[500];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        failures++;
}

int main(int argc, char **argv)
{
    size_t before, after, all;
    if (argc < 2 || !gpu_start(0)) {
        printf("SKIP: no GPU\n");
        return 77;
    }
    snprintf(folder, sizeof folder, "%s/kinds", argv[1]);
    bytes = ((size_t)(argc > 2 ? atoi(argv[2]) : 1) << 20) + 77;
    is = malloc(bytes);
    back = malloc(bytes);
    for (size_t i = 0; i < bytes; i++)
        is[i] = (uint8_t)(i * 2654435761u >> 13);
    look_up();
    GPU_OK(gpu.info(&before, &all));
    for (int kind = 0; kind < KINDS; kind++)
        one((enum kind)kind);
    GPU_OK(gpu.info(&after, &all));
    if (gpu.fake && after != before) {
        printf("kinds: %zu bytes of the device are left behind\n", before - after);
        failures++;
    }
    printf(failures ? "FAIL\n" : "PASS\n");
    return failures != 0;
}
