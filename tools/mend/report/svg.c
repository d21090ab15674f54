/* The drawings of a report: plain SVG, sized by its box, so that they fit a phone and paper. */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1000, LEFT = 80, RIGHT = 14, MOST_ROWS = 4096 };

static double at(const struct report *r, double t)
{
    double span = r->end - r->begin;
    return LEFT + (WIDTH - LEFT - RIGHT) * (span > 0 ? (t - r->begin) / span : 0);
}

/* Round steps for an axis: 1, 2 or 5 times a power of ten. */
static double step_for(double span)
{
    double raw = span / 8, power = pow(10, floor(log10(raw > 0 ? raw : 1)));
    return raw / power < 1.5   ? power
           : raw / power < 3.5 ? 2 * power
           : raw / power < 7.5 ? 5 * power
                               : 10 * power;
}

static void axis(FILE *out, const struct report *r, int bottom)
{
    double span = r->end - r->begin, step = step_for(span);
    for (int k = 0; k < 20 && k * step <= span * 1.0001; k++) {
        double s = k * step;
        double x = at(r, r->begin + s);
        fprintf(out, "<line class='grid' x1='%.1f' y1='8' x2='%.1f' y2='%d'/>", x, x, bottom);
        fprintf(out, "<text class='tick' x='%.1f' y='%d' text-anchor='middle'>%g s</text>", x,
                bottom + 16, s);
    }
}

/* Was what a rank noticed done on purpose, or noticed before by another? */
static bool known_fault(const struct report *r, const struct report_fault *noticed)
{
    for (int i = 0; i < r->faults; i++) {
        double before = noticed->t - r->fault[i].t;
        if (&r->fault[i] != noticed && before >= 0 && before < (r->fault[i].noticed ? 0.2 : 3))
            return true;
    }
    return false;
}

/* Ranks from top to bottom, time from left to right. */
void report_timeline(FILE *out, const struct report *r)
{
    int rows = r->ranks < 1 ? 1 : r->ranks < MOST_ROWS ? r->ranks : MOST_ROWS;
    double row = rows > 64 ? 4 : rows > 16 ? 10 : 24;
    int bottom = 12 + (int)(rows * row);
    fprintf(out, "<svg viewBox='0 0 %d %d' role='img' aria-label='Ranks over time'>", WIDTH,
            bottom + 26);
    axis(out, r, bottom);
    for (int k = 0; k < rows; k++) {
        double y = 12 + k * row;
        fprintf(out, "<rect class='work' x='%d' y='%.1f' width='%d' height='%.1f'/>", LEFT,
                y + row * 0.2, WIDTH - LEFT - RIGHT, row * 0.6);
        if (row > 8)
            fprintf(out, "<text class='tick' x='%d' y='%.1f' text-anchor='end'>rank %d</text>",
                    LEFT - 8, y + row * 0.65, k);
    }
    for (int i = 0; i < r->relaunches; i++) { /* nobody works meanwhile */
        const struct report_relaunch *l = &r->relaunch[i];
        double x = at(r, l->t), w = fmax(at(r, l->up > l->t ? l->up : r->end) - x, 1.2);
        fprintf(out,
                "<rect class='down' x='%.1f' y='12' width='%.1f' height='%.1f'><title>torn "
                "down</title></rect>",
                x, w, rows * row);
    }
    for (int i = 0; i < r->saves; i++) {
        const struct report_save *s = &r->save[i];
        if (s->rank < 0 || s->rank >= rows)
            continue;
        bool memory = strcmp(s->level, "memory") == 0;
        if (strcmp(s->level, "partner") == 0) /* part of the same pause */
            continue;
        double x = at(r, s->t - s->seconds), w = fmax(at(r, s->t) - x, 1.2), y = 12 + s->rank * row;
        fprintf(out,
                "<rect class='%s' x='%.1f' y='%.1f' width='%.1f' height='%.1f'><title>rank %d: "
                "version %ld, ",
                s->failed                          ? "bad"
                : memory                           ? "memory"
                : strcmp(s->level, "local") == 0   ? "local"
                : strcmp(s->level, "erasure") == 0 ? "erasure"
                                                   : "disk",
                x, y + row * (memory ? 0.2 : 0.68), w, row * (memory ? 0.6 : 0.2), s->rank,
                s->version);
        report_text(out, s->level);
        fprintf(out, "%s, %.1f ms</title></rect>", s->failed ? " (failed)" : "", 1e3 * s->seconds);
    }
    for (int i = 0; i < r->recoveries; i++) {
        const struct report_recovery *v = &r->recovery[i];
        if (v->rank < 0 || v->rank >= rows)
            continue;
        double x = at(r, v->t - v->seconds), y = 12 + v->rank * row;
        fprintf(out,
                "<rect class='recover' x='%.1f' y='%.1f' width='%.1f' height='%.1f'><title>rank "
                "%d: ",
                x, y + row * 0.1, fmax(at(r, v->t) - x, 2), row * 0.8, v->rank);
        report_text(out, v->how);
        fprintf(out, " to version %ld in %.1f ms</title></rect>", v->version, 1e3 * v->seconds);
    }
    for (int i = 0; i < r->faults; i++) {
        const struct report_fault *f = &r->fault[i];
        double x = at(r, f->t);
        if (f->noticed && known_fault(r, f))
            continue;
        fprintf(out, "<line class='fault' x1='%.1f' y1='4' x2='%.1f' y2='%d'><title>", x, x,
                bottom);
        report_text(out, f->what);
        fprintf(out, "</title></line><circle class='faultdot' cx='%.1f' cy='6' r='4'/>", x);
    }
    for (int i = 0; i < r->marks; i++)
        if (strcmp(r->mark[i].what, "launch") == 0)
            fprintf(out,
                    "<line class='launch' x1='%.1f' y1='4' x2='%.1f' "
                    "y2='%d'><title>launched</title></line>",
                    at(r, r->mark[i].t), at(r, r->mark[i].t), bottom);
    fputs("</svg>", out);
    if (rows < r->ranks)
        fprintf(out, "<p>The first %d of %d ranks are drawn.</p>", rows, r->ranks);
}

