/* The driver functions that we call, as CUDA documents them. We look them up by name. */
#ifndef DEVICE_DRIVER_H
#define DEVICE_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int result;       /* CUresult; 0: success */
typedef uint64_t address; /* CUdeviceptr */

enum {
    ERROR_INVALID_VALUE = 1,
    ERROR_OUT_OF_MEMORY = 2,
    ERROR_NOT_INITIALIZED = 3,
    ERROR_DEINITIALIZED = 4,
    ERROR_NO_DEVICE = 100,
    ERROR_ALREADY_REGISTERED = 712,
};
enum { POINTER_CONTEXT = 1, POINTER_TYPE = 2, POINTER_MANAGED = 8, POINTER_ORDINAL = 9 };
enum { TYPE_HOST = 1, TYPE_DEVICE = 2 };
enum { STREAM_NON_BLOCKING = 1, REGISTER_PORTABLE = 1, REGISTER_MAPPED = 2 };

/* name, its suffix in the library, parameters */
#define DRIVER_FUNCTIONS(X)                                                                  \
    X(cuInit, "", (unsigned))                                                                \
    X(cuDriverGetVersion, "", (int *))                                                       \
    X(cuGetErrorName, "", (result, const char **))                                           \
    X(cuDeviceGetCount, "", (int *))                                                         \
    X(cuDeviceGet, "", (int *, int))                                                         \
    X(cuDeviceGetName, "", (char *, int, int))                                               \
    X(cuDevicePrimaryCtxRetain, "", (void **, int))                                          \
    X(cuDevicePrimaryCtxRelease, "_v2", (int))                                               \
    X(cuCtxGetCurrent, "", (void **))                                                        \
    X(cuCtxPushCurrent, "_v2", (void *))                                                     \
    X(cuCtxPopCurrent, "_v2", (void **))                                                     \
    X(cuCtxSynchronize, "", (void))                                                          \
    X(cuPointerGetAttributes, "", (unsigned, int *, void **, address))                       \
    X(cuMemGetInfo, "_v2", (size_t *, size_t *))                                             \
    X(cuMemAlloc, "_v2", (address *, size_t))                                                \
    X(cuMemFree, "_v2", (address))                                                           \
    X(cuMemAllocHost, "_v2", (void **, size_t))                                              \
    X(cuMemFreeHost, "", (void *))                                                           \
    X(cuMemHostRegister, "_v2", (void *, size_t, unsigned))                                  \
    X(cuMemHostUnregister, "", (void *))                                                     \
    X(cuMemHostGetDevicePointer, "_v2", (address *, void *, unsigned))                       \
    X(cuMemcpyDtoDAsync, "_v2", (address, address, size_t, void *))                          \
    X(cuMemcpyDtoHAsync, "_v2", (void *, address, size_t, void *))                           \
    X(cuMemcpyHtoDAsync, "_v2", (address, const void *, size_t, void *))                     \
    X(cuMemsetD8Async, "", (address, unsigned char, size_t, void *))                         \
    X(cuStreamCreate, "", (void **, unsigned))                                               \
    X(cuStreamDestroy, "_v2", (void *))                                                      \
    X(cuStreamSynchronize, "", (void *))                                                     \
    X(cuModuleLoadData, "", (void **, const void *))                                         \
    X(cuModuleUnload, "", (void *))                                                          \
    X(cuModuleGetFunction, "", (void **, void *, const char *))                              \
    X(cuLaunchKernel, "",                                                                    \
      (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, \
       void **, void **))

struct driver {
#define DRIVER_FIELD(name, suffix, parameters) result(*name) parameters;
    DRIVER_FUNCTIONS(DRIVER_FIELD)
#undef DRIVER_FIELD
};

/* Find the driver if this process has loaded it; *driver = NULL: it has not. load: load it, or fail. */
int driver_find(bool load, const struct driver **driver);

/* After driver_find: does the driver have this function, which we do not need? */
bool driver_has(const char *function);

/* 0, or MEND_ERR_DEVICE (MEND_ERR_NO_MEMORY) with the function and the error's name. */
int driver_check(const struct driver *driver, result code, const char *function);
#define CHECKED(d, name, ...) driver_check(d, (d)->name(__VA_ARGS__), #name)

/* One thread's path to or from pageable host memory: two buffers that alternate, see lanes.c. */
#define LANES 8
struct lane {
    uint8_t *buffer[2];
    void *stream[2];
    address beside[2]; /* on the device: gathered pages, to copy as one */
};

/* ---- device.c ---- */
struct mend_device {
    const struct driver *driver;
    int ordinal;
    int handle; /* CUdevice, if retained */
    void *context;
    bool retained; /* we hold the primary context and must release it */
    void *stream;
    struct lane lanes[LANES]; /* made when needed */
    void *module, *look, *gather;
    bool kernels_tried;
};
int device_enter(const struct mend_device *device);
void device_leave(const struct mend_device *device);

/* ---- lanes.c ---- */
void lanes_free(struct mend_device *device);

/* ---- sums.c, called inside the context ---- */
int sums_load(struct mend_device *device);
/* Copy the listed pages to `to`, contiguously; all in device memory. Starts in that stream and does not wait. */
int sums_gather(struct mend_device *device, void *stream, uint64_t from, uint64_t list,
                uint64_t count, uint64_t to);

#endif
