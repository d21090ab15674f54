/* A model at one number of cores: the basis of algorithm 1, the exact evaluator, the search and the simulator. */
#ifndef PLAN_SITE_H
#define PLAN_SITE_H

#include <mend/plan.h>

typedef struct site {
    double cores;
    double work; /* seconds of work on these cores: f(Te, N) of the paper */
    double allocation;
    int levels;
    double checkpoint[MEND_PLAN_LEVELS], recovery[MEND_PLAN_LEVELS];
    double rate[MEND_PLAN_LEVELS];  /* failures per second */
    double total[MEND_PLAN_LEVELS]; /* failures over the whole run, where given that way */
    double all_rates;               /* sum of rate */
} site;

/* `rate` has only the levels given per second; see mend_plan_site_rates. */
void mend_plan_site(const mend_plan_model *model, double cores, site *site);

/* Levels whose failures are given for the whole run fail at a rate of total / seconds. */
void mend_plan_site_rates(site *site, const mend_plan_model *model, double seconds);

/* Derivatives with respect to the number of cores. */
double mend_plan_cost_slope(const mend_plan_cost *cost, double cores);
double mend_plan_speedup_slope(const mend_plan_speedup *speedup, double cores);

/* Does any level give its failures for the whole run? */
int mend_plan_has_totals(const mend_plan_model *model);

/* The largest number of cores that the plan may use. */
double mend_plan_most_cores(const mend_plan_model *model);

#endif
