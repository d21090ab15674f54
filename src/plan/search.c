/* Search for the best nested pattern with the exact evaluator.
 *
 *  1. for every subset of the levels and a grid of core counts (algorithm 1's own among them),
 *     algorithm 1 gives the intervals, rounded to whole, nested counts;
 *  2. the best start of every subset is improved by a search that steps one count, two counts that
 *     keep their product, or the cores at a time, with steps that shrink;
 *  3. cores are made whole.
 *
 * Algorithm 1 on all levels, nested, is one of the starts: the result is never worse than that.
 */
#include "search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithm1.h"

enum { CORE_GRID = 16, POLISHED = 24 };

typedef struct search {
    const mend_plan_model *model;
    mend_plan_objective objective;
    int evaluated;
} search;

void mend_plan_reduce(const mend_plan_model *model, unsigned mask, mend_plan_model *reduced)
{
    double rate = 0, total = 0;
    *reduced = *model;
    reduced->levels = 0;
    for (int i = 0; i < model->levels; i++) {
        rate += model->level[i].rate_per_core;
        total += model->level[i].total_per_core;
        if (mask >> i & 1) {
            mend_plan_level *level = &reduced->level[reduced->levels++];
            *level = model->level[i];
            level->rate_per_core = rate;
            level->total_per_core = total;
            rate = total = 0;
        }
    }
}

/* A level that is never written where it stands is not used. */
static void tidy(ladder *ladder, int write_all)
{
    int kept = 0, top = ladder->used - 1;
    for (int g = 0; g <= top; g++)
        if (ladder->count[g] > 1 || (write_all && g < top)) {
            ladder->level[kept] = ladder->level[g];
            ladder->count[kept++] = ladder->count[g];
        }
    ladder->used = kept;
    if (write_all && kept && ladder->count[kept - 1] == 1)
        tidy(ladder, write_all);
}

/* From the top: whole multiples of the level above. */
static void nest(int levels, const double *intervals, ladder *ladder)
{
    double above = 1;
    ladder->used = levels;
    for (int i = levels - 1; i >= 0; i--) {
        ladder->level[i] = i;
        ladder->count[i] = intervals[i] > 1 ? fmax(1, rint(intervals[i] / above)) : 1;
        above *= ladder->count[i];
    }
}

void mend_plan_nest(int levels, const double *intervals, ladder *ladder)
{
    nest(levels, intervals, ladder);
    tidy(ladder, 0);
}

static double evaluate(search *search, candidate *candidate)
{
    site site;
    pattern pattern = {.nested = 1, .ladder = candidate->ladder};
    const mend_plan_model *model = search->model;
    mend_plan_site(model, candidate->cores, &site);
    search->evaluated++;
    double seconds = mend_plan_settle(model, &site, &pattern);
    if (search->objective == MEND_PLAN_CORE_HOURS) {
        seconds *= candidate->cores / 3600;
    } else if (search->objective == MEND_PLAN_ENERGY) {
        weights watts = {model->watts_compute, model->watts_io, model->watts_idle, model->watts_io};
        seconds = mend_plan_exact(&site, &pattern, &watts) * candidate->cores;
    }
    return candidate->value = seconds;
}

static int keep_better(search *search, candidate *best, candidate *other)
{
    if (!(evaluate(search, other) < best->value))
        return 0;
    *best = *other;
    return 1;
}

/* Energy is saved where its price differs from that of work: let algorithm 1 see times at the price
 * of work. */
static void price(const search *search, mend_plan_model *model)
{
    if (search->objective != MEND_PLAN_ENERGY || !(model->watts_compute > 0))
        return;
    double io = fmax(1e-6, model->watts_io / model->watts_compute);
    model->allocation *= model->watts_idle / model->watts_compute;
    for (int i = 0; i < model->levels; i++) {
        model->level[i].checkpoint.fixed *= io;
        model->level[i].checkpoint.slope *= io;
        model->level[i].recovery.fixed *= io;
        model->level[i].recovery.slope *= io;
    }
}

/* Algorithm 1 on the reduced model, nested: one start for a subset. */
static void try_start(search *search, const mend_plan_model *reduced, const int *levels,
                      candidate *best)
{
    algorithm1 result;
    candidate start;
    mend_plan_algorithm1(reduced, mend_plan_load(reduced, reduced->cores) >= 1, &result);
    start.cores = result.cores;
    nest(reduced->levels, result.intervals,
         &start.ladder); /* levels with one interval may get more */
    for (int g = 0; g < start.ladder.used; g++)
        start.ladder.level[g] = levels[start.ladder.level[g]];
    keep_better(search, best, &start);
}

