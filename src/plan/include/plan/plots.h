/* Plots of plans and simulations as SVG files. Not public. */
#ifndef PLAN_PLOTS_H
#define PLAN_PLOTS_H

#include <stdio.h>

#include <mend/plan.h>

/* Expected time over the cores and over the interval of every level, and where the time goes by method. Makes plans
 * as `request` says. */
void mend_plan_plot(FILE *out, const mend_plan_model *model, const mend_plan_request *request,
                    const mend_plan *plan);

/* The times of all runs, and where the time went, with the exact values beside them. `expected` is NULL if there is
 * none (failures that are not exponential). */
void mend_plan_plot_simulation(FILE *out, const mend_plan_sample *sample, const double *seconds,
                               const mend_plan_outcome *expected, const char *title);

#endif
