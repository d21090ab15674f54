/* For `mend doctor`: which devices there are, and how fast they copy. */
#include <time.h>

#include <base/event.h>
#include <base/fail.h>
#include <device/device.h>

#include "driver.h"

#define SAMPLE ((size_t)64 << 20)
#define ROUNDS 3

int mend_device_survey(int *count, int *version)
{
    const struct driver *d;
    *count = *version = 0;
    int rc = driver_find(true, &d);
    if (rc == 0)
        rc = CHECKED(d, cuInit, 0);
    if (rc == 0)
        rc = CHECKED(d, cuDriverGetVersion, version);
    if (rc == 0)
        rc = CHECKED(d, cuDeviceGetCount, count);
    return rc;
}

bool mend_device_holds_processes(void)
{
    return driver_has("cuCheckpointProcessGetState") && driver_has("cuCheckpointProcessLock") &&
           driver_has("cuCheckpointProcessCheckpoint") &&
           driver_has("cuCheckpointProcessRestore") && driver_has("cuCheckpointProcessUnlock");
}

enum { INSIDE, TO_HOST, TO_DEVICE };

static int one_copy(const struct driver *d, int way, uint64_t memory, void *pinned)
{
    int rc = way == INSIDE    ? CHECKED(d, cuMemcpyDtoDAsync, memory + SAMPLE, memory, SAMPLE, NULL)
             : way == TO_HOST ? CHECKED(d, cuMemcpyDtoHAsync, pinned, memory, SAMPLE, NULL)
                              : CHECKED(d, cuMemcpyHtoDAsync, memory, pinned, SAMPLE, NULL);
    return rc ? rc : CHECKED(d, cuCtxSynchronize);
}

/* Bytes per second, the best of a few rounds. */
static int measure(const struct driver *d, int way, uint64_t memory, void *pinned, double *speed)
{
    int rc = 0;
    for (int i = 0; rc == 0 && i <= ROUNDS; i++) {
        double start = mend_now();
        rc = one_copy(d, way, memory, pinned);
        double seconds = mend_now() - start;
        if (rc == 0 && i && seconds > 0 && (double)SAMPLE / seconds > *speed)
            *speed = (double)SAMPLE / seconds;
    }
    return rc;
}

static int measure_all(const struct driver *d, mend_device_facts *facts)
{
    uint64_t memory = 0;
    void *pinned = NULL;
    int rc = CHECKED(d, cuMemAlloc, &memory, 2 * SAMPLE);
    if (rc == 0)
        rc = CHECKED(d, cuMemAllocHost, &pinned, SAMPLE);
    if (rc == 0)
        rc = measure(d, INSIDE, memory, pinned, &facts->inside);
    if (rc == 0)
        rc = measure(d, TO_HOST, memory, pinned, &facts->to_host);
    if (rc == 0)
        rc = measure(d, TO_DEVICE, memory, pinned, &facts->to_device);
    if (pinned)
        d->cuMemFreeHost(pinned);
    if (memory)
        d->cuMemFree(memory);
    return rc;
}

int mend_device_describe(int number, bool speed, mend_device_facts *facts)
{
    const struct driver *d;
    void *context = NULL;
    int handle = 0;

    *facts = (mend_device_facts){.name = ""};
    int rc = driver_find(true, &d);
    if (rc == 0)
        rc = CHECKED(d, cuDeviceGet, &handle, number);
    if (rc == 0)
        rc = CHECKED(d, cuDeviceGetName, facts->name, (int)sizeof facts->name, handle);
    if (rc == 0)
        rc = CHECKED(d, cuDevicePrimaryCtxRetain, &context, handle);
    if (rc)
        return rc;
    rc = CHECKED(d, cuCtxPushCurrent, context);
    if (rc == 0) {
        rc = CHECKED(d, cuMemGetInfo, &facts->memory_free, &facts->memory);
        if (rc == 0 && speed)
            rc = measure_all(d, facts);
        d->cuCtxPopCurrent(&context);
    }
    d->cuDevicePrimaryCtxRelease(handle);
    return rc;
}
