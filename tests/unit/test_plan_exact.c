/* The exact evaluator: against closed forms, against itself by another way, against the simulator.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan_random.h"

static mend_plan_outcome expect(const mend_plan_model *m, const mend_plan *p)
{
    mend_plan_outcome outcome;
    if (mend_plan_expect(m, p, &outcome))
        fail_msg("%s", mend_error_text());
    return outcome;
}

static void assert_relative(double value, double wanted, double tolerance)
{
    if (!(fabs(value - wanted) <= tolerance * fabs(wanted)))
        fail_msg("%.17g is not %.17g to within %g", value, wanted, tolerance);
}

/* One level, x intervals of w = f / x, the last without a checkpoint:
 * E = e^(L (A + R)) / L * ((x - 1) (e^(L (w + C)) - 1) + e^(L w) - 1). */
static double closed_form(double f, double x, double c, double restart, double rate)
{
    double w = f / x;
    return exp(rate * restart) / rate * ((x - 1) * expm1(rate * (w + c)) + expm1(rate * w));
}

static void test_closed_form_of_one_level(void **state)
{
    (void)state;
    generator g;
    random_seed(&g, 11, 0);
    for (int i = 0; i < 2000; i++) {
        mend_plan_model m;
        mend_plan p = {.cores = 1, .nested = i % 2};
        mend_plan_model_init(&m);
        m.levels = 1;
        m.cores = 1;
        m.work = between_log(&g, 10, 1e7);
        m.allocation = pick(&g, 2) ? between_log(&g, 1, 1000) : 0;
        m.level[0].checkpoint.fixed = between_log(&g, 0.01, 1000);
        m.level[0].recovery.fixed = between_log(&g, 0.01, 1000);
        m.level[0].rate_per_core = between_log(&g, 1e-9, 1e-3);
        p.intervals[0] = rint(between_log(&g, 1, 5000));
        if (m.level[0].rate_per_core * m.work / p.intervals[0] > 300)
            continue; /* beyond all numbers */
        mend_plan_outcome o = expect(&m, &p);
        double wanted =
            closed_form(m.work, p.intervals[0], m.level[0].checkpoint.fixed,
                        m.allocation + m.level[0].recovery.fixed, m.level[0].rate_per_core);
        if (p.nested)
            assert_relative(o.seconds, wanted, 1e-12);
        else
            assert_relative(o.seconds, wanted, 1e-10); /* a sum of thousands of steps */
        assert_relative(o.work + o.checkpoint + o.restart + o.lost, o.seconds, 1e-9);
        assert_relative(o.failures, o.seconds * m.level[0].rate_per_core, 1e-12);
        assert_relative(o.joules, o.seconds, 1e-9); /* all powers are 1 W by default */
    }
}

/* No failures: work and checkpoints, nothing else. */
static void test_without_failures(void **state)
{
    (void)state;
    mend_plan_model m;
    mend_plan p = {.cores = 10, .nested = 1, .intervals = {24, 1, 6, 2}};
    mend_plan_model_init(&m);
    m.work = 1e5;
    m.cores = 10;
    m.levels = 4;
    for (int i = 0; i < 4; i++)
        m.level[i].checkpoint.fixed = pow(10, i);
    /* 24 intervals: 1 checkpoint of level 4, 4 of level 3, 18 of level 1 */
    assert_relative(expect(&m, &p).seconds, 1e4 + 1000 + 4 * 100 + 18, 1e-13);
    m.write = 1; /* 23 of level 1, 5 of level 3, 1 of level 4 */
    assert_relative(expect(&m, &p).seconds, 1e4 + 1000 + 5 * 100 + 23, 1e-13);
    p.nested = 0;
    assert_relative(expect(&m, &p).seconds, 1e4 + 1000 + 5 * 100 + 23, 1e-13);
}

/* Two levels, one checkpoint of each, written out by hand from the renewal equations. */
static void test_two_levels_by_hand(void **state)
{
    (void)state;
    mend_plan_model m;
    mend_plan p = {.cores = 1, .nested = 1, .intervals = {4, 2}};
    mend_plan_model_init(&m);
    m.work = 4000;
    m.cores = 1;
    m.levels = 2;
    m.allocation = 30;
    const double c1 = 20, c2 = 70, r1 = 15, r2 = 90, a = 30, l1 = 2e-4, l2 = 1e-4, l = l1 + l2;
    m.level[0] = (mend_plan_level){{c1, 0, 1}, {r1, 0, 1}, l1, 0};
    m.level[1] = (mend_plan_level){{c2, 0, 1}, {r2, 0, 1}, l2, 0};
    double w = 1000, q;
    /* back at the start after a failure of level 2, then of level 1 */
    double s2 = (exp(l * (a + r2)) - 1) / l;
    q = (1 - exp(-l * (a + r1))) / l;
    double s1 = q * (1 + l2 * s2) / (1 - q * l1);
    /* interval 1, checkpoint of level 1 */
    double f1 = (exp(l * (w + c1)) - 1) / l * (1 + l1 * s1 + l2 * s2);
    double b2 = s2 + f1;
    double b1 = q * (1 + l2 * b2) / (1 - q * l1);
    /* interval 2, checkpoint of level 2 */
    double f2 = (exp(l * (w + c2)) - 1) / l * (1 + l1 * b1 + l2 * b2);
    double d = (exp(l * (a + r2)) - 1) / l;
    /* interval 3, checkpoint of level 1; interval 4, the end */
    double f3 = (exp(l * (w + c1)) - 1) / l * (1 + (l1 + l2) * d);
    double e2 = d + f3, e1 = q * (1 + l2 * e2) / (1 - q * l1);
    double f4 = (exp(l * w) - 1) / l * (1 + l1 * e1 + l2 * e2);
    assert_relative(expect(&m, &p).seconds, f1 + f2 + f3 + f4, 1e-12);
}

