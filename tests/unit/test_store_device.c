/* The store with regions in device memory, over the stand-in of the driver, in one process: every
 * version comes back bit for bit, by every way; only what changed crosses the bus.
 * test_store_device_faults.c has what fails. */
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

#include "store_device.h"

/* Saves with changes between them; now and then the store is opened anew, and all that it has is
 * restored. */
static void exact(mend_delta delta, bool cow)
{
    enum { ROUNDS = 10 };
    static uint8_t history[ROUNDS][ALL];
    size_t before = gpu.fake->in_use(0) + gpu.fake->in_use(1);
    mend_store_options o = with_memory();
    o.delta = delta;
    o.delta_chain = 3;
    o.copy_on_write = cow;
    o.level[MEND_LEVEL_GLOBAL] = (mend_level_options){.every = 3, .keep = 2};
    mend_store *s = opened(&o);
    for (int v = 0; v < ROUNDS; v++) {
        change(v % 5 == 3 ? 3000 : rand() % 9);
        memcpy(history[v], data.is, ALL);
        assert_int_equal(mend_store_save(s, v), 0);
        spoil(); /* at once: the save has what was there before */
        if (v % 4 == 2) {
            long versions[16];
            int count = 0;
            assert_int_equal(mend_store_wait(s), 0);
            assert_int_equal(mend_store_restore(s, v), 0); /* from memory */
            assert_true(equal(history[v]));
            assert_int_equal(mend_store_close(s), 0);
            assert_int_equal(gpu.fake->in_use(0) + gpu.fake->in_use(1), before);
            s = opened(&o);
            assert_int_equal(mend_store_versions(s, versions, 16, &count), 0);
            assert_true(count >= 2 && versions[0] == v);
            for (int i = count - 1; i >= 0; i--) {
                spoil();
                assert_int_equal(mend_store_restore(s, versions[i]), 0); /* from files */
                assert_true(equal(history[versions[i]]));
            }
        }
    }
    assert_int_equal(mend_store_close(s), 0);
    assert_int_equal(gpu.fake->in_use(0) + gpu.fake->in_use(1), before);
    char command[256];
    snprintf(command, sizeof command, "rm -rf %s/local %s/global", dir, dir);
    assert_int_equal(system(command), 0);
}

static void every_delta(void)
{
    exact(MEND_DELTA_OFF, false);
    exact(MEND_DELTA_HASH, false);
    exact(MEND_DELTA_CMP, true);
    exact(MEND_DELTA_PAGES, false);
}

static void by_snapshot(void **state)
{
    (void)state;
    every_delta();
    assert_true(gpu.fake->calls("cuLaunchKernel") > 0);
}

static void without_room(void **state)
{
    (void)state;
    int inside = gpu.fake->calls("cuMemcpyDtoDAsync");
    gpu.fake->limit(0, gpu.fake->in_use(0) + PAGE);
    gpu.fake->limit(1, gpu.fake->in_use(1) + 8 * PAGE); /* for sums, not for a snapshot */
    every_delta();
    assert_int_equal(gpu.fake->calls("cuMemcpyDtoDAsync"), inside);
}

static void room_on_one(void **state)
{
    (void)state;
    gpu.fake->limit(1, gpu.fake->in_use(1) + 8 * PAGE);
    exact(MEND_DELTA_HASH, false);
}

static void without_kernels(void **state)
{
    (void)state;
    gpu.fake->kernels(0);
    exact(MEND_DELTA_HASH, false);
}

static void without_pinning(void **state)
{
    (void)state;
    gpu.fake->breaks("cuMemHostRegister", -1, 2, 0, 0);
    every_delta();
}

/* What the program queued before the save is in it. */
static void after_queued_work(void **state)
{
    (void)state;
    mend_store_options o = with_memory();
    mend_store *s = opened(&o);
    void *stream;
    GPU_OK(gpu.stream(&stream, 1));
    for (int v = 0; v < 6; v++) {
        memset(part(0), v + 1, LARGE);
        memset(part(1), v + 1, SECOND);
        if (v == 3)
            assert_int_equal(mend_store_device_stream(s, stream), 0);
        on_second();
        if (v < 3)
            GPU_OK(gpu.in((uintptr_t)data.second, part(1), SECOND, NULL));
        else
            gpu_fill(data.second, part(1), SECOND);
        on_first();
        GPU_OK(gpu.in((uintptr_t)data.large, part(0), LARGE, stream));
        assert_int_equal(mend_store_save(s, v), 0);
        spoil();
        assert_int_equal(mend_store_wait(s), 0);
        assert_int_equal(mend_store_restore(s, v), 0);
        static uint8_t now[LARGE];
        gpu_look(now, data.large, LARGE);
        assert_memory_equal(now, part(0), LARGE);
        on_second();
        gpu_look(now, data.second, SECOND);
        on_first();
        assert_memory_equal(now, part(1), SECOND);
    }
    assert_int_equal(mend_store_close(s), 0);
}

