#include "read/failures.h"

#include <math.h>
#include <string.h>

#include <base/fail.h>

static int check_trace(const mend_plan_model *model, const site *site, const mend_plan_trace *trace)
{
    if (trace->count && !(trace->seconds > 0))
        return mend_fail(MEND_ERR_CONFIG, "the trace is 0 s long");
    for (size_t i = 0; i < trace->count; i++)
        if (trace->events[i].level < 1 || trace->events[i].level > model->levels)
            return mend_fail(MEND_ERR_CONFIG, "failure %zu of the trace has level %d of %d", i + 1,
                             trace->events[i].level, model->levels);
    if (model->rates_at > 0 && site->cores > model->rates_at)
        return mend_fail(MEND_ERR_CONFIG,
                         "the trace was recorded on %.10g cores (rates_at), the plan has %.10g",
                         model->rates_at, site->cores);
    return 0;
}

int mend_plan_failures_init(failures *failures, const mend_plan_model *model, const site *site,
                            const mend_plan_trace *trace)
{
    memset(failures, 0, sizeof *failures);
    failures->site = site;
    failures->inverse = 1 / model->weibull_shape;
    failures->mean = tgamma(1 + failures->inverse);
    if (!trace)
        return 0;
    failures->trace = trace;
    failures->chance = model->rates_at > 0 ? site->cores / model->rates_at : 1;
    return check_trace(model, site, trace);
}

/* Draw the seconds to the next failure of a level from the Weibull distribution with this mean. */
static double draw(failures *failures, int level)
{
    double rate = failures->site->rate[level];
    if (!(rate > 0))
        return HUGE_VAL;
    double unit = -log(random_unit(&failures->generator));
    if (failures->inverse != 1)
        unit = pow(unit, failures->inverse) / failures->mean;
    return unit / rate;
}

/* Go to the next event of the trace that hits, starting over at its end. */
static void skip_misses(failures *failures)
{
    const mend_plan_trace *trace = failures->trace;
    while (failures->chance < 1 && random_unit(&failures->generator) > failures->chance)
        if (++failures->event == trace->count) {
            failures->event = 0;
            failures->shift += trace->seconds;
        }
}

void mend_plan_failures_start(failures *failures, uint64_t seed, uint64_t run)
{
    const mend_plan_trace *trace = failures->trace;
    random_seed(&failures->generator, seed, run);
    if (!trace) {
        for (int i = 0; i < failures->site->levels; i++)
            failures->next[i] = draw(failures, i);
    } else if (trace->count) {
        double start = trace->seconds * random_unit(&failures->generator);
        failures->shift = -start;
        failures->event = 0;
        while (failures->event < trace->count && trace->events[failures->event].seconds < start)
            failures->event++;
        if (failures->event == trace->count) {
            failures->event = 0;
            failures->shift += trace->seconds;
        }
        skip_misses(failures);
    }
}

double mend_plan_failures_next(const failures *failures, int *level)
{
    const mend_plan_trace *trace = failures->trace;
    *level = 0;
    if (trace && !trace->count)
        return HUGE_VAL;
    if (trace) {
        *level = trace->events[failures->event].level - 1;
        return trace->events[failures->event].seconds + failures->shift;
    }
    for (int i = 1; i < failures->site->levels; i++)
        if (failures->next[i] < failures->next[*level])
            *level = i;
    return failures->next[*level];
}

void mend_plan_failures_pass(failures *failures, int level)
{
    if (!failures->trace) {
        failures->next[level] += draw(failures, level);
        return;
    }
    if (++failures->event == failures->trace->count) {
        failures->event = 0;
        failures->shift += failures->trace->seconds;
    }
    skip_misses(failures);
}
