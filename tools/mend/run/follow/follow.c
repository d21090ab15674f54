/* Following a job: its output, its events, the status line. */
#include "follow.h"
#include "run/start/start.h"
#include "tool.h"

#include <base/event.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void follow_wipe_line(struct run_follower *f)
{
    if (f->line_shown)
        fputs("\r\033[K", stderr);
    f->line_shown = false;
}

void follow_begin(struct run_follower *f, struct run_job *job)
{
    memset(f, 0, sizeof *f);
    f->job = job;
    size_t ranks = (size_t)job->ranks;
    f->printed = tool_need(calloc(2 * ranks, sizeof *f->printed));
    f->unfinished_since = tool_need(calloc(2 * ranks, sizeof *f->unfinished_since));
    f->said = tool_need(calloc(ranks, sizeof *f->said));
    f->written = tool_need(calloc(ranks, sizeof *f->written));
    f->on_disk = -1;
    for (int r = 0; r < job->ranks; r++)
        f->written[r] = -1;
    printed_begin(f);
    f->now.every = job->every;
    struct stat st;
    char path[4400];
    f->mark = follow_mark(f);
    snprintf(path, sizeof path, "%s/events.jsonl", job->dir);
    if (stat(path, &st) == 0) /* skip the events of the job before this resume */
        f->events_at = st.st_size;
    interval_begin(f);
}

void follow_attempt(struct run_follower *f)
{
    follow_events(f);
    silence_attempt(f);
    memset(f->said, 0, (size_t)f->job->ranks * sizeof *f->said);
    f->now.resumed = false;
    f->now.exited = f->now.left = f->now.playing = 0;
    f->now.born_count = f->now.started = f->now.dead = 0;
    f->now.counted_at = 0;
    f->now.output_lost_rank = f->now.fell_rank = -1;
    f->now.fell_code = 0;
    f->now.gave_up = f->now.windows = f->now.elsewhere = f->now.fell = f->now.printing = false;
    f->told_size = 0;
    f->now.repair_since = f->now.deserted_since = 0;
}

void follow(struct run_follower *f)
{
    follow_events(f);
    interval_tell(f);
    follow_output(f);
}

void follow_torn_down(struct run_follower *f)
{
    f->torn_at = wall();
    mend_event("run.torn_down", ev_int("version", f->now.version));
}

void follow_status(struct run_follower *f)
{
    struct run_progress *p = &f->now;
    if (f->job->quiet || !isatty(2) || run_errors_wait())
        return;
    char age[32] = "none yet";
    if (p->version > 0)
        snprintf(age, sizeof age, "%ld (%.1f s old)", p->version, wall() - p->version_at);
    fprintf(stderr, "\r\033[Kmend: version %s, every %.2g s, %ld failure%s survived", age, p->every,
            p->recoveries, p->recoveries == 1 ? "" : "s");
    f->line_shown = true;
    fflush(stderr);
}

void follow_end(struct run_follower *f)
{
    f->ending = true;
    follow(f);
    follow_wipe_line(f);
    printed_end(f);
    free(f->printed);
    free(f->unfinished_since);
    free(f->said);
    free(f->written);
    free(f->part);
    free(f->now.born);
    free(f->now.past);
    silence_end(f);
}
