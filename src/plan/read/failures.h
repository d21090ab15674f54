/* The source of the simulator's failures. */
#ifndef PLAN_FAILURES_H
#define PLAN_FAILURES_H

#include "simulation/random.h"
#include "search/site.h"

typedef struct failures {
    const site *site;
    const mend_plan_trace *trace;
    double chance;  /* probability that a failure of the trace hits these cores */
    double inverse; /* 1 / shape of the Weibull distribution */
    double mean;    /* of the Weibull distribution with scale 1 */
    generator generator;
    /* for one run */
    double next[MEND_PLAN_LEVELS];
    double shift; /* of the trace */
    size_t event;
} failures;

/* Errors: MEND_ERR_CONFIG if the trace does not fit the model. */
int mend_plan_failures_init(failures *failures, const mend_plan_model *model, const site *site,
                            const mend_plan_trace *trace);
void mend_plan_failures_start(failures *failures, uint64_t seed, uint64_t run);

/* The time of the next failure and its level (0-based); infinity if there is none. */
double mend_plan_failures_next(const failures *failures, int *level);
/* The failure has happened: go on to the next one. */
void mend_plan_failures_pass(failures *failures, int level);

#endif
