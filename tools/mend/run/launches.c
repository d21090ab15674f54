/* The launches of a job, until it has ended or may not be launched again. */
#include "follow/follow.h"
#include "run.h"
#include "start/start.h"
#include "tool.h"

#include <base/config.h>
#include <base/event.h>
#include <mend/error.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stop_signal;
static volatile sig_atomic_t passed_on; /* a signal for the ranks */
static volatile sig_atomic_t hung_up;   /* SIGHUP came */
static bool had_terminal;
static void on_signal(int signal)
{
    if (signal == SIGUSR1 || signal == SIGUSR2)
        passed_on = signal;
    else if (signal == SIGHUP)
        hung_up = 1;
    else
        stop_signal = signal;
}

static void catch_signals(void)
{
    had_terminal = run_has_terminal();
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
        struct sigaction action = {.sa_handler = on_signal}, old;
        sigaction(caught[i], &action, &old);
        if (old.sa_handler == SIG_IGN && caught[i] == SIGHUP) /* nohup */
            sigaction(caught[i], &old, NULL);
    }
}

enum outcome {
    DONE,
    FAILED_BY_PROGRAM,
    TORN_DOWN,
    STILLBORN,
    STOPPED, /* by a signal to this command */
    LEFT,    /* after a checkpoint, as it was asked to */
    REFUSED,
    CRASHED_AGAIN, /* at the same place: the program's own error */
    OUTPUT_LOST,   /* the program has ended, but what it printed last could not be written */
    FOLDER_LOST
};
enum { STILLBORN_LIMIT = 20 }; /* launches in which a process died inside MPI_Init */

/* Others are processes that lost their parents (see run_adopt). */
static bool has_ended(pid_t launcher, int *status)
{
    int code;
    for (pid_t pid; (pid = waitpid(-1, &code, WNOHANG)) > 0;)
        if (pid == launcher) {
            *status = code;
            return true;
        }
    return false;
}

/* The list of machines may have changed, or the terminal may be gone. */
static void look_at_hosts(const struct run_job *job, pid_t launcher, long long *added)
{
    bool changed = hung_up;
    if (hung_up && run_is_hung_up(job, had_terminal))
        stop_signal = SIGHUP;
    hung_up = 0;
    long long size = run_is_ours(job) ? run_added_size(job) : *added;
    if ((changed || size != *added) && !stop_signal)
        kill(launcher, SIGHUP);
    *added = size;
}

/* One launch. Ends when every rank has finished, the launcher is gone, or a signal came. */
static enum outcome one_launch(struct run_follower *f, char **command, int *code)
{
    struct run_job *job = f->job;
    follow_attempt(f);
    int report = -1;
    long long added = run_added_size(job);
    pid_t launcher = run_start(command, job->raw, &report);
    double exited_at = 0, shown = 0;
    int status = 0;
    bool gone = false, stillborn = false, lost = false;
    while (!gone) {
        nanosleep(&(struct timespec){0, 20000000}, NULL);
        gone = has_ended(launcher, &status);
        follow_reports(job, f, report);
        double now = mend_now();
        if (gone || job->ranks <= 1024 || now - shown > 0.25 ||
            f->now.started < job->ranks + job->spares)
            follow_ends(f); /* a crash comes before what is said of its recovery */
        follow(f);
        if (!gone && slurm_leave(f, stop_signal == SIGTERM) && stop_signal == SIGTERM)
            stop_signal = 0; /* it leaves; another signal ends it at once */
        if (!gone)
            look_at_hosts(job, launcher, &added);
        if (passed_on && !gone) {
            kill(launcher, passed_on);
            passed_on = 0;
        }
        follow_metrics(f, false);
        if (now - shown > 0.25) {
            follow_status(f);
            shown = now;
        }
        if (f->now.exited + f->now.left >= job->ranks && exited_at == 0)
            exited_at = now;
        /* a lost daemon keeps the launcher waiting for ever; and a program that has ended by itself
         * without MPI_Finalize leaves others that would wait for it */
        bool lingers = exited_at > 0 && now - exited_at > 30;
        stillborn = !gone && job->online && follow_stillborn(f);
        lost = follow_lost(f);
        follow_replaced(f);
        bool stuck = !gone && follow_stuck(f), deserted = !gone && follow_deserted(f);
        bool silent = !gone && silence_look(f);
        if (stuck)
            fprintf(stderr, "\nmend: a recovery did not end within %g s (--patience)\n",
                    job->patience);
        if (!gone && (stop_signal || lingers || stillborn || stuck || lost || deserted || silent ||
                      f->now.ended_by_program || f->now.refused || f->now.output_lost_rank >= 0 ||
                      f->crash.again)) {
            run_end(launcher);
            gone = true;
            status = 0;
        }
    }
    follow_reports(job, f, report);
    close(report);
    follow(f);
    follow_ends(f);
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (stop_signal)
        return STOPPED;
    if (lost)
        return FOLDER_LOST;
    if (f->now.refused)
        return REFUSED;
    if (stillborn)
        return STILLBORN;
    if (f->now.ended_by_program) {
        *code = f->now.program_code;
        return FAILED_BY_PROGRAM;
    }
    if (f->now.output_lost_rank >= 0)
        return OUTPUT_LOST;
    if (f->crash.again) {
        *code = 128 + f->crash.signal;
        return CRASHED_AGAIN;
    }
    if (f->now.left >= job->ranks)
        return LEFT;
    if (f->now.exited < job->ranks)
        return TORN_DOWN;
    *code = 0; /* of every rank; the launcher may see a spare's death in it */
    return DONE;
}

