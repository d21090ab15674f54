/* The page: one file, no network, no script. Readable on a phone, printable. */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char style[] =
    ":root{--ink:#1b2430;--dim:#5b6776;--paper:#fff;--line:#dde3ea;--work:#dfe7ef;--memory:#2f7ed8;"
    "--disk:#0f4c91;--local:#3aa17e;--erasure:#8a5cc4;--recover:#e8871e;--fault:#c8202f;--lost:#"
    "e9b8a0}"
    "*{box-sizing:border-box}body{margin:0 auto;max-width:1060px;padding:20px;color:var(--ink);"
    "background:var(--paper);font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif}"
    "h1{font-size:1.6em;margin:.2em 0}h2{font-size:1.2em;margin:1.8em 0 .4em;border-bottom:1px "
    "solid var(--line)}"
    "h3{font-size:1em;margin:1.1em 0 .2em;font-weight:600}p{margin:.3em "
    "0}code{font-size:.92em;word-break:break-all}"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(140px,1fr));gap:10px;margin:"
    "14px 0}"
    ".tile{border:1px solid var(--line);border-radius:8px;padding:10px 12px}.tile "
    "b{display:block;font-size:1.35em}"
    ".tile "
    "span{color:var(--dim);font-size:.86em}svg{display:block;width:100%;height:auto;margin:8px 0}"
    ".wide{overflow-x:auto}.wide "
    "svg{min-width:620px}table{border-collapse:collapse;width:100%;font-size:.94em}"
    "th,td{text-align:left;padding:4px 8px;border-bottom:1px solid "
    "var(--line)}th{color:var(--dim);font-weight:600}#failures td:first-child{white-space:nowrap}"
    ".tick{font-size:12px;fill:var(--dim)}.grid{stroke:var(--line)}.work{fill:var(--work);"
    "background:var(--work)}"
    ".local{fill:var(--local);background:var(--local)}.erasure{fill:var(--erasure);background:"
    "var(--erasure)}"
    ".memory{fill:var(--memory);background:var(--memory)}.disk{fill:var(--disk);background:var(--"
    "disk)}"
    ".recover{fill:var(--recover);background:var(--recover)}.lost{fill:var(--lost);background:var(-"
    "-lost)}"
    ".down{fill:var(--paper);background:var(--line);stroke:var(--dim);stroke-dasharray:2 3}"
    ".bad{fill:var(--fault);background:var(--fault)}.fault{stroke:var(--fault);stroke-width:2}"
    ".faultdot{fill:var(--fault);background:var(--fault)}.launch{stroke:var(--ink);stroke-"
    "dasharray:5 4}"
    ".key{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.45em}"
    ".legend{list-style:none;padding:0;margin:4px 0;display:flex;flex-wrap:wrap;gap:4px "
    "16px;font-size:.88em;color:var(--dim)}"
    "footer{margin-top:2.4em;color:var(--dim);font-size:.86em}"
    "@media(max-width:560px){body{padding:12px;font-size:15px}th,td{padding:4px}.wide "
    "svg{min-width:0}.tick{font-size:22px}}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6ebf1;--dim:#9aa7b5;--paper:#12181f;--line:#"
    "2b3640;--work:#2a3846}}"
    "@media "
    "print{:root{--ink:#000;--paper:#fff;--line:#ccc;--work:#e3e9ef;--dim:#444}body{max-width:none;"
    "padding:0;font-size:11pt}"
    "section{break-inside:avoid}.wide{overflow:visible}.wide "
    "svg{min-width:0}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}";

void report_text(FILE *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        case '\'': fputs("&#39;", out); break;
        case '"': fputs("&quot;", out); break;
        default:
            if ((unsigned char)*text >= 0x20)
                fputc(*text, out);
        }
}

static void tile(FILE *out, const char *value, const char *name)
{
    fprintf(out, "<div class='tile'><b>%s</b><span>%s</span></div>", value, name);
}

