/* mend plan: how often to checkpoint, at which level, on how many cores. */
#include <plan/plots.h>
#include <stdio.h>

#include "planning.h"
#include "tool.h"

static const char help[] =
    "Usage: mend plan FILE.ini [OPTIONS]\n"
    "Plan the checkpoints of a job: cores, levels, intervals, expected time.\n\n"
    "  --method M       best (default), algorithm1, algorithm1-once, young, daly\n"
    "  --objective O    time (default), core-hours, energy; with the method best\n"
    "  --single-level   algorithm 1 with the highest level for all failures\n"
    "  --cores N        this many cores, whatever the file says\n"
    "  --intervals X,…  judge these numbers of intervals, from level 1 up, instead\n"
    "  --json           print JSON\n"
    "  --svg FILE       draw expected time by cores and intervals, and where it goes\n\n"
    "The file is described in mend-plan(1).\n";

static double efficiency(const planning *p)
{
    return p->model.work / p->plan.expected.seconds / p->plan.cores;
}

static double period(const planning *p, int level)
{
    return p->plan.expected.work / p->plan.intervals[level];
}

static void print_json(const planning *p)
{
    const mend_plan *plan = &p->plan;
    const mend_plan_outcome *o = &plan->expected;
    printf("{\"mend\":1,\"method\":\"%s\",\"objective\":\"%s\"", planning_method(p),
           mend_plan_objective_name(p->request.objective));
    planning_json_number(",\"cores\":", plan->cores);
    planning_json_number(",\"expected_seconds\":", o->seconds);
    planning_json_number(",\"model_seconds\":", plan->model_seconds);
    planning_json_number(",\"efficiency\":", efficiency(p));
    printf(",\"iterations\":%d,\"converged\":%s,\"nested\":%s", plan->iterations,
           plan->converged ? "true" : "false", plan->nested ? "true" : "false");
    planning_json_number(",\"failures\":", o->failures);
    planning_json_number(",\"core_hours\":", mend_plan_value(MEND_PLAN_CORE_HOURS, plan->cores, o));
    planning_json_number(",\"joules\":", o->joules);
    putchar(',');
    planning_json_shares(o);
    printf(",\"levels\":[");
    for (int i = 0; i < p->model.levels; i++) {
        printf("%s{\"level\":%d", i ? "," : "", i + 1);
        planning_json_number(",\"intervals\":", plan->intervals[i]);
        planning_json_number(",\"period_seconds\":", period(p, i));
        planning_json_number(",\"share_checkpoint\":", o->level_checkpoint[i] / o->seconds);
        putchar('}');
    }
    puts("]}");
}

static void print_text(const planning *p)
{
    const mend_plan *plan = &p->plan;
    const mend_plan_outcome *o = &plan->expected;
    printf("method     %s%s\n", planning_method(p),
           plan->converged || p->intervals ? "" : " (one pass, not converged)");
    printf("cores      %.10g\n", plan->cores);
    printf("expected   %s (%.8g s), efficiency %.4g, %.4g failures\n", planning_time(o->seconds),
           o->seconds, efficiency(p), o->failures);
    printf("           work %.1f %%, checkpoints %.1f %%, restarts %.1f %%, lost work %.1f %%\n",
           100 * o->work / o->seconds, 100 * o->checkpoint / o->seconds,
           100 * o->restart / o->seconds, 100 * o->lost / o->seconds);
    printf("\nlevel   intervals   every          checkpoint   share of time\n");
    for (int i = 0; i < p->model.levels; i++) {
        double cost = mend_plan_cost_at(&p->model.level[i].checkpoint, plan->cores);
        if (plan->intervals[i] > 1)
            printf("%-7d %-11.8g %-14s %-12s %.2f %%\n", i + 1, plan->intervals[i],
                   planning_time(period(p, i)), planning_time(cost),
                   100 * o->level_checkpoint[i] / o->seconds);
        else
            printf("%-7d not used\n", i + 1);
    }
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
        print_json(&p);
    else
        print_text(&p);
    return TOOL_OK;
}
