/* How long until the next version, and until the next one at each level: the user's choice, or the planner's
 * (--every auto).
 *
 * The planner weighs what a version costs at each level against the work that a failure would destroy. Its levels:
 *
 *   1. memory, with the partner's copy: enough for a process that died alone;
 *   2. local, 3. erasure, 4. global, if the job uses them and the user gave no number of versions for them: needed
 *      when memory is lost, with a rank and its partner, or with the whole launch.
 *
 * Nobody knows the failure rates beforehand, so the planner begins with a guess: one failure in ten needs more than
 * memory. While there is nothing better (no --mtbf, no failure yet), versions of all levels together take at most a
 * share of the time (run.share): a guess must not cost more than that.
 */
#include "follow.h"

#include <base/event.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double guessed_mtbf = 600;
static const double rarer = 10; /* one in so many failures needs the next level, too */
static const char *const name_of[RUN_LEVELS] = {"memory", "local", "erasure", "global"};

static double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void add_level(struct run_interval *i, mend_plan_online_options *o, enum run_level kind,
                      double mtbf)
{
    i->kind[i->levels] = kind;
    o->mtbf[i->levels] = mtbf;
    o->checkpoint[i->levels] = 0.1 * (1 + (double)kind);
    o->recovery[i->levels] = 0.5 * (1 + (double)kind);
    o->levels = ++i->levels;
}

void interval_begin(struct run_follower *f)
{
    const struct run_job *job = f->job;
    struct run_interval *i = &f->interval;
    if (!job->automatic)
        return;
    mend_plan_online_options o = {.min_period = 0.2};
    double mtbf = job->mtbf > 0 ? job->mtbf : guessed_mtbf;
    add_level(i, &o, RUN_MEMORY, mtbf);
    if (job->online && job->local_every && !job->local_fixed)
        add_level(i, &o, RUN_LOCAL, mtbf *= rarer);
    if (job->online && job->erasure_every && !job->erasure_fixed)
        add_level(i, &o, RUN_ERASURE, mtbf *= rarer);
    if (job->online && job->disk_every && !job->disk_fixed)
        add_level(i, &o, RUN_GLOBAL, mtbf * rarer);
    i->planning = mend_plan_online_start(&i->planner, &o, wall()) == MEND_OK;
    i->core_to_spare = !job->host && !job->hostfile && job->ranks < sysconf(_SC_NPROCESSORS_ONLN);
}

static void smooth(double *mean, double seconds)
{
    *mean += (*mean > 0 ? 0.3 : 1) * (seconds - *mean);
}

/* The planner's number of a level, from 1; 0: the planner does not use it. */
static int planned(const struct run_interval *i, enum run_level kind)
{
    for (int l = 0; l < i->levels; l++)
        if (i->kind[l] == kind)
            return l + 1;
    return 0;
}

static void warn_slow(struct run_follower *f, double seconds, double every)
{
    if (seconds <= every || f->interval.slow_told)
        return;
    f->interval.slow_told = true;
    fprintf(
        stderr,
        "%smend: WARNING: a checkpoint takes %.2g s, longer than the requested interval of %.2g s: "
        "the program gets less than half of the time (--every auto chooses an interval)\n",
        f->line_shown ? "\n" : "", seconds, every);
    mend_event("plan.slow", ev_real("seconds", seconds), ev_real("every", every));
}

/* A version at a higher level was first saved in memory: that is part of its cost there. */
static void cost_beside(struct run_interval *i, int level, double seconds)
{
    mend_plan_online_beside(&i->planner, level, seconds + (level > 1 ? i->cost[RUN_MEMORY] : 0));
}

/* Writing in the background still costs the ranks that time if they use all the cores. A level that is not planned adds
 * to the cost of each version. */
static void saved_beside(struct run_interval *i, mend_version_t versions, double seconds,
                         double ended)
{
    int level = planned(i, RUN_GLOBAL);
    if (i->core_to_spare)
        seconds = 0;
    if (!level)
        seconds /= (double)(versions > 0 ? versions : 1);
    smooth(&i->beside[level ? RUN_GLOBAL : RUN_MEMORY], seconds);
    if (level)
        mend_plan_online_saved(&i->planner, level, ended, ended);
    cost_beside(i, level ? level : 1, seconds);
}

