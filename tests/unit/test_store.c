/* The store in one process, without MPI: deltas are exact, damage is never silent, files are
 * private. */
#define MEND_STORE_NO_MPI
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mend/store.h>

#include "../../src/store/internal.h"

#include "../../src/store/copies/pages.h"

#include "store_folder.h"

static mend_store *open_plain(const mend_store_options *o)
{
    mend_store *s = NULL;
    assert_int_equal(mend_store_open_single("unit", o, &s), 0);
    return s;
}

#define REGION (100 * 4096 + 123)

/* Random writes, a save after each; every version that is kept comes back exactly, at any time. */
static void exact_deltas(mend_delta mode, int rounds, int compress)
{
    static uint8_t *history[64];
    mend_store_options o = plain();
    o.delta = mode;
    o.delta_chain = 4;
    o.level[MEND_LEVEL_LOCAL].compress = compress;
    o.level[MEND_LEVEL_GLOBAL] = (mend_level_options){.every = 3, .keep = 2};
    uint8_t *data = mmap(NULL, REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            small[10];
    mend_store *s = open_plain(&o);
    srand(42);
    assert_int_equal(mend_store_region(s, 1, "data", data, REGION), 0);
    assert_int_equal(mend_store_region(s, 0, "small", small, sizeof small), 0);
    for (int v = 0; v < rounds; v++) {
        int writes = v % 7 == 6 ? 300 : rand() % 9;
        for (int w = 0; w < writes; w++)
            data[(size_t)rand() % REGION] = (uint8_t)rand();
        if (v % 9 == 5)
            madvise(data + 8 * 4096, 4096, MADV_DONTNEED); /* a change that no write makes */
        small[v % 10] = (uint8_t)v;
        history[v] = malloc(REGION + 10);
        memcpy(history[v], data, REGION);
        memcpy(history[v] + REGION, small, 10);
        assert_int_equal(mend_store_save(s, v), 0);
        if (v % 5 == 4) {
            long versions[16];
            int count = 0;
            assert_int_equal(mend_store_wait(s), 0);
            assert_int_equal(mend_store_close(s), 0);
            s = open_plain(&o);
            assert_int_equal(mend_store_region(s, 1, "data", data, REGION), 0);
            assert_int_equal(mend_store_region(s, 0, "small", small, sizeof small), 0);
            assert_int_equal(mend_store_versions(s, versions, 16, &count), 0);
            assert_true(count >= 3 && versions[0] == v);
            for (int i = count - 1; i >= 0; i--) { /* the newest last: life goes on from there */
                memset(data, 0x55, REGION);
                assert_int_equal(mend_store_restore(s, versions[i]), 0);
                assert_memory_equal(data, history[versions[i]], REGION);
                assert_memory_equal(small, history[versions[i]] + REGION, 10);
            }
        }
    }
    assert_int_equal(mend_store_close(s), 0);
    for (int v = 0; v < rounds; v++)
        free(history[v]);
    munmap(data, REGION);
}

static void deltas_by_hash(void **state)
{
    (void)state;
    exact_deltas(MEND_DELTA_HASH, 40, 0);
}

static void deltas_by_comparison(void **state)
{
    (void)state;
    exact_deltas(MEND_DELTA_CMP, 40, 3);
}

static void deltas_by_pages(void **state)
{
    (void)state;
    if (!pages_work())
        print_message("write tracking is not to be had here: hashes are used instead\n");
    exact_deltas(MEND_DELTA_PAGES, 40, 0);
}

/* Files at some of the saves only, and saves after which nobody knows what has changed: what a file holds is exact all the same. */
static void sparse_files(mend_delta mode)
{
    enum { TRIALS = 12, SAVES = 14, BYTES = 64 * 4096 };
    static uint8_t history[SAVES][BYTES];
    uint8_t *data = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int trial = 0; trial < TRIALS; trial++) {
        assert_int_equal(tear_down(NULL), 0);
        assert_int_equal(set_up(NULL), 0);
        mend_store_options o = plain();
        mend_store *s;
        long versions[64];
        int count = 0;
        o.delta = mode;
        o.delta_chain = 8;
        o.level[MEND_LEVEL_MEMORY] = (mend_level_options){.every = 1, .keep = 2};
        o.level[MEND_LEVEL_LOCAL] = (mend_level_options){.every = 2 + trial % 3, .keep = 16};
        o.level[MEND_LEVEL_GLOBAL] = (mend_level_options){.every = 5, .keep = 16};
        s = open_plain(&o);
        assert_int_equal(mend_store_region(s, 1, "data", data, BYTES), 0);
        srand((unsigned)trial);
        for (int v = 0; v < SAVES; v++) {
            int writes = rand() % 4 == 0 ? 200 : rand() % 4; /* 200: most pages, tracking pauses */
            for (int w = 0; w < writes; w++)
                data[(size_t)rand() % BYTES] = (uint8_t)rand();
            if (rand() % 6 == 0) /* as after a save that failed */
                pages_lost(s);
            memcpy(history[v], data, BYTES);
            assert_int_equal(mend_store_save(s, v), 0);
        }
        assert_int_equal(mend_store_wait(s), 0);
        assert_int_equal(mend_store_close(s), 0);
        s = open_plain(&o);
        assert_int_equal(mend_store_region(s, 1, "data", data, BYTES), 0);
        assert_int_equal(mend_store_versions(s, versions, 64, &count), 0);
        assert_in_range(count, 3, SAVES);
        for (int i = count - 1; i >= 0; i--) {
            memset(data, 0x55, BYTES);
            if (mend_store_restore(s, versions[i]))
                fail_msg("version %ld: %s", versions[i], mend_error_text());
            assert_memory_equal(data, history[versions[i]], BYTES);
        }
        assert_int_equal(mend_store_close(s), 0);
    }
    munmap(data, BYTES);
}

