/* The store with regions in device memory when the driver fails, over its stand-in, in one process: no failure makes a wrong
 * version, or a wrong restore that is said to be right; each is reported with facts, and the next call works again. */
#define MEND_STORE_NO_MPI
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mend/event.h>

#include "store_device.h"

static bool many; /* every kind of failure, or some */

/* One save in which the hit-th call of a function fails. What is there afterwards is right. */
static bool one_failure(mend_store *s, long *version, const char *function, int hit, int late,
                        int sticky, int code)
{
    static uint8_t last[ALL];
    static long good = -1;
    long newest = -1;

    if (*version == 0)
        good = -1;
    change(2000);
    gpu.fake->breaks(function, hit, code, sticky, late);
    int saved = mend_store_save(s, *version);
    char text[600];
    snprintf(text, sizeof text, "%s", mend_error_text());
    int waited = saved ? saved : mend_store_wait(s);
    if (!saved)
        snprintf(text, sizeof text, "%s", mend_error_text());
    bool came = !gpu.fake->waiting();
    gpu.fake->heal();
    if (waited == 0) {
        good = *version;
        memcpy(last, data.is, ALL);
    } else {
        assert_true(came);
        assert_true(waited == MEND_ERR_DEVICE || waited == MEND_ERR_NO_MEMORY ||
                    waited == MEND_ERR_NOT_SAVED || waited == MEND_ERR_UNSUPPORTED);
        assert_non_null(strstr(text, late || *function == '*' ? "CUDA_ERROR" : function));
        assert_non_null(strstr(text, "rank 0"));
    }
    ++*version;
    spoil();
    int rc = mend_store_restore_newest(s, &newest);
    if (good < 0) {
        assert_int_equal(rc, MEND_ERR_NO_VERSION);
    } else {
        assert_int_equal(rc, 0);
        assert_int_equal(newest, good);
        assert_true(equal(last));
    }
    return came;
}

static void every_failure(void **state)
{
    (void)state;
    static const char *const functions[] = {"cuPointerGetAttributes",
                                            "cuCtxPushCurrent",
                                            "cuCtxSynchronize",
                                            "cuMemGetInfo",
                                            "cuMemAlloc",
                                            "cuStreamCreate",
                                            "cuMemHostRegister",
                                            "cuMemHostGetDevicePointer",
                                            "cuMemcpyDtoDAsync",
                                            "cuMemcpyDtoHAsync",
                                            "cuMemAllocHost",
                                            "cuStreamSynchronize",
                                            "cuMemsetD8Async",
                                            "cuModuleLoadData",
                                            "cuModuleGetFunction",
                                            "cuLaunchKernel",
                                            "cuMemcpyHtoDAsync"};
    mend_store_options o = with_memory();
    o.delta = MEND_DELTA_HASH;
    o.level[MEND_LEVEL_LOCAL].keep = 2;
    int failures = 0;
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        for (int late = 0; late < 2; late++) {
            if (late && !strstr(functions[f], "Async") && !strstr(functions[f], "Launch"))
                continue;
            char command[256];
            snprintf(command, sizeof command, "rm -rf %s/local", dir);
            assert_int_equal(system(command), 0);
            mend_store *s = opened(&o);
            long version = 0;
            int hit = 1;
            while (hit < 40 &&
                   one_failure(s, &version, functions[f], hit, late, 0, late ? 700 : 719))
                hit += hit < 6 ? 1 : 5;
            failures += hit > 1;
            assert_false(one_failure(s, &version, "none", 1, 0, 0, 1)); /* and all is well again */
            assert_int_equal(mend_store_close(s), 0);
        }
    assert_true(failures >= 14);
}

/* Is there such an event, with such a text in it? */
static bool was_told(const char *path, const char *event, const char *text)
{
    char line[2000];
    bool found = false;
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        found |= strstr(line, event) && strstr(line, text);
    if (f)
        fclose(f);
    return found;
}