int run_launches(struct run_job *job, bool json)
{
    struct run_follower f;
    double began = mend_now();
    int code = 1, launches = 0, stillborn = 0, relaunched = 0, failures = 0;
    mend_version_t failed_at = -1; /* the newest version on disk when it was torn down last */
    enum outcome outcome = TORN_DOWN;
    catch_signals();
    run_adopt();
    follow_begin(&f, job);
    f.silence.limit =
        job->hang_timeout > 0 ? job->hang_timeout : mend_setting_seconds(MEND_KEY_CAPSULE_SILENCE);
    while (!f.leaving && ((outcome == TORN_DOWN && failures <= job->retries) ||
                          (outcome == STILLBORN && stillborn <= STILLBORN_LIMIT))) {
        char **command;
        if (!run_command(job, launches > 0 || job->resume, &command)) {
            run_tidy();
            return tool_failed("run", "%s", mend_error_text());
        }
        if (launches > 0 && !job->quiet)
            fprintf(stderr,
                    "\nmend: the job was torn down; relaunching it from the newest version\n");
        mend_event("run.launch", ev_int("launch", launches), ev_int("ranks", job->ranks),
                   ev_int("spares", job->online ? job->spares : 0), ev_str("mpi", job->mpi));
        launches++;
        outcome = one_launch(&f, command, &code);
        if (f.now.resumed)
            job->from = -1; /* from the newest, from now on */
        if (f.now.resumed || f.now.playing)
            job->from_start = false; /* done */
        if (outcome != DONE)
            run_clear();
        run_tidy();
        if (outcome == TORN_DOWN)
            follow_torn_down(&f);
        stillborn += outcome == STILLBORN;
        if (outcome == TORN_DOWN && f.on_disk > failed_at) {
            failures = 0; /* the job gets on: only failures without progress count */
            failed_at = f.on_disk;
        }
        /* a failure that a spare would have mended is not one of the retries */
        if (outcome == TORN_DOWN && f.now.windows && relaunched < job->spares)
            relaunched++;
        else
            failures += outcome == TORN_DOWN;
        for (char **w = command; *w; w++)
            free(*w);
        free(command);
    }
    if (outcome != STOPPED && outcome != LEFT && (outcome != DONE || !job->online))
        follow_last_words(&f);
    follow_end(&f);
    run_noise_end();
    if (outcome == FOLDER_LOST)
        return tool_failed("run",
                           "%s was removed while the job ran; the job was ended, because its "
                           "output, its checkpoints and its file logs are gone",
                           job->dir);
    if (outcome == FAILED_BY_PROGRAM && !job->quiet)
        fprintf(stderr, "mend: the program ended the job: rank %d by %s with code %d%s\n",
                f.now.ended_rank, f.now.ended_how, code, code ? "" : ", without MPI_Finalize");
    if (outcome == STOPPED && !job->quiet)
        fprintf(
            stderr,
            "mend: stopped by signal %d; mend restart %s resumes from the newest version there\n",
            (int)stop_signal, job->dir);
    if (outcome == LEFT) {
        char path[4400];
        snprintf(path, sizeof path, "%s/request.taken", job->dir);
        unlink(path); /* it was served */
        snprintf(path, sizeof path, "%s/answer.slurm", job->dir);
        unlink(path);
    }
    if (outcome == LEFT && !job->quiet)
        fprintf(
            stderr,
            "mend: stopped after a checkpoint, as requested; mend restart %s resumes from there\n",
            job->dir);
    if (outcome == CRASHED_AGAIN)
        f.now.recoveries = f.crash.survived;
    if (outcome == STILLBORN)
        outcome = TORN_DOWN;
    if (outcome == TORN_DOWN && code == 0)
        code = TOOL_FAILED;
    if (outcome == LEFT)
        code = TOOL_STOPPED;
    run_release(job);
    mend_event("run.end", ev_int("code", code), ev_real("seconds", mend_now() - began));
    int written =
        run_job_write(job, outcome == DONE                                            ? "done"
                           : outcome == FAILED_BY_PROGRAM || outcome == CRASHED_AGAIN ? "failed"
                           : outcome == STOPPED || outcome == LEFT                    ? "stopped"
                                                                   : "torn down");
    if (written)
        tool_failed("run", "cannot record the end of the job: %s", mend_error_text());
    follow_metrics(&f, true);
    run_summary(&f, launches, mend_now() - began, code, json);
    if (outcome == CRASHED_AGAIN)
        return tool_failed("run",
                           "the program crashes: rank %d by %s at %#llx, %d times at the same "
                           "place%s; %s holds its versions",
                           f.crash.rank, crash_name(f.crash.signal), f.crash.at, f.crash.times,
                           f.crash.times == 2 ? " without a new version in between" : "", job->dir);
    if (outcome == OUTPUT_LOST)
        return tool_failed("run",
                           "the program has ended, but the last output of rank %d could not be "
                           "written to %s/output: %s; free some space there, then mend restart "
                           "resumes from the newest version",
                           f.now.output_lost_rank, job->dir, strerror(f.now.output_lost_why));
    if (f.unprinted && outcome == DONE && code == 0)
        return tool_failed("run",
                           "the program ended well, but its output could not be written to "
                           "standard output; all of it is in %s/output",
                           job->dir);
    if (outcome == TORN_DOWN)
        return tool_failed("run", "the job was torn down %d times; its newest version is in %s",
                           launches, job->dir);
    return outcome == LEFT ? TOOL_STOPPED : outcome == DONE && code == 0 ? TOOL_OK : TOOL_FAILED;
}