static void head(FILE *out, const struct report *r, const struct report_sums *s)
{
    char text[96], when[64];
    time_t begin = (time_t)r->begin;
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime(&begin));
    fputs("<section id='summary'><h1>", out);
    report_text(out, r->program[0] ? r->program : r->dir);
    fprintf(out, "</h1><p>%d rank%s, %d spare%s, ", r->ranks, r->ranks == 1 ? "" : "s", r->spares,
            r->spares == 1 ? "" : "s");
    report_text(out, r->mpi[0] ? r->mpi : "MPI");
    fprintf(out, "; begun %s; ", when);
    report_text(out, r->state[0] ? r->state : r->ended ? "ended" : "not ended yet");
    fprintf(out, ".</p><div class='tiles'>");
    snprintf(text, sizeof text, "%.2f s", s->seconds);
    tile(out, text, "from the first to the last event");
    snprintf(text, sizeof text, "%d", s->recoveries);
    tile(out, text,
         s->recoveries == 1 ? "failure survived in place" : "failures survived in place");
    snprintf(text, sizeof text, "%d", s->relaunches);
    tile(out, text,
         s->relaunches == 1 ? "failure survived by relaunch" : "failures survived by relaunch");
    snprintf(text, sizeof text, "%.0f ms", 1e3 * s->recovery_longest);
    tile(out, text, "longest recovery");
    snprintf(text, sizeof text, "%d", s->versions);
    tile(out, text, s->versions == 1 ? "version" : "versions");
    snprintf(text, sizeof text, "%.1f MiB", s->bytes_mean / 1048576);
    tile(out, text, "per rank and version");
    snprintf(text, sizeof text, "%d", r->launches);
    tile(out, text, r->launches == 1 ? "launch" : "launches");
    fputs("</div></section>", out);
}

static void levels(FILE *out, const struct report *r)
{
    static const char *const names[] = {"memory", "local", "partner", "erasure", "global"};
    fputs("<section id='versions'><h2>Versions and levels</h2><table><tr><th>level</th><th>parts "
          "saved</th>"
          "<th>failed</th><th>newest</th><th>mean size</th><th>mean time</th></tr>",
          out);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        int n = 0, failed = 0;
        double bytes = 0, seconds = 0;
        mend_version_t newest = 0;
        for (int i = 0; i < r->saves; i++) {
            const struct report_save *s = &r->save[i];
            if (strcmp(s->level, names[k]) != 0)
                continue;
            failed += s->failed;
            n += !s->failed;
            bytes += s->failed ? 0 : s->bytes;
            seconds += s->failed ? 0 : s->seconds;
            if (!s->failed && s->version > newest)
                newest = s->version;
        }
        if (n + failed)
            fprintf(out,
                    "<tr><td>%s</td><td>%d</td><td>%d</td><td>%ld</td><td>%.2f MiB</td><td>%.2f "
                    "ms</td></tr>",
                    names[k], n, failed, newest, n ? bytes / n / 1048576 : 0,
                    n ? 1e3 * seconds / n : 0);
    }
    fputs("</table></section>", out);
}

