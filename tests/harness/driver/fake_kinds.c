/* The stand-in's less usual kinds of memory: of pools, managed, mapped by hand, shared between processes; and the driver's own
 * way to look up its functions. */
#include "fake_inside.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "fake_checkpoint.h"

#define EXPORT __attribute__((visibility("default")))

int cuMemAlloc_v2(address *a, size_t bytes);
int cuMemFree_v2(address a);

/* Memory that belongs to a device and to no context. */
static int without_context(address *a, size_t bytes)
{
    int rc = cuMemAlloc_v2(a, bytes);
    pthread_mutex_lock(&lock);
    if (rc == 0)
        find((void *)(uintptr_t)*a)->no_context = true;
    pthread_mutex_unlock(&lock);
    return rc;
}

EXPORT int cuMemAllocAsync(address *a, size_t bytes, void *stream)
{
    (void)stream;
    return without_context(a, bytes);
}

EXPORT int cuMemFreeAsync(address a, void *stream)
{
    (void)stream;
    return cuMemFree_v2(a);
}

EXPORT int cuMemAllocManaged(address *a, size_t bytes, unsigned flags)
{
    ENTER(cuMemAllocManaged);
    (void)flags;
    void *p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    add(p, bytes, MANAGED, 0);
    *a = (address)(uintptr_t)p;
    LEAVE(0);
}

/* Mapped by hand: the reservation is the memory, and the rest says yes. */
EXPORT int cuMemGetAllocationGranularity(size_t *step, const void *properties, int option)
{
    (void)properties, (void)option;
    *step = (size_t)2 << 20;
    return 0;
}

EXPORT int cuMemAddressReserve(address *a, size_t bytes, size_t align, address at,
                               unsigned long long flags)
{
    (void)align, (void)at, (void)flags;
    return without_context(a, bytes);
}

EXPORT int cuMemCreate(unsigned long long *handle, size_t bytes, const void *properties,
                       unsigned long long flags)
{
    (void)bytes, (void)properties, (void)flags;
    *handle = 1;
    return 0;
}

EXPORT int cuMemMap(address a, size_t bytes, size_t offset, unsigned long long handle,
                    unsigned long long flags)
{
    (void)a, (void)bytes, (void)offset, (void)handle, (void)flags;
    return 0;
}

EXPORT int cuMemSetAccess(address a, size_t bytes, const void *access, size_t count)
{
    (void)a, (void)bytes, (void)access, (void)count;
    return 0;
}

EXPORT int cuMemUnmap(address a, size_t bytes)
{
    (void)a, (void)bytes;
    return 0;
}

EXPORT int cuMemRelease(unsigned long long handle)
{
    (void)handle;
    return 0;
}

EXPORT int cuMemAddressFree(address a, size_t bytes)
{
    (void)bytes;
    return cuMemFree_v2(a);
}

/* ---- shared between processes: nobody can open it here, but it has a handle ------------------------ */

static bool shares;

struct ipc_handle {
    char bytes[64];
};

EXPORT int cuIpcGetMemHandle(struct ipc_handle *handle, address a)
{
    ENTER(cuIpcGetMemHandle);
    if (!find((void *)(uintptr_t)a))
        LEAVE(INVALID_VALUE);
    memcpy(handle->bytes, &a, sizeof a);
    shares = true;
    LEAVE(0);
}

EXPORT int cuIpcOpenMemHandle_v2(address *a, struct ipc_handle handle, unsigned flags)
{
    ENTER(cuIpcOpenMemHandle_v2);
    (void)flags;
    memcpy(a, handle.bytes, sizeof *a);
    LEAVE(find((void *)(uintptr_t)*a) ? 0 : INVALID_VALUE); /* the process' own */
}

int driver_shares(void)
{
    return shares;
}

/* ---- functions by name ------------------------------------------------------------------------- */

EXPORT int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                               int *status)
{
    (void)version, (void)flags;
    Dl_info self;
    char newer[80];
    void *library = dladdr((void *)cuGetProcAddress_v2, &self)
                        ? dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD)
                        : NULL;
    *function = NULL;
    if (library && strlen(name) < sizeof newer - 4) {
        strcat(strcpy(newer, name), "_v2");
        *function = dlsym(library, newer);
        if (!*function)
            *function = dlsym(library, name);
    }
    if (status)
        *status = *function ? 0 : 1;
    return *function ? 0 : 500;
}
