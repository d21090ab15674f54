/* Searches for the best pattern with the exact evaluator.
 *
 *  1. For every subset of the levels and a grid of core counts (including algorithm 1's own), algorithm 1 gives the
 *     intervals. We round them to whole, nested counts, once with every lower level written before a higher one, and
 *     once with none.
 *  2. A search with shrinking steps improves the best starts. It steps one count, two counts that keep their product,
 *     the cores, or one level that is written before another.
 *  3. The best few of these, and algorithm 1's own intervals, drop whole multiples (grids.c).
 *  4. Cores become whole numbers.
 *
 * Algorithm 1 on all levels is one of the starts, so the result is never worse than that.
 */
#include "search/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/algorithm1.h"

enum { CORE_GRID = 16, POLISHED = 32, POLISHED_QUICK = 4, LOOSENED = 4, MOST_PIECES = 50 };

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

/* Remove levels that are never written: the highest if it has one interval, any other if it coincides with the next
 * one and is not written before any. */
static void tidy(ladder *ladder)
{
    for (int g = ladder->used - 1; g >= 0; g--) {
        unsigned wanted = 0, below = (1u << g) - 1;
        for (int h = g + 1; h < ladder->used; h++)
            wanted |= ladder->first[h] >> g & 1;
        if (ladder->count[g] > 1 || wanted)
            continue;
        if (g == ladder->used - 1 && ladder->used == 1)
            ladder->last = 0;
        ladder->used--;
        for (int h = g; h < ladder->used; h++) {
            unsigned first = ladder->first[h + 1];
            ladder->level[h] = ladder->level[h + 1];
            ladder->count[h] = ladder->count[h + 1];
            ladder->first[h] = (first & below) | (first >> 1 & ~below);
        }
    }
}

/* Whole multiples of the level above, from the top down. */
static void nest(int levels, const double *intervals, ladder *ladder)
{
    double above = 1;
    memset(ladder, 0, sizeof *ladder);
    ladder->used = levels;
    for (int i = levels - 1; i >= 0; i--) {
        ladder->level[i] = i;
        ladder->count[i] = intervals[i] > 1 ? fmax(1, rint(intervals[i] / above)) : 1;
        above *= ladder->count[i];
    }
}

void mend_plan_nest(int levels, const double *intervals, const unsigned *first, ladder *ladder)
{
    nest(levels, intervals, ladder);
    memcpy(ladder->first, first, (size_t)levels * sizeof *first);
    for (int i = 0; i < levels; i++) /* one interval: never written */
        for (int k = 0; k < levels && !(intervals[i] > 1); k++)
            ladder->first[k] &= ~(1u << i);
    tidy(ladder);
}

double mend_plan_search_value(search *search, candidate *candidate)
{
    site site;
    const pattern *pattern = &candidate->pattern;
    const mend_plan_model *model = search->model;
    mend_plan_site(model, candidate->cores, &site);
    search->evaluated++;
    if (!pattern->nested)
        for (int i = 0; i < model->levels; i++)
            search->walked += pattern->intervals[i];
    double seconds = mend_plan_settle(model, &site, pattern);
    if (search->objective == MEND_PLAN_CORE_HOURS) {
        seconds *= candidate->cores / 3600;
    } else if (search->objective == MEND_PLAN_ENERGY) {
        weights watts = {model->watts_compute, model->watts_io, model->watts_idle, model->watts_io};
        seconds = mend_plan_exact(&site, pattern, &watts) * candidate->cores;
    }
    return candidate->value = seconds;
}

int mend_plan_search_keep(search *search, candidate *best, candidate *other)
{
    if (!(mend_plan_search_value(search, other) < best->value))
        return 0;
    *best = *other;
    return 1;
}

/* Saving energy depends on its price relative to that of work: let algorithm 1 see times at the price of work. */
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

/* If failures come so fast that even algorithm 1's intervals take forever, use shorter ones. */
static void shorten(search *search, candidate *start)
{
    ladder *ladder = &start->pattern.ladder;
    for (int i = 0; i < 40 && ladder->used && !isfinite(start->value); i++) {
        ladder->count[0] *= 2;
        if (!(ladder->count[0] < 0x1p40))
            return;
        mend_plan_search_value(search, start);
    }
}

