/* What `mend plan` and `mend simulate` share: their options and their plan. */
#ifndef MEND_TOOL_PLANNING_H
#define MEND_TOOL_PLANNING_H

#include <jansson.h>
#include <stdio.h>

#include <mend/plan.h>

typedef struct planning {
    const char *command; /* "plan" or "simulate" */
    const char *file, *svg, *trace;
    const char *failures; /* a record of them, instead of the rates in the file */
    int json;
    int runs;
    uint64_t seed;
    mend_plan_request request;
    const char *intervals; /* given by hand */
    double last;           /* given by hand; 0: not */
    double cores;          /* given by hand; 0: as in the file */
    mend_plan_model model;
    mend_plan plan;
} planning;

/* Read the options; *done is set when there is nothing left to do (help, or an error). */
int planning_options(planning *planning, int argc, char **argv, const char *help, int *done);

/* Read the model and make the plan. Returns an exit code; prints an error to stderr. */
int planning_prepare(planning *planning);

/* Report mend_error_text(): exit code 2 when the input is wrong, 1 when the work failed. */
int planning_failed(const planning *planning, int code);

const char *planning_method(const planning *planning);

/* "93", or "93+3" where level 3 is written just before; into one of a few static buffers. */
const char *planning_intervals(const mend_plan *plan, int level);

/* A number in JSON: whole ones without a point; null when it is not finite. */
json_t *planning_number(double value);
json_t *planning_shares(const mend_plan_outcome *outcome);
/* "3.2 d", into one of a few static buffers. */
const char *planning_time(double seconds);

/* Write the plot through `draw`; returns an exit code. */
int planning_svg(const planning *planning, void (*draw)(FILE *, void *), void *what);

#endif
