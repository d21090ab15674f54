/* Finds out whose memory an address is. */

#include <base/fail.h>
#include <base/readable.h>
#include <device/device.h>

#include "driver.h"

/* *silence: the error with which the driver says that nobody uses it (any more); 0: it has answered. */
static int ask(const struct driver *d, const void *at, mend_device_place *place, result *silence)
{
    void *context = NULL;
    unsigned type = 0, managed = 0;
    int ordinal = -1;
    int attributes[] = {POINTER_CONTEXT, POINTER_TYPE, POINTER_MANAGED, POINTER_ORDINAL};
    void *into[] = {&context, &type, &managed, &ordinal};

    *place = (mend_device_place){MEND_DEVICE_HOST, -1, NULL};
    result code = d->cuPointerGetAttributes(4, attributes, into, (address)(uintptr_t)at);
    *silence = 0;
    if ((code == ERROR_NOT_INITIALIZED || code == ERROR_DEINITIALIZED || code == ERROR_NO_DEVICE) &&
        mend_readable((const void *)((uintptr_t)at & ~(uintptr_t)7))) { /* the kernel knows */
        *silence = code;
        return 0;
    }
    if (code)
        return driver_check(d, code, "cuPointerGetAttributes");
    if (managed)
        *place = (mend_device_place){MEND_DEVICE_MANAGED, ordinal, context};
    else if (type == TYPE_DEVICE)
        *place = (mend_device_place){MEND_DEVICE_MEMORY, ordinal, context};
    else if (type == TYPE_HOST)
        *place = (mend_device_place){MEND_DEVICE_PINNED, ordinal, context};
    return 0;
}

int mend_device_where(const void *at, size_t bytes, mend_device_place *place)
{
    const struct driver *d;
    mend_device_place end;
    result begun = 0, ended = 0;

    *place = (mend_device_place){MEND_DEVICE_HOST, -1, NULL};
    int rc = driver_find(false, &d);
    if (rc || !d || !at)
        return rc;
    rc = ask(d, at, place, &begun);
    if (rc || !bytes)
        return rc;
    rc = ask(d, (const char *)at + bytes - 1, &end, &ended);
    if (rc == 0 && begun != ended) /* it went away in between */
        rc = driver_check(d, begun ? begun : ended, "cuPointerGetAttributes");
    if (rc == 0 && mend_device_holds(place) != mend_device_holds(&end))
        rc = mend_fail(MEND_ERR_ARGUMENT, "%zu bytes at %p begin %s device memory and end %s it",
                       bytes, at, mend_device_holds(place) ? "in" : "outside",
                       mend_device_holds(&end) ? "in" : "outside");
    if (rc == 0 && mend_device_holds(place) && end.device != place->device)
        rc = mend_fail(MEND_ERR_ARGUMENT, "%zu bytes at %p begin on device %d and end on %d", bytes,
                       at, place->device, end.device);
    if (rc == 0 && end.kind > place->kind) /* it ends in memory that a device may be writing to */
        *place = end;
    return rc;
}
