/* A checkpoint and a stop while there is time.
 *
 *  1. The reasons: SIGTERM (a job script forwards the warning signal of sbatch --signal with it; preemption and scancel
 *     send it themselves), Slurm's warning to one of our nodes, or a time limit that is near.
 *  2. The request is the one that `mend checkpoint --stop` makes.
 *  3. A checkpoint that fails is reported and requested again; if none succeeds, the older versions remain.
 */
#include "run/follow/follow.h"
#include "slurm.h"

#include <base/event.h>
#include <base/io.h>
#include <mend/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void answer_path(const struct run_job *job, char *path, size_t size)
{
    snprintf(path, size, "%s/answer.slurm", job->dir);
}

static const char *reason(const struct run_follower *f, bool signal)
{
    const struct run_job *job = f->job;
    double cost = 3 * f->now.checkpoint_seconds;
    if (signal)
        return "SIGTERM";
    if (f->warned)
        return "Slurm warned a node";
    if (job->slurm.ends_at > 0 &&
        (double)time(NULL) >= job->slurm.ends_at - job->stop_before - cost)
        return "the time limit is near";
    return NULL;
}

static void ask(struct run_follower *f)
{
    static const char text[] = "stop slurm\n";
    char path[4400];
    answer_path(f->job, path, sizeof path);
    unlink(path);
    snprintf(path, sizeof path, "%s/request", f->job->dir);
    if (mend_io_replace_file(path, text, sizeof text - 1))
        fprintf(stderr, "mend: WARNING: cannot request a checkpoint: %s\n", mend_error_text());
}

/* True: it was refused. */
static bool was_refused(struct run_follower *f)
{
    char path[4400], *text = NULL;
    size_t size = 0;
    answer_path(f->job, path, sizeof path);
    if (access(path, R_OK) || mend_io_read_file(path, 4096, &text, &size))
        return false;
    bool refused = strncmp(text, "failed", 6) == 0;
    if (refused)
        fprintf(stderr, "mend: WARNING: the job made no checkpoint (%s); asking again\n",
                mend_error_sentence(atoi(text + 6)));
    free(text);
    unlink(path);
    return refused;
}

bool slurm_leave(struct run_follower *f, bool signal)
{
    if (!f->job->slurm.job[0])
        return false;
    if (f->leaving) {
        if (was_refused(f))
            ask(f);
        return true;
    }
    const char *why = reason(f, signal);
    if (!why)
        return false;
    f->leaving = true;
    if (!f->job->quiet)
        fprintf(stderr, "mend: %s: making a checkpoint, then stopping the job\n", why);
    mend_event("run.leave", ev_str("why", why));
    ask(f);
    return true;
}
