/* A stand-in of the GPU's driver for tests: two devices whose memory is host memory that cannot be
 * touched by its address (the program crashes if it tries). Copies and kernels in streams are done
 * late, by a thread of each stream, so that who forgets to wait is found out; functions can be made
 * to fail. The functions are those that src/device/driver.h names, and the few more that a program
 * needs to have something on a device. */
#include "fake_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake_checkpoint.h"
#include "fake_driver.h"

#define EXPORT __attribute__((visibility("default")))

static uint64_t moved;
static bool no_kernels;

/* ---- the driver's functions ------------------------------------------------------------------ */

EXPORT int cuInit(unsigned flags)
{
    ENTER(cuInit);
    (void)flags;
    if (!ready && !set_up())
        LEAVE(OUT_OF_MEMORY);
    if (!ready)
        checkpoint_begin();
    ready = true;
    LEAVE(0);
}

EXPORT int cuDriverGetVersion(int *version)
{
    const char *text = getenv("MEND_FAKE_CUDA");
    *version = text ? atoi(text) : 13000;
    return 0;
}

EXPORT int cuGetErrorName(int code, const char **name)
{
    switch (code) {
    case INVALID_VALUE: *name = "CUDA_ERROR_INVALID_VALUE"; return 0;
    case OUT_OF_MEMORY: *name = "CUDA_ERROR_OUT_OF_MEMORY"; return 0;
    case NOT_INITIALIZED: *name = "CUDA_ERROR_NOT_INITIALIZED"; return 0;
    case 100: *name = "CUDA_ERROR_NO_DEVICE"; return 0;
    case INVALID_CONTEXT: *name = "CUDA_ERROR_INVALID_CONTEXT"; return 0;
    case 214: *name = "CUDA_ERROR_ECC_UNCORRECTABLE"; return 0;
    case 801: *name = "CUDA_ERROR_NOT_SUPPORTED"; return 0;
    case 700: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; return 0;
    case 719: *name = "CUDA_ERROR_LAUNCH_FAILED"; return 0;
    default: return INVALID_VALUE;
    }
}

EXPORT int cuDeviceGetCount(int *count)
{
    ENTER(cuDeviceGetCount);
    *count = DEVICES;
    LEAVE(0);
}

EXPORT int cuDeviceGet(int *device, int ordinal)
{
    ENTER(cuDeviceGet);
    *device = ordinal;
    LEAVE(ordinal >= 0 && ordinal < DEVICES ? 0 : INVALID_VALUE);
}

EXPORT int cuDeviceGetName(char *name, int room, int device)
{
    ENTER(cuDeviceGetName);
    const char *kind = getenv("MEND_FAKE_KIND"), *second = kind ? strchr(kind, ',') : NULL;
    if (second && device)
        snprintf(name, (size_t)room, "%s", second + 1);
    else if (kind)
        snprintf(name, (size_t)room, "%.*s", (int)strcspn(kind, ","), kind);
    else
        snprintf(name, (size_t)room, "Stand-in %d", device);
    LEAVE(0);
}

EXPORT int cuDeviceGetUuid_v2(void *uuid, int device)
{
    ENTER(cuDeviceGetUuid_v2);
    checkpoint_uuid(uuid, device);
    LEAVE(0);
}

EXPORT int cuDevicePrimaryCtxRetain(void **context, int device)
{
    ENTER(cuDevicePrimaryCtxRetain);
    *context = &contexts[device];
    LEAVE(0);
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int device)
{
    (void)device;
    return 0;
}

EXPORT int cuCtxGetCurrent(void **context)
{
    *context = depth ? stack[depth - 1] : NULL;
    return 0;
}

EXPORT int cuCtxPushCurrent_v2(void *context)
{
    ENTER(cuCtxPushCurrent);
    if (depth == 16)
        LEAVE(INVALID_CONTEXT);
    stack[depth++] = context;
    LEAVE(0);
}

