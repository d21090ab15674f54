/* The model: costs, speedup curves, failure rates, and what they are at a number of cores. */
#include <math.h>
#include <string.h>

#include <base/fail.h>

#include "site.h"

void mend_plan_model_init(mend_plan_model *model)
{
    memset(model, 0, sizeof *model);
    model->speedup.curve = MEND_PLAN_LINEAR;
    model->speedup.slope = 1;
    model->min_cores = 1;
    model->weibull_shape = 1;
    model->watts_compute = model->watts_io = model->watts_idle = 1;
}

double mend_plan_cost_at(const mend_plan_cost *cost, double cores)
{
    if (cost->slope == 0)
        return cost->fixed;
    return cost->fixed + cost->slope * (cost->power == 1 ? cores : pow(cores, cost->power));
}

double mend_plan_cost_slope(const mend_plan_cost *cost, double cores)
{
    if (cost->slope == 0)
        return 0;
    if (cost->power == 1)
        return cost->slope;
    return cost->slope * cost->power * pow(cores, cost->power - 1);
}

/* Which piece of the table holds `cores`? Beyond both ends the first and last piece go on. */
static int table_piece(const mend_plan_speedup *speedup, double cores)
{
    int piece = 0;
    while (piece < speedup->points - 2 && cores > speedup->cores[piece + 1])
        piece++;
    return piece;
}

/* Cubic Hermite between two points of the table; before the first point a line from the origin. */
static void table_value(const mend_plan_speedup *speedup, double cores, double *value,
                        double *slope)
{
    if (cores <= speedup->cores[0]) {
        *slope = speedup->speedup[0] / speedup->cores[0];
        *value = *slope * cores;
        return;
    }
    int i = table_piece(speedup, cores);
    double width = speedup->cores[i + 1] - speedup->cores[i];
    double t = (cores - speedup->cores[i]) / width;
    double y0 = speedup->speedup[i], y1 = speedup->speedup[i + 1];
    double m0 = speedup->tangent[i] * width, m1 = speedup->tangent[i + 1] * width;
    double a = 2 * (y0 - y1) + m0 + m1, b = 3 * (y1 - y0) - 2 * m0 - m1;
    *value = ((a * t + b) * t + m0) * t + y0;
    *slope = ((3 * a * t + 2 * b) * t + m0) / width;
}

double mend_plan_speedup_at(const mend_plan_speedup *speedup, double cores)
{
    double value, slope;
    switch (speedup->curve) {
    case MEND_PLAN_LINEAR: return speedup->slope * cores;
    case MEND_PLAN_QUADRATIC: return speedup->slope * cores * (1 - cores / (2 * speedup->peak));
    case MEND_PLAN_AMDAHL: return cores / (1 + speedup->serial * (cores - 1));
    case MEND_PLAN_TABLE: table_value(speedup, cores, &value, &slope); return value;
    }
    return 0;
}

double mend_plan_speedup_slope(const mend_plan_speedup *speedup, double cores)
{
    double value, slope, divisor;
    switch (speedup->curve) {
    case MEND_PLAN_LINEAR: return speedup->slope;
    case MEND_PLAN_QUADRATIC: return speedup->slope * (1 - cores / speedup->peak);
    case MEND_PLAN_AMDAHL:
        divisor = 1 + speedup->serial * (cores - 1);
        return (1 - speedup->serial) / (divisor * divisor);
    case MEND_PLAN_TABLE: table_value(speedup, cores, &value, &slope); return slope;
    }
    return 0;
}

double mend_plan_speedup_peak(const mend_plan_speedup *speedup)
{
    if (speedup->curve == MEND_PLAN_QUADRATIC)
        return speedup->peak;
    if (speedup->curve != MEND_PLAN_TABLE || speedup->points < 1)
        return HUGE_VAL;
    int best = 0;
    for (int i = 1; i < speedup->points; i++)
        if (speedup->speedup[i] > speedup->speedup[best])
            best = i;
    return speedup->cores[best];
}

double mend_plan_most_cores(const mend_plan_model *model)
{
    return model->cores > 0 ? model->cores : model->max_cores;
}

int mend_plan_has_totals(const mend_plan_model *model)
{
    for (int i = 0; i < model->levels; i++)
        if (model->level[i].total_per_core > 0)
            return 1;
    return 0;
}

