/* Sums of pages on the device. */
#include <string.h>

#include <base/fail.h>
#include <device/device.h>

#include "driver.h"

#define THREADS 256u
#define BLOCKS  1024u
#define FEW     32u /* blocks of the kernel that the bus slows down: it shall not keep others out */

static const char text[] =
#include "kernels.ptx.inc"
    ;

static int load_kernels(mend_device *device)
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
        return mend_fail_within(MEND_ERR_UNSUPPORTED, "device %d takes no kernels of ours",
                                device->ordinal);
    return 0;
}

static int launch(mend_device *device, void *const *function, const char *name, unsigned most,
                  uint64_t pages, void **arguments)
{
    int rc = pages ? device_enter(device) : 0;
    if (rc || !pages)
        return rc;
    rc = load_kernels(device);
    uint64_t blocks = (pages + THREADS / 32 - 1) / (THREADS / 32);
    if (rc == 0)
        rc = CHECKED(device->driver, cuLaunchKernel, *function,
                     blocks < most ? (unsigned)blocks : most, 1, 1, THREADS, 1, 1, 0,
                     device->stream, arguments, NULL);
    device_leave(device);
    return rc ? mend_fail_within(rc, "kernel %s", name) : 0;
}

int mend_device_look(mend_device *device, const mend_device_pages *p)
{
    mend_device_pages own = *p;
    void *arguments[] = {&own.pages, &own.count, &own.copy, &own.sums,
                         &own.found, &own.most,  &own.list, &own.news};
    return launch(device, &device->look, "mend_look_pages", BLOCKS, own.count, arguments);
}

int mend_device_gather(mend_device *device, uint64_t from, uint64_t list, uint64_t count,
                       uint64_t seen)
{
    void *arguments[] = {&from, &list, &count, &seen};
    return launch(device, &device->gather, "mend_gather_pages", FEW, count, arguments);
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
