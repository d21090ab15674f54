/* Plans for failures that are not exponential.
 *
 * The exact evaluator needs memoryless failures. For others we start from the plan for exponential failures with the
 * same means, and the simulator judges changes to it:
 *  1. Simulate as many runs as give some 50,000 failures, always from the same seed. Two plans then see the same
 *     failures, so we know their difference much better than either of them.
 *  2. Make all intervals, then those of each level, longer or shorter by a half, a quarter, an eighth. Keep a change
 *     if it gains more than two standard errors of the difference.
 *  3. Take the expected outcome from other failures (another seed): those of step 2 flatter the plan.
 * The cores stay as they are.
 */
#include "search/weibull.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <base/fail.h>

enum { FEWEST_RUNS = 100, MOST_RUNS = 4000, SEED = 20, OTHER_SEED = 21 };
static const double failures_wanted = 5e4;

typedef struct judge {
    const mend_plan_model *model;
    mend_plan_objective objective;
    int runs;
    double *best, *other; /* the times of all runs */
    double value;         /* that of the best */
} judge;

static int simulate(const judge *judge, const mend_plan *plan, uint64_t seed, double *seconds,
                    mend_plan_sample *sample)
{
    mend_plan_trial trial = {.runs = judge->runs, .seed = seed, .seconds = seconds};
    return mend_plan_simulate(judge->model, plan, &trial, sample);
}

/* Take the other plan if it is clearly better. */
static int keep_better(judge *judge, mend_plan *best, const mend_plan *other)
{
    mend_plan_sample sample;
    double sum = 0, squares = 0;
    if (simulate(judge, other, SEED, judge->other, &sample))
        return 0; /* too slow to end, or not a plan at all */
    double value = mend_plan_value(judge->objective, other->cores, &sample.mean);
    for (int i = 0; i < judge->runs; i++) {
        double gain = judge->best[i] - judge->other[i];
        sum += gain;
        squares += gain * gain;
    }
    double mean = sum / judge->runs;
    double error = sqrt(fmax(0, squares / judge->runs - mean * mean) / judge->runs);
    int is_better =
        judge->objective == MEND_PLAN_ENERGY ? value < judge->value * (1 - 1e-3) : mean > 2 * error;
    if (!is_better)
        return 0;
    double *seconds = judge->best;
    judge->best = judge->other;
    judge->other = seconds;
    judge->value = value;
    *best = *other;
    return 1;
}

/* Scale the intervals of the levels in `mask`. Those of nested plans stay whole multiples: a level keeps its ratio to
 * the next higher one if both or neither are scaled; otherwise the ratio is rounded. */
static void scale(const mend_plan_model *model, unsigned mask, double factor, mend_plan *plan)
{
    double above = 1, before = 1;
    for (int i = model->levels - 1; i >= 0; i--) {
        double x = plan->intervals[i];
        if (!(x > 1))
            continue;
        double scaled = mask >> i & 1 ? x * factor : x;
        if (plan->nested) {
            double ratio = before == above ? scaled / above
                           : mask >> i & 1 ? x / before
                                           : scaled / above;
            scaled = above * fmax(1, rint(ratio));
        }
        before = x;
        above = plan->intervals[i] = fmax(1, scaled);
    }
}

static int try_scales(judge *judge, unsigned mask, double factor, mend_plan *best)
{
    for (int way = 0; way < 2; way++) {
        mend_plan other = *best;
        scale(judge->model, mask, way ? 1 / factor : factor, &other);
        /* changed at all? NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
        if (memcmp(other.intervals, best->intervals, sizeof other.intervals) &&
            keep_better(judge, best, &other))
            return 1;
    }
    return 0;
}

static void improve(judge *judge, mend_plan *plan)
{
    int levels = judge->model->levels;
    for (double factor = 1.5; factor > 1.1; factor = 1 + (factor - 1) / 2)
        for (int again = 1, rounds = 0; again && rounds < 4; rounds++) {
            again = try_scales(judge, (1u << levels) - 1, factor, plan);
            for (int i = 0; i < levels; i++)
                if (plan->intervals[i] > 1)
                    again |= try_scales(judge, 1u << i, factor, plan);
        }
}

int mend_plan_weibull(const mend_plan_model *model, const mend_plan_request *request,
                      mend_plan *plan)
{
    mend_plan_sample sample;
    judge judge = {.model = model, .objective = request->objective};
    double runs = failures_wanted / fmax(1e-3, plan->expected.failures);
    judge.runs = (int)fmin(MOST_RUNS, fmax(FEWEST_RUNS, runs));
    judge.best = malloc((size_t)judge.runs * sizeof *judge.best);
    judge.other = malloc((size_t)judge.runs * sizeof *judge.other);
    int code = judge.best && judge.other
                   ? simulate(&judge, plan, SEED, judge.best, &sample)
                   : mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d runs", judge.runs);
    if (!code && request->method == MEND_PLAN_BEST) {
        judge.value = mend_plan_value(request->objective, plan->cores, &sample.mean);
        improve(&judge, plan);
        plan->model_seconds = mend_plan_first_order(model, plan);
    }
    if (!code)
        code = simulate(&judge, plan, OTHER_SEED, judge.other, &sample);
    if (!code) {
        plan->expected = sample.mean;
        plan->runs = sample.runs;
        plan->standard_error = sample.standard_error;
    }
    free(judge.best);
    free(judge.other);
    return code;
}
