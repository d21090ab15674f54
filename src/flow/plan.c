/* `auto`: the planner inside the job decides when to save, and at which levels.
 *
 * Rank 0 asks the planner and tells the others (point.c). With each save all ranks get a copy of what it has learned,
 * so that a new rank 0 can continue from there. The store's levels, from the cheapest up, are the planner's levels 1,
 * 2, …; a save at one goes to all below it, too. Until measurements say otherwise, we assume that failures of level i
 * are four times as rare as those of level i-1, and that its saves cost twice as much. */
#include <base/event.h>
#include <base/fail.h>
#include <mend/plan.h>
#include <mend/store.h>
#include <stdlib.h>
#include <time.h>

#include "flow.h"

struct planner {
    mend_plan_online online;
    int levels;
    unsigned bits[MEND_PLAN_LEVELS + 1]; /* store levels for a save of planner level i */
    int due;                             /* level of the announced save */
    int level;                           /* of the last save; 0: none */
    double background;                   /* seconds that earlier saves took in the background */
};

/* Seconds of a clock that all nodes share, because another rank may continue with these values. */
static double clock_of_all(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int plan_start(mend_flow *f)
{
    struct planner *p = calloc(1, sizeof *p);
    unsigned used = backing_levels(f, true), below = 0;
    mend_plan_online_options o = {0};
    if (!p)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the planner");
    for (int i = 0; i < MEND_LEVEL_COUNT && p->levels < MEND_PLAN_LEVELS; i++) {
        if (!(used & MEND_LEVEL_BIT(i)))
            continue;
        below |= MEND_LEVEL_BIT(i);
        p->bits[++p->levels] = below;
    }
    o.levels = p->levels ? p->levels : (p->levels = 1);
    for (int i = 0; i < o.levels; i++) {
        o.mtbf[i] = f->options.mtbf * (double)(1L << (2 * i));
        o.checkpoint[i] = 0.1 * (double)(1L << i);
    }
    int rc = mend_plan_online_start(&p->online, &o, clock_of_all());
    if (rc) {
        free(p);
        return rc;
    }
    f->planner = p;
    return 0;
}

void plan_free(mend_flow *f)
{
    free(f->planner);
    f->planner = NULL;
}

void *plan_state(mend_flow *f, size_t *bytes)
{
    *bytes = f->planner ? sizeof f->planner->online : 0;
    return f->planner ? &f->planner->online : NULL;
}

int plan_due(mend_flow *f, double *seconds_ahead)
{
    struct planner *p = f->planner;
    p->due = mend_plan_online_due(&p->online, clock_of_all());
    double period = mend_plan_online_period(&p->online, 1);
    for (int i = 2; period <= 0 && i <= p->levels; i++)
        period = mend_plan_online_period(&p->online, i);
    *seconds_ahead = period > 0 ? period : 1;
    return p->due;
}

unsigned plan_levels(const mend_flow *f, int due)
{
    return f->planner && due >= 1 && due <= f->planner->levels ? f->planner->bits[due] : 0;
}

void plan_saved(mend_flow *f, int level, double seconds)
{
    double now = clock_of_all();
    struct planner *p = f->planner;
    if (!p)
        return;
    /* The last save is complete by now, so we know what it took in the background. */
    double background = backing_background(f);
    if (p->level && background >= p->background)
        mend_plan_online_beside(&p->online, p->level, background - p->background);
    p->level = level > 0 ? level : 1;
    p->background = background;
    mend_plan_online_saved(&p->online, p->level, now - seconds, now);
    /* A save does all that saves of lower levels do, so these cost no more, and are worth a try. */
    for (int i = 0; i + 1 < level; i++)
        if (!p->online.saves[i] && p->online.checkpoint[i] > seconds)
            p->online.checkpoint[i] = seconds;
}

/* A failure that destroyed the newest version belongs to a higher level: the cheapest level does not help against it.
 */
void plan_failed(mend_flow *f)
{
    struct planner *p = f->planner;
    bool lost = f->version >= 0 && (f->fresh || f->target < f->version);
    if (p)
        mend_plan_online_failure(&p->online, lost && p->levels > 1 ? 2 : 1, clock_of_all());
}

void plan_recovered(mend_flow *f, double seconds)
{
    double now = clock_of_all();
    if (f->planner)
        mend_plan_online_recovered(&f->planner->online, 1, now - seconds, now);
}
