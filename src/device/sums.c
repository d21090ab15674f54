/* Page sums on the device. */
#include <string.h>

#include <base/fail.h>
#include <device/device.h>

#include "driver.h"

#define THREADS 256u
#define BLOCKS  1024u

static const char text[] =
#include "kernels.ptx.inc"
    ;

int sums_load(mend_device *device)
{
    const struct driver *d = device->driver;
    int rc = 0;
    if (!device->kernels_tried) {
        device->kernels_tried = true;
        rc = CHECKED(d, cuModuleLoadData, &device->module, text);
        if (rc == 0)
            rc = CHECKED(d, cuModuleGetFunction, &device->look, device->module, "mend_look_pages");
        if (rc == 0)
            rc = CHECKED(d, cuModuleGetFunction, &device->gather, device->module,
                         "mend_gather_pages");
    }
    if (rc || !device->gather)
        return mend_fail_within(MEND_ERR_UNSUPPORTED, "device %d cannot run Mend's kernels",
                                device->ordinal);
    return 0;
}

/* Call it inside the context, with the kernels loaded. */
static int launch(mend_device *device, void *stream, void *function, const char *name,
                  uint64_t pages, void **arguments)
{
    uint64_t blocks = (pages + THREADS / 32 - 1) / (THREADS / 32);
    int rc = CHECKED(device->driver, cuLaunchKernel, function,
                     blocks < BLOCKS ? (unsigned)blocks : BLOCKS, 1, 1, THREADS, 1, 1, 0, stream,
                     arguments, NULL);
    return rc ? mend_fail_within(rc, "kernel %s", name) : 0;
}

int mend_device_look(mend_device *device, const mend_device_pages *p)
{
    mend_device_pages own = *p;
    void *arguments[] = {&own.pages, &own.count, &own.copy, &own.sums,
                         &own.found, &own.most,  &own.list, &own.news};
    int rc = own.count ? device_enter(device) : 0;
    if (rc || !own.count)
        return rc;
    rc = sums_load(device);
    if (rc == 0)
        rc = launch(device, device->stream, device->look, "mend_look_pages", own.count, arguments);
    device_leave(device);
    return rc;
}

int sums_gather(mend_device *device, void *stream, uint64_t from, uint64_t list, uint64_t count,
                uint64_t to)
{
    void *arguments[] = {&from, &list, &count, &to};
    return launch(device, stream, device->gather, "mend_gather_pages", count, arguments);
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

mend_device_sum mend_device_sum_page(const void *page)
{
    mend_device_sum sum = {0, 0};
    for (uint64_t i = 0; i < MEND_DEVICE_PAGE / sizeof(uint64_t); i++) {
        uint64_t word;
        memcpy(&word, (const char *)page + i * sizeof word, sizeof word);
        sum.low += mix(word + (i + 1) * 0x9e3779b97f4a7c15u);
        sum.high += mix((word ^ 0x5851f42d4c957f2du) + (i + 1) * 0xd1342543de82ef95u);
    }
    if (!sum.low && !sum.high)
        sum.low = 1;
    return sum;
}