/* The device is lost in the middle of it and stays lost: every call fails, the old version stays. */
static void lost_device(void **state)
{
    (void)state;
    mend_store_options o = with_memory();
    static uint8_t host[ALL];
    char events[100];
    snprintf(events, sizeof events, "%s/events.jsonl", dir);
    assert_int_equal(mend_event_open(events), 0);
    mend_store *s = opened(&o);
    change(100);
    memcpy(host, data.is, ALL);
    assert_int_equal(mend_store_save(s, 0), 0);
    assert_int_equal(mend_store_wait(s), 0);
    change(100);
    gpu.fake->breaks("cuMemcpyDtoHAsync", 2, 719, 1, 0);
    assert_int_equal(mend_store_save(s, 1), 0);
    assert_int_equal(mend_store_wait(s), MEND_ERR_NOT_SAVED);
    const char *why = "copy to the host: region 3 (managed) on rank 0: cuMemcpyDtoHAsync failed "
                      "with CUDA_ERROR_LAUNCH_FAILED (719)";
    char text[600];
    snprintf(text, sizeof text, "version 1 was not saved at any level: %s", why);
    assert_string_equal(mend_error_text(), text);
    assert_true(was_told(events, "\"event\":\"store.copy_failed\"", "\"version\":1,"));
    assert_true(was_told(events, "\"event\":\"store.copy_failed\"", why));
    assert_int_equal(mend_store_save(s, 2), MEND_ERR_DEVICE);
    assert_string_equal(mend_error_text(),
                        "version 2: region 1 (plain) on rank 0: cuPointerGetAttributes failed with "
                        "CUDA_ERROR_LAUNCH_FAILED (719)");
    assert_int_equal(mend_store_save(s, 3), MEND_ERR_DEVICE);
    mend_store_close(s);
    assert_int_equal(mend_event_open(NULL), 0);
    gpu.fake->heal();
    s = opened(&o);
    long newest = -1;
    assert_int_equal(mend_store_restore_newest(s, &newest), 0);
    assert_int_equal(newest, 0);
    assert_true(equal(host));
    assert_int_equal(mend_store_close(s), 0);
}

/* Each call of the driver in a save fails, one after the other: once, or for good. Out of memory, a lost device, a driver
 * that is gone. */
static void every_call_of_a_save(void **state)
{
    (void)state;
    static const int codes[] = {719, 2, 100};
    for (int kind = 0; kind < 12; kind += many ? 1 : 5) {
        int code = codes[kind % 3], sticky = kind / 3 % 2, hit = 1;
        mend_store_options o = with_memory();
        o.delta = kind < 6 ? MEND_DELTA_OFF : MEND_DELTA_HASH;
        o.level[MEND_LEVEL_LOCAL].keep = 2;
        mend_store *s = opened(&o);
        long version = 0;
        while (one_failure(s, &version, "*", hit, 0, sticky, code))
            hit++;
        print_message("error %d%s, delta %d: %d calls\n", code, sticky ? ", for good" : "", o.delta,
                      hit - 1);
        assert_true(hit > 20);
        assert_int_equal(mend_store_close(s), 0);
        char command[256];
        snprintf(command, sizeof command, "rm -rf %s/local", dir);
        assert_int_equal(system(command), 0);
    }
}

static void flip(int bytes)
{
    for (int i = 0; i < bytes; i++)
        part(0)[(size_t)rand() % LARGE] ^= 0x41;
    to_devices();
}

/* Few pages change, and the driver has no memory for one of the calls that find them. If the save succeeds by another way, the
 * file of that version, which holds changes only, has all of them. */
static bool few_changes_fail(const mend_store_options *o, const char *function, int hit)
{
    static uint8_t last[ALL];
    long good = 3, newest = -1;
    mend_store *s = opened(o);
    for (long v = 0; v <= good; v++) {
        flip(3);
        assert_int_equal(mend_store_save(s, v), 0);
        assert_int_equal(mend_store_wait(s), 0);
    }
    memcpy(last, data.is, ALL);
    flip(3);
    gpu.fake->breaks(function, hit, 2, 0, 0);
    int rc = mend_store_save(s, 4);
    if (rc == 0)
        rc = mend_store_wait(s);
    bool came = !gpu.fake->waiting();
    gpu.fake->heal();
    if (rc == 0) {
        good = 4;
        memcpy(last, data.is, ALL);
    }
    mend_store_close(s); /* returns what the last save did */
    s = opened(o);       /* what it restores is in files */
    spoil();
    assert_int_equal(mend_store_restore_newest(s, &newest), 0);
    assert_int_equal(newest, good);
    assert_true(equal(last));
    assert_int_equal(mend_store_close(s), 0);
    char command[256];
    snprintf(command, sizeof command, "rm -rf %s/local", dir);
    assert_int_equal(system(command), 0);
    return came;
}

