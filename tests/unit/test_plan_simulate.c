/* The simulator: failures by hand, other distributions, traces, the same numbers for the same seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "read/failures.h"
#include "plan_random.h"

static void assert_relative(double value, double wanted, double tolerance)
{
    if (!(fabs(value - wanted) <= tolerance * fabs(wanted)))
        fail_msg("%.17g is not %.17g to within %g", value, wanted, tolerance);
}

/* Two levels, 1000 s of work in 4 intervals; a checkpoint of level 2 in the middle. */
static void small_model(mend_plan_model *m, mend_plan *p)
{
    mend_plan_model_init(m);
    m->work = 1000;
    m->cores = 1;
    m->levels = 2;
    m->allocation = 10;
    m->level[0] = (mend_plan_level){{5, 0, 1}, {3, 0, 1}, 1e-9, 0};
    m->level[1] = (mend_plan_level){{40, 0, 1}, {30, 0, 1}, 1e-9, 0};
    *p = (mend_plan){.cores = 1, .nested = 1, .intervals = {4, 2}};
}

/* When the run above ends if one failure of `level` strikes at `strike`, worked out by hand. */
static double end_of_run(const mend_plan_model *m, double strike, int level)
{
    const double ends[] = {255, 545, 800, 1050}; /* of the intervals with their checkpoints */
    if (strike >= 1050)
        return 1050;
    int at = 0;
    while (strike >= ends[at])
        at++;
    int back = level == 1 ? at : at >= 2 ? 2 : 0;
    /* read: the start at the failure's own cost, the middle from level 2, else level 1 */
    double recovery = back == 0   ? m->level[level - 1].recovery.fixed
                      : back == 2 ? m->level[1].recovery.fixed
                                  : m->level[0].recovery.fixed;
    return strike + m->allocation + recovery + 1050 - (back ? ends[back - 1] : 0);
}

static void test_one_failure_by_hand(void **state)
{
    (void)state;
    mend_plan_model m;
    mend_plan p;
    small_model(&m, &p);
    for (int level = 1; level <= 2; level++) {
        mend_plan_event event = {2000, level};
        mend_plan_trace trace = {&event, 1, 4000};
        enum { RUNS = 2000 };
        double seconds[RUNS];
        mend_plan_sample sample;
        mend_plan_trial trial = {.runs = RUNS, .seed = 3, .trace = &trace, .seconds = seconds};
        assert_int_equal(mend_plan_simulate(&m, &p, &trial, &sample), 0);
        int struck = 0;
        for (int i = 0; i < RUNS; i++) {
            /* the run's own generator says where in the trace it began */
            generator g;
            random_seed(&g, 3, (uint64_t)i);
            double start = 4000 * random_unit(&g);
            double strike = start <= 2000 ? 2000 - start : 6000 - start;
            assert_relative(seconds[i], end_of_run(&m, strike, level), 1e-12);
            struck += seconds[i] > 1050;
        }
        assert_true(struck > RUNS / 8);
    }
}

/* A failure in a recovery starts it again; one of a higher level goes further back. */
static void test_failures_in_recovery(void **state)
{
    (void)state;
    mend_plan_model m;
    mend_plan p;
    small_model(&m, &p);
    /* relative to the first failure at t: level 1, then 5 s later (in the allocation) level 2, then
     * 20 s later (in the recovery of level 2) level 1 */
    mend_plan_event events[] = {{5000, 1}, {5005, 2}, {5025, 1}};
    mend_plan_trace trace = {events, 3, 10000};
    enum { RUNS = 3000 };
    double seconds[RUNS];
    mend_plan_sample sample;
    mend_plan_trial trial = {.runs = RUNS, .seed = 4, .trace = &trace, .seconds = seconds};
    assert_int_equal(mend_plan_simulate(&m, &p, &trial, &sample), 0);
    int early = 0, late = 0;
    for (int i = 0; i < RUNS; i++) {
        generator g;
        random_seed(&g, 4, (uint64_t)i);
        double start = 10000 * random_unit(&g), strike = 5000 - start;
        if (strike < 0 || strike >= 1050)
            continue;
        /* all three strike; level 2 decides: back to the start or to the middle, at cost 30 */
        double back = strike >= 545 ? 545 : 0;
        assert_relative(seconds[i], strike + 25 + 10 + 30 + 1050 - back, 1e-12);
        early += back == 0;
        late += back > 0;
    }
    assert_true(early > 20 && late > 20);
    assert_true(sample.mean.failures > 0.2 && sample.mean.failures < 0.4);
}

