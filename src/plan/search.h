/* Search for the best nested pattern with the exact evaluator. */
#ifndef PLAN_SEARCH_H
#define PLAN_SEARCH_H

#include "exact.h"

typedef struct candidate {
    double cores;
    ladder ladder;
    double value; /* of the objective */
} candidate;

/* The best that was found; `evaluated` counts the patterns that were looked at. */
void mend_plan_search(const mend_plan_model *model, mend_plan_objective objective, candidate *best,
                      int *evaluated);

/* The best pattern of a run without end: `interval` is the work between saves of the lowest used
 * level, and the count of the highest is 1. Returns its seconds per second of work. The highest
 * level of the site must have failures. */
double mend_plan_search_endless(const site *site, ladder *ladder, double *interval);

/* Seconds per second of work of such a pattern. */
double mend_plan_endless_value(const site *site, const ladder *ladder, double interval);

/* The model that is left when only the levels in `mask` are written: every failure counts for the
 * lowest of them that it leaves intact. Failures that leave none are dropped. */
void mend_plan_reduce(const mend_plan_model *model, unsigned mask, mend_plan_model *reduced);

/* Round x of every level to a nested pattern of the levels above 1. */
void mend_plan_nest(int levels, const double *intervals, ladder *ladder);

#endif
