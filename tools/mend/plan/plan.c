/* mend plan: how often to checkpoint, at which level, on how many cores. */
#include <plan/plots.h>
#include <stdio.h>
#include <string.h>

#include "plan_lines.h"
#include "tool.h"

static const char help[] =
    "Usage: mend plan FILE.ini [OPTIONS]\n"
    "Plan the checkpoints of a job: cores, levels, intervals, expected time.\n\n"
    "  --method M       best (default), algorithm1, algorithm1-once, young, daly\n"
    "  --objective O    time (default), core-hours, energy; with the method best\n"
    "  --single-level   algorithm 1 with the highest level for all failures\n"
    "  --cores N        plan for N cores, no matter what the file says\n"
    "  --intervals X,…  evaluate these numbers of intervals, from level 1 up, instead\n"
    "                   (93+3: 93, and level 3 is written just before)\n"
    "  --last R         their last interval is R times as long as the others\n"
    "  --from-failures FILE  rates from recorded failures, lines of 'TIME LEVEL'\n"
    "  --json           print JSON\n"
    "  --svg FILE       draw expected time by cores and intervals, and where it goes\n\n"
    "mend-plan(1) describes the file.\n";

static double efficiency(const planning *p)
{
    return p->model.work / p->plan.expected.seconds / p->plan.cores;
}

static double period(const planning *p, int level)
{
    return mend_plan_period(&p->model, &p->plan, level + 1);
}

/* The same on the clock of a run without failures, including the checkpoints in between. */
static double clock_period(const planning *p, int level)
{
    const mend_plan_outcome *o = &p->plan.expected;
    return period(p, level) * (o->work + o->checkpoint) / o->work;
}

static json_t *json_level(const planning *p, int i)
{
    const mend_plan *plan = &p->plan;
    const mend_plan_outcome *o = &plan->expected;
    json_t *first = json_array();
    for (int k = 0; k < i; k++)
        if (plan->first[i] >> k & 1)
            json_array_append_new(first, json_integer(k + 1));
    return json_pack("{s:i,s:o,s:o,s:o,s:o,s:o}", "level", i + 1, "intervals",
                     planning_number(plan->intervals[i]), "period_seconds",
                     planning_number(period(p, i)), "clock_seconds",
                     planning_number(clock_period(p, i)), "share_checkpoint",
                     planning_number(o->level_checkpoint[i] / o->seconds), "first", first);
}

static int print_json(const planning *p)
{
    const mend_plan *plan = &p->plan;
    const mend_plan_outcome *o = &plan->expected;
    json_t *levels = json_array(), *least = NULL, *nodes = NULL, *error = NULL;
    for (int i = 0; i < p->model.levels; i++)
        json_array_append_new(levels, json_level(p, i));
    if (p->model.cores_per_node > 0)
        nodes = planning_number(plan->cores / p->model.cores_per_node);
    if (plan->runs)
        error = planning_number(plan->standard_error);
    if (plan->least > 0)
        least = json_pack("{s:o,s:o}", "value", planning_number(plan->least), "cores",
                          planning_number(plan->least_cores));
    json_t *all = json_pack(
        "{s:i,s:s,s:s,s:o,s:o*,s:o,s:o*,s:o,s:o}", "mend", 1, "method", planning_method(p),
        "objective", mend_plan_objective_name(p->request.objective), "cores",
        planning_number(plan->cores), "nodes", nodes, "expected_seconds",
        planning_number(o->seconds), "standard_error", error, "model_seconds",
        planning_number(plan->model_seconds), "efficiency", planning_number(efficiency(p)));
    json_t *more = json_pack(
        "{s:i,s:b,s:b,s:i,s:o,s:o,s:o,s:o,s:o*,s:o,s:o,s:o*}", "iterations", plan->iterations,
        "converged", plan->converged, "nested", plan->nested, "simulated_runs", plan->runs, "last",
        planning_number(plan->last > 0 ? plan->last : 1), "failures", planning_number(o->failures),
        "core_hours", planning_number(mend_plan_value(MEND_PLAN_CORE_HOURS, plan->cores, o)),
        "joules", planning_number(o->joules), "least", least, "shares", planning_shares(o),
        "levels", levels, "run", plan_lines_json(p));
    if (all && json_object_update(all, more)) {
        json_decref(all);
        all = NULL;
    }
    json_decref(more);
    return tool_print_json("plan", all);
}

static void print_head(const planning *p)
{
    const mend_plan *plan = &p->plan;
    const mend_plan_outcome *o = &plan->expected;
    printf("method     %s%s\n", planning_method(p),
           plan->converged || p->intervals ? "" : " (one pass, not converged)");
    printf("cores      %.10g", plan->cores);
    if (p->model.cores_per_node > 0)
        printf(" (%.10g nodes)", plan->cores / p->model.cores_per_node);
    printf("\nexpected   %s (%.8g s) on the clock, efficiency %.4g, %.4g failures\n",
           planning_time(o->seconds), o->seconds, efficiency(p), o->failures);
    if (plan->runs)
        printf("           failures are Weibull, shape %.4g: mean of %d simulated runs, standard "
               "error %.4g s\n",
               p->model.weibull_shape, plan->runs, plan->standard_error);
    if (plan->least > 0)
        printf("           %s %.6g, the least possible %.6g (on %.10g cores)\n",
               mend_plan_objective_name(p->request.objective),
               mend_plan_value(p->request.objective, plan->cores, o), plan->least,
               plan->least_cores);
    printf("           work %.1f %%, checkpoints %.1f %%, restarts %.1f %%, lost work %.1f %%\n",
           100 * o->work / o->seconds, 100 * o->checkpoint / o->seconds,
           100 * o->restart / o->seconds, 100 * o->lost / o->seconds);
}

static void print_text(const planning *p)
{
    const mend_plan *plan = &p->plan;
    int before = 0;
    print_head(p);
    printf("\nlevel   intervals    every, work   on the clock   checkpoint   share of time\n");
    for (int i = 0; i < p->model.levels; i++) {
        double cost = mend_plan_cost_at(&p->model.level[i].checkpoint, plan->cores);
        if (!(plan->intervals[i] > 1)) {
            printf("%-7d not used\n", i + 1);
            continue;
        }
        const char *intervals = planning_intervals(plan, i);
        before |= strchr(intervals, '+') != NULL;
        printf("%-7d %-12s %-13s %-14s %-12s %.2f %%\n", i + 1, intervals,
               planning_time(period(p, i)), planning_time(clock_period(p, i)), planning_time(cost),
               100 * plan->expected.level_checkpoint[i] / plan->expected.seconds);
    }
    if (before)
        puts("+: also writes these levels just before, at the same point");
    if (plan->last > 1)
        printf("the last interval, which needs no checkpoint, is %.3g times as long\n", plan->last);
    puts("'every' is work between checkpoints; 'on the clock' also counts the checkpoints in "
         "between, not failures");
    plan_lines_text(p);
}

static void draw(FILE *out, void *what)
{
    const planning *p = what;
    mend_plan_plot(out, &p->model, &p->request, &p->plan);
}

int mend_cmd_plan(int argc, char **argv)
{
    planning p = {.command = "plan"};
    int done, code = planning_options(&p, argc, argv, help, &done);
    if (done)
        return code;
    if ((code = planning_prepare(&p)) != TOOL_OK)
        return code;
    if (p.svg && (code = planning_svg(&p, draw, &p)) != TOOL_OK)
        return code;
    if (p.json)
        return print_json(&p);
    print_text(&p);
    return TOOL_OK;
}
