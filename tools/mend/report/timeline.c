/* The ranks from top to bottom, time from left to right: plain SVG, sized by its box, so that it fits a phone and paper. */
#include "report.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 1000, LEFT = 80, RIGHT = 30, TOP = 12, MOST_ROWS = 4096 };

struct line { /* where everything is drawn */
    FILE *out;
    const struct report *r;
    int rows, bottom;
    double row; /* height */
};

static double at(const struct report *r, double t)
{
    double span = r->end - r->begin;
    return LEFT + (WIDTH - LEFT - RIGHT) * (span > 0 ? (t - r->begin) / span : 0);
}

/* Round steps for an axis: 1, 2 or 5 times a power of ten; of minutes and hours 1, 2, 5, 10, 15, 30. */
static double step_for(double span)
{
    double raw = span / 8, power = pow(10, floor(log10(raw > 0 ? raw : 1)));
    return raw / power < 1.5   ? power
           : raw / power < 3.5 ? 2 * power
           : raw / power < 7.5 ? 5 * power
                               : 10 * power;
}

static void draw_axis(const struct line *l)
{
    static const struct {
        double seconds, from;
        const char *name;
    } units[] = {{86400, 5 * 86400, "d"}, {3600, 2.5 * 3600, "h"}, {60, 150, "min"}, {1, 0, "s"}};
    double span = l->r->end - l->r->begin;
    int u = 0;
    while (span < units[u].from)
        u++;
    double step = step_for(span / units[u].seconds);
    for (int k = 0; k < 20 && k * step * units[u].seconds <= span * 1.0001; k++) {
        double x = at(l->r, l->r->begin + k * step * units[u].seconds);
        fprintf(l->out, "<line class='grid' x1='%.1f' y1='8' x2='%.1f' y2='%d'/>", x, x, l->bottom);
        fprintf(l->out, "<text class='tick' x='%.1f' y='%d' text-anchor='middle'>%g %s</text>", x,
                l->bottom + 16, k * step, units[u].name);
    }
}

static void draw_ranks(const struct line *l)
{
    for (int k = 0; k < l->rows; k++) {
        double y = TOP + k * l->row;
        fprintf(l->out, "<rect class='work' x='%d' y='%.1f' width='%d' height='%.1f'/>", LEFT,
                y + l->row * 0.2, WIDTH - LEFT - RIGHT, l->row * 0.6);
        if (l->row > 8)
            fprintf(l->out, "<text class='tick' x='%d' y='%.1f' text-anchor='end'>rank %d</text>",
                    LEFT - 8, y + l->row * 0.65, k);
    }
}

/* A line in the colour of its node below each rank. */
static void draw_nodes(const struct line *l, const struct report_places *p)
{
    for (int i = 0; i < p->stays && p->nodes > 1; i++) {
        const struct report_stay *s = &p->stay[i];
        if (s->rank >= l->rows || s->node < 0)
            continue;
        double x = at(l->r, s->from);
        fprintf(l->out,
                "<rect fill='%s' x='%.1f' y='%.1f' width='%.1f' height='%.1f'><title>rank %d on ",
                report_node_colour(s->node), x, TOP + l->row * (s->rank + 0.82),
                fmax(at(l->r, s->to) - x, 1), l->row * 0.12, s->rank);
        report_text(l->out, p->node[s->node]);
        fputs("</title></rect>", l->out);
    }
}

static void draw_down(const struct line *l) /* nobody works meanwhile */
{
    for (int i = 0; i < l->r->relaunches; i++) {
        const struct report_relaunch *v = &l->r->relaunch[i];
        double x = at(l->r, v->t);
        fprintf(l->out,
                "<rect class='down' x='%.1f' y='%d' width='%.1f' height='%.1f'><title>torn "
                "down</title></rect>",
                x, TOP, fmax(at(l->r, v->up > v->t ? v->up : l->r->end) - x, 1.2),
                l->rows * l->row);
    }
}

static const char *colour_of(const struct report_save *s)
{
    return s->failed                          ? "bad"
           : strcmp(s->level, "memory") == 0  ? "memory"
           : strcmp(s->level, "local") == 0   ? "local"
           : strcmp(s->level, "erasure") == 0 ? "erasure"
                                              : "disk";
}

