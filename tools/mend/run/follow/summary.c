/* The last line of mend run: the result of the job. */
#include "jobfile.h"
#include "follow.h"

#include <base/event.h>

#include <jansson.h>
#include <stdio.h>

void run_summary(const struct run_follower *f, int launches, double seconds, int code, bool json)
{
    const struct run_progress *p = &f->now;
    if (json) {
        json_t *j = json_pack("{s:i,s:f,s:i,s:I,s:I,s:i,s:f,s:f,s:I,s:I,s:o}", "mend", 1, "seconds",
                              seconds, "exit_code", code, "version", (json_int_t)p->version,
                              "recoveries", (json_int_t)p->recoveries, "launches", launches,
                              "longest_recovery", p->longest_recovery, "seconds_again",
                              p->lost.again, "from_start", (json_int_t)p->lost.from_start,
                              "events_lost", (json_int_t)p->events_lost + mend_event_lost(), "dir",
                              jobfile_bytes(f->job->dir));
        json_dumpf(j, stderr, JSON_COMPACT);
        fputc('\n', stderr);
        json_decref(j);
        return;
    }
    if (f->job->quiet)
        return;
    fprintf(stderr, "mend: %.1f s, %ld version%s", seconds, p->version, p->version == 1 ? "" : "s");
    if (p->recoveries)
        fprintf(stderr, ", %ld failure%s survived in place (the longest took %.0f ms)",
                p->recoveries, p->recoveries == 1 ? "" : "s", 1e3 * p->longest_recovery);
    if (p->refilled)
        fprintf(stderr, ", %ld new process%s in place of the dead", p->refilled,
                p->refilled == 1 ? "" : "es");
    if (launches > 1)
        fprintf(stderr, ", launched %d times", launches);
    losses_print(&p->lost, stderr);
    long lost = p->events_lost + mend_event_lost();
    if (lost)
        fprintf(stderr, ", AT LEAST %ld EVENT%s LOST: events.jsonl could not be written", lost,
                lost == 1 ? "" : "S");
    fprintf(stderr, "; %s\n", f->job->dir);
}