/* What the intervals were, and what the simplest formula says of them (Young: sqrt(2 C M)). */
static void costs(FILE *out, const struct report *r, const struct report_sums *s)
{
    double failures = s->recoveries + (r->launches > 1 ? r->launches - 1 : 0);
    double mtbf = failures > 0 ? s->seconds / failures : 0;
    double measured = s->versions > 0 ? s->seconds / s->versions : 0;
    double planned = r->every,
           young = mtbf > 0 && s->save_mean > 0 ? sqrt(2 * s->save_mean * mtbf) : 0;
    for (int i = 0; i < r->marks; i++)
        if (strcmp(r->mark[i].what, "interval") == 0)
            planned = r->mark[i].value;
    fputs("<section id='costs'><h2>Costs compared with the plan</h2><table>", out);
    fprintf(out, "<tr><td>requested interval%s</td><td>%.3g s</td></tr>",
            r->automatic ? " (auto: the planner's last)" : "", planned);
    for (int i = 0, n = 0; i < r->marks && n < 12; i++)
        if (strcmp(r->mark[i].what, "interval") == 0)
            fprintf(out, "<tr><td>planned again (%d) at %.1f s</td><td>%.3g s</td></tr>", ++n,
                    r->mark[i].t - r->begin, r->mark[i].value);
    fprintf(out, "<tr><td>observed interval (time over versions)</td><td>%.3g s</td></tr>",
            measured);
    fprintf(out, "<tr><td>a save stops the job for</td><td>%.2f ms</td></tr>", 1e3 * s->save_mean);
    fprintf(out, "<tr><td>a recovery takes</td><td>%.1f ms</td></tr>", 1e3 * s->recovery_mean);
    if (mtbf > 0)
        fprintf(out, "<tr><td>mean time between failures, observed</td><td>%.3g s</td></tr>", mtbf);
    if (young > 0)
        fprintf(out, "<tr><td>best interval for that (Young)</td><td>%.3g s</td></tr>", young);
    fprintf(out, "<tr><td>time not spent on work</td><td>%.2f %%</td></tr></table></section>",
            s->seconds > 0 ? 100 * (s->saving + s->recovering + s->lost + s->down) / s->seconds
                           : 0);
}

/* Who played the rank before mark i, in the same launch; 0: nobody. */
static long player_before(const struct report *r, int i)
{
    for (int j = i - 1; j >= 0 && strcmp(r->mark[j].what, "launch") != 0; j--)
        if (strcmp(r->mark[j].what, "playing") == 0 && r->mark[j].rank == r->mark[i].rank)
            return (long)r->mark[j].value;
    return 0;
}

struct row { /* of the table of failures */
    double t;
    char text[240];
};

static int by_time(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return (x->t > y->t) - (x->t < y->t);
}

/* When the process that mark i replaces died: as mend chaos says, or when its death was noticed; else when it was
 * replaced. */
static double death_before(const struct report *r, int i, long pid)
{
    char mark[32];
    snprintf(mark, sizeof mark, "(pid %ld)", pid);
    for (int k = r->faults; k-- > 0;)
        if (!r->fault[k].noticed && r->fault[k].t <= r->mark[i].t && strstr(r->fault[k].what, mark))
            return r->fault[k].t;
    double noticed = r->mark[i].t;
    for (int k = 0; k < r->recoveries; k++) {
        double from = r->recovery[k].t - r->recovery[k].seconds;
        if (from <= r->mark[i].t && r->mark[i].t <= r->recovery[k].t && from < noticed)
            noticed = from;
    }
    return noticed;
}

static int rows_of(const struct report *r, struct row *row, int most)
{
    int n = 0;
    for (int i = 0; i < r->faults && n < most; i++, n++) {
        row[n].t = r->fault[i].t;
        if (r->fault[i].noticed)
            snprintf(row[n].text, sizeof row[n].text, "rank %d: %s", r->fault[i].rank,
                     r->fault[i].what);
        else
            snprintf(row[n].text, sizeof row[n].text, "%s", r->fault[i].what);
    }
    for (int i = 0; i < r->marks && n < most; i++) {
        long now = (long)r->mark[i].value;
        long before = strcmp(r->mark[i].what, "playing") == 0 ? player_before(r, i) : 0;
        if (!before || before == now)
            continue;
        row[n].t = death_before(r, i, before);
        snprintf(row[n].text, sizeof row[n].text,
                 "rank %d: process %ld is gone, process %ld replaces it %.3f s later",
                 r->mark[i].rank, before, now, r->mark[i].t - row[n].t);
        n++;
    }
    for (int i = 0; i < r->relaunches && n < most; i++, n++) {
        const struct report_relaunch *l = &r->relaunch[i];
        const char *what = l->stopped ? "ended" : "torn down";
        row[n].t = l->t;
        if (l->up > 0 && l->version > 0)
            snprintf(row[n].text, sizeof row[n].text,
                     "the job was %s; relaunched, it works again from version %ld %.3f s later",
                     what, l->version, l->up - l->t);
        else
            snprintf(row[n].text, sizeof row[n].text, "the job was %s%s", what,
                     l->up > 0 ? "; relaunched, it starts from the beginning" : "");
    }
    return n;
}