static void test_same_seed_same_numbers(void **state)
{
    (void)state;
    generator g;
    random_seed(&g, 31, 0);
    mend_plan_model m;
    do
        random_model(&g, 4, &m);
    while (m.levels < 4 || m.cores == 0 || mend_plan_load(&m, m.cores) > 0.3);
    mend_plan plan;
    mend_plan_request request = {.method = MEND_PLAN_BEST};
    assert_int_equal(mend_plan_make(&m, &request, &plan), 0);
    mend_plan_sample a, b, c;
    mend_plan_trial trial = {.runs = 300, .seed = 9};
    assert_int_equal(mend_plan_simulate(&m, &plan, &trial, &a), 0);
    assert_int_equal(mend_plan_simulate(&m, &plan, &trial, &b), 0);
    assert_memory_equal(&a, &b, sizeof a);
    trial.seed = 10;
    assert_int_equal(mend_plan_simulate(&m, &plan, &trial, &c), 0);
    assert_true(a.mean.seconds != c.mean.seconds);
    assert_true(a.low < a.mean.seconds && a.mean.seconds < a.high && a.fastest <= a.low);
    assert_relative(a.mean.work + a.mean.checkpoint + a.mean.restart + a.mean.lost, a.mean.seconds,
                    1e-9);
}

/* Failures of a level come with the mean distance that its rate says, whatever the shape. */
static void test_distributions_keep_the_mean(void **state)
{
    (void)state;
    const double shapes[] = {0.5, 0.7, 1, 2};
    for (int i = 0; i < 4; i++) {
        mend_plan_model m;
        mend_plan p;
        site site;
        failures f;
        small_model(&m, &p);
        m.weibull_shape = shapes[i];
        m.level[0].rate_per_core = 1.0 / 50;
        m.level[1].rate_per_core = 0;
        mend_plan_site(&m, 1, &site);
        assert_int_equal(mend_plan_failures_init(&f, &m, &site, NULL), 0);
        mend_plan_failures_start(&f, 1, 1);
        int level;
        const int count = 200000;
        double last = 0, square = 0;
        for (int k = 0; k < count; k++) {
            double next = mend_plan_failures_next(&f, &level);
            square += (next - last) * (next - last) / count;
            last = next;
            mend_plan_failures_pass(&f, level);
        }
        assert_relative(last / count, 50, 0.02);
        double gamma1 = tgamma(1 + 1 / shapes[i]), gamma2 = tgamma(1 + 2 / shapes[i]);
        assert_relative(square, 2500 * gamma2 / (gamma1 * gamma1), 0.1);
    }
}

/* Jitter without failures: the mean stays, the spread does not exceed its bound. */
static void test_jitter(void **state)
{
    (void)state;
    mend_plan_model m;
    mend_plan p;
    small_model(&m, &p);
    m.level[0].rate_per_core = m.level[1].rate_per_core = 0;
    m.jitter = 0.3;
    mend_plan_sample s;
    mend_plan_trial trial = {.runs = 5000, .seed = 5};
    assert_int_equal(mend_plan_simulate(&m, &p, &trial, &s), 0);
    assert_true(fabs(s.mean.seconds - 1050) < 4 * s.standard_error);
    assert_true(s.fastest >= 1000 + 0.7 * 50 && s.slowest <= 1000 + 1.3 * 50);
    assert_true(s.slowest > 1055 && s.fastest < 1045);
    assert_relative(s.mean.checkpoint, s.mean.seconds - 1000, 1e-9);
}

/* With jitter and failures the accounts still add up, and the mean hardly moves. */
static void test_jitter_with_failures(void **state)
{
    (void)state;
    mend_plan_model m;
    mend_plan p;
    small_model(&m, &p);
    m.level[0].rate_per_core = 1e-3;
    m.level[1].rate_per_core = 5e-4;
    for (int all = 0; all < 2; all++) {
        mend_plan_sample still, shaken;
        mend_plan_trial trial = {.runs = 20000, .seed = 6};
        m.write = all;
        m.jitter = 0;
        assert_int_equal(mend_plan_simulate(&m, &p, &trial, &still), 0);
        m.jitter = 0.3;
        assert_int_equal(mend_plan_simulate(&m, &p, &trial, &shaken), 0);
        double error = hypot(still.standard_error, shaken.standard_error);
        assert_true(fabs(still.mean.seconds - shaken.mean.seconds) < 4 * error + 0.5);
        assert_relative(shaken.mean.checkpoint, still.mean.checkpoint, 0.01);
        assert_relative(shaken.mean.restart, still.mean.restart, 0.05);
    }
}

