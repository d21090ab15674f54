/* The planner inside a job: when is a save due, what is learned, when does the plan change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan_random.h"

static mend_plan_online_options two_levels(void)
{
    return (mend_plan_online_options){
        .levels = 2, .mtbf = {3600, 86400}, .checkpoint = {1, 20}, .recovery = {2, 30}};
}

static void test_one_level_is_near_to_young(void **state)
{
    (void)state;
    mend_plan_online_options o = {.levels = 1, .mtbf = {7200}, .checkpoint = {2}};
    mend_plan_online online;
    assert_int_equal(mend_plan_online_start(&online, &o, 0), 0);
    double young = sqrt(2 * 2 * 7200);
    assert_true(fabs(mend_plan_online_period(&online, 1) / young - 1) < 0.05);
    assert_true(mend_plan_online_period(&online, 2) == 0);
    assert_true(fabs(mend_plan_online_overhead(&online) - 2 / young - young / 2 / 7200) < 0.005);
}

/* A loop of 1 s steps: saves come at the periods of the plan, the higher level at every n-th. */
static void test_due_at_the_right_steps(void **state)
{
    (void)state;
    mend_plan_online_options o = two_levels();
    mend_plan_online online;
    o.prior_failures = 1000; /* a belief that quiet hours do not change */
    assert_int_equal(mend_plan_online_start(&online, &o, 1000), 0);
    double p1 = mend_plan_online_period(&online, 1), p2 = mend_plan_online_period(&online, 2);
    assert_true(p1 > 20 && p2 > 5 * p1);
    double now = 1000, last = 1000, last2 = 1000;
    int saves[3] = {0};
    for (int step = 0; step < 40000; step++) {
        now += 1;
        int level = mend_plan_online_due(&online, now);
        if (!level)
            continue;
        saves[level]++;
        assert_true(fabs(now - last - p1) <= 1);
        if (level == 2)
            assert_true(fabs(now - last2 - p2) < p1);
        mend_plan_online_saved(&online, level, now, now + o.checkpoint[level - 1]);
        now += o.checkpoint[level - 1];
        last2 = level == 2 ? now : last2 + o.checkpoint[level - 1]; /* time that was not work */
        last = now;
    }
    assert_int_equal(online.plans, 1);
    assert_true(saves[2] > 3 && saves[1] > 5 * saves[2]);
}

/* What a save does in the background is cost as well: the same plan as if it had stopped the job for
 * as long. */
static void test_background_is_cost(void **state)
{
    (void)state;
    mend_plan_online_options o = {.levels = 1, .mtbf = {7200}, .checkpoint = {2}};
    mend_plan_online stops, beside;
    assert_int_equal(mend_plan_online_start(&stops, &o, 0), 0);
    assert_int_equal(mend_plan_online_start(&beside, &o, 0), 0);
    for (double now = 1; now < 5000; now += 100) {
        mend_plan_online_saved(&stops, 1, now, now + 8);
        mend_plan_online_saved(&beside, 1, now, now + 2);
        mend_plan_online_beside(&beside, 1, 6);
        mend_plan_online_due(&stops, now + 10);
        mend_plan_online_due(&beside, now + 10);
    }
    double ratio = mend_plan_online_period(&beside, 1) / mend_plan_online_period(&stops, 1);
    assert_true(fabs(ratio - 1) < 0.05);
    assert_true(mend_plan_online_period(&beside, 1) > 1.5 * sqrt(2 * 2 * 7200));
    mend_plan_online odd = beside;
    mend_plan_online_beside(&odd, 0, 1);
    mend_plan_online_beside(&odd, 2, 1);
    mend_plan_online_beside(&odd, 1, -1);
    mend_plan_online_beside(&odd, 1, NAN);
    assert_memory_equal(&odd, &beside, sizeof odd);
}

/* Long steps: the safe point nearest to the due time is taken, not always the one after it. */
static void test_nearest_safe_point(void **state)
{
    (void)state;
    mend_plan_online_options o = {
        .levels = 1, .mtbf = {5000}, .checkpoint = {1}, .min_period = 100, .max_period = 100};
    mend_plan_online online;
    assert_int_equal(mend_plan_online_start(&online, &o, 0), 0);
    assert_true(mend_plan_online_period(&online, 1) == 100);
    double now = 0;
    int steps = 1, level;
    while (!(level = mend_plan_online_due(&online, now += 30)))
        steps++;
    assert_int_equal(level, 1);
    assert_int_equal(steps, 3); /* at 90: 100 is nearer to 90 than to 120 */
}

/* The posterior: prior weight 1 at an MTBF of 1000 s, then 3 failures in 2000 s. */
static void test_gamma_posterior(void **state)
{
    (void)state;
    mend_plan_online_options o = {.levels = 1, .mtbf = {1000}, .checkpoint = {1}};
    mend_plan_online online;
    double deviation;
    assert_int_equal(mend_plan_online_start(&online, &o, 0), 0);
    assert_true(fabs(mend_plan_online_rate(&online, 1, NULL) - 1e-3) < 1e-15);
    for (int i = 1; i <= 3; i++) {
        mend_plan_online_failure(&online, 1, 600.0 * i);
        mend_plan_online_recovered(&online, 1, 600.0 * i, 600.0 * i + 5);
    }
    mend_plan_online_due(&online, 2000);
    double rate = mend_plan_online_rate(&online, 1, &deviation);
    assert_true(fabs(rate - 4.0 / 3000) < 1e-12);
    assert_true(fabs(deviation - 2.0 / 3000) < 1e-12);
}

