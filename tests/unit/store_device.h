/* Regions in every kind of a device's memory, over the stand-in of the driver: what the unit tests of the store with such
 * regions have in common. cmocka.h comes first. */
#ifndef TEST_STORE_DEVICE_H
#define TEST_STORE_DEVICE_H

#include <mend/store.h>

#include "../harness/driver/gpu.h"
#include "store_folder.h"

#define PAGE   4096u
#define LARGE  (90 * PAGE + 123) /* edges that are no whole pages */
#define SECOND (40 * PAGE)
#define SMALL  1000u
#define ALL    (LARGE + SECOND + 3 * SMALL)

/* The program's data: on device 0 (not at the beginning of a page), on device 1, managed, pinned,
 * and on the host. `is` is what they should hold. */
static struct {
    uint8_t *large, *second, *managed, *pinned, plain[SMALL];
    uint8_t is[ALL];
} data;

static inline uint8_t *part(int i)
{
    static const size_t at[] = {0, LARGE, LARGE + SECOND, LARGE + SECOND + SMALL,
                                LARGE + SECOND + 2 * SMALL};
    return data.is + at[i];
}

static inline void on_second(void)
{
    GPU_OK(gpu.push(gpu.fake->context(1)));
}

static inline void on_first(void)
{
    void *context;
    GPU_OK(gpu.pop(&context));
}

static inline void make_data(void)
{
    static uint8_t *raw;
    raw = gpu_new(LARGE + 80);
    data.large = raw + 40;
    on_second();
    data.second = gpu_new(SECOND);
    on_first();
    data.managed = gpu.fake->managed(SMALL);
    int (*host)(void **, size_t);
    *(void **)&host = dlsym(RTLD_DEFAULT, "cuMemAllocHost_v2");
    if (!host) {
        void *library = dlopen(getenv("MEND_DEVICE_DRIVER"), RTLD_NOW);
        *(void **)&host = dlsym(library, "cuMemAllocHost_v2");
    }
    GPU_OK(host((void **)&data.pinned, SMALL));
}

static inline void to_devices(void)
{
    gpu_fill(data.large, part(0), LARGE);
    on_second();
    gpu_fill(data.second, part(1), SECOND);
    on_first();
    memcpy(data.managed, part(2), SMALL);
    memcpy(data.pinned, part(3), SMALL);
    memcpy(data.plain, part(4), SMALL);
}

static inline void spoil(void)
{
    static uint8_t keep[ALL];
    memcpy(keep, data.is, ALL);
    memset(data.is, 0x5E, ALL);
    to_devices();
    memcpy(data.is, keep, ALL);
}

static inline bool equal(const uint8_t *expected)
{
    static uint8_t now[ALL];
    gpu_look(now, data.large, LARGE);
    on_second();
    gpu_look(now + LARGE, data.second, SECOND);
    on_first();
    memcpy(now + LARGE + SECOND, data.managed, SMALL);
    memcpy(now + LARGE + SECOND + SMALL, data.pinned, SMALL);
    memcpy(now + LARGE + SECOND + 2 * SMALL, data.plain, SMALL);
    return memcmp(now, expected, ALL) == 0;
}

static inline void change(int writes)
{
    for (int w = 0; w < writes; w++)
        data.is[(size_t)rand() % ALL] = (uint8_t)rand();
    to_devices();
}

static inline mend_store_options with_memory(void)
{
    mend_store_options o = plain();
    o.level[MEND_LEVEL_MEMORY] = (mend_level_options){.every = 1, .keep = 1};
    return o;
}

static inline mend_store *opened(const mend_store_options *o)
{
    mend_store *s = NULL;
    assert_int_equal(mend_store_open_single("unit", o, &s), 0);
    assert_int_equal(mend_store_region(s, 4, "large", data.large, LARGE), 0);
    assert_int_equal(mend_store_region(s, 2, "second", data.second, SECOND), 0);
    assert_int_equal(mend_store_region(s, 3, "managed", data.managed, SMALL), 0);
    assert_int_equal(mend_store_region(s, 5, "pinned", data.pinned, SMALL), 0);
    assert_int_equal(mend_store_region(s, 1, "plain", data.plain, SMALL), 0);
    return s;
}

static inline int devices_set_up(void **state)
{
    srand(7);
    return set_up(state);
}

static inline int devices_tear_down(void **state)
{
    gpu.fake->heal();
    gpu.fake->kernels(1);
    gpu.fake->limit(0, (size_t)1 << 30);
    gpu.fake->limit(1, (size_t)1 << 30);
    return tear_down(state);
}

#endif
