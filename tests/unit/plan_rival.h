/* Another search for the best pattern, to judge the planner's by. It shares the model with the planner,
 * and nothing else: no pattern, no evaluator, no search.
 *
 * A pattern here is a block of steps that is repeated. A step is some work, and then a checkpoint of
 * some level; any work (also none), any level, in any order, up to RIVAL_STEPS steps in a block. That is
 * much more than nested plans and grids can say. The search is simulated annealing over all of it, and
 * over the cores where they are free. */
#ifndef PLAN_RIVAL_H
#define PLAN_RIVAL_H

#include <mend/plan.h>
#include <simulation/random.h>

enum { RIVAL_STEPS = 256 };

typedef struct rival {
    double cores;
    double blocks; /* how often the block is repeated; a whole number */
    int steps;
    double work[RIVAL_STEPS]; /* in parts of the block */
    int level[RIVAL_STEPS];   /* 0-based */
    double seconds;           /* expected */
} rival;

/* Expected seconds, also put into the pattern; infinity when there is no such number. */
double rival_seconds(const mend_plan_model *model, rival *rival);

/* The best of `starts` searches of `tries` steps each, from patterns of chance. */
void rival_search(const mend_plan_model *model, generator *g, int starts, int tries, rival *best);

/* The planner's plan as a block, when it can be one: nested, and not too long. Returns 0 if not. */
int rival_from_plan(const mend_plan_model *model, const mend_plan *plan, rival *rival);

/* Improve a pattern. */
void rival_improve(const mend_plan_model *model, generator *g, int tries, rival *best);

void rival_print(const mend_plan_model *model, const rival *rival);

#endif
