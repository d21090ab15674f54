/* What the job reports in DIR/events.jsonl. */
#include "follow.h"
#include "tool.h"

#include <base/event.h>

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *text_of(json_t *e, const char *key)
{
    const char *s = json_string_value(json_object_get(e, key));
    return s ? s : "";
}

static double number_of(json_t *e, const char *key)
{
    return json_number_value(json_object_get(e, key));
}

/* In a job that repairs itself, each rank writes when it can; else one event stands for all ranks. */
static void note_on_disk(struct run_follower *f, json_t *e, mend_version_t version)
{
    int rank = (int)number_of(e, "rank"), ranks = f->job->ranks;
    bool all = json_object_get(e, "ranks");
    if (!all && (rank < 0 || rank >= ranks))
        return;
    for (int r = all ? 0 : rank; r < (all ? ranks : rank + 1); r++)
        f->written[r] = version;
    f->on_disk = f->written[0];
    for (int r = 1; r < ranks; r++)
        if (f->written[r] < f->on_disk)
            f->on_disk = f->written[r];
}

static void note_saved(struct run_follower *f, json_t *e, double t)
{
    struct run_progress *p = &f->now;
    mend_version_t version = (mend_version_t)number_of(e, "version");
    double seconds = number_of(e, "seconds");
    const char *level = text_of(e, "level");
    if (strcmp(level, "global") == 0 || strcmp(level, "") == 0)
        note_on_disk(f, e, version);
    if (strcmp(level, "memory") != 0 && strcmp(level, "") != 0) {
        interval_saved(f, level, version, t - seconds, t);
        return;
    }
    if (version == p->version && t - p->version_at < 1)
        return; /* another rank reported the same one */
    p->repair_since =
        0; /* all ranks took part: the failure was repaired, or belongs to an earlier launch */
    p->version = version;
    p->version_at = t;
    losses_saved(&p->lost, version, t);
    p->checkpoint_seconds = seconds;
    interval_saved(f, level, version, t - seconds, t);
}

static void note_resumed(struct run_follower *f, json_t *e, double t)
{
    struct run_progress *p = &f->now;
    double seconds = number_of(e, "seconds");
    if (strcmp(text_of(e, "how"), "refilled") == 0) { /* a new process joined: nothing had failed */
        p->repair_since = 0;
        return;
    }
    if (strcmp(text_of(e, "how"), "waiting") == 0)
        return;
    if (seconds > p->longest_recovery) /* of the slowest rank: only then all work again */
        p->longest_recovery = seconds;
    if (t - p->last_recovery < seconds)
        return; /* the other ranks of the same recovery */
    p->last_recovery = t;
    p->repair_since = 0;
    p->recoveries++;
    losses_rollback(&p->lost, (mend_version_t)number_of(e, "version"), t - seconds);
    p->restarts += strcmp(text_of(e, "how"), "restarted") == 0;
    interval_failed(f, false, t - seconds, t);
}

/* Report a failing level at once, then only count: the job is less safe than requested. */
static void note_failed(struct run_follower *f, json_t *e)
{
    const char *level = text_of(e, "level"), *why = text_of(e, "why");
    if (!why[0])
        why = text_of(e, "error");
    if (losses_level(&f->now.lost, level[0] ? level : "global"))
        fprintf(stderr,
                "mend: WARNING: version %ld was not written at the level %s: %s (the summary "
                "counts further failures of this level)\n",
                (long)number_of(e, "version"), level[0] ? level : "global", why);
}

static void note_noticed(struct run_progress *p, json_t *e, double t)
{
    p->failures += strcmp(text_of(e, "how"), "failure") == 0;
    p->last_failure = t;
    if (p->repair_since == 0)
        p->repair_since = mend_now();
}

static void note_born(struct run_progress *p, pid_t pid, const char *host)
{
    char here[256] = "";
    gethostname(here, sizeof here - 1);
    p->elsewhere |= strcmp(host, here) != 0;
    p->born = tool_need(realloc(p->born, (size_t)(p->born_count + 1) * sizeof *p->born));
    p->past = tool_need(realloc(p->past, (size_t)(p->born_count + 1) * sizeof *p->past));
    p->past[p->born_count] = false;
    p->born[p->born_count++] = pid;
    p->last_born = mend_now();
}

