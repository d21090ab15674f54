/* The search: never worse than algorithm 1, near to brute force, fast. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "plan_random.h"

static mend_plan make(const mend_plan_model *m, mend_plan_method method,
                      mend_plan_objective objective)
{
    mend_plan plan;
    mend_plan_request request = {.method = method, .objective = objective};
    if (mend_plan_make(m, &request, &plan))
        fail_msg("%s", mend_error_text());
    return plan;
}

static void test_never_worse_than_algorithm1(void **state)
{
    (void)state;
    generator g;
    random_seed(&g, 21, 0);
    double gain = 0, most = 0, slowest = 0;
    int count = 0;
    for (int i = 0; i < MANY_INPUTS / 10; i++) {
        mend_plan_model m;
        random_model(&g, 4, &m);
        m.write = i % 5 > 2 ? MEND_PLAN_CHOSEN : i % 5;
        if (mend_plan_load(&m, m.cores > 0 ? m.cores : m.min_cores) >= 1)
            continue;
        mend_plan published = make(&m, MEND_PLAN_ALGORITHM1, MEND_PLAN_TIME);
        clock_t begin = clock();
        mend_plan best = make(&m, MEND_PLAN_BEST, MEND_PLAN_TIME);
        slowest = fmax(slowest, (double)(clock() - begin) / CLOCKS_PER_SEC);
        double better = published.expected.seconds / best.expected.seconds - 1;
        if (better < -1e-9)
            fail_msg("input %d: best %.10g s, algorithm 1 %.10g s", i, best.expected.seconds,
                     published.expected.seconds);
        most = fmax(most, better);
        gain += better;
        count++;
    }
    print_message("%d inputs: %.2f %% better on average, %.0f %% at most; slowest %.3f s of CPU\n",
                  count, 100 * gain / count, 100 * most, slowest);
    assert_true(count > MANY_INPUTS * 9 / 100);
    assert_true(slowest < 2 || MANY_INPUTS < 1000); /* not under sanitizers */
}

/* The lowest value of one pattern, whatever is written before what. */
static double least_of(const mend_plan_model *m, mend_plan_objective objective, mend_plan *p)
{
    double best = HUGE_VAL;
    unsigned ways = m->write == MEND_PLAN_CHOSEN ? 8 : 1;
    mend_plan_outcome o;
    for (unsigned way = 0; way < ways; way++) {
        p->first[1] = way & 1;
        p->first[2] = way >> 1;
        if ((way & 1 && !(m->levels > 1 && p->intervals[1] > 1)) ||
            (way >> 1 && !(m->levels > 2 && p->intervals[2] > 1)))
            continue;
        if (!mend_plan_expect(m, p, &o))
            best = fmin(best, mend_plan_value(objective, p->cores, &o));
    }
    return best;
}

/* The lowest value of all nested patterns with counts up to `most`, at the model's cores. */
static double brute_force(const mend_plan_model *m, mend_plan_objective objective, int most)
{
    double best = HUGE_VAL;
    int counts[3] = {1, 1, 1};
    mend_plan p = {.cores = m->cores, .nested = 1};
    for (counts[2] = 1; counts[2] <= (m->levels > 2 ? most : 1); counts[2]++)
        for (counts[1] = 1; counts[1] <= (m->levels > 1 ? most : 1); counts[1]++)
            for (counts[0] = 1; counts[0] <= most; counts[0]++) {
                double x = 1;
                for (int k = m->levels - 1; k >= 0; k--) {
                    x *= counts[k];
                    p.intervals[k] = x; /* with a count of 1: only before a higher one, if at all */
                }
                best = fmin(best, least_of(m, objective, &p));
            }
    return best;
}

/* Jobs so short that all good patterns have small counts. */
static void small_model(generator *g, mend_plan_model *m)
{
    random_model(g, 3, m);
    m->cores = m->max_cores;
    m->work = between_log(g, 5, 60) * m->level[0].checkpoint.fixed *
              mend_plan_speedup_at(&m->speedup, m->cores);
    double work = m->work / mend_plan_speedup_at(&m->speedup, m->cores);
    double rate = between_log(g, 0.1, 3) / work / m->cores;
    for (int i = 0; i < m->levels; i++) {
        m->level[i].rate_per_core = rate;
        rate *= between(g, 0.05, 0.8);
        m->level[i].checkpoint.fixed = fmin(m->level[i].checkpoint.fixed, work / 3);
        m->level[i].recovery = m->level[i].checkpoint;
    }
    m->allocation = 0;
}

