/* How long until the next version: what was asked for, or the planner's choice (--every auto).
 *
 * The planner weighs what a version costs against the work that a failure would destroy. How often something fails
 * nobody knows beforehand; it begins with a guess. As long as that is all there is (no --mtbf, no failure yet),
 * versions take at most a share of the time (run.share): a guess must not cost more than that.
 */
#include "run.h"

#include <base/event.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double guessed_mtbf = 600;

static double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void interval_begin(struct run_follower *f)
{
    const struct run_job *job = f->job;
    if (!job->automatic)
        return;
    mend_plan_online_options o = {.levels = 1,
                                  .mtbf = {job->mtbf > 0 ? job->mtbf : guessed_mtbf},
                                  .checkpoint = {0.1},
                                  .recovery = {0.5},
                                  .min_period = 0.2};
    f->planning = mend_plan_online_start(&f->planner, &o, wall()) == MEND_OK;
    f->core_to_spare = !job->host && !job->hostfile && job->ranks < sysconf(_SC_NPROCESSORS_ONLN);
}

static void smooth(double *mean, double seconds)
{
    *mean += (*mean > 0 ? 0.3 : 1) * (seconds - *mean);
}

void interval_saved(struct run_follower *f, double began, double ended)
{
    double seconds = ended - began, every = f->job->every;
    smooth(&f->cost, seconds);
    if (f->planning) {
        mend_plan_online_saved(&f->planner, 1, began, ended);
    } else if (seconds > every && !f->slow_told) {
        f->slow_told = true;
        fprintf(stderr,
                "%smend: WARNING: a version takes %.2g s, longer than the %.2g s that were asked "
                "for between two: "
                "the program has less than half of the time (--every auto chooses an interval)\n",
                f->line_shown ? "\n" : "", seconds, every);
        mend_event("plan.slow", ev_real("seconds", seconds), ev_real("every", every));
    }
}

void interval_beside(struct run_follower *f, double seconds)
{
    if (!f->planning || f->core_to_spare)
        return;
    smooth(&f->beside_cost, seconds);
    mend_plan_online_beside(&f->planner, 1, seconds);
}

void interval_failed(struct run_follower *f, double failed, double resumed)
{
    f->failed = true;
    if (!f->planning)
        return;
    mend_plan_online_failure(&f->planner, 1, failed);
    mend_plan_online_recovered(&f->planner, f->now.version ? 1 : 0, failed, resumed);
}

static double chosen(const struct run_follower *f)
{
    double period = mend_plan_online_period(&f->planner, 1);
    if (period > 0 && f->job->mtbf <= 0 && !f->failed)
        period = fmax(period, (f->cost + f->beside_cost) / f->job->share);
    return period;
}

/* DIR/every is read by the job. */
void interval_tell(struct run_follower *f)
{
    char path[4400], temporary[4416];
    if (!f->planning)
        return;
    mend_plan_online_due(&f->planner, wall());
    double period = chosen(f);
    if (period <= 0 ||
        (f->now.every > 0 && period > 0.9 * f->now.every && period < 1.1 * f->now.every))
        return;
    snprintf(path, sizeof path, "%s/every", f->job->dir);
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE *out = fopen(temporary, "we");
    if (!out)
        return;
    fprintf(out, "%.6f\n", period);
    if (fclose(out) == 0 && rename(temporary, path) == 0) {
        f->now.every = period;
        mend_event("plan.interval", ev_real("seconds", period),
                   ev_real("rate", mend_plan_online_rate(&f->planner, 1, NULL)),
                   ev_real("overhead", mend_plan_online_overhead(&f->planner)));
    }
}