/* Poisson failures at 20 times the believed rate: the belief and the period follow. */
static void test_learns_a_bad_machine(void **state)
{
    (void)state;
    mend_plan_online_options o = {.levels = 2, .mtbf = {36000, 360000}, .checkpoint = {1, 10}};
    mend_plan_online online;
    generator g;
    random_seed(&g, 41, 0);
    assert_int_equal(mend_plan_online_start(&online, &o, 0), 0);
    double before = mend_plan_online_period(&online, 1), now = 0;
    for (int i = 0; i < 200; i++) {
        now -= log(random_unit(&g)) * 1800;
        mend_plan_online_failure(&online, 1, now);
        mend_plan_online_recovered(&online, 1, now, now + 2);
        mend_plan_online_due(&online, now += 2);
    }
    double rate = mend_plan_online_rate(&online, 1, NULL);
    assert_true(fabs(rate * 1800 - 1) < 0.25);
    double after = mend_plan_online_period(&online, 1);
    assert_true(after < before / 3 && after > before / 7);
    assert_true(online.plans > 1 && online.plans < 40);
}

/* Costs that waver by 5 % change nothing; costs of ten times as much do. */
static void test_hysteresis(void **state)
{
    (void)state;
    mend_plan_online_options o = two_levels();
    mend_plan_online online;
    generator g;
    random_seed(&g, 42, 0);
    assert_int_equal(mend_plan_online_start(&online, &o, 0), 0);
    double now = 0, before = mend_plan_online_period(&online, 1);
    for (int i = 0; i < 200; i++) {
        mend_plan_online_due(&online, now += 10);
        double cost = between(&g, 0.95, 1.05);
        mend_plan_online_saved(&online, 1, now, now + cost);
        now += cost;
    }
    assert_int_equal(online.plans, 1);
    assert_true(mend_plan_online_period(&online, 1) == before);
    for (int i = 0; i < 30; i++) {
        mend_plan_online_due(&online, now += 10);
        mend_plan_online_saved(&online, 1, now, now + 10);
        now += 10;
    }
    mend_plan_online_due(&online, now += 10);
    assert_true(online.plans > 1 && online.plans < 6);
    double after = mend_plan_online_period(&online, 1);
    assert_true(after == 0 || after > 2 * before); /* level 1 may not be worth it any more */
}

/* After a failure the work since the checkpoint is gone, and the clock of saves with it. */
static void test_failure_takes_work_back(void **state)
{
    (void)state;
    mend_plan_online_options o = {.levels = 2,
                                  .mtbf = {1e5, 1e6},
                                  .checkpoint = {1, 5},
                                  .min_period = 100,
                                  .max_period = 100};
    mend_plan_online online;
    assert_int_equal(mend_plan_online_start(&online, &o, 0), 0);
    mend_plan_online_saved(&online, 2, 100, 105);
    mend_plan_online_saved(&online, 1, 205, 206);
    assert_true(online.done == 200 && online.safe[0] == 200 && online.safe[1] == 100);
    mend_plan_online_failure(&online, 1, 296);
    assert_true(online.done == 200);
    mend_plan_online_recovered(&online, 1, 296, 300);
    assert_true(online.done == 200 && online.recoveries[0] == 1 && online.recovery[0] == 4);
    assert_int_equal(mend_plan_online_due(&online, 350), 0);
    mend_plan_online_failure(&online, 2, 360);
    assert_true(online.done == 100 && online.safe[0] == 100);
    mend_plan_online_recovered(&online, 2, 360, 380);
    assert_int_equal(mend_plan_online_due(&online, 390), 0);
    assert_true(online.done == 110);
    mend_plan_online_failure(&online, 2, 395);
    mend_plan_online_recovered(&online, 0, 395, 400); /* nothing was left: from the start */
    assert_true(online.done == 0);
}

/* The launcher of a job reads of a save when it is over, and has asked in between. */
static void test_saves_that_are_learned_of_late(void **state)
{
    (void)state;
    mend_plan_online_options o = {.levels = 1, .mtbf = {600}, .checkpoint = {1}};
    mend_plan_online online;
    assert_int_equal(mend_plan_online_start(&online, &o, 0), 0);
    double now = 0;
    for (int save = 1; save <= 20; save++) {
        double began = now + 20, ended = began + 4;
        for (; now < ended + 0.05; now += 0.1)
            mend_plan_online_due(&online, now);
        mend_plan_online_saved(&online, 1, began, ended);
        assert_true(fabs(online.checkpoint[0] - 4) < 1e-6);
        assert_true(fabs(online.done - 20.0 * save) < 0.2 * save);
    }
    double young = sqrt(2 * 4 / mend_plan_online_rate(&online, 1, NULL));
    assert_true(mend_plan_online_period(&online, 1) > 0.7 * young);
    assert_true(mend_plan_online_period(&online, 1) < 1.4 * young);
}