static void test_brute_force(void **state)
{
    (void)state;
    generator g;
    random_seed(&g, 22, 0);
    double worst = 0;
    int compared = 0;
    for (int i = 0; i < MANY_INPUTS * 3 / 100; i++) {
        mend_plan_model m;
        small_model(&g, &m);
        m.write = i % 4 == 3 ? MEND_PLAN_CHOSEN : i % 4;
        m.watts_io = 0.3;
        m.watts_idle = 0.1;
        mend_plan_objective objective = i % 5 == 4 ? MEND_PLAN_ENERGY : MEND_PLAN_TIME;
        if (mend_plan_load(&m, m.cores) >= 1)
            continue;
        mend_plan best = make(&m, MEND_PLAN_BEST, objective);
        double brute = brute_force(&m, objective, m.levels == 3 ? 8 : 25);
        double found = mend_plan_value(objective, best.cores, &best.expected);
        worst = fmax(worst, found / brute - 1);
        if (!(found <= brute * 1.005))
            fail_msg("input %d: found %.10g, brute force %.10g", i, found, brute);
        compared++;
    }
    print_message("%d cases, worst %.4f %% above brute force\n", compared, 100 * worst);
    assert_true(compared > MANY_INPUTS * 15 / 1000);
}

/* The same with the number of cores free: brute force over a grid of cores, too. */
static void test_brute_force_with_free_cores(void **state)
{
    (void)state;
    generator g;
    random_seed(&g, 23, 0);
    double worst = 0;
    for (int i = 0; i < MANY_INPUTS / 250; i++) {
        mend_plan_model m, fixed;
        do
            random_model(&g, 2, &m);
        while (m.speedup.curve != MEND_PLAN_QUADRATIC);
        m.cores = 0;
        m.max_cores = m.speedup.peak = 10000;
        m.work = 600 * mend_plan_speedup_at(&m.speedup, 10000);
        for (int k = 0; k < m.levels; k++) {
            m.level[k].checkpoint = (mend_plan_cost){10 + 20 * k, 0.005 * k, 1};
            m.level[k].recovery = (mend_plan_cost){20 + 40 * k, 0.005 * k, 1};
            m.level[k].rate_per_core = between_log(&g, 0.5, 4) / 600 / 10000;
        }
        mend_plan best = make(&m, MEND_PLAN_BEST, MEND_PLAN_TIME);
        double brute = HUGE_VAL;
        for (double n = 100; n <= 10000; n += n < 2000 ? 100 : 250) {
            fixed = m;
            fixed.cores = n;
            brute = fmin(brute, brute_force(&fixed, MEND_PLAN_TIME, 24));
        }
        worst = fmax(worst, best.expected.seconds / brute - 1);
        if (!(best.expected.seconds <= brute * 1.005))
            fail_msg("input %d: found %.10g on %g cores, brute force %.10g", i,
                     best.expected.seconds, best.cores, brute);
        assert_true(best.cores == rint(best.cores));
    }
    print_message("worst %.4f %% above brute force\n", 100 * worst);
}

/* Each objective is best at its own: no other plan has less of it. */
static void test_objectives(void **state)
{
    (void)state;
    generator g;
    random_seed(&g, 24, 0);
    for (int i = 0; i < 4; i++) {
        mend_plan_model m;
        random_model(&g, 3, &m);
        m.cores = 0;
        m.watts_compute = 10;
        m.watts_io = 3;
        m.watts_idle = 1;
        m.slack = 0;
        m.min_cores = ceil(m.max_cores / 20);
        if (mend_plan_load(&m, m.min_cores) >= 1)
            continue;
        mend_plan plan[3];
        for (int a = 0; a < 3; a++)
            plan[a] = make(&m, MEND_PLAN_BEST, (mend_plan_objective)a);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                mend_plan_objective objective = (mend_plan_objective)a;
                double least = mend_plan_value(objective, plan[a].cores, &plan[a].expected);
                double value = mend_plan_value(objective, plan[b].cores, &plan[b].expected);
                if (!(least <= value * (1 + 1e-6)))
                    fail_msg("input %d: %s has %.10g, the plan for %s %.10g", i,
                             mend_plan_objective_name(objective), least,
                             mend_plan_objective_name((mend_plan_objective)b), value);
            }
    }
}

