/* The launches of a job, until it has ended or may not be launched again. */
#include "outcome.h"
#include "run.h"
#include "start/start.h"
#include "tool.h"

#include <base/config.h>
#include <base/event.h>
#include <mend/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>

/* Launches in which a process died inside MPI_Init: by whatever killed it, or one after the other by an exit with the
 * same code, which is no accident. */
enum { STILLBORN_LIMIT = 20, SAME_LIMIT = 4 };

struct tries {
    int stillborn, same;
    int code;       /* of the exit inside MPI_Init that was last; 0: there was none */
    int relaunched; /* because of windows, which only a relaunch repairs: at most once per spare */
    int failures;   /* consecutive, without a newer version on disk */
    mend_version_t failed_at; /* the newest version on disk when it was torn down last */
};

static bool may_launch(const struct run_follower *f, enum outcome last, const struct tries *t)
{
    if (f->leaving)
        return false;
    return (last == TORN_DOWN && t->failures <= f->job->retries) ||
           (last == STILLBORN && t->stillborn <= STILLBORN_LIMIT && t->same <= SAME_LIMIT);
}

static void announce(const struct run_follower *f, int launches)
{
    const struct run_job *job = f->job;
    if (launches > 0 && !job->quiet)
        fprintf(stderr, "\nmend: the job was torn down; relaunching it from %s\n",
                run_can_resume(f) ? "the newest version" : "its beginning");
    mend_event("run.launch", ev_int("launch", launches), ev_int("ranks", job->ranks),
               ev_int("spares", job->online ? job->spares : 0), ev_str("mpi", job->mpi));
}

/* The next launch resumes from the newest version, even if this one was to begin elsewhere. */
static void forget_wishes(const struct run_follower *f)
{
    if (f->now.resumed)
        f->job->from = -1;
    if (f->now.resumed || f->now.playing)
        f->job->from_start = false;
}

static void count_stillborn(const struct run_follower *f, struct tries *t)
{
    int code = f->now.fell_code;
    t->stillborn++;
    t->same = code == 0 ? 0 : code == t->code ? t->same + 1 : 1;
    t->code = code;
}

static void count(struct run_follower *f, enum outcome outcome, struct tries *t)
{
    if (outcome == STILLBORN)
        count_stillborn(f, t);
    else
        t->same = t->code = 0;
    if (outcome != TORN_DOWN)
        return;
    follow_torn_down(f);
    if (f->on_disk > t->failed_at) {
        t->failures = 0; /* the job makes progress: only failures without progress count */
        t->failed_at = f->on_disk;
    }
    /* a failure that a spare could have repaired does not count as a retry */
    if (f->now.windows && t->relaunched < f->job->spares)
        t->relaunched++;
    else
        t->failures++;
}

static void free_command(char **command)
{
    for (char **w = command; *w; w++)
        free(*w);
    free(command);
}

/* What tool_need() ends when no memory is left. */
static struct {
    struct run_job *job; /* NULL: none is under way */
    pid_t launcher;      /* 0: none runs */
} under_way;

void run_launched(pid_t launcher)
{
    under_way.launcher = launcher;
}

/* This process exits before its job has ended: nobody would watch it, so it must not go on. Needs no memory. */
static void end_before_us(void)
{
    struct run_job *job = under_way.job;
    if (!job)
        return;
    under_way.job = NULL;
    fprintf(stderr, "mend run: the job is ended; mend restart %s resumes it\n", job->dir);
    if (under_way.launcher > 0)
        run_end(job, under_way.launcher);
    run_clear();
    run_tidy(job);
    run_release(job);
    run_job_write(job, "torn down"); /* (else it stays "running", as if we had been killed) */
    run_errors_end();
}

static void watch_end(struct run_job *job)
{
    under_way.job = job;
    atexit(end_before_us);
}

/* Nothing was started, by a want of memory or of processes that may pass in a moment. */
static void wait_a_moment(const struct run_follower *f, double began)
{
    while (f->now.started == 0 && mend_now() - began < 1 && !run_stop_signal())
        nanosleep(&(struct timespec){0, 20000000}, NULL);
}

int run_launches(struct run_job *job, bool json)
{
    struct run_follower f;
    struct run_end end = {.outcome = TORN_DOWN, .code = 1, .began = mend_now()};
    struct tries tries = {.failed_at = -1};
    run_catch_signals();
    run_errors_begin();
    run_adopt();
    watch_end(job);
    follow_begin(&f, job);
    f.silence.limit =
        job->hang_timeout > 0 ? job->hang_timeout : mend_setting_seconds(MEND_KEY_CAPSULE_SILENCE);
    while (may_launch(&f, end.outcome, &tries)) {
        char **command;
        if (!run_command(job, end.launches > 0 || job->resume, &command)) {
            run_tidy(job);
            tool_failed("run", "%s", mend_error_text());
            under_way.job = NULL;
            run_errors_end();
            return TOOL_FAILED;
        }
        double began = mend_now();
        announce(&f, end.launches++);
        end.outcome = run_launch(&f, command, &end.code);
        forget_wishes(&f);
        if (end.outcome != DONE || run_is_ours(job)) /* (our daemons have ended all that is left) */
            run_clear();
        run_tidy(job);
        count(&f, end.outcome, &tries);
        if (may_launch(&f, end.outcome, &tries))
            wait_a_moment(&f, began);
        free_command(command);
    }
    end.stop_signal = run_stop_signal();
    int code = run_outcome(&f, &end, json);
    under_way.job = NULL;
    run_errors_end();
    return code;
}
