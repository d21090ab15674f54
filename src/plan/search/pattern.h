/* Turns a plan into the pattern to evaluate or simulate. */
#ifndef PLAN_PATTERN_H
#define PLAN_PATTERN_H

#include "exact/exact.h"

/* Errors: MEND_ERR_CONFIG if the plan does not fit the model. */
int mend_plan_pattern(const mend_plan_model *model, const mend_plan *plan, pattern *pattern);

/* The most intervals of a plan whose levels have their own grids. */
extern const double mend_plan_most_checkpoints;

/* How many checkpoints of each level a run without failures writes. */
void mend_plan_written(const site *site, const pattern *pattern, double *checkpoints);

#endif
