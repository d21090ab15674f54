/* The model: costs, speedup curves and failure rates, and their values at a number of cores. */
#include <math.h>
#include <string.h>

#include <base/fail.h>

#include "search/site.h"

/* With another size, the functions that use the model refuse it. */
void mend_plan_model_init_sized(mend_plan_model *model, size_t size)
{
    memset(model, 0, size);
    if (size < sizeof *model) {
        memcpy(model, &size, sizeof size);
        return;
    }
    model->size = size;
    model->speedup.curve = MEND_PLAN_LINEAR;
    model->speedup.slope = 1;
    model->min_cores = 1;
    model->weibull_shape = 1;
    model->write = MEND_PLAN_CHOSEN;
    model->slack = 0.1;
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

/* Find the piece of the table that holds `cores`. The first and last piece extend beyond the ends. */
static int table_piece(const mend_plan_speedup *speedup, double cores)
{
    int piece = 0;
    while (piece < speedup->points - 2 && cores > speedup->cores[piece + 1])
        piece++;
    return piece;
}

/* Cubic Hermite between two points of the table; before the first point, a line from the origin. */
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
