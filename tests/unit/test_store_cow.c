/* Saves that copy later: what comes back is the state at the save call, whatever writes meanwhile. */
#define MEND_STORE_NO_MPI
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mend/store.h>

#include "../../src/store/internal.h"

#define BYTES   ((size_t)6 << 20)
#define OFFSET  1234 /* regions do not begin or end with a page */
#define WRITERS 3

static char dir[64];
static uint8_t *data; /* BYTES + 2 pages */
static atomic_bool quiet, stop;
static atomic_int resting;

static int set_up(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/mend-cow-XXXXXX");
    data = mmap(NULL, BYTES + 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mkdtemp(dir) && data != MAP_FAILED ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[128];
    (void)state;
    munmap(data, BYTES + 8192);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

static mend_store *open_later(void)
{
    static char local[96];
    mend_store_options o;
    mend_store *s = NULL;
    assert_int_equal(mend_store_defaults(&o), 0);
    snprintf(local, sizeof local, "%s/local", dir);
    o.local_dir = local;
    o.copy_on_write = 1;
    o.level[MEND_LEVEL_MEMORY].every = 0;
    o.level[MEND_LEVEL_LOCAL] = (mend_level_options){.every = 1, .keep = 3};
    assert_int_equal(mend_store_open_single("later", &o, &s), 0);
    return s;
}

static void fill(uint8_t *p, size_t bytes, unsigned seed)
{
    uint64_t x = seed * 2654435761u + 1;
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        memcpy(p + i, &x, 8);
    }
}

/* Stores and system calls into the data, without end, except while a save call is being made. */
static void *writer(void *argument)
{
    unsigned seed = (unsigned)(uintptr_t)argument;
    int pipes[2];
    if (pipe(pipes))
        abort();
    while (!atomic_load(&stop)) {
        if (atomic_load(&quiet)) {
            atomic_fetch_add(&resting, 1);
            while (atomic_load(&quiet) && !atomic_load(&stop))
                usleep(50);
            atomic_fetch_sub(&resting, 1);
        }
        size_t at = OFFSET + (size_t)rand_r(&seed) % (BYTES - 64);
        if (seed % 8 == 0 && (write(pipes[1], "0123456789", 10) != 10 ||
                              read(pipes[0], data + at, 10) != 10)) /* EFAULT would show here */
            abort();
        data[at] = (uint8_t)seed;
    }
    close(pipes[0]);
    close(pipes[1]);
    return NULL;
}

static void all_rest(bool on)
{
    atomic_store(&quiet, on);
    while (atomic_load(&resting) != (on ? WRITERS : 0))
        usleep(20);
}

static void under_writers(void **state)
{
    (void)state;
    uint8_t small[100], small_then[100], *then = malloc(BYTES);
    pthread_t threads[WRITERS];
    mend_store *s = open_later();
    mend_store_stats stats;

    fill(data, BYTES + 8192, 1);
    assert_int_equal(mend_store_region(s, 1, "big", data + OFFSET, BYTES / 2 + 77), 0);
    assert_int_equal(
        mend_store_region(s, 2, "next", data + OFFSET + BYTES / 2 + 77, BYTES / 2 - 77), 0);
    assert_int_equal(mend_store_region(s, 3, "small", small, sizeof small), 0);
    atomic_store(&stop, false);
    atomic_store(&quiet, true);
    for (uintptr_t i = 0; i < WRITERS; i++)
        pthread_create(&threads[i], NULL, writer, (void *)(i + 5));
    for (int v = 0; v < 40; v++) {
        all_rest(true);
        memset(small, v, sizeof small);
        memcpy(then, data + OFFSET, BYTES);
        memcpy(small_then, small, sizeof small);
        assert_int_equal(mend_store_save(s, v), 0);
        all_rest(false);
        memset(small, 99, sizeof small);
        assert_int_equal(mend_store_wait(s), 0);
        all_rest(true);
        assert_int_equal(mend_store_restore(s, v), 0);
        assert_memory_equal(data + OFFSET, then, BYTES);
        assert_memory_equal(small, small_then, sizeof small);
    }
    assert_int_equal(mend_store_statistics(s, &stats), 0);
    print_message("%llu of 40 saves copied later\n", (unsigned long long)stats.saves_later);
    atomic_store(&stop, true);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(mend_store_close(s), 0);
    free(then);
}

static uint8_t *fresh(size_t bytes, unsigned seed)
{
    uint8_t *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    fill(p, bytes, seed);
    return p;
}

/* A region moves, grows and goes right after the save call, as the header allows it. */
static void moved_and_removed(void **state)
{
    (void)state;
    mend_store *s = open_later();
    uint8_t *right = malloc(BYTES);
    for (unsigned v = 0; v < 10; v++) {
        uint8_t *old = fresh(BYTES, v), *bigger = fresh(2 * BYTES, 100 + v);
        fill(right, BYTES, v);
        assert_int_equal(mend_store_region(s, 1, "r", old, BYTES), 0);
        assert_int_equal(mend_store_save(s, (long)v), 0);
        if (v % 2)
            assert_int_equal(mend_store_region(s, 1, "r", bigger, 2 * BYTES), 0);
        else
            assert_int_equal(mend_store_region_remove(s, 1), 0);
        munmap(old, BYTES);
        assert_int_equal(mend_store_wait(s), 0);
        assert_int_equal(mend_store_region(s, 1, "r", bigger, BYTES), 0);
        assert_int_equal(mend_store_restore(s, (long)v), 0);
        assert_memory_equal(bigger, right, BYTES);
        assert_int_equal(mend_store_region_remove(s, 1), 0);
        munmap(bigger, 2 * BYTES);
    }
    assert_int_equal(mend_store_close(s), 0);
    free(right);
}

/* Against the rules: memory goes without a word. Never a wrong version: this one, or none. */
static void given_back(void **state)
{
    (void)state;
    mend_store *s = open_later();
    uint8_t *right = malloc(BYTES);
    int lost = 0, kept = 0;
    for (unsigned v = 0; v < 30; v++) {
        unsigned levels = 0;
        uint8_t *p = fresh(BYTES, v);
        assert_int_equal(mend_store_region(s, 1, "r", p, BYTES), 0);
        assert_int_equal(mend_store_save(s, (long)v), 0);
        if (v % 3 == 0) {
            munmap(p, BYTES);
        } else if (v % 3 == 1) {
            madvise(p, BYTES, MADV_DONTNEED);
        } else { /* other data at the same place, not protected by anybody */
            assert_true(mmap(p, BYTES, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p);
            memset(p, 7, BYTES);
        }
        int rc = mend_store_wait(s);
        assert_true(rc == 0 || rc == MEND_ERR_NOT_SAVED);
        assert_int_equal(mend_store_region_remove(s, 1), 0);
        if (v % 3)
            munmap(p, BYTES);
        assert_int_equal(mend_store_reached(s, (long)v, &levels), 0);
        assert_int_equal(levels != 0, rc == 0);
        kept += rc == 0;
        lost += rc != 0;
        if (rc)
            continue;
        p = fresh(BYTES, 1000);
        fill(right, BYTES, v);
        assert_int_equal(mend_store_region(s, 1, "r", p, BYTES), 0);
        assert_int_equal(mend_store_restore(s, (long)v), 0);
        assert_memory_equal(p, right, BYTES);
        assert_int_equal(mend_store_region_remove(s, 1), 0);
        munmap(p, BYTES);
    }
    print_message("memory given back during 30 saves: %d were refused, %d complete\n", lost, kept);
    mend_store_close(s);
    free(right);
}

static bool told;

static void listen_for(const char *line, void *user)
{
    (void)user;
    told = told || strstr(line, "store.cow_refused");
}

/* A user to whom the kernel gives no page faults: copies as always, and a word about it. */
static void refused(void **state)
{
    (void)state;
    if (getuid() != 0)
        skip();
    pid_t pid = fork();
    if (pid == 0) {
        if (chown(dir, 65534, 65534) || setgid(65534) || setuid(65534))
            _exit(2);
        mend_event_set_callback(listen_for, NULL);
        mend_store *s = open_later();
        mend_store_stats stats;
        fill(data, BYTES, 3);
        if (mend_store_region(s, 1, "r", data, BYTES) || mend_store_save(s, 1))
            _exit(3);
        memset(data, 0, BYTES);
        if (mend_store_wait(s) || mend_store_restore(s, 1) || mend_store_statistics(s, &stats))
            _exit(4);
        uint8_t *right = malloc(BYTES);
        fill(right, BYTES, 3);
        if (memcmp(data, right, BYTES) != 0)
            _exit(5);
        _exit(stats.saves_later == 0 && told ? 0 : 6);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status));
    /* 6: this machine lets everybody handle page faults */
    assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 6);
}

static void not_with_tracking(void **state)
{
    (void)state;
    mend_store_options o;
    mend_store *s = NULL;
    assert_int_equal(mend_store_defaults(&o), 0);
    o.local_dir = dir;
    o.copy_on_write = 1;
    o.delta = MEND_DELTA_PAGES;
    int rc = mend_store_open_single("both", &o, &s);
    assert_true(rc == MEND_ERR_CONFIG || rc == 0); /* 0: no write tracking here, hashes instead */
    mend_store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(under_writers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(moved_and_removed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(given_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(not_with_tracking, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