/* One point, two levels: the lower one is complete before the higher one begins, and failures while
 * that is written go back no further. */
static void test_levels_commit_one_by_one(void **state)
{
    (void)state;
    mend_plan_model m;
    mend_plan p = {.cores = 1, .nested = 1, .intervals = {2, 2}, .first = {0, 1}};
    mend_plan_model_init(&m);
    m.work = 2000;
    m.cores = 1;
    m.levels = 2;
    const double c1 = 20, c2 = 700, r1 = 15, r2 = 90, l1 = 2e-4, l2 = 1e-4, l = l1 + l2, w = 1000;
    m.level[0] = (mend_plan_level){{c1, 0, 1}, {r1, 0, 1}, l1, 0};
    m.level[1] = (mend_plan_level){{c2, 0, 1}, {r2, 0, 1}, l2, 0};
    double s2 = (exp(l * r2) - 1) / l, q = (1 - exp(-l * r1)) / l;
    double s1 = q * (1 + l2 * s2) / (1 - q * l1);
    /* work and level 1; then level 2 alone: a failure of level 1 reads level 1, of level 2 the start */
    double f1 = (exp(l * (w + c1)) - 1) / l * (1 + l1 * s1 + l2 * s2), b2 = s2 + f1;
    double b1 = q * (1 + l2 * b2) / (1 - q * l1);
    double f2 = (exp(l * c2) - 1) / l * (1 + l1 * b1 + l2 * b2);
    /* both are there: failures of level 1 read level 1, which holds the same work */
    double d2 = (exp(l * r2) - 1) / l, d1 = q * (1 + l2 * d2) / (1 - q * l1);
    double f3 = (exp(l * w) - 1) / l * (1 + l1 * d1 + l2 * d2);
    assert_relative(expect(&m, &p).seconds, f1 + f2 + f3, 1e-12);
    assert_relative(expect(&m, &p).checkpoint, c1 + c2, 1e-12);
    p.first[1] = 0;
    m.write = MEND_PLAN_ALL; /* whatever `first` says */
    assert_relative(expect(&m, &p).seconds, f1 + f2 + f3, 1e-12);
    p.nested = 0;
    assert_relative(expect(&m, &p).seconds, f1 + f2 + f3, 1e-12);
}

/* A nested pattern walked checkpoint by checkpoint is the same as its powers of matrices. */
static void test_matrices_equal_steps(void **state)
{
    (void)state;
    generator g;
    random_seed(&g, 12, 0);
    for (int i = 0; i < 500; i++) {
        mend_plan_model m;
        mend_plan p = {.nested = 1};
        random_model(&g, 6, &m);
        m.write = i % 3;
        p.cores = m.cores > 0 ? m.cores : m.max_cores;
        double x = 1;
        for (int k = m.levels - 1; k >= 0; k--) {
            int count = 1 + pick(&g, 5);
            x *= count;
            p.intervals[k] = count > 1 ? x : 1;
            p.first[k] = (unsigned)random_bits(&g);
        }
        mend_plan_outcome a, b;
        int code = mend_plan_expect(&m, &p, &a);
        p.nested = 0;
        assert_int_equal(mend_plan_expect(&m, &p, &b), code);
        if (code || a.seconds > 1e200)
            continue;
        assert_relative(a.seconds, b.seconds, 1e-9);
        assert_relative(a.restart, b.restart, 1e-9);
        assert_relative(a.joules, b.joules, 1e-9);
        assert_relative(a.checkpoint + 1, b.checkpoint + 1, 1e-12);
    }
}

