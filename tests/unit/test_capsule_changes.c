/* What differs between two images of a rank: one page more is one page more, wherever it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "images/changes.h"
#include "images/image.h"

#include <mend/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 1000, OUTPUT = 700 };
static char *memory;
static struct upper *upper;

struct image {
    char *bytes;
    size_t count;
};

/* As snapshot_to() and held_write() make it. */
static struct image image_of_memory(void)
{
    struct mapping map = {.from = UPPER_ARENA, .to = UPPER_ARENA + PAGES * page_size, .prot = 3};
    struct stretch stretch = {map.from, map.to, 0, memory - (char *)UPPER_ARENA};
    struct survey survey = {.meta = {.border_version = BORDER_VERSION,
                                     .page_size = page_size,
                                     .mappings = 1,
                                     .size = 1,
                                     .upper = upper},
                            .mappings = &map,
                            .stretches = &stretch,
                            .count = 1,
                            .pages = PAGES};
    struct selection p;
    struct image_prefix prefix = {IMAGE_PREFIX, 0};
    int fd = memfd_create("image", 0);
    assert_int_equal(selection_prepare(&p, &survey, NULL, 0), 0);
    p.lead = sizeof prefix;
    assert_int_equal(selection_make(&p), 0);
    assert_int_equal(write(fd, &prefix, sizeof prefix), sizeof prefix);
    assert_int_equal(selection_write(&p, 0, 0, fd, "an image", &prefix.bytes), 0);
    selection_free(&p);
    struct image i = {.count = sizeof prefix + prefix.bytes + OUTPUT};
    i.bytes = malloc(i.count);
    memset(i.bytes, 'o', i.count);
    memcpy(i.bytes, &prefix, sizeof prefix);
    assert_int_equal(pread(fd, i.bytes + sizeof prefix, prefix.bytes, sizeof prefix),
                     (ssize_t)prefix.bytes);
    close(fd);
    return i;
}

static void assert_made(const struct changes *c, struct image old, struct image new)
{
    char *told = malloc(c->told + 1), *made = malloc(new.count);
    changes_collect(c, new.bytes, told);
    assert_int_equal(changes_apply(c, told, old.bytes, old.count, made, new.count), 0);
    assert_memory_equal(made, new.bytes, new.count);
    free(told);
    free(made);
}

static void one_page_more(void **state)
{
    (void)state;
    static const int places[] = {0, 3, 500, PAGES - 1};
    struct changes c = {0};
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        for (int i = 0; i < PAGES; i++)
            memset(memory + (size_t)i * page_size, 1 + i % 200, page_size);
        memset(memory + (size_t)places[k] * page_size, 0, page_size);
        struct image old = image_of_memory();
        memset(memory + (size_t)places[k] * page_size, 77, page_size);
        struct image new = image_of_memory();
        assert_int_equal(changes_find(&c, new.bytes, new.count, old.bytes, old.count), 0);
        assert_in_range(c.told, page_size, 2 * page_size + 16384);
        assert_made(&c, old, new);
        assert_int_equal(changes_find(&c, old.bytes, old.count, new.bytes, new.count), 0);
        assert_in_range(c.told, 0, page_size + 16384);
        assert_made(&c, new, old);
        assert_int_equal(changes_find(&c, new.bytes, new.count, new.bytes, new.count), 0);
        assert_int_equal(c.told, 0);
        assert_made(&c, new, new);
        free(old.bytes);
        free(new.bytes);
    }
    free(c.list);
}

static void all_is_new(void **state)
{
    (void)state;
    struct changes c = {0};
    memset(memory, 1, PAGES * page_size);
    struct image old = image_of_memory();
    memset(memory, 2, PAGES * page_size);
    struct image new = image_of_memory();
    assert_int_equal(changes_find(&c, new.bytes, new.count, old.bytes, old.count), 1);
    assert_int_equal(changes_find(&c, new.bytes, new.count, old.bytes, 100), 1);
    assert_int_equal(changes_find(&c, new.bytes, 20, old.bytes, old.count), 1);
    free(old.bytes);
    free(new.bytes);
    free(c.list);
}

/* Tables with any bytes changed: whatever is found, the image that is made is the new one. */
static void wrong_tables(void **state)
{
    (void)state;
    struct changes c = {0};
    uint64_t seed = 1;
    for (int i = 0; i < PAGES; i++)
        memset(memory + (size_t)i * page_size, i % 3 ? 1 + i % 200 : 0, page_size);
    struct image old = image_of_memory();
    memset(memory + 600 * page_size, 5, 3 * page_size);
    struct image new = image_of_memory();
    char *good = malloc(old.count);
    memcpy(good, old.bytes, old.count);
    for (int t = 0; t < 300; t++) {
        for (int n = 0; n < 3; n++) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            old.bytes[(seed >> 20) % 12000] ^= (char)(1 << (seed >> 60) % 8);
        }
        if (changes_find(&c, new.bytes, new.count, old.bytes, old.count) == 0)
            assert_made(&c, old, new);
        memcpy(old.bytes, good, old.count);
    }
    free(good);
    free(old.bytes);
    free(new.bytes);
    free(c.list);
}

static void wrong_changes(void **state)
{
    (void)state;
    char old[100] = {0}, told[10] = {0}, made[30];
    struct change list[] = {{0, 10}, {CHANGE_NEW, 10}, {90, 10}};
    struct changes c = {list, 3, 0, 10};
    assert_int_equal(changes_apply(&c, told, old, sizeof old, made, 30), 0);
    list[2].from = 91; /* behind the end of the old one */
    assert_int_equal(changes_apply(&c, told, old, sizeof old, made, 30), MEND_ERR_DAMAGED);
    list[2].from = UINT64_MAX - 1;
    assert_int_equal(changes_apply(&c, told, old, sizeof old, made, 30), MEND_ERR_DAMAGED);
    list[2] = (struct change){90, 11}; /* more than there is room for */
    assert_int_equal(changes_apply(&c, told, old, sizeof old, made, 30), MEND_ERR_DAMAGED);
    list[2] = (struct change){CHANGE_NEW, 10}; /* more than was told */
    assert_int_equal(changes_apply(&c, told, old, sizeof old, made, 30), MEND_ERR_DAMAGED);
    c.count = 2; /* less than is needed */
    assert_int_equal(changes_apply(&c, told, old, sizeof old, made, 30), MEND_ERR_DAMAGED);
}

static int setup(void **state)
{
    (void)state;
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    memory =
        mmap(NULL, PAGES * page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    upper = calloc(1, sizeof *upper);
    return memory == MAP_FAILED || !upper;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_page_more),
                                       cmocka_unit_test(all_is_new), cmocka_unit_test(wrong_tables),
                                       cmocka_unit_test(wrong_changes)};
    return cmocka_run_group_tests(tests, setup, NULL);
}
