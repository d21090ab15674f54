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
    for (int i = 0; i < MANY_INPUTS; i++) {
        mend_plan_model m;
        random_model(&g, 4, &m);
        m.write_all = i % 10 == 9;
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
    assert_true(count > MANY_INPUTS * 9 / 10);
    assert_true(slowest < 1 || MANY_INPUTS < 1000); /* not under sanitizers */
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
                mend_plan_outcome o;
                for (int k = m->levels - 1; k >= 0; k--) {
                    x *= counts[k];
                    p.intervals[k] = counts[k] > 1 ? x : 1;
                }
                if (!mend_plan_expect(m, &p, &o))
                    best = fmin(best, mend_plan_value(objective, p.cores, &o));
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
    for (int i = 0; i < MANY_INPUTS * 6 / 100; i++) {
        mend_plan_model m;
        small_model(&g, &m);
        m.write_all = i % 4 == 3;
        m.watts_io = 0.3;
        m.watts_idle = 0.1;
        mend_plan_objective objective = i % 5 == 4 ? MEND_PLAN_ENERGY : MEND_PLAN_TIME;
        if (mend_plan_load(&m, m.cores) >= 1)
            continue;
        mend_plan best = make(&m, MEND_PLAN_BEST, objective);
        double brute = brute_force(&m, objective, m.levels == 3 ? 14 : 40);
        double found = mend_plan_value(objective, best.cores, &best.expected);
        worst = fmax(worst, found / brute - 1);
        if (!(found <= brute * 1.005))
            fail_msg("input %d: found %.10g, brute force %.10g", i, found, brute);
        compared++;
    }
    print_message("%d cases, worst %.4f %% above brute force\n", compared, 100 * worst);
    assert_true(compared > MANY_INPUTS * 3 / 100);
}

/* The same with the number of cores free: brute force over a grid of cores, too. */
static void test_brute_force_with_free_cores(void **state)
{
    (void)state;
    generator g;
    random_seed(&g, 23, 0);
    double worst = 0;
    for (int i = 0; i < MANY_INPUTS / 80; i++) {
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
    for (int i = 0; i < 20; i++) {
        mend_plan_model m;
        random_model(&g, 3, &m);
        m.cores = 0;
        m.watts_compute = 10;
        m.watts_io = 3;
        m.watts_idle = 1;
        m.min_cores = ceil(m.max_cores / 20);
        if (mend_plan_load(&m, m.min_cores) >= 1)
            continue;
        for (int a = 0; a < 3; a++) {
            mend_plan own = make(&m, MEND_PLAN_BEST, (mend_plan_objective)a);
            double least = mend_plan_value((mend_plan_objective)a, own.cores, &own.expected);
            for (int b = 0; b < 3; b++) {
                mend_plan other = make(&m, MEND_PLAN_BEST, (mend_plan_objective)b);
                double value =
                    mend_plan_value((mend_plan_objective)a, other.cores, &other.expected);
                if (!(least <= value * (1 + 1e-6)))
                    fail_msg("input %d: %s has %.10g, the plan for %s %.10g", i,
                             mend_plan_objective_name((mend_plan_objective)a), least,
                             mend_plan_objective_name((mend_plan_objective)b), value);
            }
        }
    }
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
        cmocka_unit_test(test_useless_levels_have_one_interval),
        cmocka_unit_test(test_eight_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
