/* The end of a job: the records, the messages, the exit code. */
#include "outcome.h"
#include "start/start.h"
#include "tool.h"

#include <base/event.h>
#include <mend/error.h>

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* The job served the request for a checkpoint. */
static void remove_request(const struct run_job *job)
{
    static const char *const name[] = {"request.taken", "answer.slurm"};
    char path[4400];
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        snprintf(path, sizeof path, "%s/%s", job->dir, name[i]);
        unlink(path);
    }
}

bool run_can_resume(const struct run_follower *f)
{
    const struct run_job *job = f->job;
    bool on_nodes = (job->local_every || job->erasure_every) && (f->now.version > 0 || job->resume);
    return f->on_disk > 0 || on_nodes || run_has_version(job);
}

/* Report the ends that are not errors of ours; verdict() reports the others after the summary. */
static void say(const struct run_follower *f, const struct run_end *end)
{
    const struct run_job *job = f->job;
    if (end->outcome ==
        FAILED_BY_PROGRAM) /* why the exit code is what it is: even if it is quiet */
        fprintf(stderr, "mend: the program ended the job: rank %d by %s with code %d%s\n",
                f->now.ended_rank, f->now.ended_how, end->code,
                end->code ? "" : ", without MPI_Finalize");
    if (job->quiet)
        return;
    if (end->outcome == STOPPED)
        fprintf(
            stderr,
            run_can_resume(f)
                ? "mend: stopped by signal %d; mend restart %s resumes from the newest version "
                  "there\n"
                : "mend: stopped by signal %d before a version was on disk; mend restart %s starts "
                  "the program from the beginning\n",
            end->stop_signal, job->dir);
    if (end->outcome == LEFT)
        fprintf(
            stderr,
            "mend: stopped after a checkpoint, as requested; mend restart %s resumes from there\n",
            job->dir);
}

static const char *state_of(enum outcome outcome)
{
    switch (outcome) {
    case DONE: return "done";
    case FAILED_BY_PROGRAM:
    case CRASHED_AGAIN: return "failed";
    case STOPPED:
    case LEFT: return "stopped";
    default: return "torn down";
    }
}

static int code_of(const struct run_end *end)
{
    if (end->outcome == LEFT)
        return TOOL_STOPPED;
    return end->outcome != DONE && end->code == 0 ? TOOL_FAILED : end->code;
}

static void record(const struct run_job *job, const struct run_end *end, int code)
{
    run_release(job);
    mend_event("run.end", ev_int("code", code), ev_real("seconds", mend_now() - end->began));
    if (run_job_write(job, state_of(end->outcome)))
        tool_failed("run", "cannot record the end of the job: %s", mend_error_text());
}

/* Appends what this limit means for an MPI library, if there is one. */
static void add_limit(char *text, size_t room, int which, const char *format)
{
    struct rlimit limit;
    size_t used = strlen(text);
    if (getrlimit(which, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        snprintf(text + used, room - used, format, (unsigned long long)limit.rlim_cur);
}

/* The same for a machine's shared memory. Open MPI takes some 16 MiB of it a process. */
static void add_shared_memory(char *text, size_t room, int processes)
{
    enum { MIB = 1 << 20, EACH = 16 };
    struct statvfs s;
    size_t used = strlen(text);
    double has = statvfs("/dev/shm", &s) ? -1 : (double)s.f_blocks * (double)s.f_frsize / MIB;
    if (has >= 0 && has < EACH * (double)processes)
        snprintf(text + used, room - used,
                 "; /dev/shm has %.0f MiB for %d processes, of which each may take %d MiB", has,
                 processes, EACH);
}

/* A process died inside MPI_Init, again and again. What it said is on the terminal. */
static int never_began(const struct run_follower *f, const struct run_end *end)
{
    const struct run_progress *p = &f->now;
    char how[80] = "", limits[480] = "";
    if (p->fell_code)
        snprintf(how, sizeof how, ": process %d exited with code %d", p->fell_rank, p->fell_code);
    add_limit(limits, sizeof limits, RLIMIT_FSIZE,
              "; a file here may have at most %llu bytes (ulimit -f), and the MPI library makes "
              "large ones");
    add_limit(limits, sizeof limits, RLIMIT_AS,
              "; a process here may have at most %llu bytes of addresses (ulimit -v), and the MPI "
              "library takes many");
    add_shared_memory(limits, sizeof limits, f->job->ranks + f->job->spares);
    return tool_failed("run", "none of %d launches got through MPI_Init%s%s", end->launches, how,
                       limits);
}

/* The exit code, with a message for an error. */
static int verdict(const struct run_follower *f, const struct run_end *end, int code)
{
    const char *dir = f->job->dir;
    switch (end->outcome) {
    case DONE:
        if (f->unprinted && code == 0)
            return tool_failed("run",
                               "the program ended well, but its output could not be written to "
                               "standard output; all of it is in %s/output",
                               dir);
        return code == 0 ? TOOL_OK : TOOL_FAILED;
    case LEFT: return TOOL_STOPPED;
    case CRASHED_AGAIN:
        return tool_failed("run",
                           "the program crashes: rank %d by %s at %#llx, %d times at the same "
                           "place%s; %s holds its versions",
                           f->crash.rank, crash_name(f->crash.signal), f->crash.at, f->crash.times,
                           f->crash.times == 2 ? " without a new version in between" : "", dir);
    case OUTPUT_LOST:
        return tool_failed("run",
                           "the program has ended, but the last output of rank %d could not be "
                           "written to %s/output: %s; free some space there, then mend restart %s",
                           f->now.output_lost_rank, dir, strerror(f->now.output_lost_why),
                           run_can_resume(f) ? "resumes from the newest version"
                                             : "starts the program from the beginning");
    case STILLBORN: return never_began(f, end);
    case TORN_DOWN:
        return tool_failed("run", "the job was torn down %d times; %s %s", end->launches,
                           run_can_resume(f)
                               ? "its newest version is in"
                               : "it has no version on disk; its output and events are in",
                           dir);
    default: return TOOL_FAILED;
    }
}

int run_outcome(struct run_follower *f, const struct run_end *end, bool json)
{
    struct run_job *job = f->job;
    enum outcome outcome = end->outcome;
    if (outcome != STOPPED && outcome != LEFT && (outcome != DONE || !job->online))
        follow_last_words(f);
    follow_end(f);
    run_noise_end();
    if (outcome == FOLDER_LOST)
        return tool_failed("run",
                           "%s was removed while the job ran; the job was ended, because its "
                           "output, its checkpoints and its file logs are gone",
                           job->dir);
    say(f, end);
    if (outcome == LEFT)
        remove_request(job);
    if (outcome == CRASHED_AGAIN)
        f->now.recoveries = f->crash.survived;
    int code = code_of(end);
    record(job, end, code);
    follow_metrics(f, true);
    run_summary(f, end->launches, mend_now() - end->began, code, json);
    return verdict(f, end, code);
}
