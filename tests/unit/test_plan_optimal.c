/* Is the best plan the best? Against another search over many more patterns (plan_rival.h), and against
 * all patterns there are where these are few. With a number as argument: so many random cases, with more
 * effort (make campaign: 200); with a second one: only those from this one on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "plan_random.h"
#include "plan_rival.h"

static int random_cases = MANY_INPUTS / 50, first_case, starts = 2, tries = 10000;
static const double allowed = 0.005; /* above the best that any search finds */

static mend_plan make(const mend_plan_model *m)
{
    mend_plan plan;
    mend_plan_request request = {.method = MEND_PLAN_BEST};
    if (mend_plan_make(m, &request, &plan))
        fail_msg("%s", mend_error_text());
    return plan;
}

/* How far is the plan above what the rival finds, from patterns of chance and from the plan itself? */
static double compare(const char *name, const mend_plan_model *m, generator *g)
{
    mend_plan plan = make(m);
    rival found, own;
    rival_search(m, g, starts, tries, &found);
    if (rival_from_plan(m, &plan, &own)) {
        /* two evaluators that share nothing agree */
        if (!(fabs(own.seconds / plan.expected.seconds - 1) < 1e-9))
            fail_msg("%s: %.15g s and %.15g s for one plan", name, plan.expected.seconds,
                     own.seconds);
        rival_improve(m, g, tries, &own);
        if (own.seconds < found.seconds)
            found = own;
    }
    double above = plan.expected.seconds / found.seconds - 1;
    if (!(above <= allowed)) {
        rival_print(m, &found);
        fail_msg("%s: the best plan takes %.10g s, another %.10g s: %.3f %% less", name,
                 plan.expected.seconds, found.seconds, 100 * above);
    }
    return above;
}

/* Tables III and IV of the paper: recovery half a checkpoint, no allocation time. */
static void setting(int table, const double *per_day, mend_plan_model *m)
{
    static const double costs[2][4] = {{0.866, 2.586, 3.886, 5.5}, {50, 100, 200, 2000}};
    mend_plan_model_init(m);
    m->work = (table == 3 ? 3e6 : 2e6) * 86400;
    m->speedup = (mend_plan_speedup){.curve = MEND_PLAN_QUADRATIC, .slope = 0.46, .peak = 1e6};
    m->max_cores = 1e6;
    m->levels = 4;
    for (int i = 0; i < 4; i++) {
        double cost = costs[table - 3][i], slope = table == 3 && i == 3 ? 0.0212 : 0;
        m->level[i].checkpoint = (mend_plan_cost){cost, slope, 1};
        m->level[i].recovery = (mend_plan_cost){cost / 2, slope / 2, 1};
        m->level[i].rate_per_core = per_day[i] / 86400 / 1e6;
    }
}

static void test_settings_of_the_paper(void **state)
{
    static const double per_day[6][4] = {{16, 12, 8, 4}, {8, 6, 4, 2}, {4, 3, 2, 1},
                                         {16, 8, 4, 2},  {8, 4, 2, 1}, {4, 2, 1, 0.5}};
    (void)state;
    generator g;
    double worst = -1;
    random_seed(&g, 51, 0);
    for (int table = 3; table <= 4; table++)
        for (int column = 0; column < 6; column++) {
            char name[64];
            mend_plan_model m;
            snprintf(name, sizeof name, "table %d, column %d", table, column + 1);
            setting(table, per_day[column], &m);
            worst = fmax(worst, compare(name, &m, &g));
        }
    print_message("12 settings: at most %+.4f %% from the best that another search finds\n",
                  100 * worst);
}

/* What a user found: levels on grids of their own that were better than nested ones. */
static void test_not_worse_than_a_users(void **state)
{
    (void)state;
    mend_plan_model m;
    mend_plan_outcome theirs;
    setting(4, (const double[]){16, 12, 8, 4}, &m);
    for (int write = MEND_PLAN_HIGHEST; write <= MEND_PLAN_CHOSEN; write++) {
        m.write = (mend_plan_write)write;
        mend_plan best = make(&m);
        mend_plan given = {.cores = 600019, .intervals = {1, 1302, 651, 102.6}};
        assert_int_equal(mend_plan_expect(&m, &given, &theirs), 0);
        print_message("%.8g s where a user had %.8g s\n", best.expected.seconds, theirs.seconds);
        assert_true(best.expected.seconds <= theirs.seconds);
    }
}

