/* What an image says of itself is checked; which pages go into one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "images/image.h"

#include <mend/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct image_meta meta;
static struct mapping maps[3];
static struct run runs[3];

/* Two mappings, three runs, one of them in the base: whole. */
static void a_whole_one(void)
{
    uint64_t page = page_size, at = UPPER_ARENA;
    maps[0] = (struct mapping){at, at + 64 * page, 3, 0};
    maps[1] = (struct mapping){at + 100 * page, at + 110 * page, 5, 0};
    runs[0] = (struct run){at, at + 2 * page, 0};
    runs[1] = (struct run){at + 4 * page, at + 5 * page, 1};
    runs[2] = (struct run){at + 100 * page, at + 101 * page, 0};
    meta = (struct image_meta){.mappings = 2,
                               .runs = 3,
                               .bytes = 3 * page,
                               .upper = (struct upper *)(at + page),
                               .tid_address = (int *)at,
                               .steering = {UPPER_ARENA + 200 * page, UPPER_BREAK + page}};
}

static void assert_refused(void)
{
    assert_int_equal(image_meta_check(&meta, maps, runs), MEND_ERR_DAMAGED);
    a_whole_one();
    assert_int_equal(image_meta_check(&meta, maps, runs), 0);
}

static void metadata(void **state)
{
    (void)state;
    a_whole_one();
    assert_int_equal(image_meta_check(&meta, maps, runs), 0);
    maps[0].from++; /* no page */
    assert_refused();
    maps[1].from = maps[0].from; /* they overlap */
    assert_refused();
    maps[1].to = UPPER_END + page_size; /* the lower half's */
    assert_refused();
    maps[0].prot = 8;
    assert_refused();
    runs[1].to = maps[1].from; /* it leaves its mapping */
    assert_refused();
    runs[1] = runs[0]; /* twice */
    assert_refused();
    runs[2].in_base = 2;
    assert_refused();
    meta.bytes++;
    assert_refused();
    meta.upper = (struct upper *)(maps[1].to - 8); /* it ends outside */
    assert_refused();
    meta.tid_address = NULL;
    assert_refused();
    meta.steering.cursor = 0;
    assert_refused();
    meta.steering.break_now = UPPER_END;
    assert_refused();
}

static void pages(void **state)
{
    (void)state;
    enum { PAGES = 8 };
    char *memory =
        mmap(NULL, PAGES * page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct mapping map = {UPPER_ARENA, UPPER_ARENA + PAGES * page_size, 3, 0};
    struct stretch stretch = {map.from, map.to, 0, memory - (char *)UPPER_ARENA};
    struct survey survey = {
        .meta.mappings = 1, .mappings = &map, .stretches = &stretch, .count = 1, .pages = PAGES};
    struct selection first, second;
    struct page_sums base = {.version = -1};
    memory[0] = 1;                    /* page 0 */
    memory[page_size] = 2;            /* page 1 */
    memory[5 * page_size + 4000] = 3; /* page 5, late in it */

    assert_int_equal(selection_prepare(&first, &survey, NULL, 1), 0);
    assert_int_equal(selection_make(&first), 0);
    assert_int_equal(first.found->runs, 2);
    assert_int_equal(first.found->bytes, 3 * page_size);
    assert_int_equal(first.runs[0].to - first.runs[0].from, 2 * page_size);
    assert_int_equal(first.runs[1].from, UPPER_ARENA + 5 * page_size);
    selection_keep(&first, 1, 77, &base);

    memory[1 * page_size + 8] = 9; /* one changes, one comes, one goes */
    memory[2 * page_size] = 4;
    memory[5 * page_size + 4000] = 0;
    assert_int_equal(selection_prepare(&second, &survey, &base, 1), 0);
    assert_int_equal(selection_make(&second), 0);
    assert_int_equal(second.found->runs, 2);
    assert_int_equal(second.found->bytes, 2 * page_size);
    assert_int_equal(second.runs[0].in_base, 1);
    assert_int_equal(second.runs[0].to, UPPER_ARENA + page_size);
    assert_int_equal(second.runs[1].in_base, 0);
    assert_int_equal(second.runs[1].to - second.runs[1].from, 2 * page_size);
    selection_free(&second);
    page_sums_free(&base);
    munmap(memory, PAGES * page_size);
}

static int setup(void **state)
{
    (void)state;
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(metadata), cmocka_unit_test(pages)};
    return cmocka_run_group_tests(tests, setup, NULL);
}