EXPORT int cuCtxPopCurrent_v2(void **context)
{
    if (!depth)
        return INVALID_CONTEXT;
    *context = stack[--depth];
    return 0;
}

EXPORT int cuCtxSynchronize(void)
{
    ENTER(cuCtxSynchronize);
    struct context *c = depth ? stack[depth - 1] : NULL;
    if (!c)
        LEAVE(INVALID_CONTEXT);
    for (struct stream *s = c->streams; s; s = s->next)
        drained(s);
    LEAVE(c->error);
}

EXPORT int cuPointerGetAttributes(unsigned count, int *attributes, void **into, address a)
{
    ENTER(cuPointerGetAttributes);
    struct block *b = find((void *)(uintptr_t)a);
    for (unsigned i = 0; i < count; i++)
        switch (attributes[i]) {
        case 1:
            *(void **)into[i] =
                b && b->kind == DEVICE && !b->no_context ? &contexts[b->device] : NULL;
            break;
        case 2:
            *(unsigned *)into[i] = !b ? 0 : b->kind == DEVICE || b->kind == MANAGED ? 2 : 1;
            break;
        case 8: *(unsigned *)into[i] = b && b->kind == MANAGED; break;
        case 9: *(int *)into[i] = b ? b->device : -2; break;
        default: LEAVE(INVALID_VALUE);
        }
    LEAVE(0);
}

EXPORT int cuMemGetInfo_v2(size_t *left, size_t *all)
{
    ENTER(cuMemGetInfo);
    struct context *c = stack[depth - 1];
    *all = c->limit;
    *left = c->used < c->limit ? c->limit - c->used : 0;
    LEAVE(0);
}

EXPORT int cuMemAlloc_v2(address *a, size_t bytes)
{
    ENTER(cuMemAlloc);
    struct context *c = stack[depth - 1];
    size_t need = (bytes + GAP + ALIGN - 1) / ALIGN * ALIGN;
    if (c->used + bytes > c->limit || c->next + need > SPACE)
        LEAVE(OUT_OF_MEMORY);
    *a = (address)(uintptr_t)(c->seen + c->next);
    memset(c->real + c->next, 0xA5, bytes); /* fresh device memory is not zero */
    add(c->seen + c->next, bytes, DEVICE, c->device);
    c->next += need;
    c->used += bytes;
    LEAVE(0);
}

EXPORT int cuMemFree_v2(address a)
{
    ENTER(cuMemFree);
    int rc = take_away((void *)(uintptr_t)a, DEVICE);
    LEAVE(rc ? take_away((void *)(uintptr_t)a, MANAGED) : 0);
}

EXPORT int cuMemAllocHost_v2(void **p, size_t bytes)
{
    ENTER(cuMemAllocHost);
    *p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    add(*p, bytes, PINNED, 0);
    LEAVE(0);
}

EXPORT int cuMemFreeHost(void *p)
{
    ENTER(cuMemFreeHost);
    int rc = take_away(p, PINNED);
    if (rc == 0)
        free(p);
    LEAVE(rc);
}

EXPORT int cuMemHostRegister_v2(void *p, size_t bytes, unsigned flags)
{
    ENTER(cuMemHostRegister);
    (void)flags;
    if (find(p))
        LEAVE(712);
    add(p, bytes, REGISTERED, 0);
    LEAVE(0);
}

EXPORT int cuMemHostUnregister(void *p)
{
    ENTER(cuMemHostUnregister);
    LEAVE(take_away(p, REGISTERED));
}

EXPORT int cuMemHostGetDevicePointer_v2(address *a, void *p, unsigned flags)
{
    ENTER(cuMemHostGetDevicePointer);
    (void)flags;
    *a = (address)(uintptr_t)p;
    LEAVE(find(p) ? 0 : INVALID_VALUE);
}

EXPORT int cuMemcpyDtoDAsync_v2(address to, address from, size_t bytes, void *stream)
{
    ENTER(cuMemcpyDtoDAsync);
    struct work w = {
        .to = real(to, bytes), .from = real(from, bytes), .bytes = bytes, .fail = late};
    LEAVE(w.to && w.from ? enqueue(stream, w) : INVALID_VALUE);
}

