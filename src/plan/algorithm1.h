/* Algorithm 1 of Di, Bautista-Gomez, Cappello, "Optimization of a multilevel checkpoint model with
 * uncertain execution scales" (the paper). */
#ifndef PLAN_ALGORITHM1_H
#define PLAN_ALGORITHM1_H

#include "site.h"

typedef struct algorithm1 {
    double cores;
    double intervals[MEND_PLAN_LEVELS];
    double failures[MEND_PLAN_LEVELS]; /* mu of every level, as used for the intervals */
    double seconds;                    /* formula 21 */
    int passes, converged;
} algorithm1;

/* `once`: stop after the first pass. The caller has checked the model and its load. */
void mend_plan_algorithm1(const mend_plan_model *model, int once, algorithm1 *result);

/* The first-order time a / (1 - h) of formula 6, generalised; infinity when h >= 1. */
double mend_plan_formula6(const mend_plan_model *model, double cores, const double *intervals);

/* The left sides of formulas 23 (by level) and 24, each divided by the sum of its terms' sizes. */
void mend_plan_stationarity(const mend_plan_model *model, const algorithm1 *at,
                            double by_interval[MEND_PLAN_LEVELS], double *by_cores);

#endif