/* Where the first-order formulas have no answer there may still be a plan; the others say so. */
static void test_infeasible_only_when_it_is(void **state)
{
    (void)state;
    mend_plan_model m;
    mend_plan plan;
    mend_plan_request request = {.method = MEND_PLAN_BEST};
    mend_plan_model_init(&m);
    m.work = 1e5 * 3600;
    m.cores = 1000;
    m.levels = 1;
    m.level[0] = (mend_plan_level){{500, 0, 1}, {500, 0, 1}, 1.0 / 600 / 1000, 0};
    assert_true(mend_plan_load(&m, 1000) > 1);
    plan = make(&m, MEND_PLAN_BEST, MEND_PLAN_TIME);
    /* the least of x -> e^(R/M) M ((x - 1) (e^((f/x + C)/M) - 1) + e^(f/x/M) - 1), by hand */
    double least = HUGE_VAL;
    for (double x = 1; x < 3000; x++)
        least = fmin(least, exp(500 / 600.0) * 600 *
                                ((x - 1) * expm1((360000 / x + 500) / 600) + expm1(600 / x)));
    assert_true(plan.expected.seconds <= least * (1 + 1e-9));
    request.method = MEND_PLAN_ALGORITHM1;
    assert_int_equal(mend_plan_make(&m, &request, &plan), MEND_ERR_INFEASIBLE);
    m.level[0].rate_per_core = 1.0 / 20 / 1000; /* every 20 s, and a checkpoint takes 500 */
    request.method = MEND_PLAN_BEST;
    assert_int_equal(mend_plan_make(&m, &request, &plan), MEND_ERR_INFEASIBLE);
}

/* Core-hours with free cores: within the slack or the deadline, and not one core and a century. */
static void test_slack_and_deadline(void **state)
{
    (void)state;
    mend_plan_model m;
    mend_plan_request request = {.method = MEND_PLAN_BEST, .objective = MEND_PLAN_CORE_HOURS};
    mend_plan plan;
    mend_plan_model_init(&m);
    m.work = 1e6 * 3600;
    m.max_cores = 1e5;
    m.speedup = (mend_plan_speedup){.curve = MEND_PLAN_AMDAHL, .serial = 1e-5};
    m.levels = 2;
    m.level[0] = (mend_plan_level){{10, 0, 1}, {10, 0, 1}, 5e-9, 0};
    m.level[1] = (mend_plan_level){{200, 0, 1}, {200, 0, 1}, 1e-9, 0};
    for (int energy = 0; energy < 2; energy++) {
        request.objective = energy ? MEND_PLAN_ENERGY : MEND_PLAN_CORE_HOURS;
        m.deadline = 0;
        plan = make(&m, MEND_PLAN_BEST, request.objective);
        double value = mend_plan_value(request.objective, plan.cores, &plan.expected);
        assert_true(plan.cores > 100 && plan.least > 0 && value <= plan.least * 1.1 * (1 + 1e-9));
        assert_true(value > plan.least * 1.05); /* it is the fastest of these */
        m.deadline = plan.expected.seconds / 3;
        plan = make(&m, MEND_PLAN_BEST, request.objective);
        assert_true(plan.expected.seconds <= m.deadline);
        assert_true(plan.expected.seconds > 0.99 * m.deadline); /* and no more cores than needed */
        m.deadline = 60;
        assert_int_equal(mend_plan_make(&m, &request, &plan), MEND_ERR_INFEASIBLE);
    }
}

/* Whole nodes. */
static void test_nodes(void **state)
{
    (void)state;
    generator g;
    random_seed(&g, 26, 0);
    for (int i = 0; i < 4; i++) {
        mend_plan_model m;
        random_model(&g, 2, &m);
        m.cores = 0;
        m.cores_per_node = 48;
        mend_plan plan = make(&m, MEND_PLAN_BEST, MEND_PLAN_TIME);
        assert_true(fmod(plan.cores, 48) == 0 && plan.cores <= m.max_cores);
    }
}

