/* Algorithm 1 of Di, Bautista-Gomez, Cappello, "Optimization of a multilevel checkpoint model with
 * uncertain execution scales" (the paper). */
#ifndef PLAN_ALGORITHM1_H
#define PLAN_ALGORITHM1_H

#include "search/site.h"

typedef struct algorithm1 {
    double cores;
    double intervals[MEND_PLAN_LEVELS];
    double seconds; /* formula 21 */
    int passes, converged;
} algorithm1;

/* `once`: stop after the first pass. The caller has checked the model and its load. */
void mend_plan_algorithm1(const mend_plan_model *model, int once, algorithm1 *result);

/* The first-order time a / (1 - h) of formula 6, generalised; infinity if h >= 1. */
double mend_plan_formula6(const mend_plan_model *model, double cores, const double *intervals);

#endif
