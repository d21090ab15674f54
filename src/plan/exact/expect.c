/* The exact outcome to expect of a plan. */
#include <math.h>
#include <string.h>

#include <base/fail.h>
#include <base/grow.h>

#include "search/pattern.h"
#include "exact/schedule.h"
#include "search/search.h"

/* We walk grids checkpoint by checkpoint; this many take a fraction of a second. */
const double mend_plan_most_checkpoints = 1e6;

/* Turn bits of levels into bits of places in the ladder. */
static unsigned places_of(const ladder *ladder, unsigned levels)
{
    unsigned places = 0;
    for (int g = 0; g < ladder->used; g++)
        places |= (levels >> ladder->level[g] & 1) << g;
    return places;
}

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
        ladder->first[top] = places_of(ladder, pattern->first[i]);
    }
    return 0;
}

int mend_plan_pattern(const mend_plan_model *model, const mend_plan *plan, pattern *pattern)
{
    double sum = 0;
    memset(pattern, 0, sizeof *pattern);
    int code = mend_plan_model_check(model);
    if (code)
        return code;
    if (!(plan->cores >= 1 && plan->cores <= mend_plan_speedup_peak(&model->speedup)))
        return mend_fail(MEND_ERR_CONFIG, "%.10g cores are below 1 or beyond the speedup's peak",
                         plan->cores);
    for (int i = 0; i < model->levels; i++) {
        if (!(plan->intervals[i] >= 1 && isfinite(plan->intervals[i])))
            return mend_fail(MEND_ERR_CONFIG, "level %d has %.10g intervals, fewer than 1", i + 1,
                             plan->intervals[i]);
        pattern->intervals[i] = plan->intervals[i];
        pattern->first[i] =
            (model->write == MEND_PLAN_ALL ? ~0u : plan->first[i]) & ((1u << i) - 1);
        sum += plan->intervals[i];
    }
    pattern->nested = plan->nested;
    pattern->ladder.last = plan->last;
    if (!(plan->last == 0 || (plan->last >= 0.01 && plan->last <= 100)))
        return mend_fail(MEND_ERR_CONFIG, "a last interval of %.10g others is not 0.01 to 100",
                         plan->last);
    if (plan->nested)
        return nested_pattern(plan, model->levels, pattern);
    if (sum > mend_plan_most_checkpoints)
        return mend_fail(MEND_ERR_CONFIG,
                         "%.10g intervals are too many for levels on grids of their own (at most "
                         "%.10g); give whole multiples of each other",
                         sum, mend_plan_most_checkpoints);
    return 0;
}

double mend_plan_period(const mend_plan_model *model, const mend_plan *plan, int level)
{
    double work = model->work / mend_plan_speedup_at(&model->speedup, plan->cores);
    double most = 1;
    for (int i = 0; i < model->levels; i++)
        most = fmax(most, plan->intervals[i]);
    if (plan->nested && plan->last > 0 && plan->intervals[level - 1] > 1)
        return work / (most - 1 + plan->last) * (most / plan->intervals[level - 1]);
    return work / plan->intervals[level - 1];
}

void mend_plan_written(const site *site, const pattern *pattern, double *checkpoints)
{
    memset(checkpoints, 0, MEND_PLAN_LEVELS * sizeof *checkpoints);
    if (!pattern->nested) {
        schedule schedule;
        unsigned written;
        mend_plan_schedule_start(&schedule, site, pattern);
        do {
            mend_plan_schedule_next(&schedule, &written);
            for (int i = 0; i < site->levels; i++)
                checkpoints[i] += written >> i & 1;
        } while (written);
        return;
    }
    const ladder *ladder = &pattern->ladder;
    double above = 1;
    for (int g = ladder->used - 1; g >= 0; g--) {
        double intervals = above * ladder->count[g];
        for (int k = 0; k <= g; k++)
            if (k == g || ladder->first[g] >> k & 1)
                checkpoints[ladder->level[k]] += intervals - above;
        above = intervals;
    }
}

int mend_plan_expect_sized(const mend_plan_model *model, const mend_plan *plan, size_t plan_size,
                           mend_plan_outcome *outcome, size_t outcome_size)
{
    if (mend_size_same("mend_plan", plan_size, sizeof *plan) ||
        mend_size_same("mend_plan_outcome", outcome_size, sizeof *outcome))
        return MEND_ERR_UNSUPPORTED;
    site site;
    pattern pattern;
    double written[MEND_PLAN_LEVELS];
    weights watts = {model->watts_compute, model->watts_io, model->watts_idle, model->watts_io};
    int code = mend_plan_pattern(model, plan, &pattern);
    if (code)
        return code;
    memset(outcome, 0, sizeof *outcome);
    mend_plan_site(model, plan->cores, &site);
    outcome->seconds = mend_plan_settle(model, &site, &pattern);
    if (!isfinite(outcome->seconds))
        return mend_fail(MEND_ERR_INFEASIBLE,
                         "the expected time of this plan is too large to compute: sum of rate * "
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
