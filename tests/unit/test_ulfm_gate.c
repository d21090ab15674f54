/* The gate: whoever is inside keeps it from being closed; nobody is inside while it is closed; its owner may pass. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ulfm/gate.h>

enum { HELPERS = 3, ROUNDS = 2000 };

static atomic_int inside;
static atomic_long passes;
static atomic_bool over;

static void *help(void *none)
{
    while (!atomic_load(&over)) {
        mend_gate_enter();
        atomic_fetch_add(&inside, 1);
        atomic_fetch_add(&passes, 1);
        atomic_fetch_sub(&inside, 1);
        mend_gate_leave();
    }
    return none;
}

static void nobody_is_inside_while_it_is_closed(void **state)
{
    (void)state;
    pthread_t helper[HELPERS];
    atomic_store(&over, false);
    for (int i = 0; i < HELPERS; i++)
        assert_int_equal(pthread_create(&helper[i], NULL, help, NULL), 0);
    for (int round = 0; round < ROUNDS; round++) {
        long before;
        mend_gate_close();
        before = atomic_load(&passes);
        for (int look = 0; look < 20; look++)
            assert_int_equal(atomic_load(&inside), 0);
        mend_gate_enter(); /* the owner calls MPI inside its agreement, too */
        mend_gate_leave();
        assert_int_equal(atomic_load(&passes), before);
        mend_gate_open();
    }
    long then = atomic_load(&passes);
    while (atomic_load(&passes) < then + HELPERS) /* they go on */
        ;
    atomic_store(&over, true);
    for (int i = 0; i < HELPERS; i++)
        pthread_join(helper[i], NULL);
    assert_true(atomic_load(&passes) > 0);
}

static void *close_and_open(void *closed)
{
    mend_gate_close();
    atomic_fetch_add((atomic_int *)closed, 1);
    mend_gate_open();
    return NULL;
}

static void *try_to_enter(void *entered)
{
    *(bool *)entered = mend_gate_try();
    if (*(bool *)entered)
        mend_gate_leave();
    return NULL;
}

static bool another_may_enter(void)
{
    pthread_t other;
    bool entered = false;
    assert_int_equal(pthread_create(&other, NULL, try_to_enter, &entered), 0);
    pthread_join(other, NULL);
    return entered;
}

static void a_try_does_not_wait(void **state)
{
    (void)state;
    assert_true(another_may_enter());
    mend_gate_close();
    assert_false(another_may_enter());
    assert_true(mend_gate_try()); /* the owner */
    mend_gate_leave();
    mend_gate_open();
    assert_true(another_may_enter());
}

static void one_closes_after_the_other(void **state)
{
    (void)state;
    pthread_t other;
    atomic_int closed = 0;
    mend_gate_open(); /* not ours: nothing */
    mend_gate_close();
    assert_int_equal(pthread_create(&other, NULL, close_and_open, &closed), 0);
    for (int look = 0; look < 1000; look++)
        assert_int_equal(atomic_load(&closed), 0);
    mend_gate_open();
    pthread_join(other, NULL);
    assert_int_equal(atomic_load(&closed), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_is_inside_while_it_is_closed),
        cmocka_unit_test(a_try_does_not_wait),
        cmocka_unit_test(one_closes_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
