/* One driver context, as the store uses it: a stream of our own, copies, pinned memory. */
#include <stdlib.h>
#include <string.h>

#include <base/copy.h>
#include <base/fail.h>
#include <device/device.h>

#include "driver.h"

int device_enter(const mend_device *device)
{
    return CHECKED(device->driver, cuCtxPushCurrent, device->context);
}

void device_leave(const mend_device *device)
{
    void *context;
    device->driver->cuCtxPopCurrent(&context);
}

/* Take the context of the memory. Memory from pools or cuMemMap has none: take the device's primary context, which the
 * CUDA runtime uses. */
static int choose_context(mend_device *device, const mend_device_place *place)
{
    const struct driver *d = device->driver;
    device->ordinal = place->device;
    device->context = place->context;
    if (device->context)
        return 0;
    int rc = CHECKED(d, cuDeviceGet, &device->handle, place->device);
    if (rc == 0)
        rc = CHECKED(d, cuDevicePrimaryCtxRetain, &device->context, device->handle);
    device->retained = rc == 0;
    return rc;
}

int mend_device_open(const mend_device_place *place, mend_device **out)
{
    mend_device *device = calloc(1, sizeof *device);
    if (!device)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a device");
    const struct driver *driver = NULL;
    int rc = driver_find(false, &driver);
    device->driver = driver;
    if (rc == 0 && (!driver || place->device < 0))
        rc = mend_fail(MEND_ERR_ARGUMENT, "this is not device memory");
    if (rc == 0)
        rc = choose_context(device, place);
    if (rc == 0)
        rc = device_enter(device);
    if (rc) {
        mend_device_close(device);
        return rc;
    }
    rc = CHECKED(device->driver, cuStreamCreate, &device->stream, STREAM_NON_BLOCKING);
    device_leave(device);
    if (rc)
        mend_device_close(device);
    else
        *out = device;
    return rc;
}

/* The program may have destroyed the context and everything in it. An error here means no more than that. */
void mend_device_close(mend_device *device)
{
    if (!device)
        return;
    const struct driver *d = device->driver;
    if (device->context && d->cuCtxPushCurrent(device->context) == 0) {
        if (device->stream) {
            d->cuStreamSynchronize(device->stream);
            d->cuStreamDestroy(device->stream);
        }
        lanes_free(device);
        if (device->module)
            d->cuModuleUnload(device->module);
        device_leave(device);
    }
    if (device->retained)
        d->cuDevicePrimaryCtxRelease(device->handle);
    free(device);
}

bool mend_device_is(const mend_device *device, const mend_device_place *place)
{
    return device->ordinal == place->device &&
           (place->context ? device->context == place->context : device->retained);
}

int mend_device_settle(mend_device *device, void *stream)
{
    int rc = device_enter(device);
    if (rc)
        return rc;
    rc = stream ? CHECKED(device->driver, cuStreamSynchronize, stream)
                : CHECKED(device->driver, cuCtxSynchronize);
    device_leave(device);
    return rc;
}

int mend_device_alloc(mend_device *device, size_t bytes, uint64_t *at)
{
    int rc = device_enter(device);
    if (rc)
        return rc;
    rc = CHECKED(device->driver, cuMemAlloc, at, bytes);
    device_leave(device);
    return rc;
}

/* A call that failed may have left copies in the stream. */
void mend_device_free(mend_device *device, uint64_t at)
{
    if (!at || device->driver->cuCtxPushCurrent(device->context) != 0)
        return;
    device->driver->cuStreamSynchronize(device->stream);
    device->driver->cuMemFree(at);
    device_leave(device);
}

int mend_device_room(mend_device *device, size_t *left, size_t *all)
{
    int rc = device_enter(device);
    if (rc)
        return rc;
    rc = CHECKED(device->driver, cuMemGetInfo, left, all);
    device_leave(device);
    return rc;
}

int mend_device_copy_inside(mend_device *device, uint64_t to, uint64_t from, size_t bytes)
{
    int rc = device_enter(device);
    if (rc)
        return rc;
    rc = CHECKED(device->driver, cuMemcpyDtoDAsync, to, from, bytes, device->stream);
    device_leave(device);
    return rc;
}