/* Failures given for the whole run: as many are expected as were given. */
static void test_failures_of_the_whole_run(void **state)
{
    (void)state;
    generator g;
    random_seed(&g, 13, 0);
    for (int i = 0; i < 100; i++) {
        mend_plan_model m;
        mend_plan p = {.nested = 1};
        random_model(&g, 3, &m);
        p.cores = m.max_cores;
        m.cores = m.max_cores;
        double total = 0;
        for (int k = 0; k < m.levels; k++) {
            m.level[k].total_per_core = between_log(&g, 0.1, 20) / m.max_cores;
            m.level[k].rate_per_core = 0;
            total += m.level[k].total_per_core * m.max_cores;
        }
        for (int k = 0; k < m.levels; k++)
            p.intervals[k] = 50 * pow(2, m.levels - k);
        mend_plan_outcome o = expect(&m, &p);
        assert_relative(o.failures, total, 1e-9);
        assert_true(o.seconds > o.work + o.checkpoint + o.restart);
    }
}

/* The simulator shares no formula with the evaluator. 24 patterns: nested and not, all ways of
 * writing, longer last intervals, 1 to 4 levels, failures in every phase. */
static void test_simulator_agrees(void **state)
{
    (void)state;
    generator g;
    random_seed(&g, 14, 0);
    double worst = 0;
    for (int i = 0; i < 24; i++) {
        mend_plan_model m;
        mend_plan p = {.cores = 1, .nested = i % 2};
        mend_plan_model_init(&m);
        m.cores = 1;
        m.levels = 1 + (i / 2 + i / 8) % 4;
        m.write = i / 4 % 3;
        m.work = 1e5;
        p.last = p.nested && i % 3 == 0 ? between(&g, 1, 3) : 0;
        m.allocation = between(&g, 0, 300);
        m.watts_io = 0.5;
        m.watts_idle = 0.1;
        double x = 1;
        for (int k = m.levels - 1; k >= 0; k--) {
            m.level[k].checkpoint.fixed = 100 * (k + 1) * between(&g, 0.2, 2);
            m.level[k].recovery.fixed = 300 * (k + 1) * between(&g, 0.2, 2);
            m.level[k].rate_per_core = between(&g, 0.3, 1) / 8000 / (k + 1);
            x *= 2 + pick(&g, 4);
            p.intervals[k] = p.nested ? x : rint(between(&g, 1, 30)) * 2;
            p.first[k] = (unsigned)random_bits(&g);
        }
        mend_plan_outcome o = expect(&m, &p);
        mend_plan_sample s;
        mend_plan_trial trial = {.runs = 4000, .seed = (uint64_t)i};
        assert_int_equal(mend_plan_simulate(&m, &p, &trial, &s), 0);
        double z = (s.mean.seconds - o.seconds) / s.standard_error;
        worst = fmax(worst, fabs(z));
        if (!(fabs(z) < 4))
            fail_msg("pattern %d: simulated %g, exact %g, %g standard errors", i, s.mean.seconds,
                     o.seconds, z);
        /* the shares follow the same runs; their errors are of the same size */
        double slack = 4 * s.standard_error;
        assert_true(fabs(s.mean.restart - o.restart) < slack + 0.05 * o.restart);
        assert_true(fabs(s.mean.lost - o.lost) < slack + 0.05 * o.lost);
        assert_relative(s.mean.checkpoint + 1, o.checkpoint + 1, 1e-9);
        assert_relative(s.mean.joules, o.joules, slack / o.seconds + 1e-9);
    }
    print_message("worst of 24 patterns: %.2f standard errors\n", worst);
}

static void test_wrong_plans_are_refused(void **state)
{
    (void)state;
    mend_plan_model m;
    mend_plan_outcome o;
    mend_plan_model_init(&m);
    m.work = 1000;
    m.cores = 10;
    m.levels = 2;
    m.level[0].checkpoint.fixed = m.level[1].checkpoint.fixed = 1;
    mend_plan odd = {.cores = 10, .nested = 1, .intervals = {7, 2}};
    assert_int_equal(mend_plan_expect(&m, &odd, &o), MEND_ERR_CONFIG);
    mend_plan broken = {.cores = 10, .nested = 1, .intervals = {7.5, 1}};
    assert_int_equal(mend_plan_expect(&m, &broken, &o), MEND_ERR_CONFIG);
    mend_plan none = {.cores = 10, .intervals = {0.5, 1}};
    assert_int_equal(mend_plan_expect(&m, &none, &o), MEND_ERR_CONFIG);
    mend_plan nan_plan = {.cores = NAN, .intervals = {1, 1}};
    assert_int_equal(mend_plan_expect(&m, &nan_plan, &o), MEND_ERR_CONFIG);
    m.level[0].rate_per_core = 10;
    mend_plan hopeless = {.cores = 10, .nested = 1, .intervals = {1, 1}};
    assert_int_equal(mend_plan_expect(&m, &hopeless, &o), MEND_ERR_INFEASIBLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_form_of_one_level),
        cmocka_unit_test(test_without_failures),
        cmocka_unit_test(test_two_levels_by_hand),
        cmocka_unit_test(test_levels_commit_one_by_one),
        cmocka_unit_test(test_matrices_equal_steps),
        cmocka_unit_test(test_failures_of_the_whole_run),
        cmocka_unit_test(test_simulator_agrees),
        cmocka_unit_test(test_wrong_plans_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
