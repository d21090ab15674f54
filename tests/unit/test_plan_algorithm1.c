/* Algorithm 1 keeps its own equations, and refuses exactly what has no solution. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan_random.h"

static double value(const mend_plan_cost *cost, double cores)
{
    return cost->fixed + cost->slope * cores;
}

static double speedup_slope(const mend_plan_speedup *s, double cores)
{
    switch (s->curve) {
    case MEND_PLAN_QUADRATIC: return -s->slope / s->peak * cores + s->slope;
    case MEND_PLAN_AMDAHL: return (1 - s->serial) / pow(1 + s->serial * (cores - 1), 2);
    default: return s->slope;
    }
}

/* The left side of formula 23 for level i, by the size of its terms. */
static double formula23(const mend_plan_model *m, const mend_plan *p, int i)
{
    double g = mend_plan_speedup_at(&m->speedup, p->cores), below = m->work / g, above = 0;
    double c = value(&m->level[i].checkpoint, p->cores), x = p->intervals[i];
    for (int j = 0; j < i; j++)
        below += value(&m->level[j].checkpoint, p->cores) * p->intervals[j];
    for (int j = i + 1; j < m->levels; j++)
        above += m->level[j].rate_per_core * p->cores * p->model_seconds / p->intervals[j];
    double mu = m->level[i].rate_per_core * p->cores * p->model_seconds;
    double gain = mu / (2 * x * x) * below, loss = c + c / 2 * above;
    return (loss - gain) / (loss + gain);
}

/* The left side of formula 24, by the size of its terms. */
static double formula24(const mend_plan_model *m, const mend_plan *p)
{
    double n = p->cores, g = mend_plan_speedup_at(&m->speedup, n);
    double slope = speedup_slope(&m->speedup, n), sum_slope = 0, sum_mu = 0, rest = 0;
    for (int i = 0; i < m->levels; i++) {
        const mend_plan_level *level = &m->level[i];
        double b = level->rate_per_core * p->model_seconds, mu = b * n, x = p->intervals[i];
        double lost = 0, lost_slope = 0;
        for (int k = 0; k <= i; k++) {
            lost += value(&m->level[k].checkpoint, n) * p->intervals[k] / (2 * x);
            lost_slope += m->level[k].checkpoint.slope * p->intervals[k] / (2 * x);
        }
        sum_slope += b / (2 * x);
        sum_mu += mu / (2 * x);
        rest += level->checkpoint.slope * (x - 1) +
                b * (lost + m->allocation + value(&level->recovery, n)) +
                mu * (lost_slope + level->recovery.slope);
    }
    double up = m->work / (g * g) * sum_slope * g + rest;
    double down = m->work / (g * g) * (1 + sum_mu) * slope;
    return (up - down) / (up + down);
}

static double load_of(const mend_plan_model *m, double cores)
{
    double sum = 0;
    for (int i = 0; i < m->levels; i++)
        sum += m->level[i].rate_per_core * cores *
               (value(&m->level[i].checkpoint, cores) / 2 + m->allocation +
                value(&m->level[i].recovery, cores));
    return sum;
}

static void check_equations(const mend_plan_model *m, const mend_plan *p)
{
    for (int i = 0; i < m->levels; i++) {
        double left = formula23(m, p, i);
        if (p->intervals[i] > 1 && !(fabs(left) < 1e-6))
            fail_msg("formula 23 of level %d of %d: %g, load %.12g, %.10g intervals, %d passes",
                     i + 1, m->levels, left, load_of(m, p->cores), p->intervals[i], p->iterations);
        else if (p->intervals[i] > 1)
            continue;
        else
            assert_true(left > -1e-6); /* fewer intervals would be better still */
    }
    if (m->cores > 0)
        return;
    double left = formula24(m, p);
    if (p->cores >= m->max_cores)
        assert_true(left < 1e-6);
    else if (p->cores <= m->min_cores)
        assert_true(left > -1e-6);
    else
        assert_true(fabs(left) < 1e-6);
}

