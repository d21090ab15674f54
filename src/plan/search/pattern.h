/* From a plan to the pattern that is evaluated or simulated. */
#ifndef PLAN_PATTERN_H
#define PLAN_PATTERN_H

#include "exact/exact.h"

/* Errors: MEND_ERR_CONFIG when the plan does not fit the model. */
int mend_plan_pattern(const mend_plan_model *model, const mend_plan *plan, pattern *pattern);

/* Most intervals of a plan whose levels have grids of their own. */
extern const double mend_plan_most_checkpoints;

/* How many checkpoints of every level a run without failures writes. */
void mend_plan_written(const site *site, const pattern *pattern, double *checkpoints);

#endif
