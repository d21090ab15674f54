/* Core-hours and energy with a free number of cores.
 *
 * Nearly always one core, and a thousand years, takes the fewest core-hours. The user means one of these:
 *  - with a deadline: the cheapest plan that is expected to end in time;
 *  - without: the fastest plan that costs at most `slack` more than the cheapest.
 * Both lie between the cores of the cheapest and those of the fastest plan. Between the two the time falls and the
 * price rises, so bisection finds the place.
 */
#include "read/terms.h"

#include <math.h>

#include <base/fail.h>

static double seconds_of(const mend_plan_model *model, const candidate *candidate)
{
    site site;
    mend_plan_site(model, candidate->cores, &site);
    return mend_plan_settle(model, &site, &candidate->pattern);
}

/* The best plan for the objective on this many cores. */
static void search_at(search *all, double cores, candidate *best)
{
    mend_plan_model fixed = *all->model;
    search search = {.model = &fixed, .objective = all->objective, .quick = 1};
    fixed.cores = cores;
    mend_plan_search(&search, best);
    all->evaluated += search.evaluated;
}

static int is_within(const mend_plan_model *model, const candidate *candidate, double most)
{
    return model->deadline > 0 ? seconds_of(model, candidate) <= model->deadline
                               : candidate->value <= most;
}

/* `inside` satisfies the terms. Move it as far towards `outside` (cores) as they allow. */
static void approach(search *search, double most, double outside, candidate *inside)
{
    double unit = search->model->cores_per_node > 0 ? search->model->cores_per_node : 1;
    while (fabs(outside - inside->cores) > unit * 1.000001) {
        candidate middle;
        double cores = sqrt(outside * inside->cores);
        cores = unit * rint(cores / unit);
        if (cores <= fmin(outside, inside->cores) || cores >= fmax(outside, inside->cores))
            cores = unit * floor((outside + inside->cores) / 2 / unit);
        if (cores <= fmin(outside, inside->cores) || cores >= fmax(outside, inside->cores))
            return;
        search_at(search, cores, &middle);
        if (is_within(search->model, &middle, most))
            *inside = middle;
        else
            outside = cores;
    }
}

static int check_deadline(const mend_plan_model *model, const candidate *fastest)
{
    double seconds = seconds_of(model, fastest);
    if (!(model->deadline > 0) || seconds <= model->deadline)
        return 0;
    return mend_fail(MEND_ERR_INFEASIBLE,
                     "no plan meets the deadline of %.8g s: the fastest is expected to take %.8g s "
                     "on %.10g cores",
                     model->deadline, seconds, fastest->cores);
}

int mend_plan_search_terms(search *search, candidate *best, candidate *least)
{
    const mend_plan_model *model = search->model;
    struct search time = *search;
    candidate fastest;
    mend_plan_search(search, best);
    *least = *best;
    if (search->objective == MEND_PLAN_TIME)
        return check_deadline(model, best);
    if (!(model->deadline > 0) && (model->cores > 0 || model->slack == 0))
        return 0;
    time.objective = MEND_PLAN_TIME;
    mend_plan_search(&time, &fastest);
    if (check_deadline(model, &fastest))
        return MEND_ERR_INFEASIBLE;
    if (model->cores > 0) { /* the cheapest may be late where the fastest is not */
        if (!is_within(model, best, 0))
            *best = fastest;
        return 0;
    }
    if (model->deadline > 0) {
        if (is_within(model, best, 0))
            return 0;
        *best = fastest;
        approach(search, 0, least->cores, best);
    } else if (model->slack > 0 && fastest.cores > least->cores && isfinite(least->value)) {
        approach(search, least->value * (1 + model->slack), fastest.cores, best);
    }
    return 0;
}