/* A trace of Poisson failures gives what Poisson failures give; on half of the cores, half of them.
 */
static void test_long_trace_and_thinning(void **state)
{
    (void)state;
    enum { EVENTS = 20000 };
    static mend_plan_event events[EVENTS];
    generator g;
    random_seed(&g, 32, 0);
    double now = 0;
    for (int i = 0; i < EVENTS; i++) {
        now -= log(random_unit(&g)) * 2000;
        events[i] = (mend_plan_event){now, 1 + (random_unit(&g) < 0.25)};
    }
    mend_plan_trace trace = {events, EVENTS, now};
    mend_plan_model m;
    mend_plan p = {.cores = 100, .nested = 1, .intervals = {64, 8}};
    mend_plan_model_init(&m);
    m.work = 100 * 20000;
    m.cores = 100;
    m.rates_at = 200;
    m.levels = 2;
    m.allocation = 20;
    m.level[0] = (mend_plan_level){{10, 0, 1}, {20, 0, 1}, 0.75 / 2000 / 200, 0};
    m.level[1] = (mend_plan_level){{60, 0, 1}, {90, 0, 1}, 0.25 / 2000 / 200, 0};
    mend_plan_sample s;
    mend_plan_outcome o;
    mend_plan_trial trial = {.runs = 2000, .seed = 7, .trace = &trace};
    assert_int_equal(mend_plan_expect(&m, &p, &o), 0);
    assert_int_equal(mend_plan_simulate(&m, &p, &trial, &s), 0);
    assert_relative(s.mean.seconds, o.seconds, 0.02);
    assert_relative(s.mean.failures, o.failures, 0.1);
    p.cores = m.cores = 400; /* more than the trace was recorded on */
    assert_int_equal(mend_plan_simulate(&m, &p, &trial, &s), MEND_ERR_CONFIG);
    p.cores = m.cores = 100;
    events[77].level = 3;
    assert_int_equal(mend_plan_simulate(&m, &p, &trial, &s), MEND_ERR_CONFIG);
    assert_non_null(strstr(mend_error_text(), "failure 78 of the trace has level 3 of 2"));
}

/* A run that cannot end says so. */
static void test_hopeless_run_ends(void **state)
{
    (void)state;
    mend_plan_model m;
    mend_plan p;
    small_model(&m, &p);
    m.level[0].rate_per_core = 1;
    mend_plan_sample s;
    mend_plan_trial trial = {.runs = 1, .seed = 8};
    assert_int_equal(mend_plan_simulate(&m, &p, &trial, &s), MEND_ERR_INFEASIBLE);
}

/* A million cores, a thousand runs of 13 days with a hundred failures each: a fraction of a second.
 */
static void test_a_million_cores(void **state)
{
    (void)state;
    mend_plan_model m;
    mend_plan plan;
    mend_plan_request request = {.method = MEND_PLAN_ALGORITHM1};
    mend_plan_model_init(&m);
    m.work = 3e6 * 86400;
    m.speedup = (mend_plan_speedup){.curve = MEND_PLAN_QUADRATIC, .slope = 0.46, .peak = 1e6};
    m.cores = 1e6;
    m.levels = 4;
    const double cost[] = {0.866, 2.586, 3.886, 500}, rate[] = {8, 4, 2, 1};
    for (int i = 0; i < 4; i++)
        m.level[i] =
            (mend_plan_level){{cost[i], 0, 1}, {cost[i] / 2, 0, 1}, rate[i] / 86400 / 1e6, 0};
    assert_int_equal(mend_plan_make(&m, &request, &plan), 0);
    mend_plan_sample s;
    mend_plan_trial trial = {.runs = 1000, .seed = 8};
    clock_t begin = clock();
    assert_int_equal(mend_plan_simulate(&m, &plan, &trial, &s), 0);
    print_message("a million cores, %.0f failures a run, 1000 runs: %.2f s of CPU\n",
                  s.mean.failures, (double)(clock() - begin) / CLOCKS_PER_SEC);
    assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 10);
    assert_true(fabs(s.mean.seconds - plan.expected.seconds) < 4 * s.standard_error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_failure_by_hand),
        cmocka_unit_test(test_failures_in_recovery),
        cmocka_unit_test(test_same_seed_same_numbers),
        cmocka_unit_test(test_distributions_keep_the_mean),
        cmocka_unit_test(test_jitter),
        cmocka_unit_test(test_jitter_with_failures),
        cmocka_unit_test(test_long_trace_and_thinning),
        cmocka_unit_test(test_hopeless_run_ends),
        cmocka_unit_test(test_a_million_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