static void files_at_some_saves(void **state)
{
    (void)state;
    sparse_files(MEND_DELTA_HASH);
    sparse_files(MEND_DELTA_CMP);
    sparse_files(MEND_DELTA_PAGES);
}

/* A delta's file has what changed and little more. */
static void delta_bytes(void **state)
{
    mend_delta modes[] = {MEND_DELTA_HASH, MEND_DELTA_CMP, MEND_DELTA_PAGES};
    (void)state;
    for (int i = 0; i < 3; i++) {
        mend_store_options o = plain();
        mend_store_stats before, after;
        size_t bytes = 16 << 20;
        uint8_t *data =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        o.delta = modes[i];
        memset(data, 1, bytes);
        mend_store *s = open_plain(&o);
        assert_int_equal(mend_store_region(s, 1, "data", data, bytes), 0);
        long first = 100 * (i + 1);
        assert_int_equal(mend_store_save(s, first), 0);
        assert_int_equal(mend_store_save(s, first + 1), 0);
        assert_int_equal(mend_store_wait(s), 0);
        mend_store_statistics(s, &before);
        for (int p = 0; p < 40; p++)
            data[(size_t)p * 101 * 4096 % bytes] ^= 1;
        assert_int_equal(mend_store_save(s, first + 2), 0);
        assert_int_equal(mend_store_wait(s), 0);
        mend_store_statistics(s, &after);
        assert_in_range(after.bytes_written - before.bytes_written, 40 * 4096, 44 * 4096);
        assert_int_equal(mend_store_close(s), 0);
        munmap(data, bytes);
    }
}

/* ---- damage ---------------------------------------------------------------------------------- */

static int list_files(const char *sub, char names[][512], int room)
{
    char path[200];
    struct dirent *e;
    int n = 0;
    snprintf(path, sizeof path, "%s/%s/unit", dir, sub);
    DIR *d = opendir(path);
    while (d && (e = readdir(d)) && n < room)
        if (e->d_name[0] != '.')
            snprintf(names[n++], 512, "%s/%s", path, e->d_name);
    if (d)
        closedir(d);
    return n;
}

/* Two versions; whatever is done to one file, a restore gives version 1 or 2 exactly, or an error.
 */
static int restore_after_damage(void)
{
    mend_store_options o = plain();
    uint64_t data[200];
    long version = -1;
    mend_store *s = open_plain(&o);
    assert_int_equal(mend_store_region(s, 1, "data", data, sizeof data), 0);
    memset(data, 0, sizeof data);
    int rc = mend_store_restore_newest(s, &version);
    if (rc == 0) {
        assert_true(version == 1 || version == 2);
        for (uint64_t i = 0; i < 200; i++)
            assert_true(data[i] == i * (uint64_t)version);
    }
    mend_store_close(s);
    return rc == 0 ? (int)version : rc;
}