void report_time_bar(FILE *out, const struct report *r)
{
    struct report_sums s = report_sum(r);
    double whole = s.seconds > 0 ? s.seconds : 1;
    double work = fmax(whole - s.saving - s.recovering - s.lost - s.down, 0);
    const struct {
        const char *class, *name;
        double seconds;
    } part[] = {{"work", "work", work},
                {"memory", "saving", s.saving},
                {"recover", "recovering", s.recovering},
                {"down", "torn down, until the next launch works", s.down},
                {"lost", "done again", s.lost}};
    double x = 0;
    fprintf(out, "<svg viewBox='0 0 %d 44' role='img' aria-label='Where the time went'>", WIDTH);
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        double w = WIDTH * part[i].seconds / whole;
        fprintf(out,
                "<rect class='%s' x='%.1f' y='4' width='%.2f' height='36'><title>%s %.3f "
                "s</title></rect>",
                part[i].class, x, w, part[i].name, part[i].seconds);
        x += w;
    }
    fputs("</svg><table><tr><th>part</th><th>seconds</th><th>share</th></tr>", out);
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        fprintf(out,
                "<tr><td><span class='key %s'></span>%s</td><td>%.3f</td><td>%.2f %%</td></tr>",
                part[i].class, part[i].name, part[i].seconds, 100 * part[i].seconds / whole);
    fputs("</table>", out);
}

/* The same phase has the same colour in every recovery, and no other phase has it. */
static const char *phase_colour(const char *phase)
{
    static const struct {
        const char *phase, *colour;
    } list[] = {
        {"revoke", "#4c78a8"},  {"threads", "#f58518"}, {"requests", "#54a24b"},
        {"shrink", "#e45756"},  {"plan", "#72b7b2"},    {"flush", "#b279a2"},
        {"world", "#eeca3b"},   {"images", "#9d755d"},  {"files", "#7f6bb5"},
        {"load", "#ff9da6"},    {"agree", "#1f6f50"},   {"rebind", "#a0cbe8"},
        {"barrier", "#5b6776"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strcmp(list[i].phase, phase) == 0)
            return list[i].colour;
    return "#bab0ac";
}

/* The next NAME=MILLISECONDS of a text that is cut into words; NULL: no more. */
static char *next_phase(char **rest, double *ms)
{
    for (char *word; (word = strsep(rest, " "));) {
        char *equals = strchr(word, '=');
        if (!equals || sscanf(equals + 1, "%lf", ms) != 1 || !(*ms >= 0 && *ms < 1e12))
            continue;
        *equals = 0;
        return word;
    }
    return NULL;
}

static void one_recovery(FILE *out, const struct report *r, const struct report_recovery *v)
{
    char text[sizeof v->phases], *rest = strcpy(text, v->phases);
    double sum = 0, x = 0, ms;
    fprintf(out, "<h3>%.3f s: ", v->t - v->seconds - r->begin);
    report_text(out, v->how);
    fprintf(out, " to version %ld in %.1f ms</h3>", v->version, 1e3 * v->seconds);
    while (next_phase(&rest, &ms))
        sum += ms;
    if (sum <= 0)
        return;
    fprintf(out, "<svg viewBox='0 0 %d 22' role='img' aria-label='Phases'>", WIDTH);
    rest = strcpy(text, v->phases);
    for (char *name; (name = next_phase(&rest, &ms)); x += WIDTH * ms / sum) {
        fprintf(out, "<rect x='%.1f' y='2' width='%.2f' height='18' fill='%s'><title>", x,
                WIDTH * ms / sum, phase_colour(name));
        report_text(out, name);
        fprintf(out, " %.2f ms</title></rect>", ms);
    }
    fputs("</svg><ul class='legend'>", out);
    rest = strcpy(text, v->phases);
    for (char *name; (name = next_phase(&rest, &ms));) {
        fprintf(out, "<li><span class='key' style='background:%s'></span>", phase_colour(name));
        report_text(out, name);
        fprintf(out, " %.2f ms</li>", ms);
    }
    fputs("</ul>", out);
}

/* One bar for each recovery, cut into its phases. */
void report_phases(FILE *out, const struct report *r)
{
    static int whole[1000];
    int n = report_whole_recoveries(r, whole, 1000);
    for (int i = 0; i < n; i++)
        one_recovery(out, r, &r->recovery[whole[i]]);
    if (!n)
        fputs("<p>No recovery took place.</p>", out);
}
