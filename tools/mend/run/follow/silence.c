/* Ranks that are alive but do not answer: we name them, and with --hang-timeout kill them, so that the job repairs itself.
 *
 * The coordinator of the job names them (src/capsule/lower/round/silence.c); it runs with rank 0 and shows that it is
 * alive by touching DIR/pulse. During a recovery there is no coordinator: then we look for stopped processes on this
 * machine. We cannot kill a rank on another machine, so we end the job, which its launcher can, and launch it again from
 * its newest version. */
#include "follow.h"
#include "tool.h"

#include <base/event.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* seconds for which a network file system may show an old time of a file */
static const double attributes_cached = 60;

static void pulse_path(const struct run_follower *f, char *path, size_t size)
{
    snprintf(path, size, "%s/pulse", f->job->dir);
}

void silence_attempt(struct run_follower *f)
{
    char path[4400];
    struct run_silence *s = &f->silence;
    if (!s->player)
        s->player = tool_need(calloc((size_t)f->job->ranks, sizeof *s->player));
    memset(s->player, 0, (size_t)f->job->ranks * sizeof *s->player);
    s->pulse_at = 0;
    s->told = s->told_stopped = s->must_end = false;
    pulse_path(f, path, sizeof path);
    unlink(path); /* of the launch before */
}

void silence_end(struct run_follower *f)
{
    free(f->silence.player);
}

void silence_playing(struct run_follower *f, int rank, pid_t pid)
{
    if (f->silence.player && rank >= 0 && rank < f->job->ranks)
        f->silence.player[rank] = pid;
}

static bool is_near(const struct run_follower *f)
{
    return !f->job->host && !f->job->hostfile && !f->now.elsewhere;
}

/* Its ID may belong to another process by now. */
static bool is_ours(pid_t pid)
{
    char path[64], program[4096];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t n = pid > 0 ? readlink(path, program, sizeof program - 1) : 0;
    program[n > 0 ? n : 0] = 0;
    const char *name = strrchr(program, '/');
    return name && strncmp(name, "/capsule.", 9) == 0;
}

void silence_heard(struct run_follower *f, int rank, double seconds, const char *how)
{
    struct run_silence *s = &f->silence;
    char who[64];
    if (!s->player || rank < 0 || rank >= f->job->ranks)
        return;
    pid_t pid = is_near(f) && is_ours(s->player[rank]) ? s->player[rank] : 0;
    snprintf(who, sizeof who, pid ? "rank %d (process %d)" : "rank %d", rank, (int)pid);
    fprintf(stderr, "%smend: WARNING: %s %s for %.3g s; %s\n", f->line_shown ? "\n" : "", who, how,
            seconds,
            f->job->hang_timeout <= 0 ? "mend run --hang-timeout T would replace it"
            : pid                     ? "killed and replaced (--hang-timeout)"
                                      : "the job is relaunched (--hang-timeout)");
    mend_event("run.silent", ev_int("who", rank), ev_real("seconds", seconds),
               ev_int("killed", f->job->hang_timeout > 0 ? pid : 0));
    if (f->job->hang_timeout > 0 && pid)
        kill(pid, SIGKILL);
    s->must_end |= f->job->hang_timeout > 0 && !pid;
}

void silence_answers(struct run_follower *f, int rank)
{
    fprintf(stderr, "%smend: rank %d answers again\n", f->line_shown ? "\n" : "", rank);
}

static bool is_stopped(pid_t pid)
{
    char state = follow_state(pid);
    return state == 'T' || state == 't';
}

/* In a recovery: the others wait for it. */
static void look_for_stopped(struct run_follower *f, double now)
{
    double since = f->now.repair_since;
    if (f->silence.told_stopped || !is_near(f) || now - since < f->silence.limit)
        return;
    for (int r = 0; r < f->job->ranks; r++)
        if (f->silence.player[r] && is_stopped(f->silence.player[r])) {
            f->silence.told_stopped = true;
            silence_heard(f, r, now - since, "is stopped, and has delayed a recovery");
        }
}

static void look_at_pulse(struct run_follower *f, double now)
{
    struct run_silence *s = &f->silence;
    struct stat st;
    char path[4400];
    pulse_path(f, path, sizeof path);
    if (stat(path, &st)) {
        s->pulse_at = 0;
        return;
    }
    bool beats = s->pulse_at <= 0 || st.st_mtim.tv_sec != s->pulse.tv_sec ||
                 st.st_mtim.tv_nsec != s->pulse.tv_nsec;
    if (beats) {
        if (s->told)
            silence_answers(f, 0);
        s->pulse = st.st_mtim;
        s->pulse_at = now;
        s->told = false;
    } else if (!s->told && now - s->pulse_at > s->limit + (is_near(f) ? 0 : attributes_cached)) {
        s->told = true;
        silence_heard(f, 0, now - s->pulse_at, "has answered nobody");
    }
}

bool silence_look(struct run_follower *f)
{
    struct run_silence *s = &f->silence;
    double now = mend_now();
    if (s->limit <= 0 || now - s->looked_at < 0.2)
        return s->must_end;
    if (s->looked_at > 0 && now - s->looked_at > 1 && s->pulse_at > 0)
        s->pulse_at += now - s->looked_at; /* we were stopped ourselves */
    s->looked_at = now;
    if (f->now.repair_since > 0) {
        s->pulse_at = 0;
        s->told = false;
        look_for_stopped(f, now);
    } else {
        s->told_stopped = false;
        look_at_pulse(f, now);
    }
    return s->must_end;
}