static void start_subset(search *search, unsigned mask, double cores, candidate *best)
{
    const mend_plan_model *model = search->model;
    mend_plan_model reduced;
    int levels[MEND_PLAN_LEVELS], count = 0;
    best->value = HUGE_VAL;
    best->cores = cores;
    best->ladder.used = 0;
    if (!mask) {
        evaluate(search, best);
        return;
    }
    for (int i = 0; i < model->levels; i++)
        if (mask >> i & 1)
            levels[count++] = i;
    mend_plan_reduce(model, mask, &reduced);
    price(search, &reduced);
    reduced.cores = cores;
    try_start(search, &reduced, levels, best);
    if (model->cores > 0)
        return;
    for (int k = 0; k <= CORE_GRID; k++) {
        reduced.cores =
            model->min_cores * pow(model->max_cores / model->min_cores, (double)k / CORE_GRID);
        try_start(search, &reduced, levels, best);
    }
}

/* One count up or down; optionally the next one the other way, so that their product stays. */
static int step_count(search *search, candidate *best, int g, double step, int balance)
{
    candidate other = *best;
    double *count = other.ladder.count, before = count[g];
    count[g] = fmax(1, before + step);
    if (count[g] == before)
        return 0;
    if (balance) {
        if (g + 1 >= other.ladder.used)
            return 0;
        count[g + 1] = fmax(1, rint(count[g + 1] * before / count[g]));
    }
    return keep_better(search, best, &other);
}

static int step_cores(search *search, candidate *best, double factor)
{
    const mend_plan_model *model = search->model;
    candidate other = *best;
    other.cores = fmin(model->max_cores, fmax(model->min_cores, best->cores * factor));
    return other.cores != best->cores && keep_better(search, best, &other);
}

static void polish(search *search, candidate *best)
{
    double share = 0.25; /* of a count or of the cores */
    int is_free = search->model->cores == 0;
    while (share > (is_free ? 1e-7 : 1e-5)) {
        int better = 0, whole = 0;
        for (int g = 0; g < best->ladder.used; g++)
            for (int balance = 0; balance < 2; balance++) {
                double step = rint(best->ladder.count[g] * share);
                whole |= step >= 1;
                step = fmax(1, step);
                better |= step_count(search, best, g, step, balance) ||
                          step_count(search, best, g, -step, balance);
            }
        if (is_free)
            better |=
                step_cores(search, best, 1 + share) || step_cores(search, best, 1 / (1 + share));
        if (!better && !whole && !is_free)
            break;
        if (!better)
            share /= 2;
    }
}

static void make_cores_whole(search *search, candidate *best)
{
    if (search->model->cores > 0)
        return;
    candidate down = *best, up = *best;
    down.cores = fmax(ceil(search->model->min_cores), floor(best->cores));
    up.cores = fmin(floor(search->model->max_cores), ceil(best->cores));
    if (down.cores > search->model->max_cores || up.cores < search->model->min_cores)
        return; /* no whole number between the bounds */
    *best = evaluate(search, &down) <= evaluate(search, &up) ? down : up;
}

static int by_value(const void *a, const void *b)
{
    double x = ((const candidate *)a)->value, y = ((const candidate *)b)->value;
    return (x > y) - (x < y);
}

void mend_plan_search(const mend_plan_model *model, mend_plan_objective objective, candidate *best,
                      int *evaluated)
{
    search search = {.model = model, .objective = objective};
    candidate starts[1 << MEND_PLAN_LEVELS];
    int subsets = 1 << model->levels;
    double cores = model->cores;
    if (cores == 0) {
        algorithm1 result;
        mend_plan_algorithm1(model, 0, &result);
        cores = result.cores;
    }
    for (int mask = 0; mask < subsets; mask++)
        start_subset(&search, (unsigned)mask, cores, &starts[mask]);
    qsort(starts, (size_t)subsets, sizeof *starts, by_value);
    for (int i = 0; i < subsets && i < POLISHED; i++) {
        polish(&search, &starts[i]);
        if (i == 0 || starts[i].value < best->value)
            *best = starts[i];
    }
    make_cores_whole(&search, best);
    tidy(&best->ladder, model->write_all);
    *evaluated = search.evaluated;
}
