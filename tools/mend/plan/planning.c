#include "planning.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

enum option_code {
    OPT_JSON = 256,
    OPT_SVG,
    OPT_METHOD,
    OPT_OBJECTIVE,
    OPT_SINGLE,
    OPT_INTERVALS,
    OPT_CORES,
    OPT_LAST,
    OPT_RUNS,
    OPT_SEED,
    OPT_TRACE,
    OPT_FAILURES,
    OPT_HELP
};

static const struct option options[] = {
    {"json", no_argument, NULL, OPT_JSON},
    {"svg", required_argument, NULL, OPT_SVG},
    {"method", required_argument, NULL, OPT_METHOD},
    {"objective", required_argument, NULL, OPT_OBJECTIVE},
    {"single-level", no_argument, NULL, OPT_SINGLE},
    {"intervals", required_argument, NULL, OPT_INTERVALS},
    {"cores", required_argument, NULL, OPT_CORES},
    {"last", required_argument, NULL, OPT_LAST},
    {"help", no_argument, NULL, OPT_HELP},
    {"runs", required_argument, NULL, OPT_RUNS},
    {"seed", required_argument, NULL, OPT_SEED},
    {"trace", required_argument, NULL, OPT_TRACE},
    {"from-failures", required_argument, NULL, OPT_FAILURES},
    {0},
};

static int parse_number(const char *text, double least, double most, double *value)
{
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    return !errno && end != text && !*end && *value >= least && *value <= most;
}

static int take_option(planning *p, int option)
{
    double number;
    char *end;
    switch (option) {
    case OPT_JSON: p->json = 1; return 0;
    case OPT_SVG: p->svg = optarg; return 0;
    case OPT_SINGLE: p->request.single_level = 1; return 0;
    case OPT_INTERVALS: p->intervals = optarg; return 0;
    case OPT_TRACE: p->trace = optarg; return 0;
    case OPT_FAILURES: p->failures = optarg; return 0;
    case OPT_METHOD:
        if (mend_plan_method_parse(optarg, &p->request.method))
            return tool_wrong_use(p->command, "%s", mend_error_text());
        return 0;
    case OPT_OBJECTIVE:
        if (mend_plan_objective_parse(optarg, &p->request.objective))
            return tool_wrong_use(p->command, "%s", mend_error_text());
        return 0;
    case OPT_CORES:
        if (!parse_number(optarg, 1, 1e15, &p->cores))
            return tool_wrong_use(p->command, "--cores needs a number from 1, not \"%s\"", optarg);
        return 0;
    case OPT_LAST:
        if (!parse_number(optarg, 0.01, 100, &p->last))
            return tool_wrong_use(p->command, "--last needs a number from 0.01 to 100, not \"%s\"",
                                  optarg);
        return 0;
    case OPT_RUNS:
        if (!parse_number(optarg, 1, 1e8, &number) || number != rint(number))
            return tool_wrong_use(p->command, "--runs needs a whole number from 1, not \"%s\"",
                                  optarg);
        p->runs = (int)number;
        return 0;
    case OPT_SEED:
        errno = 0;
        p->seed = strtoull(optarg, &end, 10);
        if (errno || end == optarg || *end || *optarg == '-')
            return tool_wrong_use(p->command, "--seed needs a whole number, not \"%s\"", optarg);
        return 0;
    default: return tool_wrong_use(p->command, "the options do not parse");
    }
}

int planning_options(planning *p, int argc, char **argv, const char *help, int *done)
{
    int option, is_plan = !strcmp(p->command, "plan");
    *done = 1;
    optind = 1;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == OPT_HELP) {
            fputs(help, stdout);
            return TOOL_OK;
        }
        if (option == '?')
            return tool_wrong_use(p->command, "the option %s is unknown or has no value",
                                  argv[optind - 1]);
        if (is_plan && (option == OPT_RUNS || option == OPT_SEED || option == OPT_TRACE))
            return tool_wrong_use(p->command, "--runs, --seed and --trace are for mend simulate");
        int code = take_option(p, option);
        if (code)
            return code;
    }
    if (optind + 1 != argc)
        return tool_wrong_use(p->command,
                              optind == argc ? "name the model's file" : "name only one file");
    p->file = argv[optind];
    *done = 0;
    return TOOL_OK;
}

