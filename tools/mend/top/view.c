/* The picture of a job, as lines: the whole, its levels, its failures, its ranks. Only put() prints: it cuts each line to
 * the window and escapes whatever is not printable. */
#include "top.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

enum { PLAIN_RANKS = 1000, WRAP = 100 };

static const char *const state_name[TOP_STATES] = {"?",       "starting", "running", "recovering",
                                                   "silent",  "lost",     "crashed", "torn down",
                                                   "stopped", "ended"};

/* One character and its width, or one byte as \xNN. Returns how many bytes of the text it used; 0: it does not fit. */
static size_t put_one(struct top_page *page, const char *text, size_t size, int *left)
{
    wchar_t wide;
    mbstate_t state = {0};
    size_t n = mbrtowc(&wide, text, size, &state);
    bool whole = n > 0 && n <= size;
    int width = whole && iswprint((wint_t)wide) ? wcwidth(wide) : 0;
    if (width < 1) {
        n = 1;
        width = 4;
        whole = false;
    }
    if (page->columns && width > *left)
        return 0;
    *left -= width;
    if (whole)
        fwrite(text, 1, n, page->out);
    else
        fprintf(page->out, "\\x%02x", (unsigned char)*text);
    return n;
}

static void put(struct top_page *page, bool head, const char *text)
{
    size_t size = strlen(text);
    int left = page->columns;
    if (page->rows && page->used == page->rows)
        return;
    if (page->escapes)
        fputs(page->used ? "\r\n" : "", page->out);
    if (page->escapes && head)
        fputs("\033[1m", page->out);
    for (size_t n; size && (n = put_one(page, text, size, &left)); text += n)
        size -= n;
    fputs(page->escapes ? head ? "\033[0m\033[K" : "\033[K" : "\n", page->out);
    page->used++;
}

static void line(struct top_page *page, bool head, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void line(struct top_page *page, bool head, const char *format, ...)
{
    char text[5000];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put(page, head, text);
}

static int shown_ranks(const struct top *t)
{
    return t->ranks < t->sums.ranks ? t->ranks : t->sums.ranks;
}

static void count(const struct top *t, int *of)
{
    memset(of, 0, TOP_STATES * sizeof *of);
    for (int i = 0; i < shown_ranks(t); i++)
        of[t->rank[i].state]++;
}

static void how_it_is(const struct top *t, double now, char *text, size_t size)
{
    const struct report *r = &t->sums;
    char since[32];
    int of[TOP_STATES];
    count(t, of);
    report_duration(since, sizeof since, r->begin > 0 ? fmax(0, now - r->begin) : 0);
    if (t->gone) {
        snprintf(text, size, "this job no longer runs: its mend run was killed");
    } else if (top_over(t)) {
        const char *state = strcmp(r->state, "running") != 0 ? r->state : "";
        if (!state[0])
            state = r->code == 0 ? "done" : r->code == 3 ? "stopped" : "failed";
        snprintf(text, size, "ended after %s: %s, exit code %d", since, state, r->code);
    } else if (t->torn) {
        snprintf(text, size, "torn down, to be relaunched; started %s ago", since);
    } else if (of[TOP_RECOVERING]) {
        snprintf(text, size, "recovering (%d of %d ranks); started %s ago", of[TOP_RECOVERING],
                 r->ranks, since);
    } else if (r->begin > 0) {
        snprintf(text, size, "running for %s", since);
    } else {
        snprintf(text, size, "waiting for its first event");
    }
}

static void next_checkpoint(struct top_page *page, const struct top *t, double now)
{
    char next[32], every[32];
    int level = t->online ? 0 : TOP_LEVELS - 1;
    double left = top_level_next(t, level, now), period = top_level_period(t, level);
    if (top_over(t))
        return;
    report_duration(every, sizeof every, period);
    report_duration(next, sizeof next, left);
    if (left < 0)
        line(page, false, "Next checkpoint: not known");
    else if (t->round_since > 0)
        line(page, false, "Next checkpoint: being taken; every %s%s", every,
             t->every > 0 ? ", the planner's choice" : "");
    else
        line(page, false, "Next checkpoint: %s%s; every %s%s", left > 0 ? "in " : "",
             left > 0 ? next : "due", every, t->every > 0 ? ", the planner's choice" : "");
}

void top_draw_head(struct top_page *page, const struct top *t, double now)
{
    const struct report *r = &t->sums;
    struct report_sums s = report_sum(r);
    double lost = s.saving + s.recovering + s.lost + s.down;
    char how[160], longest[32];
    how_it_is(t, now, how, sizeof how);
    line(page, true, "%s  (%s)", r->program[0] ? r->program : "mend top", t->dir);
    line(page, true, "%s", how);
    line(page, false, "%d rank%s, %d of %d spares left, %s, launch %d", r->ranks,
         r->ranks == 1 ? "" : "s", t->spares_left, r->spares, r->mpi[0] ? r->mpi : "MPI",
         r->launches);
    report_duration(longest, sizeof longest, s.recovery_longest);
    line(page, false, "Failures: %d survived in place (the longest took %s), %d by relaunch",
         s.recoveries, longest, s.relaunches);
    line(page, false,
         "Time lost: %.2f %% (saving %.3f s, recovering %.3f s, done again %.3f s, torn down %.3f "
         "s)",
         s.seconds > 0 ? 100 * lost / s.seconds : 0, s.saving, s.recovering, s.lost, s.down);
    next_checkpoint(page, t, now);
}

static void draw_level(struct top_page *page, const struct top *t, int i, double now)
{
    const struct top_level *l = &t->level[i];
    const struct top_version *v = &l->newest;
    char age[32] = "-", size[32] = "-", rate[32] = "-", took[32] = "-", every[32], next[32],
         version[32] = "none", way[64] = "";
    double period = top_level_period(t, i);
    if (v->told) {
        snprintf(version, sizeof version, "%ld", (long)v->version);
        report_duration(age, sizeof age, fmax(0, now - v->at));
        if (v->bytes > 0)
            report_amount(size, sizeof size, v->bytes, "");
        if (v->seconds > 0)
            report_duration(took, sizeof took, v->seconds);
        if (v->seconds > 0 && v->bytes > 0)
            report_amount(rate, sizeof rate, v->moved / v->seconds, "/s");
    }
    for (int k = 0; k < TOP_PENDING; k++) /* the newest of those in progress */
        if (l->pending[k].told && l->pending[k].version > v->version)
            snprintf(way, sizeof way, "  %ld: %d of %d", (long)l->pending[k].version,
                     l->pending[k].told, t->sums.ranks);
    report_duration(every, sizeof every, period > 0 ? period : -1);
    report_duration(next, sizeof next, top_level_next(t, i, now));
    line(page, false, "%-8s %8s %8s %10s %12s %8s %8s %8s %6d%s", top_level_name[i], version, age,
         size, rate, took, every, next, l->failures, way);
}

static void draw_levels(struct top_page *page, const struct top *t, double now)
{
    put(page, false, "");
    line(page, true, "%-8s %8s %8s %10s %12s %8s %8s %8s %6s  %s", "LEVEL", "VERSION", "AGE",
         "SIZE", "RATE", "TOOK", "EVERY", "NEXT", "FAILED", "UNDER WAY");
    for (int i = 0; i < TOP_LEVELS; i++) {
        const struct top_level *l = &t->level[i];
        bool seen = l->every || l->newest.told || l->failures;
        for (int k = 0; k < TOP_PENDING; k++)
            seen |= l->pending[k].told > 0;
        if (seen)
            draw_level(page, t, i, now);
    }
}

/* Prints words, as many on a line as fit; returns the number of lines. */
static int draw_words(struct top_page *page, const char *text, int room)
{
    char copy[400], part[400] = "", *rest = copy;
    int lines = 0, width = (page->columns ? page->columns : WRAP) - 13;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word; lines < room && (word = strsep(&rest, " "));) {
        if (part[0] && (int)(strlen(part) + strlen(word)) >= width) {
            line(page, false, "             %s", part);
            part[0] = 0;
            lines++;
        }
        size_t used = strlen(part);
        snprintf(part + used, sizeof part - used, "%s%s", used ? " " : "", word);
    }
    if (part[0] && lines < room) {
        line(page, false, "             %s", part);
        lines++;
    }
    return lines;
}