/* Ten pages of many change: they cross the bus, and the sums. */
static void only_changes(void **state)
{
    (void)state;
    enum { PAGES = 1000 };
    static uint8_t now[PAGES * PAGE], back[PAGES * PAGE];
    mend_store_options o = with_memory();
    mend_store *s = NULL;
    mend_store_stats stats[2];
    int fresh = 0;
    o.delta = MEND_DELTA_HASH;
    o.level[MEND_LEVEL_LOCAL].every = 0;
    uint8_t *there = gpu_new(sizeof now);
    for (size_t i = 0; i < sizeof now; i++)
        now[i] = (uint8_t)rand();
    gpu_fill(there, now, sizeof now);
    assert_int_equal(mend_store_open_single("changes", &o, &s), 0);
    assert_int_equal(mend_store_region(s, 0, "there", there, sizeof now), 0);
    for (int v = 0; v < 2; v++) { /* every copy has been used once */
        assert_int_equal(mend_store_save(s, v), 0);
        assert_int_equal(mend_store_wait(s), 0);
    }
    for (int v = 2; v < 10; v++) {
        for (int i = 0; i < 10; i++)
            now[(size_t)rand() % sizeof now] ^= 0x40;
        gpu_fill(there, now, sizeof now);
        mend_store_statistics(s, &stats[0]);
        uint64_t before = gpu.fake->moved();
        assert_int_equal(mend_store_save(s, v), 0);
        assert_int_equal(mend_store_wait(s), 0);
        mend_store_statistics(s, &stats[1]);
        /* a copy may be two versions old; one that is just being summed is passed over for another,
         * which may be new */
        uint64_t most = 20 * PAGE + 20 * 8 + PAGES * 16 + 2 * PAGE,
                 moved = gpu.fake->moved() - before;
        assert_true(stats[1].device_moved - stats[0].device_moved <= moved);
        fresh += moved > most;
        assert_int_equal(stats[1].device_bytes - stats[0].device_bytes, sizeof now);
        memset(back, 0, sizeof back);
        gpu_fill(there, back, sizeof back);
        assert_int_equal(mend_store_restore(s, v), 0);
        gpu_look(back, there, sizeof back);
        assert_memory_equal(back, now, sizeof now);
    }
    assert_true(fresh <= 2);
    assert_int_equal(mend_store_close(s), 0);
    gpu_drop(there);
}

/* Saved on a device, restored on the host, and the other way round; in parts, too. */
static void to_the_other_side(void **state)
{
    (void)state;
    mend_store_options o = with_memory();
    o.delta = MEND_DELTA_HASH;
    static uint8_t host[LARGE];
    mend_store *s = opened(&o);
    change(5000);
    assert_int_equal(mend_store_save(s, 0), 0);
    assert_int_equal(mend_store_close(s), 0);

    s = opened(&o);
    assert_int_equal(mend_store_region(s, 4, "large", host, LARGE), 0);
    assert_int_equal(mend_store_restore(s, 0), 0);
    assert_memory_equal(host, part(0), LARGE);
    for (size_t i = 0; i < LARGE; i++)
        host[i] = part(0)[i] = (uint8_t)(i * 31);
    assert_int_equal(mend_store_save(s, 1), 0);
    assert_int_equal(mend_store_close(s), 0);

    s = opened(&o);
    spoil();
    assert_int_equal(mend_store_restore(s, 1), 0);
    assert_true(equal(data.is));
    spoil();
    assert_int_equal(mend_store_begin_restore(s, 1, -1), 0);
    assert_int_equal(mend_store_read(s, 4, 100, data.large + 100, LARGE - 100), 0);
    assert_int_equal(mend_store_end_restore(s), 0);
    gpu_look(host, data.large, LARGE);
    assert_memory_equal(host + 100, part(0) + 100, LARGE - 100);
    assert_int_equal(host[99], 0x5E);
    assert_int_equal(mend_store_close(s), 0);
}