static void test_random_cases(void **state)
{
    (void)state;
    generator g, models;
    double worst = -1, sum = 0;
    random_seed(&models, 53, 0);
    for (int i = 0; i < random_cases; i++) {
        char name[64];
        mend_plan_model m;
        random_model(&models, 4, &m);
        if (i < first_case)
            continue;
        random_seed(&g, 52, (uint64_t)i); /* so that one case can be run again alone */
        snprintf(name, sizeof name, "random case %d (%d levels)", i, m.levels);
        double above = compare(name, &m, &g);
        worst = fmax(worst, above);
        sum += above;
    }
    print_message("%d random cases: at most %+.4f %%, on average %+.4f %% from the best that "
                  "another search finds\n",
                  random_cases - first_case, 100 * worst, 100 * sum / (random_cases - first_case));
}

/* The lowest of all patterns with `pieces` equal pieces of work, where any of the levels are written, the
 * lowest first, between any two of them. */
static double all_patterns(const mend_plan_model *m, int pieces)
{
    unsigned choices = 1u << m->levels;
    double best = HUGE_VAL, count = pow(choices, pieces - 1);
    for (double code = 0; code < count; code++) {
        rival r = {.cores = m->cores, .blocks = 1};
        double rest = code, waiting = 0;
        for (int k = 0; k < pieces - 1; k++) {
            unsigned written = (unsigned)fmod(rest, choices);
            rest = floor(rest / choices);
            waiting++;
            for (int i = 0; i < m->levels; i++)
                if (written >> i & 1) {
                    r.work[r.steps] = waiting;
                    r.level[r.steps++] = i;
                    waiting = 0;
                }
        }
        r.work[r.steps++] = waiting + 1;
        best = fmin(best, rival_seconds(m, &r));
    }
    return best;
}

static void test_all_patterns_of_small_cases(void **state)
{
    (void)state;
    generator g;
    double worst = -1;
    int cases = 0;
    random_seed(&g, 54, 0);
    for (int i = 0; i < MANY_INPUTS / 25; i++) {
        mend_plan_model m;
        random_model(&g, 3, &m);
        m.cores = m.max_cores;
        m.work = between_log(&g, 3, 12) * m.level[0].checkpoint.fixed *
                 mend_plan_speedup_at(&m.speedup, m.cores);
        double work = m.work / mend_plan_speedup_at(&m.speedup, m.cores);
        double rate = between_log(&g, 0.1, 2) / work / m.cores;
        for (int k = 0; k < m.levels; k++, rate *= between(&g, 0.1, 0.9))
            m.level[k].rate_per_core = rate;
        m.allocation /= 100;
        if (mend_plan_load(&m, m.cores) > 1)
            continue;
        mend_plan plan = make(&m);
        double least = HUGE_VAL, best = plan.expected.seconds;
        if (best > 5 * work) /* nobody runs that */
            continue;
        cases++;
        for (int pieces = 1; pieces <= (m.levels == 3 ? 4 : 6); pieces++)
            least = fmin(least, all_patterns(&m, pieces));
        worst = fmax(worst, best / least - 1);
        if (!(best <= least * (1 + allowed)))
            fail_msg("case %d: best %.10g s, of all patterns %.10g s", i, best, least);
    }
    print_message("%d cases: at most %+.4f %% from the best of all patterns\n", cases, 100 * worst);
    assert_true(cases >= MANY_INPUTS / 100);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings_of_the_paper),
        cmocka_unit_test(test_not_worse_than_a_users),
        cmocka_unit_test(test_random_cases),
        cmocka_unit_test(test_all_patterns_of_small_cases),
    };
    if (argc > 1) {
        random_cases = atoi(argv[1]);
        starts = 10;
        tries = 100000;
        first_case = argc > 2 ? atoi(argv[2]) : 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
