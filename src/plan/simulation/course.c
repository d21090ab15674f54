#include "simulation/course.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <base/fail.h>

#include "exact/schedule.h"

static const double most_positions = 5e6;

static int highest(unsigned written)
{
    return 31 - __builtin_clz(written);
}

static int allocate(course *course, double positions)
{
    if (positions > most_positions)
        return mend_fail(MEND_ERR_CONFIG, "%.10g checkpoints are too many to simulate; at most %g",
                         positions, most_positions);
    size_t count = (size_t)positions + 2;
    course->work = malloc(count * sizeof *course->work);
    course->seconds = malloc(count * sizeof *course->seconds);
    course->written = malloc(count * sizeof *course->written);
    course->up = malloc(count * sizeof *course->up);
    if (!course->work || !course->seconds || !course->written || !course->up) {
        mend_plan_course_free(course);
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %.10g checkpoints", positions);
    }
    return 0;
}

/* The levels written at the end of interval `index` of a nested pattern. */
static unsigned nested_written(const ladder *ladder, double index)
{
    unsigned written = 0;
    double period = 1;
    int top = 0;
    for (int g = 1; g < ladder->used; g++) {
        period *= ladder->count[g - 1];
        if (fmod(index, period) != 0)
            break;
        top = g;
    }
    for (int g = 0; g <= top; g++)
        if (g == top || ladder->first[top] >> g & 1)
            written |= 1u << ladder->level[g];
    return written;
}

static void add(course *course, double work, unsigned written, double checkpoint)
{
    int32_t at = ++course->length;
    course->work[at] = work;
    course->seconds[at] = course->seconds[at - 1] + work - course->work[at - 1] + checkpoint;
    course->written[at] = (uint8_t)written;
}

/* Levels that are written at one point commit one by one, and each has its own position. */
static void add_point(course *course, double work, unsigned due)
{
    unsigned written = 0;
    for (int i = 0; i < course->site->levels; i++)
        if (due >> i & 1) {
            written |= 1u << i;
            add(course, work, written, course->site->checkpoint[i]);
        }
}

static void lay_nested(course *course, const ladder *ladder)
{
    double intervals, work = mend_plan_ladder_interval(ladder, course->site->work, &intervals);
    for (double i = 1; i < intervals; i++)
        add_point(course, work * i, nested_written(ladder, i));
    add(course, course->site->work, 0, 0);
}

static void lay_grids(course *course, const pattern *pattern)
{
    schedule schedule;
    unsigned written;
    mend_plan_schedule_start(&schedule, course->site, pattern);
    while (mend_plan_schedule_next(&schedule, &written), written)
        add_point(course, schedule.at, written);
    add(course, course->site->work, 0, 0);
}

static void link_up(course *course)
{
    int32_t newest[MEND_PLAN_LEVELS + 1] = {0}; /* of this level or higher */
    course->up[0] = 0;
    for (int32_t at = 1; at < course->length; at++) {
        int level = highest(course->written[at]);
        course->up[at] = newest[level + 1];
        for (int i = 0; i <= level; i++)
            newest[i] = at;
    }
}

int mend_plan_course_make(course *course, const site *site, const pattern *pattern)
{
    double positions = 1, intervals = 1;
    memset(course, 0, sizeof *course);
    course->site = site;
    if (pattern->nested)
        for (int g = pattern->ladder.used - 1; g >= 0; g--) {
            double above = intervals;
            intervals *= pattern->ladder.count[g];
            /* At most its own, and those written before it. */
            positions += intervals + above * __builtin_popcount(pattern->ladder.first[g]);
        }
    else
        for (int i = 0; i < site->levels; i++)
            positions += ceil(pattern->intervals[i]);
    int code = allocate(course, positions);
    if (code)
        return code;
    course->work[0] = course->seconds[0] = 0;
    course->written[0] = 0xff;
    if (pattern->nested)
        lay_nested(course, &pattern->ladder);
    else
        lay_grids(course, pattern);
    link_up(course);
    return 0;
}

void mend_plan_course_free(course *course)
{
    free(course->work);
    free(course->seconds);
    free(course->written);
    free(course->up);
    memset(course, 0, sizeof *course);
}

int32_t mend_plan_course_newest(const course *course, int32_t position, int level)
{
    while (highest(course->written[position]) < level)
        position = course->up[position];
    return position;
}

int mend_plan_course_read(const course *course, int32_t position, int level)
{
    return level + __builtin_ctz((unsigned)course->written[position] >> level);
}
