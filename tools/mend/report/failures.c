/* The table of failures: what was injected, what was noticed, and who took whose place. */
#include "report.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct row {
    double t;
    char text[320];
};

static int by_time(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return (x->t > y->t) - (x->t < y->t);
}

/* When the process that mark m replaces died: as mend chaos reports, or when its death was noticed, or when it was
 * replaced. */
static double death_before(const struct report *r, const struct report_mark *m, long pid)
{
    char mark[32];
    snprintf(mark, sizeof mark, "(pid %ld)", pid);
    for (int k = r->faults; k-- > 0;)
        if (!r->fault[k].noticed && r->fault[k].t <= m->t && strstr(r->fault[k].what, mark))
            return r->fault[k].t;
    double noticed = m->t;
    for (int k = 0; k < r->recoveries; k++) {
        double from = r->recovery[k].t - r->recovery[k].seconds;
        if (from <= m->t && m->t <= r->recovery[k].t && from < noticed)
            noticed = from;
    }
    return noticed;
}

/* Of several ranks that notice one failure, the first is enough. */
static bool said_before(const struct report *r, int i)
{
    const struct report_fault *f = &r->fault[i];
    for (int k = i - 1; k >= 0 && f->t - r->fault[k].t < 0.2; k--)
        if (f->noticed && r->fault[k].noticed)
            return true;
    return false;
}

static void on_node(char *text, size_t size, const struct report_mark *m)
{
    text[0] = 0;
    if (m->host[0])
        snprintf(text, size, " on %s", m->host);
}

static void tell_replaced(struct row *row, const struct report *r, const struct report_mark *m,
                          const struct report_mark *old)
{
    char later[32], from[80], to[80];
    row->t = death_before(r, m, (long)old->value);
    report_duration(later, sizeof later, m->t - row->t);
    on_node(from, sizeof from, old);
    on_node(to, sizeof to, m);
    if (strcmp(from, to) == 0)
        from[0] = to[0] = 0;
    snprintf(row->text, sizeof row->text,
             "rank %d: process %ld%s is gone, process %ld%s replaces it %s later", m->rank,
             (long)old->value, from, (long)m->value, to, later);
}

static int replacements(const struct report *r, struct row *row, int n, int most)
{
    const struct report_mark **player = calloc((size_t)r->ranks + 1, sizeof *player);
    for (int i = 0; player && i < r->marks && n < most; i++) {
        const struct report_mark *m = &r->mark[i];
        if (strcmp(m->what, "launch") == 0)
            memset(player, 0, (size_t)r->ranks * sizeof *player);
        if (strcmp(m->what, "playing") != 0 || m->rank < 0 || m->rank >= r->ranks)
            continue;
        const struct report_mark *old = player[m->rank];
        if (old && (old->value != m->value || strcmp(old->host, m->host) != 0))
            tell_replaced(&row[n++], r, m, old);
        player[m->rank] = m;
    }
    free(player);
    return n;
}

static void tell_relaunch(struct row *row, const struct report_relaunch *l)
{
    const char *what = l->stopped ? "ended" : "torn down";
    char later[32];
    row->t = l->t;
    report_duration(later, sizeof later, l->up - l->t);
    if (l->up > 0 && l->version > 0)
        snprintf(row->text, sizeof row->text,
                 "the job was %s; relaunched, it works again from version %ld %s later", what,
                 l->version, later);
    else
        snprintf(row->text, sizeof row->text, "the job was %s%s", what,
                 l->up > 0 ? "; relaunched, it starts from the beginning" : "");
}

static int rows_of(const struct report *r, struct row *row, int most)
{
    int n = 0;
    for (int i = 0; i < r->faults && n < most; i++) {
        const struct report_fault *f = &r->fault[i];
        if (said_before(r, i))
            continue;
        row[n].t = f->t;
        if (f->noticed)
            snprintf(row[n].text, sizeof row[n].text, "rank %d: %s", f->rank, f->what);
        else
            snprintf(row[n].text, sizeof row[n].text, "%s", f->what);
        n++;
    }
    n = replacements(r, row, n, most);
    for (int i = 0; i < r->relaunches && n < most; i++)
        tell_relaunch(&row[n++], &r->relaunch[i]);
    return n;
}

/* The clock says what to look for in the logs of the machine. */
static void put_clock(FILE *out, const struct report *r, double t)
{
    char text[64];
    time_t seconds = (time_t)t;
    const char *format = r->end - r->begin < 80000 ? "%H:%M:%S" : "%d %b %H:%M:%S";
    strftime(text, sizeof text, format, localtime(&seconds));
    fputs(text, out);
}

void report_failures(FILE *out, const struct report *r)
{
    enum { MOST = 1000 };
    static struct row row[MOST];
    int n = rows_of(r, row, MOST);
    qsort(row, (size_t)n, sizeof *row, by_time);
    fputs("<section id='failures'><h2>Failures</h2>", out);
    if (n == 0) {
        fputs("<p>None.</p></section>", out);
        return;
    }
    fputs("<table><tr><th>after</th><th>at</th><th>what happened</th></tr>", out);
    for (int i = 0; i < n; i++) {
        fputs("<tr><td>", out);
        report_put_duration(out, row[i].t - r->begin);
        fputs("</td><td>", out);
        put_clock(out, r, row[i].t);
        fputs("</td><td>", out);
        report_text(out, row[i].text);
        fputs("</td></tr>", out);
    }
    fputs("</table>", out);
    if (n == MOST)
        fprintf(out, "<p>Only the first %d are shown.</p>", n);
    fputs("</section>", out);
}