int planning_failed(const planning *p, int code)
{
    tool_failed(p->command, "%s", mend_error_text());
    return code == MEND_ERR_INFEASIBLE || code == MEND_ERR_NO_MEMORY ? TOOL_FAILED : TOOL_WRONG_USE;
}

/* "93+23": 93 intervals, and levels 2 and 3 are written just before this one. */
static int parse_intervals(const char *text, int level, mend_plan *plan)
{
    char *plus = strchr(text, '+');
    if (plus)
        *plus = 0;
    if (!parse_number(text, 1, 1e12, &plan->intervals[level]))
        return 0;
    for (const char *digit = plus ? plus + 1 : ""; *digit; digit++) {
        if (*digit < '1' || *digit > '0' + level)
            return 0;
        plan->first[level] |= 1u << (*digit - '1');
    }
    return !plus || plus[1];
}

/* The expectation for a given plan: exact, or simulated. */
static int judge_given(planning *p)
{
    mend_plan *plan = &p->plan;
    mend_plan_trial trial = {.runs = 1000, .seed = 21};
    mend_plan_sample sample;
    int code = mend_plan_expect(&p->model, plan, &plan->expected);
    if (code || p->model.weibull_shape == 1)
        return code ? planning_failed(p, code) : TOOL_OK;
    if ((code = mend_plan_simulate(&p->model, plan, &trial, &sample)))
        return planning_failed(p, code);
    plan->expected = sample.mean;
    plan->runs = sample.runs;
    plan->standard_error = sample.standard_error;
    return TOOL_OK;
}

/* "X1,X2,…": the intervals of every level. Whole multiples of each other make a nested plan. */
static int given_plan(planning *p)
{
    char *text = strdup(p->intervals), *rest = NULL;
    int count = 0;
    mend_plan *plan = &p->plan;
    memset(plan, 0, sizeof *plan);
    plan->nested = 1;
    for (char *item = text ? strtok_r(text, ",", &rest) : NULL; item;
         item = strtok_r(NULL, ",", &rest)) {
        if (count == p->model.levels || !parse_intervals(item, count, plan)) {
            free(text);
            return tool_wrong_use(p->command,
                                  "--intervals needs %d numbers from 1 (with + and the lower "
                                  "levels to write before), not \"%s\"",
                                  p->model.levels, p->intervals);
        }
        count++;
    }
    free(text);
    if (count != p->model.levels)
        return tool_wrong_use(p->command, "--intervals needs %d numbers, not \"%s\"",
                              p->model.levels, p->intervals);
    double above = 1;
    for (int i = count - 1; i >= 0; i--) {
        double x = plan->intervals[i];
        if (x != 1 && fmod(x, above) != 0)
            plan->nested = 0;
        above = fmax(above, x);
    }
    if (!(p->model.cores > 0))
        return tool_wrong_use(p->command, "--intervals needs --cores when cores are free");
    plan->cores = p->model.cores;
    plan->converged = 1;
    plan->model_seconds = mend_plan_first_order(&p->model, plan);
    plan->last = plan->nested ? p->last : 0;
    if (p->last > 0 && !plan->nested)
        return tool_wrong_use(p->command, "--last is for intervals that are whole multiples");
    return judge_given(p);
}

const char *planning_intervals(const mend_plan *plan, int level)
{
    static char buffers[MEND_PLAN_LEVELS][48];
    char *text = buffers[level];
    int at = snprintf(text, sizeof buffers[0], "%.8g", plan->intervals[level]);
    for (int k = 0, any = 0; k < level && plan->intervals[level] > 1; k++)
        if (plan->first[level] >> k & 1 && plan->intervals[k] > 1)
            at += snprintf(text + at, sizeof buffers[0] - (size_t)at, any++ ? "%d" : "+%d", k + 1);
    return text;
}