/* The next save has data on one more device, while the last one is still being copied from the first. */
static void one_more_device(void **state)
{
    (void)state;
    static uint8_t now[SECOND];
    mend_store_options o = with_memory();
    mend_store *s = NULL;
    for (int round = 0; round < 5; round++) {
        assert_int_equal(mend_store_open_single("more", &o, &s), 0);
        change(500);
        assert_int_equal(mend_store_region(s, 4, "large", data.large, LARGE), 0);
        assert_int_equal(mend_store_save(s, 2 * round), 0);
        assert_int_equal(mend_store_region(s, 2, "second", data.second, SECOND), 0);
        assert_int_equal(mend_store_save(s, 2 * round + 1), 0);
        assert_int_equal(mend_store_wait(s), 0);
        spoil();
        assert_int_equal(mend_store_restore(s, 2 * round + 1), 0);
        on_second();
        gpu_look(now, data.second, SECOND);
        on_first();
        assert_memory_equal(now, part(1), SECOND);
        assert_int_equal(mend_store_close(s), 0);
    }
}

/* store.device_snapshot: a device whose regions need more gets no snapshot, and is right all the same. */
static void bounded(void **state)
{
    enum { SAVES = 5 };
    const char *const *arguments = *state;
    int copies = atoi(arguments[1]); /* of the three regions on devices */
    size_t before[] = {gpu.fake->in_use(0), gpu.fake->in_use(1)};
    set_up(state);
    mend_store_options o = with_memory();
    o.delta = MEND_DELTA_OFF;
    mend_store *s = opened(&o);
    for (int v = 0; v < SAVES; v++) {
        int inside = gpu.fake->calls("cuMemcpyDtoDAsync");
        change(2000);
        assert_int_equal(mend_store_save(s, v), 0);
        assert_int_equal(gpu.fake->calls("cuMemcpyDtoDAsync") - inside, copies);
        spoil();
        assert_int_equal(mend_store_wait(s), 0);
        assert_int_equal(mend_store_restore(s, v), 0);
        assert_true(equal(data.is));
    }
    assert_int_equal(gpu.fake->in_use(0) > before[0], copies > 1);
    assert_int_equal(gpu.fake->in_use(1) > before[1], copies > 0);
    assert_int_equal(mend_store_close(s), 0);
    assert_int_equal(gpu.fake->in_use(0), before[0]);
    assert_int_equal(gpu.fake->in_use(1), before[1]);
    tear_down(state);
}

/* test_store_device [BOUND N]: with BOUND as store.device_snapshot, N regions have room in snapshots: of the first device's two
 * (large, managed), and of the second device's one. */
int main(int argc, char **argv)
{
    if (argc == 3)
        setenv("MEND_STORE_DEVICE_SNAPSHOT", argv[1], 1); /* before anybody has read it */
    if (!gpu_start(0) || !gpu.fake)
        return 1;
    make_data();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(by_snapshot, devices_set_up, devices_tear_down),
        cmocka_unit_test_setup_teardown(without_room, devices_set_up, devices_tear_down),
        cmocka_unit_test_setup_teardown(room_on_one, devices_set_up, devices_tear_down),
        cmocka_unit_test_setup_teardown(without_kernels, devices_set_up, devices_tear_down),
        cmocka_unit_test_setup_teardown(without_pinning, devices_set_up, devices_tear_down),
        cmocka_unit_test_setup_teardown(after_queued_work, devices_set_up, devices_tear_down),
        cmocka_unit_test_setup_teardown(only_changes, devices_set_up, devices_tear_down),
        cmocka_unit_test_setup_teardown(one_more_device, devices_set_up, devices_tear_down),
        cmocka_unit_test_setup_teardown(to_the_other_side, devices_set_up, devices_tear_down),
    };
    const struct CMUnitTest bound[] = {cmocka_unit_test_prestate(bounded, argv + 1)};
    return argc == 3 ? cmocka_run_group_tests(bound, NULL, NULL)
                     : cmocka_run_group_tests(tests, NULL, NULL);
}
