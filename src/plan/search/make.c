/* Plans by every method, and their expected outcome. */
#include <math.h>
#include <string.h>

#include <base/fail.h>
#include <base/grow.h>

#include "search/algorithm1.h"
#include "search/pattern.h"
#include "read/terms.h"
#include "search/weibull.h"

static const char *const method_names[] = {
    [MEND_PLAN_BEST] = "best",
    [MEND_PLAN_ALGORITHM1] = "algorithm1",
    [MEND_PLAN_ALGORITHM1_ONCE] = "algorithm1-once",
    [MEND_PLAN_YOUNG] = "young",
    [MEND_PLAN_DALY] = "daly",
};

static const char *const objective_names[] = {
    [MEND_PLAN_TIME] = "time",
    [MEND_PLAN_CORE_HOURS] = "core-hours",
    [MEND_PLAN_ENERGY] = "energy",
};

enum { METHODS = sizeof method_names / sizeof *method_names };
enum { OBJECTIVES = sizeof objective_names / sizeof *objective_names };

const char *mend_plan_method_name(mend_plan_method method)
{
    return (unsigned)method < METHODS ? method_names[method] : NULL;
}

int mend_plan_method_parse(const char *name, mend_plan_method *method)
{
    for (int i = 0; i < METHODS; i++)
        if (!strcmp(name, method_names[i])) {
            *method = (mend_plan_method)i;
            return 0;
        }
    return mend_fail(MEND_ERR_CONFIG,
                     "there is no method '%s' (best, algorithm1, algorithm1-once, young, daly)",
                     name);
}

const char *mend_plan_objective_name(mend_plan_objective objective)
{
    return (unsigned)objective < OBJECTIVES ? objective_names[objective] : NULL;
}

int mend_plan_objective_parse(const char *name, mend_plan_objective *objective)
{
    for (int i = 0; i < OBJECTIVES; i++)
        if (!strcmp(name, objective_names[i])) {
            *objective = (mend_plan_objective)i;
            return 0;
        }
    return mend_fail(MEND_ERR_CONFIG, "there is no objective '%s' (time, core-hours, energy)",
                     name);
}

double mend_plan_young(double checkpoint, double mtbf)
{
    return sqrt(2 * checkpoint * mtbf);
}

/* Daly (2006), equation 37. */
double mend_plan_daly(double checkpoint, double mtbf)
{
    double ratio = checkpoint / (2 * mtbf);
    if (ratio >= 1)
        return mtbf;
    return sqrt(2 * checkpoint * mtbf) * (1 + sqrt(ratio) / 3 + ratio / 9) - checkpoint;
}

double mend_plan_value(mend_plan_objective objective, double cores,
                       const mend_plan_outcome *outcome)
{
    switch (objective) {
    case MEND_PLAN_CORE_HOURS: return cores * outcome->seconds / 3600;
    case MEND_PLAN_ENERGY: return outcome->joules;
    default: return outcome->seconds;
    }
}

double mend_plan_first_order(const mend_plan_model *model, const mend_plan *plan)
{
    mend_plan_model reduced;
    double intervals[MEND_PLAN_LEVELS];
    unsigned mask = 1u << (model->levels - 1); /* a place for failures beyond all used levels */
    int count = 0;
    for (int i = 0; i < model->levels; i++)
        if (plan->intervals[i] > 1)
            mask |= 1u << i;
    mend_plan_reduce(model, mask, &reduced);
    for (int i = 0; i < model->levels; i++)
        if (mask >> i & 1)
            intervals[count++] = plan->intervals[i];
    return mend_plan_formula6(&reduced, plan->cores, intervals);
}

/* Young and Daly: one interval for the highest level, on all cores. */
static void make_classic(const mend_plan_model *model, mend_plan *plan)
{
    site site;
    int top = model->levels - 1;
    plan->cores = mend_plan_most_cores(model);
    mend_plan_site(model, plan->cores, &site);
    if (mend_plan_has_totals(model)) /* spread the whole run's failures over the work */
        mend_plan_site_rates(&site, model, site.work);
    if (site.all_rates > 0) {
        double mtbf = 1 / site.all_rates, cost = site.checkpoint[top];
        double interval = plan->method == MEND_PLAN_YOUNG ? mend_plan_young(cost, mtbf)
                                                          : mend_plan_daly(cost, mtbf);
        plan->intervals[top] = fmax(1, site.work / interval);
    }
    plan->iterations = 1;
    plan->converged = 1;
}

static void make_algorithm1(const mend_plan_model *model, int single_level, mend_plan *plan)
{
    algorithm1 result;
    mend_plan_model reduced;
    int top = model->levels - 1;
    if (single_level) {
        mend_plan_reduce(model, 1u << top, &reduced);
        model = &reduced;
    }
    mend_plan_algorithm1(model, plan->method == MEND_PLAN_ALGORITHM1_ONCE, &result);
    for (int i = 0; i < model->levels; i++)
        plan->intervals[single_level ? top : i] = result.intervals[i];
    plan->cores = result.cores;
    plan->iterations = result.passes;
    plan->converged = result.converged;
    plan->model_seconds = mend_plan_formula6(model, result.cores, result.intervals);
}