EXPORT int cuMemcpyDtoHAsync_v2(void *to, address from, size_t bytes, void *stream)
{
    ENTER(cuMemcpyDtoHAsync);
    struct work w = {.to = to, .from = real(from, bytes), .bytes = bytes, .fail = late};
    moved += bytes;
    LEAVE(w.from ? enqueue(stream, w) : INVALID_VALUE);
}

EXPORT int cuMemcpyHtoDAsync_v2(address to, const void *from, size_t bytes, void *stream)
{
    ENTER(cuMemcpyHtoDAsync);
    struct work w = {.to = real(to, bytes), .from = from, .bytes = bytes, .fail = late};
    moved += bytes;
    LEAVE(w.to ? enqueue(stream, w) : INVALID_VALUE);
}

EXPORT int cuMemsetD8Async(address to, unsigned char value, size_t bytes, void *stream)
{
    ENTER(cuMemsetD8Async);
    struct work w = {.to = real(to, bytes), .bytes = bytes, .kernel = 3, .fail = late};
    LEAVE(w.to && !value ? enqueue(stream, w) : INVALID_VALUE);
}

EXPORT int cuStreamCreate(void **stream, unsigned flags)
{
    ENTER(cuStreamCreate);
    (void)flags;
    struct context *c = depth ? stack[depth - 1] : NULL;
    if (!c)
        LEAVE(INVALID_CONTEXT);
    *stream = new_stream(c);
    LEAVE(0);
}

EXPORT int cuStreamDestroy_v2(void *stream)
{
    struct stream *s = stream;
    pthread_mutex_lock(&lock);
    s->stop = true;
    pthread_cond_broadcast(&changed);
    for (struct stream **at = &s->context->streams; *at; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    pthread_join(s->thread, NULL);
    free(s);
    return 0;
}

EXPORT int cuStreamSynchronize(void *stream)
{
    ENTER(cuStreamSynchronize);
    struct context *c = depth ? stack[depth - 1] : NULL;
    if (!c)
        LEAVE(INVALID_CONTEXT);
    struct stream *s = stream_of(c, stream);
    drained(s);
    LEAVE(s->context->error);
}

/* A module is the text; a function is the number of a kernel that is known here. */
EXPORT int cuModuleLoadData(void **module, const void *image)
{
    ENTER(cuModuleLoadData);
    *module = (void *)image;
    LEAVE(no_kernels || strncmp(image, ".version", 8) != 0 ? NO_KERNEL : 0);
}

EXPORT int cuModuleUnload(void *module)
{
    (void)module;
    return 0;
}

EXPORT int cuModuleGetFunction(void **function, void *module, const char *name)
{
    ENTER(cuModuleGetFunction);
    if (!strstr(module, name))
        LEAVE(INVALID_VALUE);
    *function = (void *)(uintptr_t)(strcmp(name, "mend_look_pages") == 0 ? 1 : 2);
    LEAVE(0);
}

EXPORT int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                          unsigned by, unsigned bz, unsigned shared, void *stream, void **arguments,
                          void **extra)
{
    ENTER(cuLaunchKernel);
    (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)extra;
    struct work w = {.kernel = (int)(uintptr_t)function, .fail = late};
    uint64_t a[8] = {0};
    for (int i = 0; i < (w.kernel == 1 ? 8 : 4); i++)
        a[i] = *(uint64_t *)arguments[i];
    w.from = real(a[0], 1);
    if (w.kernel == 1) {
        w.count = a[1];
        w.from = real(a[0], w.count * 4096);
        w.to = a[2] ? real(a[2], w.count * 4096) : NULL;
        w.sums = real(a[3], w.count * 16);
        w.found = real(a[4], 8);
        w.most = a[5];
        w.list = real(a[6], w.most * 8);
        w.news = real(a[7], w.most * 16);
        if (a[0] % 4096 || a[2] % 4096 || a[3] % 16 || a[7] % 16 || !w.sums || !w.found ||
            (w.most && (!w.list || !w.news)) || (a[2] && !w.to))
            LEAVE(INVALID_VALUE);
    } else { /* the places that the list names are not checked here: they are in the lists' blocks */
        w.count = a[2];
        w.list = real(a[1], w.count * 8);
        w.to = real(a[3], w.count * 4096);
        if (!w.list || !w.to)
            LEAVE(INVALID_VALUE);
    }
    LEAVE(w.from ? enqueue(stream, w) : INVALID_VALUE);
}

