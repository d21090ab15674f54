/* The device layer over the stand-in of the driver: what is whose memory, copies of every kind, sums
 * of pages, failures with facts in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include <device/device.h>
#include <mend/error.h>

#include "../harness/driver/gpu.h"

#define BYTES (((size_t)39 << 20) + 77) /* several pieces of several threads, and not a multiple */

static uint8_t *host;

static mend_device *opened(const void *memory)
{
    mend_device_place place;
    mend_device *d = NULL;
    assert_int_equal(mend_device_where(memory, 1, &place), 0);
    assert_int_equal(mend_device_open(&place, &d), 0);
    return d;
}

static void whose_memory(void **state)
{
    (void)state;
    mend_device_place place;
    uint8_t local[4];
    uint8_t *there = gpu_new(1000), *managed = gpu.fake->managed(5000);
    assert_int_equal(mend_device_where(local, sizeof local, &place), 0);
    assert_int_equal(place.kind, MEND_DEVICE_HOST);
    assert_int_equal(mend_device_where(NULL, 0, &place), 0);
    assert_int_equal(place.kind, MEND_DEVICE_HOST);
    assert_int_equal(mend_device_where(there + 7, 993, &place), 0);
    assert_int_equal(place.kind, MEND_DEVICE_MEMORY);
    assert_int_equal(place.device, 0);
    assert_ptr_equal(place.context, gpu.fake->context(0));
    assert_int_equal(mend_device_where(there, 1001, &place), MEND_ERR_ARGUMENT);
    assert_non_null(strstr(mend_error_text(), "begin in device memory and end outside"));
    assert_int_equal(mend_device_where(managed, 5000, &place), 0);
    assert_int_equal(place.kind, MEND_DEVICE_MANAGED);
    gpu_drop(there);
}

static void copies(void **state)
{
    (void)state;
    uint8_t *a = gpu_new(BYTES), *b = gpu_new(BYTES), *back = malloc(BYTES);
    for (size_t i = 0; i < BYTES; i++)
        host[i] = (uint8_t)(i * 7 + (i >> 9));
    assert_int_equal(mend_device_copy(a, host, BYTES), 0);
    assert_int_equal(mend_device_copy(b + 3, a + 3, BYTES - 3), 0);
    assert_int_equal(mend_device_copy(back, b, BYTES), 0);
    assert_memory_equal(back + 3, host + 3, BYTES - 3);
    assert_int_equal(mend_device_copy(back, host, 100), 0); /* no device at all */

    mend_device *d = opened(a);
    uint64_t seen = 0;
    uintptr_t from = (uintptr_t)b;
    memset(back, 0, BYTES);
    assert_int_equal(mend_device_pin(d, back, BYTES, &seen), 0);
    assert_int_equal(mend_device_fetch(d, back + 3, from + 3, BYTES - 3), 0);
    assert_int_equal(mend_device_wait(d), 0);
    assert_memory_equal(back + 3, host + 3, BYTES - 3);
    mend_device_unpin(d, back);
    mend_device_close(d);
    free(back);
    gpu_drop(a);
    gpu_drop(b);
    assert_int_equal(gpu.fake->in_use(0), 0);
}

