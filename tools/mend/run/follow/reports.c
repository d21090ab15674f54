/* What our own launcher (src/launcher) reports while the job runs. */
#include "follow.h"
#include "tool.h"

#include <base/event.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The next launch leaves it out. */
static void avoid(struct run_job *job, const char *host)
{
    char *list = NULL;
    if (asprintf(&list, "%s%s%s", job->avoid ? job->avoid : "", job->avoid ? "," : "", host) < 0)
        tool_need(list = NULL);
    free(job->avoid);
    job->avoid = list;
}

static void avoid_no_more(struct run_job *job, const char *host)
{
    char *list = job->avoid, *rest = list;
    job->avoid = NULL;
    for (char *name; list && (name = strsep(&rest, ","));)
        if (strcmp(name, host) != 0)
            avoid(job, name);
    free(list);
}

static void note_added(struct run_job *job, const char *host, int slots)
{
    mend_event("launch.added", ev_str("host", host), ev_int("slots", slots));
    if (!job->quiet)
        fprintf(stderr, "\nmend: node %s is part of the job now, with %d slots\n", host, slots);
    avoid_no_more(job, host);
}

static void note_unadded(struct run_job *job, const char *host, const char *how)
{
    mend_event("launch.unadded", ev_str("host", host), ev_str("how", how));
    avoid_no_more(job, host); /* not twice */
    avoid(job, host);
}

static void note_lost(struct run_job *job, const char *host, int count, const char *how)
{
    mend_event("launch.lost", ev_str("host", host), ev_int("processes", count), ev_str("how", how));
    bool known = strcmp(how, "refused") == 0 && !job->host && !job->hostfile; /* it has said why */
    if (!job->quiet && !known)
        fprintf(stderr, "\nmend: node %s is lost (%s), with %d processes\n", host, how, count);
    avoid_no_more(job, host); /* not twice */
    avoid(job, host);
}

static void note_ended(struct run_follower *f, int rank, const char *how, int code)
{
    bool by_exit = strcmp(how, "exit") == 0, first = f->now.fell_rank < 0;
    mend_event("launch.ended", ev_int("process", rank), ev_str("by", how), ev_int("code", code));
    f->now.fell = true;
    if (!first || (!by_exit && code == SIGTERM)) /* which is how we end those that are left */
        return;
    f->now.fell_rank = rank;
    f->now.fell_code = by_exit ? code : 0;
}

static void note(struct run_job *job, struct run_follower *f, const char *line)
{
    char host[256], how[16];
    int rank, n, used = 0;
    double seconds;
    if (sscanf(line, "lost %255s %d %n", host, &n, &used) == 2 && used)
        note_lost(job, host, n, line + used);
    else if (sscanf(line, "added %255s %d", host, &n) == 2)
        note_added(job, host, n);
    else if (sscanf(line, "unadded %255s %n", host, &used) == 1 && used)
        note_unadded(job, host, line + used);
    else if (sscanf(line, "ended %d %15s %d", &rank, how, &n) == 3) {
        if (n != 0)
            note_ended(f, rank, how, n);
    } else if (sscanf(line, "filling %d %255s", &rank, host) == 2)
        mend_event("launch.filling", ev_int("process", rank), ev_str("host", host));
    else if (sscanf(line, "filled %d %255s %lf", &rank, host, &seconds) == 3) {
        mend_event("launch.filled", ev_int("process", rank), ev_str("host", host),
                   ev_real("seconds", seconds));
        f->now.refilled++;
    } else if (sscanf(line, "unfilled %d", &rank) == 1)
        mend_event("launch.unfilled", ev_int("process", rank));
    else if (sscanf(line, "stalled %15s %lf", how, &seconds) == 2)
        mend_event("launch.stalled", ev_str("doing", how), ev_real("seconds", seconds));
    else if (strcmp(line, "refused") == 0) /* the launcher has said why */
        f->now.refused = true;
    else if (strcmp(line, "printing") == 0)
        f->now.printing = true;
    else if (strncmp(line, "warned ", 7) == 0)
        f->warned = true;
    else if (sscanf(line, "messages %d %d", &rank, &n) == 2)
        mend_event("launch.messages", ev_int("sent", rank), ev_int("received", n));
}

void follow_reports(struct run_job *job, struct run_follower *f, int report)
{
    for (;;) {
        ssize_t n = read(report, f->told + f->told_size, sizeof f->told - 1 - f->told_size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        f->told_size += (size_t)n;
        f->told[f->told_size] = 0;
        char *line = f->told;
        for (char *end; (end = strchr(line, '\n')); line = end + 1) {
            *end = 0;
            note(job, f, line);
        }
        f->told_size -= (size_t)(line - f->told);
        memmove(f->told, line, f->told_size + 1);
        if (f->told_size == sizeof f->told - 1)
            f->told_size = 0; /* no valid line is that long */
    }
}
