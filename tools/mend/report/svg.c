/* Bars that are divided: where the time went, and the phases of each recovery. Plain SVG, sized by its box. */
#include "report.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 1000 };

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
        fprintf(out, "<rect class='%s' x='%.1f' y='4' width='%.2f' height='36'><title>%s ",
                part[i].class, x, w, part[i].name);
        report_put_duration(out, part[i].seconds);
        fputs("</title></rect>", out);
        x += w;
    }
    fputs("</svg><table><tr><th>part</th><th>time</th><th>share</th></tr>", out);
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        fprintf(out, "<tr><td><span class='key %s'></span>%s</td><td>", part[i].class,
                part[i].name);
        report_put_duration(out, part[i].seconds);
        fprintf(out, "</td><td>%.2f %%</td></tr>", 100 * part[i].seconds / whole);
    }
    fputs("</table>", out);
}

/* What the ranks do in a recovery. The same phase has the same colour in every recovery, and no other phase has it. */
static const struct phase {
    const char *name, *colour, *what;
} known[] = {
    {"revoke", "#4c78a8", "all ranks are told"},
    {"threads", "#f58518", "the program's threads end"},
    {"requests", "#54a24b", "pending requests are completed"},
    {"shrink", "#e45756", "all arrive, and the dead leave the communicator"},
    {"join", "#3f7f93", "new processes join"},
    {"plan", "#72b7b2", "who becomes which rank, and from which version"},
    {"flush", "#b279a2", "until no old message can arrive any more"},
    {"world", "#eeca3b", "the new communicator"},
    {"images", "#9d755d", "checkpoints are sent to those that lack theirs"},
    {"files", "#7f6bb5", "files are put back"},
    {"load", "#ff9da6", "memory is put back"},
    {"agree", "#1f6f50", "all ranks agree that it worked"},
    {"rebind", "#a0cbe8", "communicators, types and requests are made again"},
    {"barrier", "#5b6776", "all ranks continue together"},
};

static const struct phase *phase_named(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0)
            return &known[i];
    return NULL;
}

static const char *phase_colour(const char *name)
{
    const struct phase *phase = phase_named(name);
    return phase ? phase->colour : "#bab0ac";
}

/* The next NAME=MILLISECONDS of a text, which this cuts into words; NULL: no more. */
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

/* seen: which of the known phases there were. */
static void one_recovery(FILE *out, const struct report *r, const struct report_recovery *v,
                         bool *seen)
{
    char text[sizeof v->phases], *rest = strcpy(text, v->phases);
    double sum = 0, x = 0, ms;
    fputs("<h3>after ", out);
    report_put_duration(out, v->t - v->seconds - r->begin);
    fputs(": ", out);
    report_text(out, v->how);
    report_put_version(out, v->version);
    fputs(" in ", out);
    report_put_duration(out, v->seconds);
    fputs("</h3>", out);
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
        const struct phase *phase = phase_named(name);
        if (phase)
            seen[phase - known] = true;
    }
    fputs("</ul>", out);
}

/* One bar per recovery, divided into its phases. */
void report_phases(FILE *out, const struct report *r)
{
    static int whole[1000];
    bool seen[sizeof known / sizeof *known] = {false}, any = false;
    int n = report_whole_recoveries(r, whole, 1000);
    for (int i = 0; i < n; i++)
        one_recovery(out, r, &r->recovery[whole[i]], seen);
    if (!n)
        fputs("<p>No recovery took place.</p>", out);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!seen[i])
            continue;
        fprintf(out, "%s<b>%s</b> %s", any ? "; " : "<p class='small'>The slowest rank of each. ",
                known[i].name, known[i].what);
        any = true;
    }
    fputs(any ? ".</p>" : "", out);
}