void interval_saved(struct run_follower *f, const char *level, mend_version_t version, double began,
                    double ended)
{
    struct run_interval *i = &f->interval;
    enum run_level kind = RUN_MEMORY;
    while (level[0] && strcmp(level, name_of[kind]) != 0)
        if (++kind == RUN_LEVELS)
            return; /* partner: a part of memory */
    if (kind == RUN_MEMORY) {
        smooth(&i->cost[kind], ended - began);
        if (i->planning)
            mend_plan_online_saved(&i->planner, 1, began, ended);
        else
            warn_slow(f, ended - began, f->job->every);
        return;
    }
    if (!i->planning || version == i->last[kind])
        return; /* another rank reported the same one */
    if (kind == RUN_GLOBAL) {
        saved_beside(i, version - i->last[kind], ended - began, ended);
    } else if (planned(i, kind)) {
        smooth(&i->cost[kind], ended - began);
        mend_plan_online_saved(&i->planner, planned(i, kind), began, ended);
        cost_beside(i, planned(i, kind), 0);
    }
    i->last[kind] = version;
}

void interval_fetched(struct run_follower *f)
{
    f->interval.fetched = true;
}

/* The lowest level that would have helped: memory, or the first above it. */
void interval_failed(struct run_follower *f, bool relaunched, double failed, double resumed)
{
    struct run_interval *i = &f->interval;
    i->failed = true;
    if (!i->planning)
        return;
    int level = (relaunched || i->fetched) && i->levels > 1 ? 2 : 1;
    mend_plan_online_failure(&i->planner, level, failed);
    mend_plan_online_recovered(&i->planner, f->now.version ? level : 0, failed, resumed);
    i->fetched = false;
}

/* Seconds between versions of each planned level, by kind; 0: the level is not used. Returns those between versions,
 * whatever their levels: each is saved in memory. */
static double choose(const struct run_follower *f, double *period)
{
    const struct run_interval *i = &f->interval;
    double step = 0;
    for (int l = 0; l < i->levels; l++) {
        period[i->kind[l]] = mend_plan_online_period(&i->planner, l + 1);
        if (step == 0)
            step = period[i->kind[l]];
    }
    if (step <= 0)
        return 0;
    double taken = (i->cost[RUN_MEMORY] + i->beside[RUN_MEMORY]) / step;
    for (int l = 1; l < i->levels; l++)
        if (period[i->kind[l]] > 0)
            taken += (i->cost[i->kind[l]] + i->beside[i->kind[l]]) / period[i->kind[l]];
    if (taken <= f->job->share || f->job->mtbf > 0 || i->failed)
        return step;
    for (int l = 1; l < i->levels; l++)
        period[i->kind[l]] *= taken / f->job->share;
    return step * taken / f->job->share;
}

static bool moved(double now, double before)
{
    return (now > 0) != (before > 0) || now < 0.9 * before || now > 1.1 * before;
}

static bool write_plan(const struct run_follower *f, const double *period, double step)
{
    char path[4400], temporary[4416];
    snprintf(path, sizeof path, "%s/every", f->job->dir);
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE *out = fopen(temporary, "we");
    if (!out)
        return false;
    fprintf(out, "%.6f\n", step);
    for (int l = 1; l < f->interval.levels; l++)
        fprintf(out, "%s %.6f\n", name_of[f->interval.kind[l]], period[f->interval.kind[l]]);
    return fclose(out) == 0 && rename(temporary, path) == 0;
}

/* The job reads DIR/every (round/due.c of the capsule). */
void interval_tell(struct run_follower *f)
{
    struct run_interval *i = &f->interval;
    double period[RUN_LEVELS] = {0};
    if (!i->planning)
        return;
    mend_plan_online_due(&i->planner, wall());
    double step = choose(f, period);
    bool step_moved = step > 0 && moved(step, f->now.every), any = step_moved;
    for (int l = 1; l < i->levels; l++)
        any |= moved(period[i->kind[l]], i->told[i->kind[l]]);
    if (step <= 0 || !any || !write_plan(f, period, step))
        return;
    if (step_moved)
        mend_event("plan.interval", ev_real("seconds", step),
                   ev_real("rate", mend_plan_online_rate(&i->planner, 1, NULL)),
                   ev_real("overhead", mend_plan_online_overhead(&i->planner)));
    f->now.every = step;
    for (int l = 1; l < i->levels; l++) {
        enum run_level kind = i->kind[l];
        if (moved(period[kind], i->told[kind]))
            mend_event("plan.level", ev_str("level", name_of[kind]),
                       ev_real("seconds", period[kind]),
                       ev_real("rate", mend_plan_online_rate(&i->planner, l + 1, NULL)));
        i->told[kind] = period[kind];
    }
}
