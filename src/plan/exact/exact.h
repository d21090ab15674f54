/* The exact expected time of a checkpoint pattern under exponential failures. */
#ifndef PLAN_EXACT_H
#define PLAN_EXACT_H

#include "search/site.h"

/* A nested pattern: the levels in use from the lowest up, and how many intervals of each are in one interval of the
 * next (for the last: in the run). No level: no checkpoint at all. */
typedef struct ladder {
    int used;
    int level[MEND_PLAN_LEVELS]; /* 0-based */
    double count[MEND_PLAN_LEVELS];
    unsigned first[MEND_PLAN_LEVELS]; /* bits of the lower places written before */
    double last;                      /* length of the last interval, in others; 0 means 1 */
} ladder;

/* The work in every interval of a run except the last; *pieces: the number of intervals. */
double mend_plan_ladder_interval(const ladder *ladder, double work, double *pieces);

/* The weight of a second of each activity. All 1: the time. */
typedef struct weights {
    double work, checkpoint, allocation, recovery;
} weights;

extern const weights mend_plan_weigh_time, mend_plan_weigh_restart;

/* Any plan: nested, or every level i with checkpoints at multiples of work / intervals[i]. */
typedef struct pattern {
    int nested;
    ladder ladder;
    double intervals[MEND_PLAN_LEVELS]; /* if not nested */
    unsigned first[MEND_PLAN_LEVELS];   /* bits of the levels written before, if due */
} pattern;

/* The expected weight of a run; infinity if it exceeds a double. */
double mend_plan_exact(const site *site, const pattern *pattern, const weights *weights);

/* Find the rates of levels whose failures are given for the whole run, store them in the site, and return the
 * expected seconds. */
double mend_plan_settle(const mend_plan_model *model, site *site, const pattern *pattern);

/* Expected seconds of one period of the highest level in an endless run, whose lowest level saves every `interval`
 * seconds of work. No failure may exceed the highest level. */
double mend_plan_exact_period(const site *site, const ladder *ladder, double interval);

#endif
