/* One launch of a job, from its start to its end. */
#include "outcome.h"
#include "start/start.h"
#include "tool.h"

#include <base/event.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What the handler of signals leaves for the loop of the launch. */
static struct {
    volatile sig_atomic_t stop;      /* ends the job */
    volatile sig_atomic_t passed_on; /* is for the ranks */
    volatile sig_atomic_t hung_up;   /* SIGHUP came */
    bool had_terminal;
} signals;

static void on_signal(int signal)
{
    if (signal == SIGUSR1 || signal == SIGUSR2)
        signals.passed_on = signal;
    else if (signal == SIGHUP)
        signals.hung_up = 1;
    else
        signals.stop = signal;
}

void run_catch_signals(void)
{
    signals.had_terminal = run_has_terminal();
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
        struct sigaction action = {.sa_handler = on_signal}, old;
        sigaction(caught[i], &action, &old);
        if (old.sa_handler == SIG_IGN && caught[i] == SIGHUP) /* nohup */
            sigaction(caught[i], &old, NULL);
    }
}

int run_stop_signal(void)
{
    return signals.stop;
}

struct launch {
    struct run_follower *f;
    pid_t launcher;
    int report;              /* our own launcher's reports */
    long long added;         /* the size of the list of added machines */
    double exited_at, shown; /* when the last rank ended, and the last status line was written */
    int status;              /* of the launcher */
    bool gone, killed;       /* the launcher is; by a signal */
    bool stillborn, lost;    /* a process died inside MPI_Init; DIR was removed */
};

/* Others are orphans that we adopted (see run_adopt). */
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
static void look_at_hosts(struct launch *l)
{
    const struct run_job *job = l->f->job;
    bool changed = signals.hung_up;
    if (signals.hung_up && run_is_hung_up(job, signals.had_terminal))
        signals.stop = SIGHUP;
    signals.hung_up = 0;
    long long size = run_is_ours(job) ? run_added_size(job) : l->added;
    if ((changed || size != l->added) && !signals.stop)
        kill(l->launcher, SIGHUP);
    l->added = size;
}

static void pass_signals_on(struct launch *l)
{
    if (slurm_leave(l->f, signals.stop == SIGTERM) && signals.stop == SIGTERM)
        signals.stop = 0; /* it leaves; another signal ends it at once */
    look_at_hosts(l);
    if (signals.passed_on) {
        kill(l->launcher, signals.passed_on);
        signals.passed_on = 0;
    }
}

/* Read and print what is new. */
static void listen(struct launch *l, double now)
{
    struct run_follower *f = l->f;
    const struct run_job *job = f->job;
    follow_reports(f->job, f, l->report);
    if (l->gone || job->ranks <= 1024 || now - l->shown > 0.25 ||
        f->now.started < job->ranks + job->spares)
        follow_ends(f); /* report a crash before its recovery */
    follow(f);
}

static void show(struct launch *l, double now)
{
    follow_metrics(l->f, false);
    if (now - l->shown > 0.25) {
        follow_status(l->f);
        l->shown = now;
    }
}

/* The launcher waits for ever for a lost daemon, and a program that ends without MPI_Finalize leaves other ranks waiting
 * for it. */
static bool lingers(struct launch *l, double now)
{
    const struct run_progress *p = &l->f->now;
    if (p->printing)
        l->exited_at = 0;
    else if (p->exited + p->left >= l->f->job->ranks && l->exited_at == 0)
        l->exited_at = now;
    return l->exited_at > 0 && now - l->exited_at > 30;
}

/* Is there a reason to end this launch? */
static bool must_end(struct launch *l, double now)
{
    struct run_follower *f = l->f;
    bool late = lingers(l, now);
    l->stillborn = f->job->online && (l->gone ? follow_fell(f) : follow_stillborn(f));
    l->lost = follow_lost(f);
    follow_replaced(f);
    if (l->gone)
        return false;
    bool stuck = follow_stuck(f), deserted = follow_deserted(f), silent = silence_look(f);
    if (stuck)
        fprintf(stderr, "\nmend: a recovery did not end within %g s (--patience)\n",
                f->job->patience);
    return signals.stop || late || l->stillborn || stuck || l->lost || deserted || silent ||
           f->now.ended_by_program || f->now.refused || f->now.output_lost_rank >= 0 ||
           f->crash.again;
}

static enum outcome outcome_of(const struct launch *l, int *code)
{
    const struct run_follower *f = l->f;
    *code = WIFEXITED(l->status) ? WEXITSTATUS(l->status) : 128 + WTERMSIG(l->status);
    if (signals.stop)
        return STOPPED;
    if (l->lost)
        return FOLDER_LOST;
    if (f->now.refused)
        return REFUSED;
    if (l->stillborn)
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
    if (f->now.left >= f->job->ranks)
        return LEFT;
    if (f->now.exited < f->job->ranks)
        return TORN_DOWN;
    *code = 0; /* every rank ended well; the launcher's code may only mean a spare's death */
    return DONE;
}

/* The head was killed. Daemons that can be reached know at once; one that is silent runs its ranks until its lease is
 * over, and they may still write files. Nobody may launch the job again before that. */
static void let_leases_end(const struct run_job *job)
{
    static const double a_moment = 0.2; /* as the head waits (src/launcher/head/head.c) */
    if (!run_is_ours(job) || !(job->host || job->hostfile))
        return;
    double limit = mend_now() + run_silence_allowed(job) + a_moment;
    while (mend_now() < limit && !signals.stop)
        nanosleep(&(struct timespec){0, 20000000}, NULL);
}

/* No process or no descriptor is left for us. There may be one a moment later: that is a try like others. */
static enum outcome not_started(const struct launch *l, int *code)
{
    *code = tool_failed("run", "cannot start the launcher: %s", strerror(errno));
    if (l->report >= 0)
        close(l->report);
    for (int i = 0; i < 50 && !signals.stop; i++)
        nanosleep(&(struct timespec){0, 20000000}, NULL);
    return signals.stop ? STOPPED : TORN_DOWN;
}

enum outcome run_launch(struct run_follower *f, char **command, int *code)
{
    struct launch l = {.f = f, .report = -1};
    follow_attempt(f);
    l.added = run_added_size(f->job);
    l.launcher = run_start(f->job, command, &l.report);
    if (l.launcher < 0) /* and not a process to send signals to: -1 means all of the user's */
        return not_started(&l, code);
    run_launched(l.launcher);
    while (!l.gone) {
        nanosleep(&(struct timespec){0, 20000000}, NULL);
        l.gone = has_ended(l.launcher, &l.status);
        double now = mend_now();
        listen(&l, now);
        if (!l.gone)
            pass_signals_on(&l);
        show(&l, now);
        if (must_end(&l, now)) {
            run_launched(0);
            l.killed = !run_end(f->job, l.launcher);
            l.gone = true;
            l.status = 0;
        }
    }
    run_launched(0);
    follow_reports(f->job, f, l.report);
    close(l.report);
    follow(f);
    follow_ends(f);
    if (l.killed || WIFSIGNALED(l.status))
        let_leases_end(f->job);
    return outcome_of(&l, code);
}
