/* Whose memory is this? */
#include <base/fail.h>
#include <device/device.h>

#include "driver.h"

static int ask(const struct driver *d, const void *at, mend_device_place *place)
{
    void *context = NULL;
    unsigned type = 0, managed = 0;
    int ordinal = -1;
    int attributes[] = {POINTER_CONTEXT, POINTER_TYPE, POINTER_MANAGED, POINTER_ORDINAL};
    void *into[] = {&context, &type, &managed, &ordinal};

    *place = (mend_device_place){MEND_DEVICE_HOST, -1, NULL};
    result code = d->cuPointerGetAttributes(4, attributes, into, (address)(uintptr_t)at);
    if (code == ERROR_NOT_INITIALIZED || code == ERROR_DEINITIALIZED || code == ERROR_NO_DEVICE)
        return 0; /* loaded, but nobody uses it (any more) */
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

    *place = (mend_device_place){MEND_DEVICE_HOST, -1, NULL};
    int rc = driver_find(false, &d);
    if (rc || !d || !at)
        return rc;
    rc = ask(d, at, place);
    if (rc || !bytes)
        return rc;
    rc = ask(d, (const char *)at + bytes - 1, &end);
    if (rc == 0 && mend_device_holds(place) != mend_device_holds(&end))
        rc = mend_fail(MEND_ERR_ARGUMENT, "%zu bytes at %p begin %s device memory and end %s it",
                       bytes, at, mend_device_holds(place) ? "in" : "outside",
                       mend_device_holds(&end) ? "in" : "outside");
    if (rc == 0 && mend_device_holds(place) && end.device != place->device)
        rc = mend_fail(MEND_ERR_ARGUMENT, "%zu bytes at %p begin on device %d and end on %d", bytes,
                       at, place->device, end.device);
    if (rc == 0 && end.kind > place->kind) /* ends in memory that a device may be writing to */
        *place = end;
    return rc;
}
