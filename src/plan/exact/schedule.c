#include "exact/schedule.h"

#include <math.h>

void mend_plan_schedule_start(schedule *schedule, const site *site, const pattern *pattern)
{
    schedule->pattern = pattern;
    schedule->levels = site->levels;
    schedule->work = site->work;
    schedule->at = 0;
    for (int i = 0; i < site->levels; i++)
        schedule->next[i] = 1;
}

double mend_plan_schedule_next(schedule *s, unsigned *written)
{
    double slack = 1e-9 * s->work, nearest = s->work;
    const double *intervals = s->pattern->intervals;
    unsigned due = 0;
    int top = 0;
    for (int i = 0; i < s->levels; i++)
        nearest = fmin(nearest, s->next[i] * (s->work / intervals[i]));
    *written = 0;
    if (nearest < s->work - slack) {
        for (int i = 0; i < s->levels; i++)
            if (s->next[i] * (s->work / intervals[i]) <= nearest + slack) {
                s->next[i]++;
                due |= 1u << i;
                top = i;
            }
        *written = (due & s->pattern->first[top]) | 1u << top;
    } else {
        nearest = s->work;
    }
    double step = nearest - s->at;
    s->at = nearest;
    return step;
}
