/* Search for the best pattern with the exact evaluator. */
#ifndef PLAN_SEARCH_H
#define PLAN_SEARCH_H

#include "exact/exact.h"

/* Most checkpoints of a pattern whose grids are searched. */
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
    int evaluated; /* patterns that were looked at */
    double walked; /* checkpoints of grids that were walked through for that */
} search;

/* The best that was found. */
void mend_plan_search(search *search, candidate *best);

/* For grids.c: the value of the objective, also put into the candidate; is `other` better than `best`?
 * Then it takes its place. */
double mend_plan_search_value(search *search, candidate *candidate);
int mend_plan_search_keep(search *search, candidate *best, candidate *other);

/* Give up whole multiples: grids of their own for every level, next to this one, if that is better
 * (grids.c). */
void mend_plan_search_grids(search *search, candidate *best);

/* The best pattern of a run without end: `interval` is the work between saves of the lowest used
 * level, and the count of the highest is 1. Returns its seconds per second of work. The highest
 * level of the site must have failures. */
double mend_plan_search_endless(const site *site, ladder *ladder, double *interval);

/* Seconds per second of work of such a pattern. */
double mend_plan_endless_value(const site *site, const ladder *ladder, double interval);

/* The model that is left when only the levels in `mask` are written: every failure counts for the
 * lowest of them that it leaves intact. Failures that leave none are dropped. */
void mend_plan_reduce(const mend_plan_model *model, unsigned mask, mend_plan_model *reduced);

/* Round x of every level to a nested pattern of the levels above 1; `first` in bits of levels. */
void mend_plan_nest(int levels, const double *intervals, const unsigned *first, ladder *ladder);

#endif
