/* One context of the driver, as the store uses it: a stream of our own, copies, pinned memory. */
#include <stdlib.h>
#include <string.h>

#include <base/copy.h>
#include <base/fail.h>
#include <device/device.h>

#include "driver.h"

#define RING ((size_t)8 << 20)

int device_enter(const mend_device *device)
{
    return CHECKED(device->driver, cuCtxPushCurrent, device->context);
}

void device_leave(const mend_device *device)
{
    void *context;
    device->driver->cuCtxPopCurrent(&context);
}

/* The context of the memory; for memory of no context (pools, cuMemMap) the caller's if it is on
 * that device, else the device's primary one, which the runtime uses. */
static int choose_context(mend_device *device, const mend_device_place *place)
{
    const struct driver *d = device->driver;
    device->ordinal = place->device;
    device->context = place->context;
    if (device->context)
        return 0;
    int number = 0;
    int rc = CHECKED(d, cuDeviceGet, &number, place->device);
    if (rc == 0)
        rc = CHECKED(d, cuDevicePrimaryCtxRetain, &device->context, number);
    device->retained = rc == 0;
    return rc;
}

int mend_device_open(const mend_device_place *place, mend_device **out)
{
    mend_device *device = calloc(1, sizeof *device);
    if (!device)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a device");
    int rc = driver_find(false, &device->driver);
    if (rc == 0 && (!device->driver || place->device < 0))
        rc = mend_fail(MEND_ERR_ARGUMENT, "this is no memory of a device");
    if (rc == 0)
        rc = choose_context(device, place);
    if (rc == 0)
        rc = device_enter(device);
    if (rc) {
        mend_device_close(device);
        return rc;
    }
    rc = CHECKED(device->driver, cuStreamCreate, &device->stream, STREAM_NON_BLOCKING);
    if (rc == 0)
        rc = CHECKED(device->driver, cuStreamCreate, &device->second, STREAM_NON_BLOCKING);
    device_leave(device);
    if (rc)
        mend_device_close(device);
    else
        *out = device;
    return rc;
}

/* The program may have destroyed the context, and everything in it: errors say no more than that. */
void mend_device_close(mend_device *device)
{
    if (!device)
        return;
    const struct driver *d = device->driver;
    if (device->context && d->cuCtxPushCurrent(device->context) == 0) {
        for (int i = 0; i < 2; i++) {
            void *stream = i ? device->second : device->stream;
            if (stream) {
                d->cuStreamSynchronize(stream);
                d->cuStreamDestroy(stream);
            }
            if (device->ring[i])
                d->cuMemFreeHost(device->ring[i]);
        }
        if (device->module)
            d->cuModuleUnload(device->module);
        device_leave(device);
    }
    if (device->retained)
        d->cuDevicePrimaryCtxRelease(device->ordinal);
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

void mend_device_free(mend_device *device, uint64_t at)
{
    if (!at || device->driver->cuCtxPushCurrent(device->context) != 0)
        return;
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

/* ---- through pinned buffers ------------------------------------------------------------------ */

static int make_ring(mend_device *device)
{
    int rc = 0;
    for (int i = 0; rc == 0 && i < 2; i++)
        if (!device->ring[i])
            rc = CHECKED(device->driver, cuMemAllocHost, (void **)&device->ring[i], RING);
    return rc;
}

static size_t piece(size_t bytes, size_t at)
{
    return bytes - at < RING ? bytes - at : RING;
}

/* Both streams are at their end, whatever happened; the first failure and its message stay. */
static int end_both(const mend_device *device, int rc)
{
    const struct driver *d = device->driver;
    void *streams[] = {device->stream, device->second};
    for (int i = 0; i < 2; i++) {
        result code = d->cuStreamSynchronize(streams[i]);
        if (rc == 0)
            rc = driver_check(d, code, "cuStreamSynchronize");
    }
    return rc;
}

/* While one buffer crosses the bus, the other is emptied: each has a stream of its own. */
static int fetch_pieces(mend_device *device, uint8_t *to, uint64_t from, size_t bytes)
{
    const struct driver *d = device->driver;
    void *streams[] = {device->stream, device->second};
    size_t last = 0;
    int rc = 0;

    for (size_t at = 0, i = 0; rc == 0 && at < bytes; last = at, at += RING, i++) {
        rc = CHECKED(d, cuMemcpyDtoHAsync, device->ring[i % 2], from + at, piece(bytes, at),
                     streams[i % 2]);
        if (rc == 0 && i > 0) {
            rc = CHECKED(d, cuStreamSynchronize, streams[(i - 1) % 2]);
            if (rc == 0)
                mend_copy(to + last, device->ring[(i - 1) % 2], RING);
        }
    }
    rc = end_both(device, rc);
    if (rc == 0)
        mend_copy(to + last, device->ring[last / RING % 2], piece(bytes, last));
    return rc;
}

int mend_device_fetch_slowly(mend_device *device, void *to, uint64_t from, size_t bytes)
{
    int rc = bytes ? device_enter(device) : 0;
    if (rc || !bytes)
        return rc;
    rc = make_ring(device);
    if (rc == 0)
        rc = fetch_pieces(device, to, from, bytes);
    device_leave(device);
    return rc;
}

static int put_pieces(mend_device *device, uint64_t to, const uint8_t *from, size_t bytes)
{
    const struct driver *d = device->driver;
    void *streams[] = {device->stream, device->second};
    int rc = 0;

    for (size_t at = 0, i = 0; rc == 0 && at < bytes; at += RING, i++) {
        rc = CHECKED(d, cuStreamSynchronize, streams[i % 2]); /* the buffer is free again */
        if (rc == 0) {
            mend_copy(device->ring[i % 2], from + at, piece(bytes, at));
            rc = CHECKED(d, cuMemcpyHtoDAsync, to + at, device->ring[i % 2], piece(bytes, at),
                         streams[i % 2]);
        }
    }
    return end_both(device, rc);
}

int mend_device_put_slowly(mend_device *device, uint64_t to, const void *from, size_t bytes)
{
    int rc = bytes ? device_enter(device) : 0;
    if (rc || !bytes)
        return rc;
    rc = make_ring(device);
    if (rc == 0)
        rc = put_pieces(device, to, from, bytes);
    device_leave(device);
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
    if (code != ERROR_ALREADY_REGISTERED) /* then the program, or another device, did so */
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
