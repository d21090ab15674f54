#include "schedule.h"

#include <math.h>

void mend_plan_schedule_start(schedule *schedule, const site *site, const double *intervals)
{
    schedule->intervals = intervals;
    schedule->levels = site->levels;
    schedule->work = site->work;
    schedule->at = 0;
    schedule->write_all = site->write_all;
    for (int i = 0; i < site->levels; i++)
        schedule->next[i] = 1;
}

double mend_plan_schedule_next(schedule *s, unsigned *written)
{
    double slack = 1e-9 * s->work, nearest = s->work;
    for (int i = 0; i < s->levels; i++)
        nearest = fmin(nearest, s->next[i] * (s->work / s->intervals[i]));
    *written = 0;
    if (nearest < s->work - slack) {
        for (int i = 0; i < s->levels; i++)
            if (s->next[i] * (s->work / s->intervals[i]) <= nearest + slack) {
                s->next[i]++;
                *written = s->write_all ? *written | 1u << i : 1u << i;
            }
    } else {
        nearest = s->work;
    }
    double step = nearest - s->at;
    s->at = nearest;
    return step;
}
