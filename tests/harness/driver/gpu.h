/* What a test program needs of a GPU, by the driver: the stand-in (fake_driver.c) where
 * MEND_DEVICE_DRIVER names it, else the machine's own. */
#ifndef TEST_GPU_H
#define TEST_GPU_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake_driver.h"

static struct {
    int (*init)(unsigned), (*count)(int *), (*retain)(void **, int), (*push)(void *),
        (*pop)(void **);
    int (*alloc)(uint64_t *, size_t), (*free)(uint64_t), (*sync)(void);
    int (*in)(uint64_t, const void *, size_t, void *), (*out)(void *, uint64_t, size_t, void *);
    int (*stream)(void **, unsigned), (*info)(size_t *, size_t *);
    const struct fake_driver *fake; /* NULL: a real one */
} gpu;

#define GPU_OK(call)                                                                  \
    do {                                                                              \
        int gpu_code = (call);                                                        \
        if (gpu_code) {                                                               \
            fprintf(stderr, "%s:%d: %s = %d\n", __FILE__, __LINE__, #call, gpu_code); \
            _Exit(1);                                                                 \
        }                                                                             \
    } while (0)

/* The driver is loaded and device `number` current; 0: there is none. */
static inline int gpu_start(int number)
{
    const char *path = getenv("MEND_DEVICE_DRIVER");
    void *library = dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW);
    void *context;
    int devices = 0;
    static const char *const names[] = {"cuInit",
                                        "cuDeviceGetCount",
                                        "cuDevicePrimaryCtxRetain",
                                        "cuCtxPushCurrent_v2",
                                        "cuCtxPopCurrent_v2",
                                        "cuMemAlloc_v2",
                                        "cuMemFree_v2",
                                        "cuCtxSynchronize",
                                        "cuMemcpyHtoDAsync_v2",
                                        "cuMemcpyDtoHAsync_v2",
                                        "cuStreamCreate",
                                        "cuMemGetInfo_v2"};
    if (!library) {
        fprintf(stderr, "gpu: %s\n", dlerror());
        return 0;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!(((void **)&gpu)[i] = dlsym(library, names[i])))
            return 0;
    const struct fake_driver *(*handle)(void);
    *(void **)&handle = dlsym(library, "fake_driver_handle");
    gpu.fake = handle ? handle() : NULL;
    int code = gpu.init(0);
    if (code || (code = gpu.count(&devices)) || !devices) {
        fprintf(stderr, "gpu: error %d of the driver, %d devices\n", code, devices);
        return 0;
    }
    GPU_OK(gpu.retain(&context, number % devices));
    GPU_OK(gpu.push(context));
    return 1;
}

static inline void *gpu_new(size_t bytes)
{
    uint64_t a = 0;
    GPU_OK(gpu.alloc(&a, bytes ? bytes : 1));
    return (void *)(uintptr_t)a;
}

static inline void gpu_fill(void *to, const void *from, size_t bytes)
{
    GPU_OK(gpu.in((uint64_t)(uintptr_t)to, from, bytes, NULL));
    GPU_OK(gpu.sync());
}

static inline void gpu_look(void *to, const void *from, size_t bytes)
{
    GPU_OK(gpu.out(to, (uint64_t)(uintptr_t)from, bytes, NULL));
    GPU_OK(gpu.sync());
}

static inline void gpu_drop(void *p)
{
    GPU_OK(gpu.free((uint64_t)(uintptr_t)p));
}

#endif