static void take_pattern(const mend_plan_model *model, const candidate *best, mend_plan *plan)
{
    const pattern *pattern = &best->pattern;
    const ladder *ladder = &pattern->ladder;
    double intervals = 1;
    plan->cores = best->cores;
    plan->nested = pattern->nested;
    plan->last = pattern->nested ? ladder->last : 0;
    for (int i = 0; i < model->levels && !pattern->nested; i++) {
        plan->intervals[i] = pattern->intervals[i];
        plan->first[i] = pattern->first[i];
    }
    for (int g = ladder->used - 1; g >= 0 && pattern->nested; g--) {
        int level = ladder->level[g];
        intervals *= ladder->count[g];
        plan->intervals[level] = intervals;
        for (int k = 0; k < g; k++)
            plan->first[level] |= (ladder->first[g] >> k & 1) << ladder->level[k];
    }
}

/* Failures may come so fast that every plan takes forever, or nearly so. */
static int check_progress(const mend_plan_model *model, const candidate *best, double seconds)
{
    double work = model->work / mend_plan_speedup_at(&model->speedup, best->cores);
    if (seconds <= 1e6 * work)
        return 0;
    return mend_fail(MEND_ERR_INFEASIBLE,
                     "no plan is feasible: failures leave less than a millionth of the time for "
                     "work; sum of rate * (checkpoint / 2 + allocation + recovery) = %.6g on "
                     "%.10g cores",
                     mend_plan_load(model, best->cores), best->cores);
}

static int make_best(const mend_plan_model *model, mend_plan_objective objective, mend_plan *plan)
{
    candidate best, least;
    search search = {.model = model, .objective = objective};
    int code = mend_plan_search_terms(&search, &best, &least);
    site site;
    mend_plan_site(model, best.cores, &site);
    double seconds = mend_plan_settle(model, &site, &best.pattern);
    if (check_progress(model, &best, seconds))
        return MEND_ERR_INFEASIBLE;
    if (code)
        return code;
    plan->iterations = search.evaluated;
    plan->converged = 1;
    if (least.value < best.value) {
        plan->least = least.value;
        plan->least_cores = least.cores;
    }
    take_pattern(model, &best, plan);
    return 0;
}

static int check_request(const mend_plan_model *model, const mend_plan_request *request)
{
    int code = mend_plan_model_check(model);
    if (code)
        return code;
    if (!mend_plan_method_name(request->method) || !mend_plan_objective_name(request->objective))
        return mend_fail(MEND_ERR_ARGUMENT, "the method or objective is not known");
    if (request->objective != MEND_PLAN_TIME && request->method != MEND_PLAN_BEST)
        return mend_fail(MEND_ERR_CONFIG, "the objective %s needs the method best, not %s",
                         mend_plan_objective_name(request->objective),
                         mend_plan_method_name(request->method));
    if (request->single_level && request->method == MEND_PLAN_BEST)
        return mend_fail(MEND_ERR_CONFIG,
                         "the method best chooses its levels; a single level is for algorithm1");
    mend_plan_model reduced = *model;
    if (request->single_level)
        mend_plan_reduce(model, 1u << (model->levels - 1), &reduced);
    double cores = model->cores > 0 ? model->cores : model->min_cores;
    double load = mend_plan_load(&reduced, cores);
    if (load >= 1 && request->method != MEND_PLAN_BEST)
        return mend_fail(
            MEND_ERR_INFEASIBLE,
            "the method %s has no solution here: sum of rate * (checkpoint / 2 + "
            "allocation + recovery) = %.6g >= 1 on %.10g cores; the method best may have one",
            mend_plan_method_name(request->method), load, cores);
    return 0;
}

/* Grids with this many checkpoints cannot be evaluated: take the nearest nested plan. The figures are those of the
 * plan that we return. */
static void nest_if_long(const mend_plan_model *model, mend_plan *plan)
{
    double sum = 0, intervals = 1;
    ladder ladder;
    for (int i = 0; i < model->levels; i++)
        sum += plan->intervals[i];
    if (plan->nested || sum <= mend_plan_most_checkpoints)
        return;
    mend_plan_nest(model->levels, plan->intervals, plan->first, &ladder);
    for (int i = 0; i < model->levels; i++)
        plan->intervals[i] = 1;
    for (int g = ladder.used - 1; g >= 0; g--) {
        /* No more than a double can count. */
        intervals *= fmax(1, fmin(ladder.count[g], floor(0x1p50 / intervals)));
        plan->intervals[ladder.level[g]] = intervals;
    }
    plan->nested = 1;
    plan->model_seconds = 0;
}

int mend_plan_make_sized(const mend_plan_model *model, const mend_plan_request *request,
                         size_t request_size, mend_plan *plan, size_t plan_size)
{
    if (mend_size_same("mend_plan_request", request_size, sizeof *request) ||
        mend_size_same("mend_plan", plan_size, sizeof *plan))
        return MEND_ERR_UNSUPPORTED;
    int code = check_request(model, request);
    if (code)
        return code;
    memset(plan, 0, sizeof *plan);
    plan->method = request->method;
    for (int i = 0; i < MEND_PLAN_LEVELS; i++)
        plan->intervals[i] = 1;
    switch (request->method) {
    case MEND_PLAN_BEST: code = make_best(model, request->objective, plan); break;
    case MEND_PLAN_ALGORITHM1:
    case MEND_PLAN_ALGORITHM1_ONCE: make_algorithm1(model, request->single_level, plan); break;
    default: make_classic(model, plan);
    }
    if (code)
        return code;
    nest_if_long(model, plan);
    if (plan->model_seconds == 0)
        plan->model_seconds = mend_plan_first_order(model, plan);
    code = mend_plan_expect(model, plan, &plan->expected);
    if (code || model->weibull_shape == 1)
        return code;
    return mend_plan_weibull(model, request, plan);
}