/* Newest first, as far as there is room. */
static void draw_failures(struct top_page *page, const struct top *t, int room)
{
    long n = t->failures < TOP_FAILURES ? t->failures : TOP_FAILURES;
    put(page, false, "");
    line(page, true, "%10s   %s", "AT", "FAILURES, newest first (phases in ms)");
    if (!n)
        line(page, false, "%10s   none", "-");
    for (long i = 0; i < n && room > 0; i++) {
        const struct top_failure *f = &t->failure[(t->failures - 1 - i) % TOP_FAILURES];
        line(page, false, "%8.3f s   %s", f->t - t->sums.begin, f->text);
        room--;
        if (f->phases[0])
            room -= draw_words(page, f->phases, room);
    }
}

static void draw_rank(struct top_page *page, const struct top *t, int i, double now)
{
    const struct top_rank *rank = &t->rank[i];
    char since[32], pid[32] = "-";
    report_duration(since, sizeof since, rank->since > 0 ? fmax(0, now - rank->since) : -1);
    if (rank->pid)
        snprintf(pid, sizeof pid, "%ld", rank->pid);
    line(page, false, "%6d  %-11s %8s  %8s  %.64s", i, state_name[rank->state], since, pid,
         !rank->pid      ? "-"
         : rank->node[0] ? rank->node
                         : "?");
}

/* All ranks, in order; if they do not fit, those that are not running come first. */
static void draw_ranks(struct top_page *page, const struct top *t, double now, int room)
{
    int n = shown_ranks(t), drawn = 0, of[TOP_STATES];
    bool all = n <= room;
    put(page, false, "");
    line(page, true, "%6s  %-11s %8s  %8s  %s", "RANK", "STATE", "SINCE", "PROCESS", "NODE");
    if (!all)
        room--;
    count(t, of);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n && drawn < room; i++)
            if (all ? pass == 0 : (t->rank[i].state == TOP_PLAYING) == pass) {
                of[t->rank[i].state]--;
                draw_rank(page, t, i, now);
                drawn++;
            }
    if (all)
        return;
    char text[400];
    int used = snprintf(text, sizeof text, "and %d more:", n - drawn);
    for (int i = 0; i < TOP_STATES; i++)
        if (of[i])
            used +=
                snprintf(text + used, sizeof text - (size_t)used, " %d %s", of[i], state_name[i]);
    put(page, false, text);
}

void top_draw(struct top_page *page, const struct top *t, double now)
{
    top_draw_head(page, t, now);
    draw_levels(page, t, now);
    if (!page->rows) {
        draw_ranks(page, t, now, PLAIN_RANKS);
        draw_failures(page, t, TOP_FAILURES * 8);
        return;
    }
    int left = page->rows - page->used - 4, ranks = shown_ranks(t); /* two headings */
    int failures = left / 2 > left - ranks ? left / 2 : left - ranks;
    draw_ranks(page, t, now, left > failures ? left - failures : 0);
    draw_failures(page, t, failures > 0 ? failures : 0);
}
