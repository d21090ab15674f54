/* Plans by every method, and what to expect of them. */
#include <math.h>
#include <string.h>

#include <base/fail.h>

#include "algorithm1.h"
#include "pattern.h"
#include "search.h"

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
    unsigned mask = 1u << (model->levels - 1); /* failures beyond all used levels need a place */
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
    if (mend_plan_has_totals(model)) /* the failures of the whole run, spread over the work */
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

/* Algorithm 1's own grids are not nested. They can be better where all levels that fall together
 * are written, since grids of their own seldom fall together. */
static int take_grids(const mend_plan_model *model, mend_plan_objective objective, double value,
                      mend_plan *plan)
{
    mend_plan grids = *plan;
    mend_plan_outcome outcome;
    grids.nested = 0;
    make_algorithm1(model, 0, &grids);
    if (model->cores == 0)
        grids.cores =
            fmin(floor(model->max_cores), fmax(ceil(model->min_cores), rint(grids.cores)));
    if (mend_plan_expect(model, &grids, &outcome) ||
        !(mend_plan_value(objective, grids.cores, &outcome) < value))
        return 0;
    grids.iterations = plan->iterations;
    grids.model_seconds = 0;
    *plan = grids;
    return 1;
}

static void make_best(const mend_plan_model *model, mend_plan_objective objective, mend_plan *plan)
{
    candidate best;
    mend_plan_search(model, objective, &best, &plan->iterations);
    plan->converged = 1;
    if (take_grids(model, objective, best.value, plan))
        return;
    double intervals = 1;
    for (int g = best.ladder.used - 1; g >= 0; g--) {
        intervals *= best.ladder.count[g];
        plan->intervals[best.ladder.level[g]] = intervals;
    }
    plan->cores = best.cores;
    plan->nested = 1;
}

static int check_request(const mend_plan_model *model, const mend_plan_request *request)
{
    if (mend_plan_model_check(model))
        return MEND_ERR_CONFIG;
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
    if (load >= 1)
        return mend_fail(MEND_ERR_INFEASIBLE,
                         "no plan is feasible: failures take more time than there is, "
                         "sum of rate * (checkpoint / 2 + allocation + recovery) = %.6g >= 1 "
                         "on %.10g cores",
                         load, cores);
    return 0;
}

int mend_plan_make(const mend_plan_model *model, const mend_plan_request *request, mend_plan *plan)
{
    int code = check_request(model, request);
    if (code)
        return code;
    memset(plan, 0, sizeof *plan);
    plan->method = request->method;
    for (int i = 0; i < MEND_PLAN_LEVELS; i++)
        plan->intervals[i] = 1;
    switch (request->method) {
    case MEND_PLAN_BEST: make_best(model, request->objective, plan); break;
    case MEND_PLAN_ALGORITHM1:
    case MEND_PLAN_ALGORITHM1_ONCE: make_algorithm1(model, request->single_level, plan); break;
    default: make_classic(model, plan);
    }
    if (plan->model_seconds == 0)
        plan->model_seconds = mend_plan_first_order(model, plan);
    return mend_plan_expect(model, plan, &plan->expected);
}