static void sums(void **state)
{
    (void)state;
    enum { PAGES = 40 };
    size_t bytes = PAGES * MEND_DEVICE_PAGE;
    uint8_t *raw = gpu_new(bytes + 4096), *to = aligned_alloc(4096, bytes);
    uint64_t pages = ((uintptr_t)raw + 4095) / 4096 * 4096, place = 0, list[] = {3, 4, 39};
    uint64_t found[2], which[PAGES], room = PAGES * (16 + 16 + 8) + 8;
    mend_device_sum out[PAGES], news[PAGES];
    mend_device *d = opened(raw);
    gpu_fill((void *)(uintptr_t)pages, host, bytes);
    assert_int_equal(mend_device_alloc(d, room, &place), 0);
    mend_device_pages look = {.pages = pages,
                              .count = PAGES,
                              .sums = place,
                              .news = place + PAGES * 16,
                              .list = place + PAGES * 32,
                              .found = place + PAGES * 40,
                              .most = 1};
    assert_int_equal(mend_device_zero(d, place, room), 0);
    assert_int_equal(mend_device_look(d, &look), 0);
    assert_int_equal(mend_device_wait(d), 0);
    assert_int_equal(mend_device_fetch_slowly(d, out, place, sizeof out), 0);
    assert_int_equal(mend_device_fetch_slowly(d, found, look.found, 8), 0);
    assert_int_equal(found[0], PAGES); /* more than were listed */
    for (int i = 0; i < PAGES; i++) {
        mend_device_sum s = mend_device_sum_page(host + i * MEND_DEVICE_PAGE);
        assert_true(s.low == out[i].low && s.high == out[i].high);
    }
    /* a bit, and two words that change places, make another sum */
    host[5]++;
    mend_device_sum s = mend_device_sum_page(host);
    assert_true(s.low != out[0].low && s.high != out[0].high);
    host[5]--;

    /* two pages change: they are listed with their sums, and the pages are copied on the way */
    uint8_t *copy = gpu_new(bytes + 4096), *changed = malloc(bytes);
    memcpy(changed, host, bytes);
    changed[7 * 4096 + 4095] ^= 1;
    changed[20 * 4096] ^= 0x80;
    gpu_fill((void *)(uintptr_t)pages, changed, bytes);
    look.copy = ((uintptr_t)copy + 4095) / 4096 * 4096;
    look.most = PAGES;
    assert_int_equal(mend_device_zero(d, look.found, 8), 0);
    assert_int_equal(mend_device_look(d, &look), 0);
    assert_int_equal(mend_device_wait(d), 0);
    assert_int_equal(mend_device_fetch_slowly(d, found, look.found, 8), 0);
    assert_int_equal(found[0], 2);
    assert_int_equal(mend_device_fetch_slowly(d, which, look.list, 16), 0);
    assert_int_equal(mend_device_fetch_slowly(d, news, look.news, 32), 0);
    assert_true((which[0] == 7 && which[1] == 20) || (which[0] == 20 && which[1] == 7));
    for (int i = 0; i < 2; i++) {
        mend_device_sum now = mend_device_sum_page(changed + which[i] * MEND_DEVICE_PAGE);
        assert_true(now.low == news[i].low && now.high == news[i].high);
    }
    assert_int_equal(mend_device_fetch_slowly(d, to, look.copy, bytes), 0);
    assert_memory_equal(to, changed, bytes);
    gpu_fill((void *)(uintptr_t)pages, host, bytes);
    gpu_drop(copy);
    free(changed);

    memset(to, 0x11, bytes);
    assert_int_equal(mend_device_put_slowly(d, place, list, sizeof list), 0);
    assert_int_equal(mend_device_gather(d, pages, place, list, 3, to), 0);
    for (size_t i = 0; i < bytes; i++) {
        size_t p = i / 4096;
        assert_int_equal(to[i], p == 3 || p == 4 || p == 39 ? host[i] : 0x11);
    }
    mend_device_free(d, place);
    mend_device_close(d);
    free(to);
    gpu_drop(raw);
}

static void failures(void **state)
{
    (void)state;
    uint8_t *a = gpu_new(BYTES);
    mend_device *d = opened(a);
    uint64_t more = 0, from = (uintptr_t)a;
    gpu.fake->breaks("cuMemAlloc", 1, 2, 0, 0);
    assert_int_equal(mend_device_alloc(d, 100, &more), MEND_ERR_NO_MEMORY);
    assert_string_equal(mend_error_text(), "cuMemAlloc failed with CUDA_ERROR_OUT_OF_MEMORY (2)");
    gpu.fake->breaks("cuMemcpyDtoHAsync", 3, 700, 0,
                     1); /* the third piece, and only when its turn comes */
    assert_int_equal(mend_device_fetch_slowly(d, host, from, BYTES), MEND_ERR_DEVICE);
    assert_non_null(strstr(mend_error_text(), "CUDA_ERROR_ILLEGAL_ADDRESS"));
    assert_int_equal(mend_device_wait(d), MEND_ERR_DEVICE); /* it stays so */
    gpu.fake->heal();
    gpu.fake->breaks("cuMemcpyHtoDAsync", 2, 214, 1, 0);
    assert_int_equal(mend_device_put_slowly(d, from, host, BYTES), MEND_ERR_DEVICE);
    assert_non_null(strstr(mend_error_text(), "CUDA_ERROR_ECC_UNCORRECTABLE"));
    gpu.fake->heal();
    gpu.fake->kernels(0);
    mend_device_pages look = {.pages = from, .count = 1, .sums = from, .found = from};
    assert_int_equal(mend_device_look(d, &look), MEND_ERR_UNSUPPORTED);
    assert_int_equal(mend_device_look(d, &look), MEND_ERR_UNSUPPORTED);
    gpu.fake->kernels(1);
    gpu.fake->breaks("cuPointerGetAttributes", 1, 719, 0, 0);
    mend_device_place place;
    assert_int_equal(mend_device_where(a, 1, &place), MEND_ERR_DEVICE);
    mend_device_close(d);
    gpu_drop(a);
}

static void for_people(void **state)
{
    (void)state;
    int count = 0, version = 0;
    mend_device_facts facts;
    assert_int_equal(mend_device_survey(&count, &version), 0);
    assert_int_equal(count, 2);
    assert_int_equal(version, 13000);
    assert_int_equal(mend_device_describe(1, true, &facts), 0);
    assert_string_equal(facts.name, "Stand-in 1");
    assert_true(facts.memory == (size_t)1 << 30 && facts.memory_free == facts.memory);
    assert_true(facts.inside > 0 && facts.to_host > 0 && facts.to_device > 0);
    assert_int_equal(gpu.fake->in_use(1), 0);
    assert_int_equal(mend_device_describe(7, false, &facts), MEND_ERR_DEVICE);
}

int main(void)
{
    if (!gpu_start(0))
        return 1;
    host = malloc(BYTES);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whose_memory), cmocka_unit_test(copies),     cmocka_unit_test(sums),
        cmocka_unit_test(failures),     cmocka_unit_test(for_people),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(host);
    return failed;
}