/* A save that fails is tried again a period later, not at every step. */
static void test_failed_save_waits(void **state)
{
    (void)state;
    mend_plan_online_options o = {
        .levels = 1, .mtbf = {1e5}, .checkpoint = {1}, .min_period = 50, .max_period = 50};
    mend_plan_online online;
    assert_int_equal(mend_plan_online_start(&online, &o, 0), 0);
    double now = 0;
    int tried = 0;
    for (int i = 0; i < 200; i++)
        if (mend_plan_online_due(&online, now += 1)) {
            mend_plan_online_save_failed(&online, now, now + 2);
            now += 2;
            tried++;
        }
    assert_true(tried >= 3 && tried <= 4);
    assert_true(online.saves[0] == 0);
}

/* What is broadcast as bytes behaves as the original. */
static void test_is_plain_bytes(void **state)
{
    (void)state;
    mend_plan_online_options o = two_levels();
    mend_plan_online a, b;
    assert_int_equal(mend_plan_online_start(&a, &o, 0), 0);
    for (int i = 1; i < 50; i++)
        mend_plan_online_due(&a, i);
    memcpy(&b, &a, sizeof a);
    for (int i = 50; i < 5000; i++) {
        int level = mend_plan_online_due(&a, i);
        assert_int_equal(mend_plan_online_due(&b, i), level);
        if (level) {
            mend_plan_online_saved(&a, level, i, i + 0.5);
            mend_plan_online_saved(&b, level, i, i + 0.5);
        }
    }
    assert_memory_equal(&a, &b, sizeof a);
}

/* A clock that runs back, levels that do not exist, NaN: nothing breaks, nothing is counted. */
static void test_odd_calls(void **state)
{
    (void)state;
    mend_plan_online_options o = two_levels();
    mend_plan_online online;
    assert_int_equal(mend_plan_online_start(&online, &o, 100), 0);
    assert_int_equal(mend_plan_online_due(&online, 50), 0);
    assert_int_equal(mend_plan_online_due(&online, NAN), 0);
    mend_plan_online_saved(&online, 7, 10, 5);
    mend_plan_online_failure(&online, 0, 90);
    mend_plan_online_recovered(&online, 9, 90, 80);
    assert_true(online.done == 0 && online.exposure == 0);
    assert_true(mend_plan_online_rate(&online, 3, NULL) == 0);
    o.levels = 9;
    assert_int_equal(mend_plan_online_start(&online, &o, 0), MEND_ERR_CONFIG);
    o.levels = 2;
    o.mtbf[1] = 0;
    assert_int_equal(mend_plan_online_start(&online, &o, 0), MEND_ERR_CONFIG);
    o.mtbf[1] = INFINITY;
    assert_int_equal(mend_plan_online_start(&online, &o, 0), MEND_ERR_CONFIG);
}

/* Random beliefs: always some plan, periods that nest, an overhead that is a share. */
static void test_always_has_a_plan(void **state)
{
    (void)state;
    generator g;
    random_seed(&g, 43, 0);
    for (int i = 0; i < 300; i++) {
        mend_plan_online_options o = {.levels = 1 + pick(&g, 5), .prior_failures = 1e6};
        mend_plan_online online;
        for (int k = 0; k < o.levels; k++) {
            o.mtbf[k] = between_log(&g, 5, 1e9);
            o.checkpoint[k] = between_log(&g, 1e-6, 1e3);
            o.recovery[k] = between_log(&g, 1e-6, 1e3);
        }
        assert_int_equal(mend_plan_online_start(&online, &o, 0), 0);
        double last = 0;
        for (int k = 1; k <= o.levels; k++) {
            double period = mend_plan_online_period(&online, k);
            assert_true(isfinite(period) && period >= 0);
            if (period > 0) {
                assert_true(period >= last);
                last = period;
            }
        }
        assert_true(last > 0);
        double share = mend_plan_online_overhead(&online);
        assert_true(share >= 0 && share <= 1);
        assert_true(mend_plan_online_due(&online, 2 * last) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_level_is_near_to_young),
        cmocka_unit_test(test_due_at_the_right_steps),
        cmocka_unit_test(test_background_is_cost),
        cmocka_unit_test(test_nearest_safe_point),
        cmocka_unit_test(test_gamma_posterior),
        cmocka_unit_test(test_learns_a_bad_machine),
        cmocka_unit_test(test_hysteresis),
        cmocka_unit_test(test_failure_takes_work_back),
        cmocka_unit_test(test_saves_that_are_learned_of_late),
        cmocka_unit_test(test_failed_save_waits),
        cmocka_unit_test(test_is_plain_bytes),
        cmocka_unit_test(test_odd_calls),
        cmocka_unit_test(test_always_has_a_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