/* One start for a subset: algorithm 1 on the reduced model, nested. */
static void try_start(search *search, const mend_plan_model *reduced, const int *levels,
                      int write_first, candidate *best)
{
    algorithm1 result;
    candidate start = {.pattern.nested = 1};
    ladder *ladder = &start.pattern.ladder;
    mend_plan_algorithm1(reduced, mend_plan_load(reduced, mend_plan_most_cores(reduced)) >= 1,
                         &result);
    start.cores = result.cores;
    nest(reduced->levels, result.intervals, ladder); /* levels with one interval may get more */
    for (int g = 0; g < ladder->used; g++) {
        ladder->level[g] = levels[ladder->level[g]];
        ladder->first[g] = write_first ? (1u << g) - 1 : 0;
    }
    mend_plan_search_value(search, &start);
    shorten(search, &start);
    if (start.value < best->value)
        *best = start;
}

static void start_subset(search *search, unsigned mask, int write_first, double cores,
                         candidate *best)
{
    const mend_plan_model *model = search->model;
    mend_plan_model reduced;
    int levels[MEND_PLAN_LEVELS], count = 0;
    memset(best, 0, sizeof *best);
    best->value = HUGE_VAL;
    best->cores = cores;
    best->pattern.nested = 1;
    if (!mask) {
        mend_plan_search_value(search, best);
        return;
    }
    for (int i = 0; i < model->levels; i++)
        if (mask >> i & 1)
            levels[count++] = i;
    mend_plan_reduce(model, mask, &reduced);
    price(search, &reduced);
    reduced.cores = cores;
    try_start(search, &reduced, levels, write_first, best);
    if (model->cores > 0)
        return;
    for (int k = 0; k <= CORE_GRID; k++) {
        reduced.cores =
            model->min_cores * pow(model->max_cores / model->min_cores, (double)k / CORE_GRID);
        try_start(search, &reduced, levels, write_first, best);
    }
}

/* Step one count up or down; optionally the next one the other way, so that their product stays. */
static int step_count(search *search, candidate *best, int g, double step, int balance)
{
    candidate other = *best;
    double *count = other.pattern.ladder.count, before = count[g];
    count[g] = fmax(1, before + step);
    if (count[g] == before)
        return 0;
    if (balance) {
        if (g + 1 >= other.pattern.ladder.used)
            return 0;
        count[g + 1] = fmax(1, rint(count[g + 1] * before / count[g]));
    }
    return mend_plan_search_keep(search, best, &other);
}

static int step_cores(search *search, candidate *best, double factor)
{
    const mend_plan_model *model = search->model;
    candidate other = *best;
    other.cores = fmin(model->max_cores, fmax(model->min_cores, best->cores * factor));
    return other.cores != best->cores && mend_plan_search_keep(search, best, &other);
}

/* The last interval needs no checkpoint, so its best length is that of another interval plus its checkpoint. In a run
 * of many intervals that makes no difference, and a simple plan is better. */
static int step_last(search *search, candidate *best, double factor)
{
    candidate other = *best;
    double pieces;
    ladder *ladder = &other.pattern.ladder;
    mend_plan_ladder_interval(ladder, 1, &pieces);
    if (pieces < 2 || pieces > MOST_PIECES)
        return 0;
    ladder->last = fmin(10, fmax(1, (ladder->last > 0 ? ladder->last : 1) * factor));
    return ladder->last != best->pattern.ladder.last && mend_plan_search_keep(search, best, &other);
}

/* Write one more level, or one less, before another. */
static int flip_first(search *search, candidate *best)
{
    int better = 0;
    if (search->model->write != MEND_PLAN_CHOSEN)
        return 0;
    for (int g = 1; g < best->pattern.ladder.used; g++)
        for (int k = 0; k < g; k++) {
            candidate other = *best;
            other.pattern.ladder.first[g] ^= 1u << k;
            better |= mend_plan_search_keep(search, best, &other);
        }
    return better;
}