/* ---- for another process, see fake_checkpoint.c ---------------------------------------------- */

static void *taken[DEVICES];

int driver_lock(void)
{
    pthread_mutex_lock(&lock);
    locked = true;
    for (int i = 0; i < DEVICES; i++)
        for (struct stream *s = contexts[i].streams; s; s = s->next)
            drained(s);
    pthread_mutex_unlock(&lock);
    return 0;
}

int driver_take(void)
{
    for (int i = 0; i < DEVICES; i++) {
        struct context *c = &contexts[i];
        taken[i] = malloc(c->next + 1);
        memcpy(taken[i], c->real, c->next);
        munmap(c->real, SPACE);
        mmap(c->real, SPACE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
             0);
    }
    return locked ? 0 : INVALID_VALUE;
}

int driver_return(void)
{
    for (int i = 0; i < DEVICES; i++) {
        struct context *c = &contexts[i];
        if (!taken[i] || !map_memory(c))
            return NOT_INITIALIZED;
        memcpy(c->real, taken[i], c->next);
        free(taken[i]);
        taken[i] = NULL;
    }
    return 0;
}

int driver_unlock(void)
{
    pthread_mutex_lock(&lock);
    locked = false;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return 0;
}

/* ---- for tests ------------------------------------------------------------------------------- */

static void fail(const char *function, int hit, int code, int sticky, int late)
{
    pthread_mutex_lock(&lock);
    failure = (struct failure){.hit = hit, .code = code, .sticky = sticky, .late = late};
    strncpy(failure.function, function, sizeof failure.function - 1);
    pthread_mutex_unlock(&lock);
}

static void heal(void)
{
    pthread_mutex_lock(&lock);
    failure.hit = 0;
    for (int i = 0; i < DEVICES; i++)
        contexts[i].error = 0;
    pthread_mutex_unlock(&lock);
}

static int waiting(void)
{
    pthread_mutex_lock(&lock);
    int hit = failure.hit;
    pthread_mutex_unlock(&lock);
    return hit > 0;
}

static size_t in_use(int device)
{
    pthread_mutex_lock(&lock);
    size_t used = contexts[device].used;
    pthread_mutex_unlock(&lock);
    return used;
}

static void limit(int device, size_t bytes)
{
    pthread_mutex_lock(&lock);
    contexts[device].limit = bytes;
    pthread_mutex_unlock(&lock);
}

static uint64_t bytes_moved(void)
{
    pthread_mutex_lock(&lock);
    uint64_t m = moved;
    pthread_mutex_unlock(&lock);
    return m;
}

static int calls(const char *function)
{
    int n = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        if (strcmp(counted[i].name, function) == 0)
            n = counted[i].count;
    pthread_mutex_unlock(&lock);
    return n;
}

static void *managed(size_t bytes)
{
    void *p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    pthread_mutex_lock(&lock);
    add(p, bytes, MANAGED, 0);
    pthread_mutex_unlock(&lock);
    return p;
}

static void kernels(int on)
{
    no_kernels = !on;
}

static void *context_of(int device)
{
    return &contexts[device];
}

EXPORT const struct fake_driver *fake_driver_handle(void);
const struct fake_driver *fake_driver_handle(void)
{
    static const struct fake_driver handle = {fail,        heal,  waiting, in_use,  limit,
                                              bytes_moved, calls, managed, kernels, context_of};
    return &handle;
}
