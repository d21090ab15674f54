/* Plans for failures that are not exponential. */
#ifndef PLAN_WEIBULL_H
#define PLAN_WEIBULL_H

#include <mend/plan.h>

/* `plan` was made as if failures were exponential. With the method best, the simulator improves it. In any case its
 * expected outcome becomes the simulated one. Errors: those of mend_plan_simulate. */
int mend_plan_weibull(const mend_plan_model *model, const mend_plan_request *request,
                      mend_plan *plan);

#endif
