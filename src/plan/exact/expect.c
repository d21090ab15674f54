/* What to expect of a plan, exactly. */
#include <math.h>
#include <string.h>

#include <base/fail.h>

#include "pattern.h"
#include "schedule.h"
#include "search.h"

/* Grids are walked checkpoint by checkpoint; beyond this many that would take minutes, and the
 * nested pattern next to them is taken. */
static const double most_checkpoints = 5e5;

static int nested_pattern(const mend_plan *plan, int levels, pattern *pattern)
{
    ladder *ladder = &pattern->ladder;
    int top = -1;
    for (int i = 0; i < levels; i++) {
        double x = plan->intervals[i];
        if (x == 1)
            continue;
        double above = 1;
        for (int j = levels - 1; j > i; j--)
            above = fmax(above, plan->intervals[j]);
        if (x != rint(x) || x > 0x1p52 || fmod(x, above) != 0)
            return mend_fail(MEND_ERR_CONFIG,
                             "%.10g intervals of level %d are not a multiple of the %.10g above it",
                             x, i + 1, above);
        top = ladder->used++;
        ladder->level[top] = i;
        ladder->count[top] = x / above;
    }
    return 0;
}

int mend_plan_pattern(const mend_plan_model *model, const mend_plan *plan, pattern *pattern)
{
    double sum = 0;
    memset(pattern, 0, sizeof *pattern);
    if (mend_plan_model_check(model))
        return MEND_ERR_CONFIG;
    if (!(plan->cores >= 1 && plan->cores <= mend_plan_speedup_peak(&model->speedup)))
        return mend_fail(MEND_ERR_CONFIG, "%.10g cores are below 1 or beyond the speedup's peak",
                         plan->cores);
    for (int i = 0; i < model->levels; i++) {
        if (!(plan->intervals[i] >= 1 && isfinite(plan->intervals[i])))
            return mend_fail(MEND_ERR_CONFIG, "level %d has %.10g intervals, fewer than 1", i + 1,
                             plan->intervals[i]);
        pattern->intervals[i] = plan->intervals[i];
        sum += plan->intervals[i];
    }
    pattern->nested = plan->nested;
    if (plan->nested)
        return nested_pattern(plan, model->levels, pattern);
    if (sum > most_checkpoints) {
        pattern->nested = 1;
        mend_plan_nest(model->levels, plan->intervals, &pattern->ladder);
    }
    return 0;
}

void mend_plan_written(const site *site, const pattern *pattern, double *checkpoints)
{
    memset(checkpoints, 0, MEND_PLAN_LEVELS * sizeof *checkpoints);
    if (!pattern->nested) {
        schedule schedule;
        unsigned written;
        mend_plan_schedule_start(&schedule, site, pattern->intervals);
        do {
            mend_plan_schedule_next(&schedule, &written);
            for (int i = 0; i < site->levels; i++)
                checkpoints[i] += written >> i & 1;
        } while (written);
        return;
    }
    double above = 1;
    for (int g = pattern->ladder.used - 1; g >= 0; g--) {
        double intervals = above * pattern->ladder.count[g];
        checkpoints[pattern->ladder.level[g]] = intervals - (site->write_all ? 1 : above);
        above = intervals;
    }
}

int mend_plan_expect(const mend_plan_model *model, const mend_plan *plan,
                     mend_plan_outcome *outcome)
{
    site site;
    pattern pattern;
    double written[MEND_PLAN_LEVELS];
    weights watts = {model->watts_compute, model->watts_io, model->watts_idle, model->watts_io};
    if (mend_plan_pattern(model, plan, &pattern))
        return MEND_ERR_CONFIG;
    memset(outcome, 0, sizeof *outcome);
    mend_plan_site(model, plan->cores, &site);
    outcome->seconds = mend_plan_settle(model, &site, &pattern);
    if (!isfinite(outcome->seconds))
        return mend_fail(MEND_ERR_INFEASIBLE,
                         "the expected time of this plan is beyond all numbers: sum of rate * "
                         "(checkpoint / 2 + allocation + recovery) = %.6g on %.10g cores",
                         mend_plan_load(model, plan->cores), plan->cores);
    mend_plan_written(&site, &pattern, written);
    outcome->work = site.work;
    for (int i = 0; i < site.levels; i++) {
        outcome->level_checkpoint[i] = written[i] * site.checkpoint[i];
        outcome->checkpoint += outcome->level_checkpoint[i];
    }
    outcome->restart = mend_plan_exact(&site, &pattern, &mend_plan_weigh_restart);
    outcome->lost =
        fmax(0, outcome->seconds - outcome->work - outcome->checkpoint - outcome->restart);
    outcome->failures = site.all_rates * outcome->seconds;
    outcome->joules = plan->cores * mend_plan_exact(&site, &pattern, &watts);
    return 0;
}
