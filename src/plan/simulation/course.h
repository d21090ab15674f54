/* A plan laid out for the simulator: every checkpoint of the run in order. */
#ifndef PLAN_COURSE_H
#define PLAN_COURSE_H

#include <stdint.h>

#include "search/pattern.h"

/* Position 0 is the start and position `length` the end of the run; every other one is a checkpoint. */
typedef struct course {
    const site *site;
    int32_t length;
    double *work;     /* seconds of work done at a position */
    double *seconds;  /* including the checkpoints up to there */
    uint8_t *written; /* bit i: level i has been written at this point; its highest bit just now;
                         at the start all */
    int32_t *up;      /* the newest earlier position with a higher level */
} course;

/* Errors: MEND_ERR_CONFIG (too many checkpoints), MEND_ERR_NO_MEMORY. */
int mend_plan_course_make(course *course, const site *site, const pattern *pattern);
void mend_plan_course_free(course *course);

/* The newest position up to `position` with a checkpoint of `level` (0-based) or higher. */
int32_t mend_plan_course_newest(const course *course, int32_t position, int level);

/* The level to read at a position after a failure of `level`. */
int mend_plan_course_read(const course *course, int32_t position, int level);

#endif
