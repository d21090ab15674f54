/* The best pattern for a run of unknown length: the fewest seconds per second of work.
 *
 * As in search.c, algorithm 1 on a long run gives a start for every subset of the levels that contains the highest
 * (otherwise some failure would send the job back to its start). A stepwise search improves the best few.
 */
#include "search/search.h"

#include <math.h>
#include <string.h>

#include "search/algorithm1.h"

enum { POLISHED = 3 };

typedef struct endless {
    ladder ladder;
    double interval;
    double value;
} endless;

static double evaluate(const site *site, endless *endless)
{
    double work = endless->interval;
    for (int g = 0; g < endless->ladder.used - 1; g++)
        work *= endless->ladder.count[g];
    double seconds = mend_plan_exact_period(site, &endless->ladder, endless->interval);
    return endless->value = isfinite(seconds) && work > 0 ? seconds / work : HUGE_VAL;
}

double mend_plan_endless_value(const site *site, const ladder *ladder, double interval)
{
    endless endless = {.ladder = *ladder, .interval = interval};
    return evaluate(site, &endless);
}

/* A run so long that its end does not matter. */
static void long_run(const site *site, mend_plan_model *model)
{
    mend_plan_model_init(model);
    model->cores = 1;
    model->allocation = site->allocation;
    model->levels = site->levels;
    for (int i = 0; i < site->levels; i++) {
        model->level[i].checkpoint = (mend_plan_cost){.fixed = site->checkpoint[i], .power = 1};
        model->level[i].recovery = (mend_plan_cost){.fixed = site->recovery[i], .power = 1};
        model->level[i].rate_per_core = site->rate[i];
    }
    double rarest = site->rate[site->levels - 1];
    model->work = 1000 * mend_plan_young(site->checkpoint[site->levels - 1], 1 / rarest);
}

static void start_subset(const site *site, const mend_plan_model *model, unsigned mask,
                         endless *start)
{
    mend_plan_model reduced;
    algorithm1 result;
    ladder *ladder = &start->ladder;
    memset(start, 0, sizeof *start);
    for (int i = 0; i < model->levels; i++)
        if (mask >> i & 1)
            ladder->level[ladder->used++] = i;
    mend_plan_reduce(model, mask, &reduced);
    mend_plan_algorithm1(&reduced, mend_plan_load(&reduced, 1) >= 1, &result);
    int top = ladder->used - 1;
    start->interval = model->work / result.intervals[top];
    ladder->count[top] = 1;
    for (int g = top - 1; g >= 0; g--) {
        double period = model->work / result.intervals[g];
        ladder->count[g] = fmax(1, rint(start->interval / period));
        start->interval /= ladder->count[g];
    }
    evaluate(site, start);
}

static int keep_better(const site *site, endless *best, endless *other)
{
    if (!(evaluate(site, other) < best->value))
        return 0;
    *best = *other;
    return 1;
}

/* Step one count up or down. Keep the lowest interval, or scale it to keep the top one. */
static int step_count(const site *site, endless *best, int g, double step, int keep_top)
{
    endless other = *best;
    double *count = &other.ladder.count[g], before = *count;
    *count = fmax(1, before + step);
    if (*count == before)
        return 0;
    if (keep_top)
        other.interval *= before / *count;
    return keep_better(site, best, &other);
}

static int step_interval(const site *site, endless *best, double factor)
{
    endless other = *best;
    other.interval *= factor;
    return keep_better(site, best, &other);
}

static void polish(const site *site, endless *best)
{
    for (double share = 0.25; share > 1e-3;) {
        int better =
            step_interval(site, best, 1 + share) || step_interval(site, best, 1 / (1 + share));
        for (int g = 0; g < best->ladder.used - 1; g++)
            for (int keep_top = 0; keep_top < 2; keep_top++) {
                double step = fmax(1, rint(best->ladder.count[g] * share));
                better |= step_count(site, best, g, step, keep_top) ||
                          step_count(site, best, g, -step, keep_top);
            }
        if (!better)
            share /= 2;
    }
}

double mend_plan_search_endless(const site *site, ladder *ladder, double *interval)
{
    mend_plan_model model;
    endless starts[POLISHED] = {0}, start;
    int kept = 0;
    unsigned top = 1u << (site->levels - 1);
    long_run(site, &model);
    for (unsigned mask = top; mask < 2 * top; mask++) {
        start_subset(site, &model, mask, &start);
        int place = kept < POLISHED ? kept++ : POLISHED;
        for (; place > 0 && start.value < starts[place - 1].value; place--)
            if (place < POLISHED)
                starts[place] = starts[place - 1];
        if (place < POLISHED)
            starts[place] = start;
    }
    int best = 0;
    for (int i = 0; i < kept; i++) {
        polish(site, &starts[i]);
        if (starts[i].value < starts[best].value)
            best = i;
    }
    *ladder = starts[best].ladder;
    *interval = starts[best].interval;
    return starts[best].value;
}
