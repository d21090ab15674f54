/* The order of checkpoints in a run whose levels have independent grids. */
#ifndef PLAN_SCHEDULE_H
#define PLAN_SCHEDULE_H

#include "exact/exact.h"

typedef struct schedule {
    const pattern *pattern;
    int levels;
    double work;
    double next[MEND_PLAN_LEVELS]; /* number of each level's next checkpoint */
    double at;                     /* work done at the last checkpoint */
} schedule;

void mend_plan_schedule_start(schedule *schedule, const site *site, const pattern *pattern);

/* Seconds of work until the next checkpoint. Bit i of `written` is set if level i (0-based) is written there; none at
 * the end of the run. Checkpoints that coincide (to 1e-9 of the work) are one step. */
double mend_plan_schedule_next(schedule *schedule, unsigned *written);

#endif