/* The simulator's plan is better than the one for exponential failures, by the simulator. */
static void test_weibull(void **state)
{
    (void)state;
    mend_plan_model m;
    mend_plan_sample a, b;
    mend_plan_trial trial = {.runs = 3000, .seed = 99};
    mend_plan_model_init(&m);
    m.work = 2e5;
    m.cores = 1;
    m.levels = 2;
    m.level[0] = (mend_plan_level){{60, 0, 1}, {60, 0, 1}, 1.0 / 3000, 0};
    m.level[1] = (mend_plan_level){{300, 0, 1}, {300, 0, 1}, 1.0 / 20000, 0};
    mend_plan exponential = make(&m, MEND_PLAN_BEST, MEND_PLAN_TIME);
    assert_true(exponential.runs == 0);
    m.weibull_shape = 0.5;
    mend_plan plan = make(&m, MEND_PLAN_BEST, MEND_PLAN_TIME);
    assert_true(plan.runs > 0 && plan.standard_error > 0);
    assert_int_equal(mend_plan_simulate(&m, &plan, &trial, &a), 0);
    assert_int_equal(mend_plan_simulate(&m, &exponential, &trial, &b), 0);
    print_message(
        "planned for Weibull %.6g s, for exponential failures %.6g s; standard error %.3g\n",
        a.mean.seconds, b.mean.seconds, a.standard_error);
    assert_true(a.mean.seconds < b.mean.seconds);
    assert_true(fabs(plan.expected.seconds - a.mean.seconds) <
                5 * hypot(plan.standard_error, a.standard_error));
}

/* Millions of intervals: the figures are those of the plan that is given. */
static void test_very_many_intervals(void **state)
{
    (void)state;
    mend_plan_model m;
    mend_plan_model_init(&m);
    m.work = 1e9;
    m.cores = 1;
    m.levels = 2;
    m.level[0] = (mend_plan_level){{1e-3, 0, 1}, {1, 0, 1}, 0.01, 0};
    m.level[1] = (mend_plan_level){{7, 0, 1}, {7, 0, 1}, 1e-4, 0};
    for (int method = MEND_PLAN_BEST; method <= MEND_PLAN_ALGORITHM1; method++) {
        mend_plan plan = make(&m, (mend_plan_method)method, MEND_PLAN_TIME);
        mend_plan_outcome again;
        assert_true(plan.intervals[0] > 1e6 && plan.nested);
        assert_int_equal(mend_plan_expect(&m, &plan, &again), 0);
        assert_true(again.seconds == plan.expected.seconds);
    }
    mend_plan grids = {.cores = 1, .intervals = {6e6, 1000.5}};
    mend_plan_outcome none;
    assert_int_equal(mend_plan_expect(&m, &grids, &none), MEND_ERR_CONFIG);
}

/* A level that costs as much as the next one and survives less is not used. */
static void test_useless_levels_have_one_interval(void **state)
{
    (void)state;
    mend_plan_model m;
    mend_plan_model_init(&m);
    m.work = 1e6;
    m.cores = 1;
    m.levels = 3;
    for (int i = 0; i < 3; i++)
        m.level[i] = (mend_plan_level){{20, 0, 1}, {20, 0, 1}, 1e-5, 0};
    mend_plan best = make(&m, MEND_PLAN_BEST, MEND_PLAN_TIME);
    assert_true(best.intervals[0] == 1 && best.intervals[1] == 1 && best.intervals[2] > 10);
    for (int i = 0; i < 3; i++)
        m.level[i].rate_per_core = 0;
    best = make(&m, MEND_PLAN_BEST, MEND_PLAN_TIME);
    assert_true(best.intervals[2] == 1 && best.expected.seconds == 1e6);
}

static void test_eight_levels(void **state)
{
    (void)state;
    generator g;
    random_seed(&g, 25, 0);
    mend_plan_model m;
    do
        random_model(&g, 8, &m);
    while (m.levels < 8 || m.cores > 0 || mend_plan_load(&m, 1) >= 1);
    clock_t begin = clock();
    mend_plan best = make(&m, MEND_PLAN_BEST, MEND_PLAN_TIME);
    print_message("eight levels, free cores: %.2f s of CPU\n",
                  (double)(clock() - begin) / CLOCKS_PER_SEC);
    mend_plan published = make(&m, MEND_PLAN_ALGORITHM1, MEND_PLAN_TIME);
    assert_true(best.expected.seconds <= published.expected.seconds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_worse_than_algorithm1),
        cmocka_unit_test(test_brute_force),
        cmocka_unit_test(test_brute_force_with_free_cores),
        cmocka_unit_test(test_objectives),
        cmocka_unit_test(test_infeasible_only_when_it_is),
        cmocka_unit_test(test_slack_and_deadline),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_weibull),
        cmocka_unit_test(test_very_many_intervals),
        cmocka_unit_test(test_useless_levels_have_one_interval),
        cmocka_unit_test(test_eight_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
