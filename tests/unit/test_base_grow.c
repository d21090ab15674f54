/* Structures that grow: a program built with an older or a newer header than the library's. */
#include <base/grow.h>
#include <mend/error.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct old {
    int a;
};
struct new
{
    int a, b;
};

static void an_older_callers_new_fields_are_zero(void **state)
{
    (void)state;
    struct new own = {7, 7};
    assert_int_equal(mend_options_take(&own, sizeof own, &(struct old){3}, sizeof(struct old), "o"),
                     MEND_OK);
    assert_int_equal(own.a, 3);
    assert_int_equal(own.b, 0);
}

static void a_newer_callers_field_must_be_known_or_zero(void **state)
{
    (void)state;
    struct old own = {7};
    struct new given = {3, 0};
    assert_int_equal(mend_options_take(&own, sizeof own, &given, sizeof given, "o"), MEND_OK);
    assert_int_equal(own.a, 3);
    given.b = 1;
    assert_int_equal(mend_options_take(&own, sizeof own, &given, sizeof given, "o"),
                     MEND_ERR_UNSUPPORTED);
    assert_non_null(strstr(mend_error_text(), "newer Mend"));
}

static void no_options_are_all_zero_and_no_size_is_refused(void **state)
{
    (void)state;
    struct old own = {7};
    assert_int_equal(mend_options_take(&own, sizeof own, NULL, 0, "o"), MEND_OK);
    assert_int_equal(own.a, 0);
    assert_int_equal(mend_options_take(&own, sizeof own, &own, 0, "o"), MEND_ERR_ARGUMENT);
}

static void results_fit_the_callers_room(void **state)
{
    (void)state;
    struct new own = {1, 2}, wide = {9, 9};
    struct {
        struct old given;
        int beyond;
    } narrow = {{0}, 5};
    mend_result_give(&narrow.given, sizeof narrow.given, &own, sizeof own);
    assert_int_equal(narrow.given.a, 1);
    assert_int_equal(narrow.beyond, 5);
    mend_result_give(&wide, sizeof wide, &(struct old){4}, sizeof(struct old));
    assert_int_equal(wide.a, 4);
    assert_int_equal(wide.b, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_older_callers_new_fields_are_zero),
        cmocka_unit_test(a_newer_callers_field_must_be_known_or_zero),
        cmocka_unit_test(no_options_are_all_zero_and_no_size_is_refused),
        cmocka_unit_test(results_fit_the_callers_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