static void polish(search *search, candidate *best)
{
    double share = 0.25; /* of a count, or of the cores */
    int is_free = search->model->cores == 0;
    while (share > (is_free ? 1e-7 : 1e-5)) {
        int better = 0, whole = 0;
        for (int g = 0; g < best->pattern.ladder.used; g++)
            for (int balance = 0; balance < 2; balance++) {
                double step = rint(best->pattern.ladder.count[g] * share);
                whole |= step >= 1;
                step = fmax(1, step);
                better |= step_count(search, best, g, step, balance) ||
                          step_count(search, best, g, -step, balance);
            }
        if (is_free)
            better |=
                step_cores(search, best, 1 + share) || step_cores(search, best, 1 / (1 + share));
        better |= flip_first(search, best);
        better |= step_last(search, best, 1 + share) || step_last(search, best, 1 / (1 + share));
        if (!better && !whole && !is_free)
            break;
        if (!better)
            share /= 2;
    }
}

static void make_cores_whole(search *search, candidate *best)
{
    const mend_plan_model *model = search->model;
    if (model->cores > 0)
        return;
    candidate down = *best, up = *best;
    double unit = model->cores_per_node > 0 ? model->cores_per_node : 1;
    down.cores = unit * fmax(ceil(model->min_cores / unit), floor(best->cores / unit));
    up.cores = unit * fmin(floor(model->max_cores / unit), ceil(best->cores / unit));
    if (down.cores > model->max_cores || up.cores < model->min_cores || up.cores < unit)
        return; /* there is no whole number between the bounds */
    *best =
        mend_plan_search_value(search, &down) <= mend_plan_search_value(search, &up) ? down : up;
}

static int by_value(const void *a, const void *b)
{
    double x = ((const candidate *)a)->value, y = ((const candidate *)b)->value;
    return (x > y) - (x < y);
}

/* Algorithm 1's own intervals, which are not nested. */
static void add_algorithm1(search *search, const algorithm1 *result, candidate *candidate)
{
    memset(candidate, 0, sizeof *candidate);
    candidate->cores = result->cores;
    memcpy(candidate->pattern.intervals, result->intervals, sizeof result->intervals);
    if (search->model->write == MEND_PLAN_ALL)
        for (int i = 0; i < search->model->levels; i++)
            candidate->pattern.first[i] = (1u << i) - 1;
    double sum = 0;
    for (int i = 0; i < search->model->levels; i++)
        sum += result->intervals[i];
    candidate->value = HUGE_VAL;
    if (sum < MEND_PLAN_GRIDS)
        mend_plan_search_value(search, candidate);
}

void mend_plan_search(search *search, candidate *best)
{
    const mend_plan_model *model = search->model;
    candidate starts[(2 << MEND_PLAN_LEVELS) + 1];
    int subsets = 1 << model->levels, count = 0, from = 0, to = 1;
    algorithm1 result;
    mend_plan_algorithm1(
        model, mend_plan_load(model, mend_plan_most_cores(model)) >= 1 && model->cores > 0,
        &result);
    if (model->write == MEND_PLAN_ALL)
        from = 1;
    if (model->write == MEND_PLAN_HIGHEST)
        to = 0;
    for (int mask = 0; mask < subsets; mask++)
        for (int write_first = from; write_first <= to; write_first++)
            start_subset(search, (unsigned)mask, write_first, result.cores, &starts[count++]);
    qsort(starts, (size_t)count, sizeof *starts, by_value);
    int most = search->quick ? POLISHED_QUICK : POLISHED, kept = count < most ? count : most;
    for (int i = 0; i < kept; i++)
        polish(search, &starts[i]);
    add_algorithm1(search, &result, &starts[kept++]);
    qsort(starts, (size_t)kept, sizeof *starts, by_value);
    *best = starts[0];
    for (int i = 0; i < kept && i < LOOSENED && !search->quick; i++) {
        mend_plan_search_grids(search, &starts[i]);
        if (starts[i].value < best->value)
            *best = starts[i];
    }
    make_cores_whole(search, best);
    if (best->pattern.nested)
        tidy(&best->pattern.ladder);
}
