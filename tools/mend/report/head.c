/* The top of the page: how the job ended, what it survived, and the figures that people ask for first. */
#include "report.h"

#include <string.h>
#include <time.h>

static void tile(FILE *out, const char *value, const char *name)
{
    fprintf(out, "<div class='tile'><b>%s</b><span>%s</span></div>", value, name);
}

static void how_it_ended(FILE *out, const struct report *r)
{
    bool known = r->state[0] != 0;
    if (r->live || (known && strcmp(r->state, "running") == 0) || (!known && !r->ended))
        fputs("The job has not ended yet.", out);
    else if (known ? strcmp(r->state, "done") == 0 : r->code == 0)
        fputs("The job has succeeded.", out);
    else if (known && strcmp(r->state, "stopped") == 0)
        fprintf(out, "The job was stopped%s; <code>mend restart</code> resumes it.",
                r->code == 3 ? " after a checkpoint" : "");
    else
        fprintf(out, "The job has failed, with exit code %d.", r->code);
}

/* The job in three sentences. */
static void verdict(FILE *out, const struct report *r, const struct report_sums *s,
                    const struct report_cores *c)
{
    double cost = s->recovering + s->lost + s->down, rate = r->ranks / 3600.0;
    fputs("<p class='verdict'>", out);
    how_it_ended(out, r);
    if (s->recoveries + s->relaunches == 0) {
        fprintf(out, " Nothing failed. Checkpoints took %.2g %% of the time.</p>",
                s->seconds > 0 ? 100 * s->saving / s->seconds : 0);
        return;
    }
    fputs(" It survived ", out);
    if (s->recoveries)
        fprintf(out, "%d failure%s in place", s->recoveries, s->recoveries == 1 ? "" : "s");
    if (s->relaunches && s->recoveries)
        fprintf(out, " and %d by relaunch", s->relaunches);
    else if (s->relaunches)
        fprintf(out, "%d failure%s by relaunch", s->relaunches, s->relaunches == 1 ? "" : "s");
    fprintf(out, ", which cost ");
    report_put_duration(out, cost);
    fputs(" with the work done again", out);
    if (c->again > 0 && rate > 0) {
        fputs("; to begin again each time would have cost ", out);
        report_put_duration(out, c->again / rate);
    }
    fputs(".</p>", out);
}

static void tiles(FILE *out, const struct report_sums *s, const struct report_cores *c)
{
    char text[96];
    double gone = s->saving + s->recovering + s->lost + s->down;
    fputs("<div class='tiles'>", out);
    report_duration(text, sizeof text, s->seconds);
    tile(out, text, "from the first to the last event");
    snprintf(text, sizeof text, "%d", s->recoveries);
    tile(out, text,
         s->recoveries == 1 ? "failure survived in place" : "failures survived in place");
    snprintf(text, sizeof text, "%d", s->relaunches);
    tile(out, text,
         s->relaunches == 1 ? "failure survived by relaunch" : "failures survived by relaunch");
    report_duration(text, sizeof text, s->recovery_longest);
    tile(out, s->recoveries ? text : "-", "longest recovery in place");
    snprintf(text, sizeof text, "%d", s->versions);
    tile(out, text, s->versions == 1 ? "version" : "versions");
    report_amount(text, sizeof text, s->bytes_mean, "");
    tile(out, text, "per rank and version");
    snprintf(text, sizeof text, "%.2g %%", s->seconds > 0 ? 100 * gone / s->seconds : 0);
    tile(out, text, "of the time was not work");
    snprintf(text, sizeof text, "%.3g", c->saved);
    tile(out, text, "core-hours saved");
    fputs("</div>", out);
}

void report_head(FILE *out, const struct report *r, const struct report_sums *s)
{
    struct report_cores cores = report_core_hours(r, s);
    char when[64];
    time_t begin = (time_t)r->begin;
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime(&begin));
    fputs("<section id='summary'><h1>", out);
    report_text(out, r->program[0] ? r->program : r->dir);
    fprintf(out, "</h1><p>%d rank%s, %d spare%s, ", r->ranks, r->ranks == 1 ? "" : "s", r->spares,
            r->spares == 1 ? "" : "s");
    report_text(out, r->mpi[0] ? r->mpi : "MPI");
    fprintf(out, ", %d launch%s; begun %s.</p>", r->launches, r->launches == 1 ? "" : "es", when);
    verdict(out, r, s, &cores);
    tiles(out, s, &cores);
    fputs("</section>", out);
}