int mend_device_fetch(mend_device *device, void *to, uint64_t from, size_t bytes)
{
    int rc = device_enter(device);
    if (rc)
        return rc;
    rc = CHECKED(device->driver, cuMemcpyDtoHAsync, to, from, bytes, device->stream);
    device_leave(device);
    return rc;
}

int mend_device_put(mend_device *device, uint64_t to, const void *from, size_t bytes)
{
    int rc = device_enter(device);
    if (rc)
        return rc;
    rc = CHECKED(device->driver, cuMemcpyHtoDAsync, to, from, bytes, device->stream);
    device_leave(device);
    return rc;
}

int mend_device_zero(mend_device *device, uint64_t at, size_t bytes)
{
    int rc = device_enter(device);
    if (rc)
        return rc;
    rc = CHECKED(device->driver, cuMemsetD8Async, at, 0, bytes, device->stream);
    device_leave(device);
    return rc;
}

int mend_device_wait(mend_device *device)
{
    int rc = device_enter(device);
    if (rc)
        return rc;
    rc = CHECKED(device->driver, cuStreamSynchronize, device->stream);
    device_leave(device);
    return rc;
}

int mend_device_end(mend_device *device, int rc)
{
    if (rc == 0)
        return mend_device_wait(device);
    if (device->driver->cuCtxPushCurrent(device->context) == 0) {
        device->driver->cuStreamSynchronize(device->stream);
        device_leave(device);
    }
    return rc;
}

int mend_device_pin(mend_device *device, void *memory, size_t bytes, uint64_t *seen)
{
    const struct driver *d = device->driver;
    int rc = device_enter(device);
    if (rc)
        return rc;
    result code = d->cuMemHostRegister(memory, bytes, REGISTER_PORTABLE | REGISTER_MAPPED);
    bool ours = code == 0;
    if (code != ERROR_ALREADY_REGISTERED) /* then the program, or another device, has done so */
        rc = driver_check(d, code, "cuMemHostRegister");
    if (rc == 0)
        rc = CHECKED(d, cuMemHostGetDevicePointer, seen, memory, 0);
    if (rc && ours)
        d->cuMemHostUnregister(memory);
    device_leave(device);
    return rc;
}

void mend_device_unpin(mend_device *device, void *memory)
{
    if (device->driver->cuCtxPushCurrent(device->context) != 0)
        return;
    device->driver->cuStreamSynchronize(device->stream);
    device->driver->cuMemHostUnregister(memory);
    device_leave(device);
}

/* ---- anywhere to anywhere -------------------------------------------------------------------- */

static int copy_by(mend_device *device, void *to, bool to_device, const void *from,
                   bool from_device, size_t bytes)
{
    uint64_t into = (uint64_t)(uintptr_t)to, out = (uint64_t)(uintptr_t)from;
    int rc = mend_device_settle(device, NULL);
    if (rc)
        return rc;
    if (!from_device)
        return mend_device_put_slowly(device, into, from, bytes);
    if (!to_device)
        return mend_device_fetch_slowly(device, to, out, bytes);
    return mend_device_end(device, mend_device_copy_inside(device, into, out, bytes));
}

int mend_device_copy(void *to, const void *from, size_t bytes)
{
    mend_device_place a, b;
    mend_device *device = NULL;

    int rc = mend_device_where(to, bytes, &a);
    if (rc == 0)
        rc = mend_device_where(from, bytes, &b);
    if (rc)
        return rc;
    if (!mend_device_holds(&a) && !mend_device_holds(&b)) {
        if (bytes)
            mend_copy(to, from, bytes);
        return 0;
    }
    rc = mend_device_open(mend_device_holds(&a) ? &a : &b, &device);
    if (rc == 0)
        rc = copy_by(device, to, mend_device_holds(&a), from, mend_device_holds(&b), bytes);
    mend_device_close(device);
    return rc;
}