static void test_stationary_and_feasible(void **state)
{
    (void)state;
    generator g;
    random_seed(&g, 5, 1);
    int refused = 0, inside = 0, close = 0;
    for (int i = 0; i < MANY_INPUTS; i++) {
        mend_plan_model m;
        mend_plan_request request = {.method = MEND_PLAN_ALGORITHM1};
        mend_plan plan;
        random_model(&g, 8, &m);
        /* spread the load over both sides of 1, often very near to it */
        double cores = m.cores > 0 ? m.cores : m.min_cores;
        double wanted = i % 3 == 0   ? between_log(&g, 1e-3, 10)
                        : i % 3 == 1 ? 1 + between(&g, -1e-2, 1e-2)
                                     : 0;
        if (wanted > 0 && m.cores > 0) {
            double factor = wanted / load_of(&m, cores);
            for (int k = 0; k < m.levels; k++)
                m.level[k].rate_per_core *= factor;
            close += fabs(wanted - 1) <= 1e-2;
        }
        double load = load_of(&m, cores);
        assert_true(fabs(mend_plan_load(&m, cores) - load) <= 1e-12 * load);
        int code = mend_plan_make(&m, &request, &plan);
        if (fabs(load - 1) > 1e-12)
            assert_int_equal(code == MEND_ERR_INFEASIBLE, load >= 1);
        if (code) {
            assert_int_equal(code, MEND_ERR_INFEASIBLE);
            assert_non_null(strstr(mend_error_text(), "allocation + recovery) ="));
            refused++;
            continue;
        }
        if (!plan.converged)
            fail_msg("not converged after %d passes, load 1 - %g, time %g", plan.iterations,
                     1 - load, plan.model_seconds);
        if (plan.nested) /* so many intervals that they were made whole multiples */
            continue;
        check_equations(&m, &plan);
        inside += m.cores == 0 && plan.cores < m.max_cores && plan.cores > m.min_cores;
    }
    print_message(
        "%d refused, %d with a load within 1 %% of 1, %d with cores inside of the bounds\n",
        refused, close, inside);
    assert_true(refused > MANY_INPUTS / 20 && inside > MANY_INPUTS / 20 &&
                close > MANY_INPUTS / 20);
}

/* With no solution in the first-order model there is none: its time is infinite for all intervals.
 */
static void test_infeasible_is_infinite(void **state)
{
    (void)state;
    generator g;
    random_seed(&g, 6, 1);
    for (int i = 0; i < MANY_INPUTS; i++) {
        mend_plan_model m;
        mend_plan plan = {0};
        random_model(&g, 4, &m);
        m.cores = m.max_cores;
        double factor = between(&g, 1, 3) / load_of(&m, m.cores);
        for (int k = 0; k < m.levels; k++)
            m.level[k].rate_per_core *= factor;
        plan.cores = m.cores;
        for (int k = 0; k < m.levels; k++)
            plan.intervals[k] = between_log(&g, 1, 1e6);
        assert_true(isinf(mend_plan_first_order(&m, &plan)));
    }
}

/* One level: formula 23 in closed form, x = sqrt(mu f / 2C), and N free on a line (formulas 10,
 * 11). */
static void test_one_level_linear(void **state)
{
    (void)state;
    mend_plan_model m;
    mend_plan plan;
    mend_plan_request request = {.method = MEND_PLAN_ALGORITHM1};
    mend_plan_model_init(&m);
    m.work = 1e9;
    m.speedup.slope = 0.8;
    m.max_cores = 1e6;
    m.allocation = 30;
    m.levels = 1;
    m.level[0].checkpoint = (mend_plan_cost){20, 0, 1};
    m.level[0].recovery = (mend_plan_cost){10, 0, 1};
    m.level[0].total_per_core = 0.002;
    assert_int_equal(mend_plan_make(&m, &request, &plan), 0);
    double x = sqrt(0.002 * 1e9 / (2 * 0.8 * 20)), n = sqrt(1e9 / (0.8 * 0.002 * (10 + 30)));
    assert_true(fabs(plan.intervals[0] - x) < 1e-9 * x);
    assert_true(fabs(plan.cores - n) < 1e-9 * n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stationary_and_feasible),
        cmocka_unit_test(test_infeasible_is_infinite),
        cmocka_unit_test(test_one_level_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
