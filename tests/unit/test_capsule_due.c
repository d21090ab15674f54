/* Which levels a version goes to, by the plan in DIR/every. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ground/settings.h"
#include "round/due.h"
#include "scratch.h"

#include <stdio.h>
#include <string.h>

struct settings settings;
static double now = 1000;

static void plan(const char *text)
{
    char path[sizeof settings.dir + 16];
    snprintf(path, sizeof path, "%s/every", settings.dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    due_follow_plan(now += 2); /* it looks once a second */
}

static void without_a_plan_the_number_decides(void **state)
{
    (void)state;
    due_follow_plan(now += 2);
    assert_int_equal(due_levels(now), 0);
    plan("3.5\n");
    assert_true(settings.every > 3.4 && settings.every < 3.6);
    assert_int_equal(due_at(due_levels(now), DUE_LOCAL), -1);
    assert_int_equal(due_at(due_levels(now), DUE_GLOBAL), -1);
}

static void levels_at_their_own_times(void **state)
{
    (void)state;
    plan("10\nlocal 30\nglobal 100\nerasure 0\n");
    uint64_t first = due_levels(now); /* to all that are used */
    assert_int_equal(due_at(first, DUE_LOCAL), 1);
    assert_int_equal(due_at(first, DUE_GLOBAL), 1);
    assert_int_equal(due_at(first, DUE_ERASURE), 0);
    due_saved(first, now);
    int local = 0, global = 0;
    for (int i = 0; i < 30; i++) {
        uint64_t order = due_levels(now += 10);
        local += due_at(order, DUE_LOCAL);
        global += due_at(order, DUE_GLOBAL);
        assert_int_equal(due_at(order, DUE_ERASURE), 0);
        due_saved(order, now);
    }
    assert_int_equal(local, 10);
    assert_int_equal(global, 3);
}

static void a_save_that_failed_is_due_again(void **state)
{
    (void)state;
    plan("10\nglobal 100\n");
    due_saved(due_levels(now), now);
    now += 100;
    assert_int_equal(due_at(due_levels(now), DUE_GLOBAL), 1);
    now += 10; /* nobody said that it was saved */
    assert_int_equal(due_at(due_levels(now), DUE_GLOBAL), 1);
}

static void garbage_changes_nothing(void **state)
{
    (void)state;
    settings.every = 7;
    plan("-3\nmoon 4\nlocal\n \n\nglobal x\n");
    assert_true(settings.every > 6.9 && settings.every < 7.1);
    assert_int_equal(due_at(due_levels(now), DUE_LOCAL), -1);
    assert_int_equal(due_at(due_levels(now), DUE_GLOBAL), 0);
}

static int begin(void **state)
{
    if (scratch_setup(state))
        return -1;
    snprintf(settings.dir, sizeof settings.dir, "%s", scratch);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_plan_the_number_decides),
        cmocka_unit_test(levels_at_their_own_times),
        cmocka_unit_test(a_save_that_failed_is_due_again),
        cmocka_unit_test(garbage_changes_nothing),
    };
    return cmocka_run_group_tests(tests, begin, scratch_teardown);
}
