/* A search that drops whole multiples and gives every level its own grid.
 *
 * It starts from a nested pattern, where levels are tied: each coincides with the next higher one. One step changes
 * the number of intervals of one level, or of one and all below it, so that these keep their ties; or ties a level to
 * a higher one again; or writes a level before another, or stops doing so; or changes the cores. The best pattern
 * often mixes both: levels 2 and 3 tied, level 4 on its own.
 *
 * Evaluating a pattern takes time in proportion to its checkpoints. The total is bounded; a plan with millions of
 * checkpoints has little to gain here.
 */
#include <math.h>

#include "search/search.h"

static const double most_walked = 1.5e7; /* checkpoints of all patterns evaluated for one plan */

static void loosen(const mend_plan_model *model, candidate *candidate)
{
    pattern *pattern = &candidate->pattern;
    const ladder *ladder = &pattern->ladder;
    double intervals = 1;
    for (int i = 0; i < model->levels; i++) {
        pattern->intervals[i] = 1;
        pattern->first[i] = 0;
    }
    for (int g = ladder->used - 1; g >= 0; g--) {
        int level = ladder->level[g];
        intervals *= ladder->count[g];
        pattern->intervals[level] = intervals;
        for (int k = 0; k < g; k++)
            if (ladder->first[g] >> k & 1)
                pattern->first[level] |= 1u << ladder->level[k];
    }
    pattern->nested = 0;
    pattern->ladder.last = 0;
}

static int is_used(const candidate *candidate, int level)
{
    return candidate->pattern.intervals[level] > 1;
}

/* Scale the intervals of the levels in `mask`. */
static int scale(search *search, candidate *best, unsigned mask, double factor)
{
    candidate other = *best;
    for (int i = 0; i < search->model->levels; i++)
        if (mask >> i & 1 && is_used(best, i))
            other.pattern.intervals[i] = fmax(1, best->pattern.intervals[i] * factor);
    return mend_plan_search_keep(search, best, &other);
}

static int scale_either_way(search *search, candidate *best, unsigned mask, double share)
{
    return scale(search, best, mask, 1 + share) || scale(search, best, mask, 1 / (1 + share));
}

/* Make the intervals of a level, and of those below it, whole multiples of a higher level's. */
static int tie(search *search, candidate *best, int level, int to)
{
    const double *intervals = best->pattern.intervals;
    double ratio = intervals[level] / intervals[to], whole = fmax(1, rint(ratio));
    if (fabs(ratio - whole) < 1e-9)
        return 0;
    unsigned one = 1u << level, below = (2u << level) - 1;
    return scale(search, best, below, whole / ratio) || scale(search, best, one, whole / ratio);
}

static int flip_first(search *search, candidate *best)
{
    int better = 0;
    if (search->model->write != MEND_PLAN_CHOSEN)
        return 0;
    for (int i = 1; i < search->model->levels; i++)
        for (int k = 0; k < i; k++)
            if (is_used(best, i) && is_used(best, k)) {
                candidate other = *best;
                other.pattern.first[i] ^= 1u << k;
                better |= mend_plan_search_keep(search, best, &other);
            }
    return better;
}

static int scale_cores(search *search, candidate *best, double factor)
{
    const mend_plan_model *model = search->model;
    candidate other = *best;
    if (model->cores > 0)
        return 0;
    other.cores = fmin(model->max_cores, fmax(model->min_cores, best->cores * factor));
    return other.cores != best->cores && mend_plan_search_keep(search, best, &other);
}

static int sweep(search *search, candidate *best, double share)
{
    int better = 0, levels = search->model->levels;
    for (int i = 0; i < levels; i++)
        if (is_used(best, i)) {
            better |= scale_either_way(search, best, 1u << i, share);
            if (i > 0)
                better |= scale_either_way(search, best, (2u << i) - 1, share);
        }
    for (int i = 0; i < levels; i++)
        for (int to = i + 1; to < levels; to++)
            if (is_used(best, i) && is_used(best, to))
                better |= tie(search, best, i, to);
    better |= flip_first(search, best);
    better |= scale_cores(search, best, 1 + share) || scale_cores(search, best, 1 / (1 + share));
    return better;
}

void mend_plan_search_grids(search *search, candidate *best)
{
    candidate grids = *best;
    double budget = search->walked + most_walked / 4;
    if (grids.pattern.nested)
        loosen(search->model, &grids);
    double sum = 0;
    for (int i = 0; i < search->model->levels; i++)
        sum += grids.pattern.intervals[i];
    if (!(sum < MEND_PLAN_GRIDS) || !isfinite(mend_plan_search_value(search, &grids)))
        return;
    for (double share = 0.2; share > 5e-4 && search->walked < budget;)
        if (!sweep(search, &grids, share))
            share /= 2;
    if (grids.value < best->value * (1 - 1e-6)) /* nested plans are easier to follow */
        *best = grids;
}
