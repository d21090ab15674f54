/* Is every number of a model usable? The limits are far beyond any machine. A value outside them is a typing error (a
 * unit, an exponent) and would give a nonsensical result. */
#include <math.h>

#include <base/fail.h>
#include <base/grow.h>

#include "search/site.h"

static const double most_work = 1e20; /* core-seconds: three million million core-years */
static const double most_cores = 1e9;
static const double most_seconds = 1e9; /* for a checkpoint, a recovery, an allocation: 32 years */
static const double most_rate = 1e3;    /* failures per second in the whole job */
static const double most_watts = 1e6;   /* per core */

static int is_usable(double value)
{
    return isfinite(value) && value >= 0;
}

static int check_level(const mend_plan_level *level, int number, double cores)
{
    const mend_plan_cost *c = &level->checkpoint, *r = &level->recovery;
    if (!is_usable(c->fixed) || !is_usable(c->slope) || !is_usable(c->power) ||
        c->fixed + c->slope <= 0)
        return mend_fail(MEND_ERR_CONFIG, "the checkpoint cost of level %d must be above 0",
                         number);
    if (!is_usable(r->fixed) || !is_usable(r->slope) || !is_usable(r->power))
        return mend_fail(MEND_ERR_CONFIG, "the recovery cost of level %d must not be negative",
                         number);
    if (!is_usable(level->rate_per_core) || !is_usable(level->total_per_core))
        return mend_fail(MEND_ERR_CONFIG, "the failures of level %d must not be negative", number);
    if (c->power > 4 || r->power > 4)
        return mend_fail(MEND_ERR_CONFIG, "a cost of level %d grows with N^%g; at most N^4", number,
                         fmax(c->power, r->power));
    double seconds = fmax(mend_plan_cost_at(c, cores), mend_plan_cost_at(r, cores));
    if (!(seconds <= most_seconds))
        return mend_fail(MEND_ERR_CONFIG,
                         "a checkpoint or recovery of level %d takes %.6g s on %.10g cores; "
                         "at most %g s make sense",
                         number, seconds, cores, most_seconds);
    if (!(level->rate_per_core * cores <= most_rate) || !(level->total_per_core <= 1e6))
        return mend_fail(MEND_ERR_CONFIG,
                         "%.6g failures per second of level %d on %.10g cores are too many",
                         level->rate_per_core * cores, number, cores);
    if (level->rate_per_core > 0 && level->total_per_core > 0)
        return mend_fail(MEND_ERR_CONFIG,
                         "the failures of level %d are given both per time and for the whole run",
                         number);
    return 0;
}

static int check_speedup(const mend_plan_speedup *speedup)
{
    int good = 0;
    switch (speedup->curve) {
    case MEND_PLAN_LINEAR: good = speedup->slope >= 1e-9 && speedup->slope <= 1e9; break;
    case MEND_PLAN_QUADRATIC:
        good = speedup->slope >= 1e-9 && speedup->slope <= 1e9 && is_usable(speedup->peak) &&
               speedup->peak >= 1;
        break;
    case MEND_PLAN_AMDAHL: good = is_usable(speedup->serial) && speedup->serial <= 1; break;
    case MEND_PLAN_TABLE: good = speedup->points >= 2 && speedup->points <= MEND_PLAN_POINTS; break;
    }
    return good ? 0 : mend_fail(MEND_ERR_CONFIG, "the speedup is not usable");
}

int mend_plan_model_check(const mend_plan_model *model)
{
    if (mend_size_same("the model (mend_plan_model_init() sets its size)", model->size,
                       sizeof *model))
        return MEND_ERR_UNSUPPORTED;
    if (!is_usable(model->work) || model->work <= 0)
        return mend_fail(MEND_ERR_CONFIG, "the work must be above 0");
    if (model->work > most_work)
        return mend_fail(MEND_ERR_CONFIG, "%.6g core-seconds of work are too many; at most %g",
                         model->work, most_work);
    if (check_speedup(&model->speedup))
        return MEND_ERR_CONFIG;
    if (model->levels < 1 || model->levels > MEND_PLAN_LEVELS)
        return mend_fail(MEND_ERR_CONFIG, "the number of levels must be 1 to %d, not %d",
                         MEND_PLAN_LEVELS, model->levels);
    double most = mend_plan_most_cores(model), peak = mend_plan_speedup_peak(&model->speedup);
    if (!is_usable(model->cores) || !is_usable(model->max_cores) || most < 1)
        return mend_fail(MEND_ERR_CONFIG, "the number of cores must be at least 1");
    if (most > most_cores)
        return mend_fail(MEND_ERR_CONFIG, "%.10g cores are too many; at most %g", most, most_cores);
    if (most > peak)
        return mend_fail(MEND_ERR_CONFIG, "%.10g cores are beyond the speedup's peak at %.10g",
                         most, peak);
    if (model->cores == 0 && !(model->min_cores >= 1 && model->min_cores <= model->max_cores))
        return mend_fail(MEND_ERR_CONFIG, "min_cores must be between 1 and max_cores");
    if (!is_usable(model->allocation))
        return mend_fail(MEND_ERR_CONFIG, "the allocation time must not be negative");
    if (model->allocation > most_seconds)
        return mend_fail(MEND_ERR_CONFIG, "an allocation time of %.6g s is too long; at most %g",
                         model->allocation, most_seconds);
    if (!is_usable(model->cores_per_node) || !is_usable(model->deadline) ||
        !is_usable(model->slack))
        return mend_fail(MEND_ERR_CONFIG,
                         "cores_per_node, deadline and slack must not be negative");
    if (!is_usable(model->watts_compute) || !is_usable(model->watts_io) ||
        !is_usable(model->watts_idle))
        return mend_fail(MEND_ERR_CONFIG, "a power must not be negative");
    if (fmax(model->watts_compute, fmax(model->watts_io, model->watts_idle)) > most_watts)
        return mend_fail(MEND_ERR_CONFIG, "a power per core must be at most %g W", most_watts);
    if (!(model->weibull_shape >= 0.1 && model->weibull_shape <= 10))
        return mend_fail(MEND_ERR_CONFIG, "the Weibull shape must be between 0.1 and 10");
    if (!(model->jitter >= 0 && model->jitter < 1))
        return mend_fail(MEND_ERR_CONFIG, "the jitter must be at least 0 and below 1");
    for (int i = 0; i < model->levels; i++)
        if (check_level(&model->level[i], i + 1, most))
            return MEND_ERR_CONFIG;
    return 0;
}
