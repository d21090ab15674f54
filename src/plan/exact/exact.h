/* The exact expected time of a checkpoint pattern under exponential failures. */
#ifndef PLAN_EXACT_H
#define PLAN_EXACT_H

#include "search/site.h"

/* A nested pattern: the used levels from the lowest up, and how many intervals of each lie in one
 * interval of the next (of the last: in the run). No level: no checkpoint at all. */
typedef struct ladder {
    int used;
    int level[MEND_PLAN_LEVELS]; /* 0-based */
    double count[MEND_PLAN_LEVELS];
    unsigned first[MEND_PLAN_LEVELS]; /* bits of the lower places that are written before */
    double last;                      /* the last interval in those before it; 0 is 1 */
} ladder;

/* The work of every interval but the last of a run; all intervals in *pieces. */
double mend_plan_ladder_interval(const ladder *ladder, double work, double *pieces);

/* What a second of every activity weighs. All 1: the time. */
typedef struct weights {
    double work, checkpoint, allocation, recovery;
} weights;

extern const weights mend_plan_weigh_time, mend_plan_weigh_restart;

/* Any plan: nested, or every level i with checkpoints at multiples of work / intervals[i]. */
typedef struct pattern {
    int nested;
    ladder ladder;
    double intervals[MEND_PLAN_LEVELS]; /* when not nested */
    unsigned first[MEND_PLAN_LEVELS];   /* bits of the levels that are written before, if due */
} pattern;

/* The expected weight of a run; infinity when it is beyond a double. */
double mend_plan_exact(const site *site, const pattern *pattern, const weights *weights);

/* Find the rates of levels whose failures are given for the whole run, put them into the site, and
 * return the expected seconds. */
double mend_plan_settle(const mend_plan_model *model, site *site, const pattern *pattern);

/* Expected seconds of one period of the highest level of a run without end, whose lowest level
 * saves every `interval` seconds of work. No failure may be beyond the highest level. */
double mend_plan_exact_period(const site *site, const ladder *ladder, double interval);

#endif
