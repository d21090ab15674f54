/* mend simulate: simulate a plan with random or recorded failures. */
#include <math.h>
#include <plan/plots.h>
#include <stdio.h>
#include <stdlib.h>

#include "planning.h"
#include "tool.h"

static const char help[] =
    "Usage: mend simulate FILE.ini [OPTIONS]\n"
    "Simulate a plan and compare its mean time with the exact expectation.\n\n"
    "  --runs N         number of runs (default 1000)\n"
    "  --seed S         seed of the random numbers (default 1); the same seed gives the same "
    "result\n"
    "  --trace FILE     recorded failures, lines of 'TIME LEVEL', instead of random ones\n"
    "  --method M       best (default), algorithm1, algorithm1-once, young, daly\n"
    "  --objective O    time (default), core-hours, energy; with the method best\n"
    "  --single-level   algorithm 1 with the highest level for all failures\n"
    "  --cores N        plan for N cores, no matter what the file says\n"
    "  --intervals X,…  simulate these numbers of intervals, from level 1 up, instead\n"
    "  --last R         their last interval is R times as long as the others\n"
    "  --json           print JSON\n"
    "  --svg FILE       draw the times of the runs and where the time went\n\n"
    "mend-plan(1) describes the file; [job] failures and jitter are for this command.\n";

typedef struct result {
    const planning *planning;
    mend_plan_sample sample;
    double *seconds;
    int is_exact; /* the exact expectation holds for these failures */
} result;

static const char *distribution(const planning *p)
{
    static char text[40];
    if (p->trace)
        return "trace";
    if (p->model.weibull_shape == 1)
        return "exponential";
    snprintf(text, sizeof text, "weibull %.6g", p->model.weibull_shape);
    return text;
}

static json_t *json_levels(const planning *p, const mend_plan_outcome *o)
{
    json_t *levels = json_array();
    for (int i = 0; i < p->model.levels; i++)
        json_array_append_new(levels,
                              json_pack("{s:i,s:o,s:o}", "level", i + 1, "intervals",
                                        planning_number(p->plan.intervals[i]), "share_checkpoint",
                                        planning_number(o->level_checkpoint[i] / o->seconds)));
    return levels;
}

static int print_json(const result *r)
{
    const planning *p = r->planning;
    const mend_plan_sample *s = &r->sample;
    double expected = r->is_exact ? p->plan.expected.seconds : NAN;
    double core_hours = mend_plan_value(MEND_PLAN_CORE_HOURS, p->plan.cores, &s->mean);
    json_t *seed =
        p->seed <= INT64_MAX ? json_integer((json_int_t)p->seed) : json_real((double)p->seed);
    json_t *json = json_pack(
        "{s:i,s:s,s:s,s:i,s:o,s:o,s:o,s:o,s:[o,o],s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "mend", 1,
        "method", planning_method(p), "failures_from", distribution(p), "runs", s->runs, "seed",
        seed, "cores", planning_number(p->plan.cores), "mean_seconds",
        planning_number(s->mean.seconds), "standard_error", planning_number(s->standard_error),
        "confidence95", planning_number(s->low), planning_number(s->high), "deviation",
        planning_number(s->deviation), "fastest_seconds", planning_number(s->fastest),
        "slowest_seconds", planning_number(s->slowest), "expected_seconds",
        planning_number(expected), "failures", planning_number(s->mean.failures), "core_hours",
        planning_number(core_hours), "joules", planning_number(s->mean.joules), "shares",
        planning_shares(&s->mean), "levels", json_levels(p, &s->mean));
    return tool_print_json("simulate", json);
}

static void print_text(const result *r)
{
    const planning *p = r->planning;
    const mend_plan_sample *s = &r->sample;
    const mend_plan_outcome *o = &s->mean;
    printf("plan       %s on %.10g cores, intervals", planning_method(p), p->plan.cores);
    for (int i = 0; i < p->model.levels; i++)
        printf(" %s", planning_intervals(&p->plan, i));
    printf("\nfailures   %s, %.4g in a run\n", distribution(p), o->failures);
    printf("mean       %s (%.8g s) of %d runs, 95 %% between %.8g and %.8g s\n",
           planning_time(o->seconds), o->seconds, s->runs, s->low, s->high);
    if (r->is_exact)
        printf("expected   %s (%.8g s), %.2f standard errors away\n",
               planning_time(p->plan.expected.seconds), p->plan.expected.seconds,
               s->standard_error > 0 ? (o->seconds - p->plan.expected.seconds) / s->standard_error
                                     : 0);
    printf("           work %.1f %%, checkpoints %.1f %%, restarts %.1f %%, lost work %.1f %%\n",
           100 * o->work / o->seconds, 100 * o->checkpoint / o->seconds,
           100 * o->restart / o->seconds, 100 * o->lost / o->seconds);
    printf("runs       fastest %s, slowest %s\n", planning_time(s->fastest),
           planning_time(s->slowest));
}

static void draw(FILE *out, void *what)
{
    const result *r = what;
    mend_plan_plot_simulation(out, &r->sample, r->seconds,
                              r->is_exact ? &r->planning->plan.expected : NULL,
                              "Mend: simulation of a plan");
}

static int simulate(const planning *p, result *r)
{
    mend_plan_trace trace = {0};
    int code = p->trace ? mend_plan_trace_read(&trace, p->trace) : 0;
    if (code)
        return planning_failed(p, code);
    mend_plan_trial trial = {
        .runs = p->runs, .seed = p->seed, .trace = p->trace ? &trace : NULL, .seconds = r->seconds};
    code = mend_plan_simulate(&p->model, &p->plan, &trial, &r->sample);
    mend_plan_trace_free(&trace);
    return code ? planning_failed(p, code) : TOOL_OK;
}

int mend_cmd_simulate(int argc, char **argv)
{
    planning p = {.command = "simulate", .runs = 1000, .seed = 1};
    int done, code = planning_options(&p, argc, argv, help, &done);
    if (done)
        return code;
    if ((code = planning_prepare(&p)) != TOOL_OK)
        return code;
    result r = {.planning = &p, .is_exact = !p.trace && p.model.weibull_shape == 1};
    r.seconds = malloc((size_t)p.runs * sizeof *r.seconds);
    if (!r.seconds)
        return tool_failed(p.command, "no memory for %d runs", p.runs);
    code = simulate(&p, &r);
    if (code == TOOL_OK && p.svg)
        code = planning_svg(&p, draw, &r);
    if (code == TOOL_OK && p.json)
        code = print_json(&r);
    else if (code == TOOL_OK)
        print_text(&r);
    free(r.seconds);
    return code;
}