void mend_plan_site(const mend_plan_model *model, double cores, site *site)
{
    memset(site, 0, sizeof *site);
    site->cores = cores;
    site->work = model->work / mend_plan_speedup_at(&model->speedup, cores);
    site->allocation = model->allocation;
    site->levels = model->levels;
    site->write_all = model->write_all;
    for (int i = 0; i < model->levels; i++) {
        const mend_plan_level *level = &model->level[i];
        site->checkpoint[i] = mend_plan_cost_at(&level->checkpoint, cores);
        site->recovery[i] = mend_plan_cost_at(&level->recovery, cores);
        site->rate[i] = level->rate_per_core * cores;
        site->total[i] = level->total_per_core * cores;
        site->all_rates += site->rate[i];
    }
}

void mend_plan_site_rates(site *site, const mend_plan_model *model, double seconds)
{
    site->all_rates = 0;
    for (int i = 0; i < site->levels; i++) {
        site->rate[i] = model->level[i].rate_per_core * site->cores + site->total[i] / seconds;
        site->all_rates += site->rate[i];
    }
}

double mend_plan_load(const mend_plan_model *model, double cores)
{
    double load = 0;
    for (int i = 0; i < model->levels; i++) {
        const mend_plan_level *level = &model->level[i];
        load += level->rate_per_core * cores *
                (mend_plan_cost_at(&level->checkpoint, cores) / 2 + model->allocation +
                 mend_plan_cost_at(&level->recovery, cores));
    }
    return load;
}

static int is_usable(double value)
{
    return isfinite(value) && value >= 0;
}

static int check_level(const mend_plan_level *level, int number)
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
    case MEND_PLAN_LINEAR: good = is_usable(speedup->slope) && speedup->slope > 0; break;
    case MEND_PLAN_QUADRATIC:
        good = is_usable(speedup->slope) && speedup->slope > 0 && is_usable(speedup->peak) &&
               speedup->peak >= 1;
        break;
    case MEND_PLAN_AMDAHL: good = is_usable(speedup->serial) && speedup->serial <= 1; break;
    case MEND_PLAN_TABLE: good = speedup->points >= 2 && speedup->points <= MEND_PLAN_POINTS; break;
    }
    return good ? 0 : mend_fail(MEND_ERR_CONFIG, "the speedup is not usable");
}

int mend_plan_model_check(const mend_plan_model *model)
{
    if (!is_usable(model->work) || model->work <= 0)
        return mend_fail(MEND_ERR_CONFIG, "the work must be above 0");
    if (check_speedup(&model->speedup))
        return MEND_ERR_CONFIG;
    if (model->levels < 1 || model->levels > MEND_PLAN_LEVELS)
        return mend_fail(MEND_ERR_CONFIG, "the number of levels must be 1 to %d, not %d",
                         MEND_PLAN_LEVELS, model->levels);
    double most = mend_plan_most_cores(model), peak = mend_plan_speedup_peak(&model->speedup);
    if (!is_usable(model->cores) || !is_usable(model->max_cores) || most < 1)
        return mend_fail(MEND_ERR_CONFIG, "the number of cores must be at least 1");
    if (most > peak)
        return mend_fail(MEND_ERR_CONFIG, "%.10g cores are beyond the speedup's peak at %.10g",
                         most, peak);
    if (model->cores == 0 && !(model->min_cores >= 1 && model->min_cores <= model->max_cores))
        return mend_fail(MEND_ERR_CONFIG, "min_cores must be between 1 and max_cores");
    if (!is_usable(model->allocation))
        return mend_fail(MEND_ERR_CONFIG, "the allocation time must not be negative");
    if (!is_usable(model->watts_compute) || !is_usable(model->watts_io) ||
        !is_usable(model->watts_idle))
        return mend_fail(MEND_ERR_CONFIG, "a power must not be negative");
    if (!(model->weibull_shape >= 0.1 && model->weibull_shape <= 10))
        return mend_fail(MEND_ERR_CONFIG, "the Weibull shape must be between 0.1 and 10");
    if (!(model->jitter >= 0 && model->jitter < 1))
        return mend_fail(MEND_ERR_CONFIG, "the jitter must be at least 0 and below 1");
    for (int i = 0; i < model->levels; i++)
        if (check_level(&model->level[i], i + 1))
            return MEND_ERR_CONFIG;
    return 0;
}