/* Rates from a record of failures. For a level without failures in the record, the plan assumes half a failure: the
 * record does not show that it never fails. */
static int count_failures(planning *p)
{
    mend_plan_trace trace;
    double count[MEND_PLAN_LEVELS] = {0};
    double cores = p->model.rates_at > 0 ? p->model.rates_at : p->model.cores;
    if (!(cores > 0))
        return tool_wrong_use(
            p->command,
            "--from-failures needs rates_at in %s: the number of cores on which they "
            "were recorded",
            p->file);
    int code = mend_plan_trace_read(&trace, p->failures);
    if (code)
        return planning_failed(p, code);
    for (size_t i = 0; i < trace.count && !code; i++)
        if (trace.events[i].level > p->model.levels)
            code = tool_wrong_use(p->command, "%s: failure %zu has level %d, the model has %d",
                                  p->failures, i + 1, trace.events[i].level, p->model.levels);
        else
            count[trace.events[i].level - 1]++;
    for (int i = 0; i < p->model.levels && !code; i++) {
        p->model.level[i].total_per_core = 0;
        p->model.level[i].rate_per_core = fmax(0.5, count[i]) / trace.seconds / cores;
        if (count[i] == 0)
            fprintf(stderr,
                    "mend plan: %s has no failure of level %d in %s: assuming half a failure\n",
                    p->failures, i + 1, planning_time(trace.seconds));
    }
    mend_plan_trace_free(&trace);
    return code;
}

int planning_prepare(planning *p)
{
    int code = mend_plan_model_read(&p->model, p->file);
    if (code)
        return planning_failed(p, code);
    if (p->failures && (code = count_failures(p)))
        return code;
    if (p->cores > 0) {
        p->model.cores = p->cores;
        if (mend_plan_model_check(&p->model))
            return planning_failed(p, MEND_ERR_CONFIG);
    }
    if (p->last > 0 && !p->intervals)
        return tool_wrong_use(p->command, "--last goes with --intervals");
    if (p->intervals)
        return given_plan(p);
    code = mend_plan_make(&p->model, &p->request, &p->plan);
    return code ? planning_failed(p, code) : TOOL_OK;
}

const char *planning_method(const planning *p)
{
    return p->intervals ? "given" : mend_plan_method_name(p->plan.method);
}

json_t *planning_number(double value)
{
    if (!isfinite(value))
        return json_null();
    return value == rint(value) && fabs(value) < 1e15 ? json_integer((json_int_t)value)
                                                      : json_real(value);
}

json_t *planning_shares(const mend_plan_outcome *o)
{
    return json_pack("{s:o,s:o,s:o,s:o}", "work", planning_number(o->work / o->seconds),
                     "checkpoint", planning_number(o->checkpoint / o->seconds), "restart",
                     planning_number(o->restart / o->seconds), "lost",
                     planning_number(o->lost / o->seconds));
}

const char *planning_time(double seconds)
{
    static char buffers[4][32];
    static int next;
    char *text = buffers[next++ % 4];
    double unit = 1;
    const char *name = "s";
    if (seconds >= 2 * 86400)
        unit = 86400, name = "d";
    else if (seconds >= 2 * 3600)
        unit = 3600, name = "h";
    else if (seconds >= 120)
        unit = 60, name = "min";
    snprintf(text, sizeof buffers[0], "%.4g %s", seconds / unit, name);
    return text;
}

int planning_svg(const planning *p, void (*draw)(FILE *, void *), void *what)
{
    FILE *out = fopen(p->svg, "we");
    if (!out)
        return tool_failed(p->command, "cannot write %s: %s", p->svg, strerror(errno));
    draw(out, what);
    int bad = ferror(out);
    if (fclose(out) || bad)
        return tool_failed(p->command, "cannot write %s: %s", p->svg, strerror(errno));
    return TOOL_OK;
}