static void draw_saves(const struct line *l)
{
    for (int i = 0; i < l->r->saves; i++) {
        const struct report_save *s = &l->r->save[i];
        if (s->rank >= l->rows || strcmp(s->level, "partner") == 0) /* part of the same pause */
            continue;
        bool memory = strcmp(s->level, "memory") == 0;
        double x = at(l->r, s->t - s->seconds), w = fmax(at(l->r, s->t) - x, 1.2);
        double y = TOP + s->rank * l->row + l->row * (memory ? 0.2 : 0.62);
        double height = l->row * (memory ? 0.6 : 0.18);
        if (s->rank < 0) { /* one event for all ranks */
            y = TOP;
            height = l->rows * l->row;
        }
        fprintf(l->out, "<rect class='%s' x='%.1f' y='%.1f' width='%.1f' height='%.1f'><title>",
                colour_of(s), x, y, w, height);
        if (s->rank < 0)
            fputs("all ranks", l->out);
        else
            fprintf(l->out, "rank %d", s->rank);
        fprintf(l->out, ": version %ld, ", s->version);
        report_text(l->out, s->level);
        fputs(s->failed ? " (failed), " : ", ", l->out);
        report_put_duration(l->out, s->seconds);
        fputs("</title></rect>", l->out);
    }
}

static void draw_recoveries(const struct line *l)
{
    for (int i = 0; i < l->r->recoveries; i++) {
        const struct report_recovery *v = &l->r->recovery[i];
        if (v->rank < 0 || v->rank >= l->rows)
            continue;
        double x = at(l->r, v->t - v->seconds);
        fprintf(l->out,
                "<rect class='recover' x='%.1f' y='%.1f' width='%.1f' height='%.1f'><title>rank "
                "%d: ",
                x, TOP + l->row * (v->rank + 0.1), fmax(at(l->r, v->t) - x, 2), l->row * 0.8,
                v->rank);
        report_text(l->out, v->how);
        report_put_version(l->out, v->version);
        fputs(" in ", l->out);
        report_put_duration(l->out, v->seconds);
        fputs("</title></rect>", l->out);
    }
}

/* Was the failure that a rank noticed injected, or noticed by another rank before? */
static bool known_fault(const struct report *r, int noticed)
{
    for (int i = noticed - 1; i >= 0 && r->fault[noticed].t - r->fault[i].t < 3; i--)
        if (!r->fault[i].noticed || r->fault[noticed].t - r->fault[i].t < 0.2)
            return true;
    return false;
}

static void draw_faults(const struct line *l)
{
    for (int i = 0; i < l->r->faults; i++) {
        const struct report_fault *f = &l->r->fault[i];
        double x = at(l->r, f->t);
        if (f->noticed && known_fault(l->r, i))
            continue;
        fprintf(l->out, "<line class='fault' x1='%.1f' y1='4' x2='%.1f' y2='%d'><title>", x, x,
                l->bottom);
        report_text(l->out, f->what);
        fprintf(l->out, "</title></line><circle class='faultdot' cx='%.1f' cy='6' r='4'/>", x);
    }
    for (int i = 0; i < l->r->marks; i++)
        if (strcmp(l->r->mark[i].what, "launch") == 0)
            fprintf(l->out,
                    "<line class='launch' x1='%.1f' y1='4' x2='%.1f' "
                    "y2='%d'><title>launched</title></line>",
                    at(l->r, l->r->mark[i].t), at(l->r, l->r->mark[i].t), l->bottom);
}

void report_timeline(FILE *out, const struct report *r, const struct report_places *places)
{
    struct line l = {.out = out, .r = r};
    l.rows = r->ranks < 1 ? 1 : r->ranks < MOST_ROWS ? r->ranks : MOST_ROWS;
    l.row = l.rows > 64 ? 4 : l.rows > 16 ? 10 : 24;
    l.bottom = TOP + (int)(l.rows * l.row);
    fprintf(out, "<svg viewBox='0 0 %d %d' role='img' aria-label='Ranks over time'>", WIDTH,
            l.bottom + 26);
    draw_axis(&l);
    draw_ranks(&l);
    draw_nodes(&l, places);
    draw_down(&l);
    draw_saves(&l);
    draw_recoveries(&l);
    draw_faults(&l);
    fputs("</svg>", out);
    if (l.rows < r->ranks)
        fprintf(out, "<p>The first %d of %d ranks are drawn.</p>", l.rows, r->ranks);
}
