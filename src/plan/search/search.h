/* Search for the best pattern with the exact evaluator. */
#ifndef PLAN_SEARCH_H
#define PLAN_SEARCH_H

#include "exact/exact.h"

/* The most checkpoints of a pattern for which we search grids. */
#define MEND_PLAN_GRIDS 1e5

typedef struct candidate {
    double cores;
    pattern pattern;
    double value; /* of the objective */
} candidate;

typedef struct search {
    const mend_plan_model *model;
    mend_plan_objective objective;
    int quick;     /* nested patterns only, from the best few starts */
    int evaluated; /* patterns evaluated */
    double walked; /* checkpoints of grids walked for that */
} search;

/* The best pattern found. */
void mend_plan_search(search *search, candidate *best);

/* For grids.c: compute the objective's value, and store it in the candidate; and replace `best` by `other` if that is
 * better. */
double mend_plan_search_value(search *search, candidate *candidate);
int mend_plan_search_keep(search *search, candidate *best, candidate *other);

/* Drop whole multiples: give every level its own grid near this one, if that is better (grids.c). */
void mend_plan_search_grids(search *search, candidate *best);

/* The best pattern of an endless run. `interval` is the work between checkpoints of the lowest used level, and the
 * count of the highest level is 1. Returns its seconds per second of work. The highest level of the site must have
 * failures. */
double mend_plan_search_endless(const site *site, ladder *ladder, double *interval);

/* Seconds per second of work of such a pattern. */
double mend_plan_endless_value(const site *site, const ladder *ladder, double interval);

/* The model that remains if only the levels in `mask` are written: every failure counts for the lowest of them that
 * it leaves intact. Failures that leave none are dropped. */
void mend_plan_reduce(const mend_plan_model *model, unsigned mask, mend_plan_model *reduced);

/* Round the intervals to a nested pattern of the levels with more than one interval; `first` in bits of levels. */
void mend_plan_nest(int levels, const double *intervals, const unsigned *first, ladder *ladder);

#endif