/* The job relaunches; it does not repair itself in place. */
static void note_restart(struct run_follower *f, json_t *e, double t)
{
    f->now.resumed = true;
    if (f->torn_at > 0) {
        losses_rollback(&f->now.lost, (mend_version_t)number_of(e, "version"), f->torn_at);
        interval_failed(f, true, f->torn_at, t);
    }
    f->torn_at = 0;
}

/* Count each rank once, and only in this launch: a rank on another node may end later than its
 * launcher. */
static void note_end(struct run_follower *f, json_t *e, long *count)
{
    const char *launch = f->job->meeting;
    int rank = (int)number_of(e, "rank");
    if (rank < 0 || rank >= f->job->ranks || f->said[rank] || !launch[0] ||
        strcmp(text_of(e, "launch"), launch) != 0)
        return;
    f->said[rank] = true;
    ++*count;
}

static void note(struct run_follower *f, const char *line)
{
    json_error_t error;
    json_t *e = json_loads(line, 0, &error);
    if (!e && json_error_code(&error) == json_error_out_of_memory)
        tool_need(NULL); /* it may be the end of a rank */
    const char *name = text_of(e, "event");
    double t = number_of(e, "t");
    struct run_progress *p = &f->now;
    if (p->lost.began == 0)
        p->lost.began = t;
    if (strcmp(name, "checkpoint.commit") == 0)
        note_saved(f, e, t);
    else if (strcmp(name, "checkpoint.failed") == 0)
        note_failed(f, e);
    else if (strcmp(name, "recover.noticed") == 0)
        note_noticed(p, e, t);
    else if (strcmp(name, "recover.resumed") == 0)
        note_resumed(f, e, t);
    else if (strcmp(name, "recover.fetched") == 0)
        interval_fetched(f);
    else if (strcmp(name, "recover.born") == 0)
        note_born(p, (pid_t)number_of(e, "pid"), text_of(e, "host"));
    else if (strcmp(name, "recover.started") == 0)
        p->started++;
    else if (strcmp(name, "recover.playing") == 0) {
        p->playing++;
        silence_playing(f, (int)number_of(e, "rank"), (pid_t)number_of(e, "pid"));
    } else if (strcmp(name, "rank.silent") == 0)
        silence_heard(f, (int)number_of(e, "who"), number_of(e, "seconds"), "has answered nobody");
    else if (strcmp(name, "rank.answers") == 0)
        silence_answers(f, (int)number_of(e, "who"));
    else if (strcmp(name, "recover.exited") == 0)
        note_end(f, e, &p->exited);
    else if (strcmp(name, "recover.left") == 0)
        note_end(f, e, &p->left);
    else if (strcmp(name, "restart") == 0)
        note_restart(f, e, t);
    else if (strcmp(name, "recover.gave_up") == 0)
        p->gave_up = true, p->windows = number_of(e, "windows") > 0;
    else if (strcmp(name, "recover.refused") == 0)
        p->refused = true;
    else if (strcmp(name, "recover.ended") == 0) {
        if (!p->ended_by_program) {
            p->program_code = (int)number_of(e, "code");
            p->ended_rank = (int)number_of(e, "rank");
            snprintf(p->ended_how, sizeof p->ended_how, "%s", text_of(e, "how"));
        }
        p->ended_by_program = true;
    }
    json_decref(e);
}

/* Whole lines only. Not with strchr(): a byte of zero in the file must not hide all that follows. */
static void note_lines(struct run_follower *f)
{
    char *line = f->part, *past = f->part + f->part_size;
    for (char *end; (end = memchr(line, '\n', (size_t)(past - line))); line = end + 1) {
        *end = 0;
        note(f, line);
    }
    f->part_size = (size_t)(past - line);
    memmove(f->part, line, f->part_size);
}

void follow_events(struct run_follower *f)
{
    char path[4400], bytes[1 << 16];
    struct stat st;
    snprintf(path, sizeof path, "%s/events.jsonl", f->job->dir);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && st.st_size < f->events_at) /* somebody has emptied it */
        f->events_at = 0, f->part_size = 0;
    for (ssize_t n; (n = pread(fd, bytes, sizeof bytes, f->events_at)) > 0; f->events_at += n) {
        f->part = tool_need(realloc(f->part, f->part_size + (size_t)n));
        memcpy(f->part + f->part_size, bytes, (size_t)n);
        f->part_size += (size_t)n;
        note_lines(f);
    }
    close(fd);
}