static void few_changes(void **state)
{
    (void)state;
    static const char *const functions[] = {"cuMemcpyDtoHAsync", "*"};
    mend_store_options o = plain();
    o.delta = MEND_DELTA_HASH;
    o.delta_chain = 50; /* version 4 is a delta */
    for (int f = 0; f < 1 + many; f++) {
        int hit = 1;
        while (few_changes_fail(&o, functions[f], hit))
            hit++;
        assert_true(hit > 4);
    }
}

#define WIDE ((size_t)3 << 19) /* so much is put onto the device while it is verified */

/* A restore in which the hit-th call fails, and one in which none does: what is there then is right. */
static bool restore_fails(mend_store *s, uint8_t *wide, const uint8_t *is, int hit, int sticky,
                          int code)
{
    static uint8_t now[WIDE];
    char text[600];
    spoil();
    memset(now, 0x5E, WIDE);
    gpu_fill(wide, now, WIDE);
    gpu.fake->breaks("*", hit, code, sticky, 0);
    int rc = mend_store_restore(s, 7);
    snprintf(text, sizeof text, "%s", rc ? mend_error_text() : "");
    bool came = !gpu.fake->waiting();
    gpu.fake->heal();
    if (rc) {
        assert_true(came);
        assert_true(rc == MEND_ERR_DEVICE || rc == MEND_ERR_NO_MEMORY);
        assert_non_null(strstr(text, "CUDA_ERROR"));
        assert_non_null(strstr(text, "on rank 0"));
        assert_int_equal(mend_store_restore(s, 7), 0);
    }
    gpu_look(now, wide, WIDE);
    assert_memory_equal(now, is, WIDE);
    assert_true(equal(data.is));
    return came;
}

static mend_store *opened_wide(const mend_store_options *o, uint8_t *wide)
{
    mend_store *s = opened(o);
    assert_int_equal(mend_store_region(s, 6, "wide", wide, WIDE), 0);
    return s;
}

static void every_call_of_a_restore(void **state)
{
    (void)state;
    static const int codes[] = {719, 2, 100};
    static uint8_t is[WIDE];
    mend_store_options o = with_memory();
    uint8_t *wide = gpu_new(WIDE);
    for (size_t i = 0; i < WIDE; i++)
        is[i] = (uint8_t)(i * 13 + (i >> 11));
    for (int kind = 0; kind < 12; kind += many ? 1 : 5) {
        int code = codes[kind % 3], sticky = kind / 3 % 2, from_file = kind / 6, hit = 1;
        mend_store *s = opened_wide(&o, wide);
        change(3000);
        gpu_fill(wide, is, WIDE);
        assert_int_equal(mend_store_save(s, 7), 0);
        assert_int_equal(mend_store_wait(s), 0);
        if (from_file) {
            assert_int_equal(mend_store_close(s), 0);
            s = opened_wide(&o, wide);
        }
        while (restore_fails(s, wide, is, hit, sticky, code))
            hit++;
        print_message("error %d%s, from %s: %d calls\n", code, sticky ? ", for good" : "",
                      from_file ? "a file" : "memory", hit - 1);
        assert_true(hit > 10);
        assert_int_equal(mend_store_save(s, 8), 0);
        assert_int_equal(mend_store_close(s), 0);
        char command[256];
        snprintf(command, sizeof command, "rm -rf %s/local", dir);
        assert_int_equal(system(command), 0);
    }
    gpu_drop(wide);
}

int main(int argc, char **argv)
{
    many = argc > 1 && strcmp(argv[1], "all") == 0;
    if (!gpu_start(0) || !gpu.fake)
        return 1;
    make_data();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_failure, devices_set_up, devices_tear_down),
        cmocka_unit_test_setup_teardown(every_call_of_a_save, devices_set_up, devices_tear_down),
        cmocka_unit_test_setup_teardown(every_call_of_a_restore, devices_set_up, devices_tear_down),
        cmocka_unit_test_setup_teardown(few_changes, devices_set_up, devices_tear_down),
        cmocka_unit_test_setup_teardown(lost_device, devices_set_up, devices_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
