/* Random models for the planner's tests; the same on every machine. */
#ifndef PLAN_RANDOM_MODELS_H
#define PLAN_RANDOM_MODELS_H

#include <math.h>
#include <mend/plan.h>
#include <simulation/random.h>
#include <string.h>

/* Sanitizers look for other things than statistics, and take ten times as long. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MANY_INPUTS = 100 };
#else
enum { MANY_INPUTS = 1000 };
#endif

static inline double between(generator *g, double low, double high)
{
    return low + (high - low) * random_unit(g);
}

static inline double between_log(generator *g, double low, double high)
{
    return low * pow(high / low, random_unit(g));
}

static inline int pick(generator *g, int count)
{
    return (int)(random_bits(g) % (uint64_t)count);
}

/* Costs that grow with the level, rates that fall with it, any curve, 1 to `levels` levels. */
static inline void random_model(generator *g, int levels, mend_plan_model *model)
{
    mend_plan_model_init(model);
    model->levels = 1 + pick(g, levels);
    model->max_cores = rint(between_log(g, 100, 1e6));
    model->speedup.curve = (mend_plan_curve)pick(g, 3);
    model->speedup.slope = between(g, 0.3, 1);
    model->speedup.peak = model->max_cores * between(g, 1, 3);
    model->speedup.serial = between_log(g, 1e-7, 1e-3);
    model->work =
        between_log(g, 1e4, 1e6) * mend_plan_speedup_at(&model->speedup, model->max_cores);
    model->allocation = pick(g, 2) ? between(g, 0, 120) : 0;
    double cost = between_log(g, 0.5, 60);
    for (int i = 0; i < model->levels; i++) {
        mend_plan_level *level = &model->level[i];
        level->checkpoint = (mend_plan_cost){.fixed = cost, .power = 1};
        if (i == model->levels - 1 && pick(g, 2))
            level->checkpoint.slope = cost * between(g, 0.1, 3) / model->max_cores;
        double share = between(g, 0.3, 2);
        level->recovery = (mend_plan_cost){.fixed = level->checkpoint.fixed * share,
                                           .slope = level->checkpoint.slope * share,
                                           .power = 1};
        cost *= between(g, 1, 6);
    }
    double failures = between_log(g, 0.2, 60);
    for (int i = 0; i < model->levels; i++) {
        model->level[i].rate_per_core = failures / 86400 / model->max_cores;
        failures *= between(g, 0.2, 1);
    }
    if (pick(g, 2))
        model->cores = rint(between(g, 0.2, 1) * model->max_cores);
}

#endif
