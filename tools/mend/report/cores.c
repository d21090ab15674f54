/* Core-hours: what the job used, how much of it was work, and what a relaunch from the beginning would have cost.
 *
 * A rank is one core, a spare another. The work done up to a failure is the time since the first event, minus
 * checkpoints, recoveries, tear-downs and work that was done twice. A job without checkpoints would begin again there and
 * repeat that work. Each failure counts by itself, as if it were the only one. */
#include "report.h"

#include <math.h>
#include <string.h>

enum { ROOM = 100000 };

struct failure {
    double t;          /* noticed */
    double cost, lost; /* seconds until all ranks work again; seconds of work to repeat */
    bool survived;     /* else the job was stopped, or never came back */
};

/* Both lists are sorted by their ends, and failures do not overlap: the earlier of the two heads comes next. */
static bool next_failure(const struct report *r, const int *whole, int recoveries, int *at,
                         int *torn, struct failure *f)
{
    const struct report_recovery *v = *at < recoveries ? &r->recovery[whole[*at]] : NULL;
    const struct report_relaunch *l = *torn < r->relaunches ? &r->relaunch[*torn] : NULL;
    if (v && (!l || v->t - v->seconds <= l->t)) {
        f->t = v->t - v->seconds;
        f->cost = v->seconds;
        f->lost = v->version >= 0 ? report_lost_since(r, v->version, f->t) : 0;
        f->survived = true;
        ++*at;
    } else if (l) {
        f->t = l->t;
        f->cost = (l->up > l->t ? l->up : r->end) - l->t;
        f->lost = l->up > 0 ? report_lost_since(r, l->version, l->t) : 0;
        f->survived = l->up > 0 && !l->stopped;
        ++*torn;
    }
    return v || l;
}

struct saving {
    int at; /* in the list of saves */
    mend_version_t version;
    double longest, sum;
};

/* Seconds of checkpoints before t, as report_sum adds them up: the longest part of a version counts. Continues
 * where the last call ended. */
static double saving_before(const struct report *r, double t, struct saving *s)
{
    for (; s->at < r->saves && r->save[s->at].t < t; s->at++) {
        const struct report_save *v = &r->save[s->at];
        if (!v->stops)
            continue;
        if (v->version != s->version) {
            s->sum += s->longest;
            s->longest = 0;
            s->version = v->version;
        }
        s->longest = fmax(s->longest, v->seconds);
    }
    return s->sum + s->longest;
}

struct report_cores report_core_hours(const struct report *r, const struct report_sums *s)
{
    static int whole[ROOM];
    int recoveries = report_whole_recoveries(r, whole, ROOM), at = 0, torn = 0;
    double hours = r->ranks / 3600.0, spent = 0;
    double gone = s->saving + s->recovering + s->lost + s->down;
    struct saving saving = {0};
    struct report_cores c = {.lost = hours * gone,
                             .worked = hours * (s->seconds - gone),
                             .ready = r->spares / 3600.0 * s->seconds};
    c.paid = hours * s->seconds + c.ready;
    for (struct failure f; next_failure(r, whole, recoveries, &at, &torn, &f);) {
        double done = f.t - r->begin - spent - saving_before(r, f.t, &saving);
        if (f.survived && done > 0) {
            c.again += hours * done;
            c.saved += hours * (done - f.lost - f.cost);
        }
        spent += f.cost + f.lost;
    }
    return c;
}

void report_cores(FILE *out, const struct report *r, const struct report_sums *s)
{
    struct report_cores c = report_core_hours(r, s);
    const struct {
        const char *name, *what;
        double hours;
    } row[] = {
        {"allocated", "ranks and spares, from the first to the last event", c.paid},
        {"useful work", "ranks, at work that was kept", c.worked},
        {"overhead", "ranks, while they saved, recovered, were torn down, or did work again",
         c.lost},
        {"spares", "waiting, or the places of dead processes whose ranks they took", c.ready},
        {"not repeated",
         "for each survived failure, the work done by then, which a relaunch from the beginning "
         "would have repeated",
         c.again},
        {"saved", "not repeated, minus the work done again and the time of the recoveries",
         c.saved},
    };
    fputs("<section id='cores'><h2>Core-hours</h2><table><tr><th></th><th>core-hours</th><th>"
          "of what</th></tr>",
          out);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        fprintf(out, "<tr><td>%s</td><td>%.4g</td><td>%s</td></tr>", row[i].name, row[i].hours,
                row[i].what);
    fputs("</table><p>A rank or a spare is one core. Allocated = useful work + overhead + spares. "
          "Each "
          "failure is treated as if it were the only one.</p></section>",
          out);
}