static void every_byte_of_a_version(void **state)
{
    static char names[8][512];
    (void)state;
    mend_store_options o = plain();
    uint64_t data[200];
    mend_store *s = open_plain(&o);
    assert_int_equal(mend_store_region(s, 1, "data", data, sizeof data), 0);
    for (long v = 1; v <= 2; v++) {
        for (uint64_t i = 0; i < 200; i++)
            data[i] = i * (uint64_t)v;
        assert_int_equal(mend_store_save(s, v), 0);
    }
    assert_int_equal(mend_store_close(s), 0);
    assert_int_equal(restore_after_damage(), 2);
    int n = list_files("local", names, 8);
    assert_int_equal(n, 2);
    for (int f = 0; f < n; f++) {
        struct stat st;
        int expected = strstr(names[f], "-v2-") ? 1 : 2;
        int fd = open(names[f], O_RDWR);
        assert_true(fd >= 0 && fstat(fd, &st) == 0);
        for (off_t at = 0; at < st.st_size; at++) {
            uint8_t byte, wrong;
            assert_int_equal(pread(fd, &byte, 1, at), 1);
            wrong = byte ^ (uint8_t)(1 << (at % 8));
            assert_int_equal(pwrite(fd, &wrong, 1, at), 1);
            assert_int_equal(restore_after_damage(), expected);
            assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        }
        char *whole = malloc((size_t)st.st_size);
        assert_int_equal(pread(fd, whole, (size_t)st.st_size, 0), st.st_size);
        for (off_t cut = 0; cut < st.st_size; cut += 61) {
            assert_int_equal(ftruncate(fd, cut), 0);
            assert_int_equal(restore_after_damage(), expected);
            assert_int_equal(pwrite(fd, whole, (size_t)st.st_size, 0), st.st_size);
        }
        unlink(names[f]);
        assert_int_equal(restore_after_damage(), expected);
        close(fd);
        fd = open(names[f], O_WRONLY | O_CREAT, 0600);
        assert_int_equal(write(fd, whole, (size_t)st.st_size), st.st_size);
        close(fd);
        free(whole);
    }
    assert_int_equal(restore_after_damage(), 2);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static int produce(mend_store_sink *sink, void *arg)
{
    int pieces = *(int *)arg;
    for (int i = 0; i < pieces; i++) {
        uint8_t *room = mend_store_put_room(sink, 1000);
        if (!room)
            return -1;
        memset(room, i, 1000);
    }
    return 0;
}

static void streams(void **state)
{
    (void)state;
    mend_store_options o = plain();
    mend_store *s = open_plain(&o);
    int pieces = 500, fixed = 3, count = 0;
    size_t bytes = 0;
    uint8_t back[1500];
    mend_store_stream stream = {
        .id = 90, .label = "image", .bytes = 500000, .produce = produce, .arg = &pieces};
    mend_save_options with = {.streams = &stream, .stream_count = 1};
    assert_int_equal(mend_store_region(s, 1, "fixed", &fixed, sizeof fixed), 0);
    assert_int_equal(mend_store_save_with(s, 1, &with), 0);
    assert_int_equal(mend_store_save_sized(s, 2, &with, sizeof with, sizeof stream + 8),
                     MEND_ERR_UNSUPPORTED); /* another header */
    assert_non_null(strstr(mend_error_text(), "mend_store_stream has "));
    pieces = 499; /* less, and more, than announced */
    assert_int_equal(mend_store_save_with(s, 2, &with), MEND_ERR_STREAM);
    pieces = 501;
    assert_int_equal(mend_store_save_with(s, 2, &with), MEND_ERR_STREAM);
    pieces = 500;
    assert_int_equal(mend_store_save_with(s, 2, &with), 0);
    assert_int_equal(mend_store_begin_restore(s, 2, -1), 0);
    assert_int_equal(mend_store_saved_count(s, &count), 0);
    assert_int_equal(count, 2);
    assert_int_equal(mend_store_saved_size(s, 90, &bytes), 0);
    assert_int_equal(bytes, 500000);
    assert_int_equal(mend_store_read(s, 90, 400500, back, 1500), 0);
    assert_true(back[0] == (uint8_t)400 && back[499] == (uint8_t)400 && back[500] == (uint8_t)401 &&
                back[1499] == (uint8_t)401);
    assert_int_equal(mend_store_read(s, 90, 499000, back, 1001), MEND_ERR_SIZE);
    assert_int_equal(mend_store_read(s, 91, 0, back, 1), MEND_ERR_REGION);
    assert_int_equal(mend_store_end_restore(s), 0);
    assert_int_equal(mend_store_read(s, 90, 0, back, 1), MEND_ERR_STATE);
    assert_int_equal(mend_store_close(s), 0);
}

struct intruder {
    mend_store *store;
    jmp_buf out;
    bool jump;
    int codes[4];
};

static int intrude(mend_store_sink *sink, void *arg)
{
    struct intruder *i = arg;
    long version;
    memset(mend_store_put_room(sink, 1000), 7, 1000);
    if (i->jump)
        longjmp(i->out, 1);
    i->codes[0] = mend_store_save(i->store, 50);
    i->codes[1] = mend_store_restore_newest(i->store, &version);
    i->codes[2] = mend_store_wait(i->store);
    i->codes[3] = mend_store_close(i->store);
    return 0;
}

/* Nothing of a store inside its save; and a save that a producer leaves by a jump is one that has failed: its copy, of
 * which there are two, is not lost to the store. */
static void inside_a_save(void **state)
{
    (void)state;
    mend_store_options o = plain();
    o.buffers = 2;
    struct intruder i = {.store = open_plain(&o)};
    long newest = -1;
    int fixed = 3;
    mend_store_stream stream = {
        .id = 90, .label = "image", .bytes = 1000, .produce = intrude, .arg = &i};
    mend_save_options with = {.streams = &stream, .stream_count = 1};
    assert_int_equal(mend_store_region(i.store, 1, "fixed", &fixed, sizeof fixed), 0);
    assert_int_equal(mend_store_save_with(i.store, 1, &with), 0);
    for (int c = 0; c < 4; c++)
        assert_int_equal(i.codes[c], MEND_ERR_STATE);
    i.jump = true;
    for (volatile int round = 0; round < 6; round++)
        if (setjmp(i.out) == 0)
            mend_store_save_with(i.store, 2, &with);
    assert_int_equal(mend_store_newest(i.store, &newest), 0);
    assert_int_equal(newest, 1);
    i.jump = false;
    assert_int_equal(mend_store_save_with(i.store, 2, &with), 0);
    assert_int_equal(mend_store_wait(i.store), 0);
    assert_int_equal(mend_store_newest(i.store, &newest), 0);
    assert_int_equal(newest, 2);
    assert_int_equal(mend_store_close(i.store), 0);
}

static void wrong_use(void **state)
{
    (void)state;
    mend_store_options o = plain();
    mend_store *s = NULL;
    int x = 0, y = 0;
    long version;
    assert_int_equal(mend_store_open_single("a/b", &o, &s), MEND_ERR_ARGUMENT);
    assert_int_equal(mend_store_open_single("", &o, &s), MEND_ERR_ARGUMENT);
    assert_int_equal(mend_store_open_single("..", &o, &s), MEND_ERR_ARGUMENT);
    o.level[MEND_LEVEL_LOCAL].keep = 0;
    assert_int_equal(mend_store_open_single("unit", &o, &s), MEND_ERR_CONFIG);
    o = plain();
    o.block = 5000;
    assert_int_equal(mend_store_open_single("unit", &o, &s), MEND_ERR_CONFIG);
    o = plain();
    s = open_plain(&o);
    assert_int_equal(mend_store_save(NULL, 1), MEND_ERR_ARGUMENT);
    assert_int_equal(mend_store_save(s, -1), MEND_ERR_VERSION);
    assert_int_equal(mend_store_region(s, 1, "x", NULL, 4), MEND_ERR_ARGUMENT);
    assert_int_equal(mend_store_region_global(s, 1, "x", &x, 4, 8, 10), MEND_ERR_ARGUMENT);
    assert_int_equal(mend_store_region_remove(s, 1), MEND_ERR_REGION);
    assert_int_equal(mend_store_newest(s, &version), MEND_ERR_NO_VERSION);
    assert_int_equal(mend_store_restore(s, 1), MEND_ERR_NO_VERSION);
    assert_int_equal(mend_store_region(s, 1, "x", &x, sizeof x), 0);
    x = 5;
    assert_int_equal(mend_store_save(s, 3), 0);
    assert_int_equal(mend_store_save(s, 3), MEND_ERR_VERSION);
    assert_int_equal(mend_store_save_with(
                         s, 4, &(mend_save_options){.levels = MEND_LEVEL_BIT(MEND_LEVEL_GLOBAL)}),
                     MEND_ERR_ARGUMENT);
    assert_int_equal(
        mend_store_save_with(s, 4, &(mend_save_options){.ids = (int[]){8}, .id_count = 1}),
        MEND_ERR_REGION);
    x = 6;
    assert_int_equal(mend_store_region(s, 2, "y", &y, sizeof y), 0);
    assert_int_equal(mend_store_restore(s, 3), MEND_ERR_REGION);
    assert_int_equal(x, 6); /* an error changes nothing */
    assert_int_equal(mend_store_restore_regions(s, 3, (int[]){1}, 1), 0);
    assert_int_equal(x, 5);
    assert_int_equal(mend_store_region(s, 1, "x", &x, 2), 0);
    assert_int_equal(mend_store_restore_regions(s, 3, (int[]){1}, 1), MEND_ERR_SIZE);
    assert_int_equal(mend_store_close(s), 0);
    assert_int_equal(mend_store_close(NULL), 0);
}

static void files_are_private(void **state)
{
    static char names[8][512];
    struct stat st;
    char path[200];
    int x = 1;
    (void)state;
    mend_store_options o = plain();
    umask(0);
    mend_store *s = open_plain(&o);
    assert_int_equal(mend_store_region(s, 1, "x", &x, sizeof x), 0);
    assert_int_equal(mend_store_save(s, 1), 0);
    assert_int_equal(mend_store_close(s), 0);
    assert_int_equal(list_files("local", names, 8), 1);
    assert_int_equal(stat(names[0], &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    snprintf(path, sizeof path, "%s/local/unit", dir);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    if (geteuid() == 0) { /* another user's file, or folder, is not ours to believe */
        long version;
        assert_int_equal(chown(names[0], 4242, 4242), 0);
        s = open_plain(&o);
        assert_int_equal(mend_store_newest(s, &version), MEND_ERR_NO_VERSION);
        mend_store_close(s);
        assert_int_equal(chown(names[0], 0, 0), 0);
        assert_int_equal(chown(path, 4242, 4242), 0);
        assert_true(mend_store_open_single("unit", &o, &s) < 0);
        assert_int_equal(chown(path, 0, 0), 0);
    }
    char target[300]; /* a link in the place of the folder */
    snprintf(target, sizeof target, "%s/elsewhere", dir);
    assert_int_equal(rename(path, target), 0);
    assert_int_equal(symlink(target, path), 0);
    assert_true(mend_store_open_single("unit", &o, &s) < 0);
}

/* The folder above ours is another user's: ours is exchanged for a link while the store is open. */
static void folder_is_swapped(void **state)
{
    static char names[8][512];
    char path[200], away[200], trap[200];
    int x = 1;
    long version = 0;
    (void)state;
    mend_store_options o = plain();
    mend_store *s = open_plain(&o);
    assert_int_equal(mend_store_region(s, 1, "x", &x, sizeof x), 0);
    assert_int_equal(mend_store_save(s, 1), 0);
    assert_int_equal(mend_store_wait(s), 0);
    snprintf(path, sizeof path, "%s/local/unit", dir);
    snprintf(away, sizeof away, "%s/away", dir);
    snprintf(trap, sizeof trap, "%s/trap", dir);
    assert_int_equal(mkdir(trap, 0700), 0);
    assert_int_equal(rename(path, away), 0);
    assert_int_equal(symlink(trap, path), 0);
    x = 2;
    assert_int_equal(mend_store_save(s, 2), 0);
    assert_int_equal(mend_store_wait(s), 0);
    x = 3;
    assert_int_equal(mend_store_restore_newest(s, &version), 0);
    assert_int_equal(version, 2);
    assert_int_equal(x, 2);
    assert_int_equal(list_files("trap", names, 8), 0);
    assert_int_equal(mend_store_close(s), 0);
}

/* A delta that cannot be opened for a moment does not cost it its base. */
static void bases_of_what_cannot_be_opened(void **state)
{
    static char names[64][512], away[600];
    (void)state;
    mend_store_options o = plain();
    o.delta = MEND_DELTA_CMP;
    o.delta_chain = 8;
    o.level[MEND_LEVEL_LOCAL].keep = 1;
    uint8_t *data = calloc(1, REGION);
    mend_store *s = open_plain(&o);
    assert_int_equal(mend_store_region(s, 1, "data", data, REGION), 0);
    for (int v = 1; v <= 2; v++) {
        data[0] = (uint8_t)v;
        assert_int_equal(mend_store_save(s, v), 0);
        assert_int_equal(mend_store_wait(s), 0);
    }
    assert_int_equal(list_files("local", names, 64), 2);
    int delta = strstr(names[0], "-v2-") ? 0 : 1;
    snprintf(away, sizeof away, "%s.away", names[delta]);
    assert_int_equal(rename(names[delta], away), 0);
    assert_int_equal(symlink(away, names[delta]), 0); /* is not followed */
    data[0] = 3;
    assert_int_equal(mend_store_save(s, 3), 0);
    assert_int_equal(mend_store_wait(s), 0);
    assert_int_equal(rename(away, names[delta]), 0);
    assert_int_equal(mend_store_close(s), 0);
    s = open_plain(&o); /* without its copies in memory */
    assert_int_equal(mend_store_region(s, 1, "data", data, REGION), 0);
    data[0] = 0;
    assert_int_equal(mend_store_restore(s, 3), 0);
    assert_int_equal(data[0], 3);
    assert_int_equal(mend_store_close(s), 0);
    free(data);
}

static void kept_and_pruned(void **state)
{
    static char names[64][512];
    (void)state;
    mend_store_options o = plain();
    long versions[16], v = 0;
    int count;
    mend_store *s = open_plain(&o);
    assert_int_equal(mend_store_region(s, 1, "v", &v, sizeof v), 0);
    for (v = 1; v <= 10; v++)
        assert_int_equal(mend_store_save(s, v), 0);
    assert_int_equal(mend_store_wait(s), 0);
    assert_int_equal(list_files("local", names, 64), 3);
    assert_int_equal(mend_store_prune(s, 10), 0);
    assert_int_equal(list_files("local", names, 64), 1);
    assert_int_equal(mend_store_close(s), 0);
    s = open_plain(
        &o); /* a fresh start at a lower number: the old past goes when the new one is committed */
    assert_int_equal(mend_store_region(s, 1, "v", &v, sizeof v), 0);
    v = 2;
    assert_int_equal(mend_store_save(s, 2), 0);
    assert_int_equal(mend_store_wait(s), 0);
    assert_int_equal(mend_store_versions(s, versions, 16, &count), 0);
    assert_true(count == 1 && versions[0] == 2);
    assert_int_equal(mend_store_close(s), 0);
}

static void slow_disk(void **state)
{
    (void)state;
    mend_store_options o = plain();
    size_t bytes = 4 << 20;
    char *data = calloc(1, bytes);
    int done = 1;
    o.bandwidth = 2 << 20;
    o.max_stall = 0.05;
    mend_store *s = open_plain(&o);
    assert_int_equal(mend_store_region(s, 1, "data", data, bytes), 0);
    assert_int_equal(mend_store_save(s, 1), 0);
    assert_int_equal(mend_store_test(s, &done), 0);
    assert_int_equal(done, 0);
    assert_int_equal(mend_store_save(s, 2), MEND_ERR_BUSY); /* bounded, and said */
    assert_int_equal(mend_store_cancel(s), 0);
    assert_int_equal(mend_store_test(s, &done), MEND_ERR_NOT_SAVED);
    assert_int_equal(done, 1);
    assert_int_equal(mend_store_close(s), MEND_ERR_NOT_SAVED);
    free(data);
}

/* A disk that fills up and becomes free again. */
static void full_disk(void **state)
{
    (void)state;
    mend_store_options o = plain();
    char command[256];
    size_t bytes = 2 << 20;
    char *data = calloc(1, bytes);
    long version;
    if (geteuid() != 0)
        skip();
    snprintf(command, sizeof command,
             "mkdir -p %s/local && mount -t tmpfs -o size=5m,mode=700 none %s/local", dir, dir);
    if (system(command) != 0)
        skip();
    mend_store *s = open_plain(&o);
    assert_int_equal(mend_store_region(s, 1, "data", data, bytes), 0);
    for (long v = 1; v <= 2; v++) {
        memset(data, (int)v, bytes);
        assert_int_equal(mend_store_save(s, v), 0);
    }
    assert_int_equal(mend_store_wait(s), 0);
    memset(data, 3, bytes);
    assert_int_equal(mend_store_save(s, 3), 0); /* no room for a third */
    assert_int_equal(mend_store_wait(s), MEND_ERR_NOT_SAVED);
    assert_int_equal(mend_store_newest(s, &version), 0);
    snprintf(command, sizeof command, "mount -o remount,size=50m %s/local", dir);
    assert_int_equal(system(command), 0);
    memset(data, 4, bytes);
    assert_int_equal(mend_store_save(s, 4), 0);
    assert_int_equal(mend_store_wait(s), 0);
    assert_int_equal(mend_store_close(s), 0);
    s = open_plain(&o);
    assert_int_equal(mend_store_region(s, 1, "data", data, bytes), 0);
    assert_int_equal(mend_store_restore_newest(s, &version), 0);
    assert_true(version == 4 && data[77] == 4);
    assert_int_equal(mend_store_restore(s, 2), 0);
    assert_true(data[77] == 2);
    assert_int_equal(mend_store_close(s), 0);
    snprintf(command, sizeof command, "umount %s/local", dir);
    assert_int_equal(system(command), 0);
    free(data);
}

/* A copy that several threads verify: a bit that falls over is found wherever it is. */
static void damage_in_a_large_copy(void **state)
{
    (void)state;
    const size_t bytes = (size_t)50 << 20, at[] = {0, 17 << 20, (25 << 20) + 1, bytes - 1};
    mend_store_options o = plain();
    o.level[MEND_LEVEL_LOCAL].every = 0;
    o.level[MEND_LEVEL_MEMORY] = (mend_level_options){.every = 1, .keep = 1};
    uint8_t *data = malloc(bytes);
    for (size_t i = 0; i < bytes; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 24);
    mend_store *s = open_plain(&o);
    assert_int_equal(mend_store_region(s, 1, "data", data, bytes), 0);
    for (long v = 0; v < 5; v++) {
        long newest = -1;
        assert_int_equal(mend_store_save(s, v), 0);
        assert_int_equal(mend_store_wait(s), 0);
        assert_int_equal(mend_store_newest(s, &newest), 0); /* it has sums now */
        assert_int_equal(newest, v);
        struct slot *slot = slot_find(&s->own, v, s->known[s->known_count - 1].id, 0);
        assert_non_null(slot);
        if (v < 4)
            slot->memory[slot->head.regions[0].offset + at[v]] ^= 4;
        assert_int_equal(mend_store_restore(s, v), v < 4 ? MEND_ERR_DAMAGED : 0);
    }
    mend_store_close(s);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(damage_in_a_large_copy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(deltas_by_hash, set_up, tear_down),
        cmocka_unit_test_setup_teardown(deltas_by_comparison, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_at_some_saves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(deltas_by_pages, set_up, tear_down),
        cmocka_unit_test_setup_teardown(delta_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_byte_of_a_version, set_up, tear_down),
        cmocka_unit_test_setup_teardown(streams, set_up, tear_down),
        cmocka_unit_test_setup_teardown(inside_a_save, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_use, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_are_private, set_up, tear_down),
        cmocka_unit_test_setup_teardown(folder_is_swapped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bases_of_what_cannot_be_opened, set_up, tear_down),
        cmocka_unit_test_setup_teardown(kept_and_pruned, set_up, tear_down),
        cmocka_unit_test_setup_teardown(slow_disk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(full_disk, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