static void failures(FILE *out, const struct report *r)
{
    enum { MOST = 1000 };
    static struct row row[MOST];
    int n = rows_of(r, row, MOST);
    qsort(row, (size_t)n, sizeof *row, by_time);
    fputs("<section id='failures'><h2>Failures</h2><table><tr><th>time</th><th>what</th></tr>",
          out);
    for (int i = 0; i < n; i++) {
        fprintf(out, "<tr><td>%.3f s</td><td>", row[i].t - r->begin);
        report_text(out, row[i].text);
        fputs("</td></tr>", out);
    }
    fputs(n ? "</table></section>" : "<tr><td>-</td><td>none</td></tr></table></section>", out);
    if (n == MOST)
        fprintf(out, "<p>Only the first %d are shown.</p>", n);
}

void report_page(FILE *out, const struct report *r)
{
    struct report_sums s = report_sum(r);
    fputs("<!doctype html><html lang='en'><head><meta charset='utf-8'>"
          "<meta name='viewport' content='width=device-width,initial-scale=1'>",
          out);
    fputs(r->live ? "<meta http-equiv='refresh' content='5'><title>Mend: " : "<title>Mend: ", out);
    report_text(out, r->program[0] ? r->program : r->dir);
    fprintf(out, "</title><style>%s</style></head><body>", style);
    head(out, r, &s);
    fputs("<section id='timeline'><h2>Ranks over time</h2><div class='wide'>", out);
    report_timeline(out, r);
    fputs("</div><ul class='legend'><li><span class='key work'></span>work</li><li><span "
          "class='key memory'></span>"
          "version in memory</li><li><span class='key disk'></span>global</li><li><span class='key "
          "local'></span>local</li><li><span class='key "
          "erasure'></span>erasure</li><li><span "
          "class='key recover'>"
          "</span>recovery</li><li><span class='key down'></span>torn down</li><li><span "
          "class='key faultdot'></span>fault</li></ul></section>"
          "<section id='time'><h2>Where the time went</h2>",
          out);
    report_time_bar(out, r);
    fputs("</section>", out);
    report_cores(out, r, &s);
    fputs("<section id='recoveries'><h2>Recoveries and their phases</h2>", out);
    report_phases(out, r);
    fputs("</section>", out);
    levels(out, r);
    costs(out, r, &s);
    report_hindsight(out, r, &s);
    failures(out, r);
    fprintf(out, "<footer>Made by mend report from %d events", r->lines);
    if (r->bad_lines)
        fprintf(out, " (%d lines could not be read)", r->bad_lines);
    fputs(" of ", out);
    report_text(out, r->dir);
    fputs(".</footer></body></html>\n", out);
}

void report_json(FILE *out, const struct report *r)
{
    struct report_sums s = report_sum(r);
    struct report_cores c = report_core_hours(r, &s);
    fprintf(
        out,
        "{\"mend\":1,\"ranks\":%d,\"spares\":%d,\"seconds\":%.6f,\"versions\":%d,\"recoveries\":%d,"
        "\"saving\":%.6f,\"recovering\":%.6f,\"lost\":%.6f,\"save_mean\":%.6f,\"recovery_mean\":%."
        "6f,"
        "\"recovery_longest\":%.6f,\"launches\":%d,\"relaunches\":%d,\"down\":%.6f,\"events\":%d,"
        "\"core_hours\":{\"paid\":%.9f,\"worked\":%.9f,\"lost\":%.9f,\"ready\":%.9f,"
        "\"again\":%.9f,\"saved\":%.9f}}\n",
        r->ranks, r->spares, s.seconds, s.versions, s.recoveries, s.saving, s.recovering, s.lost,
        s.save_mean, s.recovery_mean, s.recovery_longest, r->launches, s.relaunches, s.down,
        r->lines, c.paid, c.worked, c.lost, c.ready, c.again, c.saved);
}
