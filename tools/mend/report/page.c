/* The page: one file, no network, no script. Readable on a phone, printable. */
#include "report.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

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
    ".tiles{display:grid;grid-template-columns:repeat(4,1fr);gap:10px;margin:"
    "14px 0}"
    ".tile{border:1px solid var(--line);border-radius:8px;padding:10px 12px}.tile "
    "b{display:block;font-size:1.35em}"
    ".tile "
    "span{color:var(--dim);font-size:.86em}svg{display:block;width:100%;height:auto;margin:8px 0}"
    ".wide{overflow-x:auto}.wide "
    "svg{min-width:620px}table{border-collapse:collapse;width:100%;font-size:.94em}"
    "th,td{text-align:left;padding:4px 8px;border-bottom:1px solid "
    "var(--line)}th{color:var(--dim);font-weight:600}#failures td:nth-child(-n+2),#time "
    "td:nth-child(n+2){white-space:nowrap}"
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
    ".key.down{background:var(--paper);border:1px dashed var(--dim)}"
    ".legend{list-style:none;padding:0;margin:4px 0;display:flex;flex-wrap:wrap;gap:4px "
    "16px;font-size:.88em;color:var(--dim)}"
    ".verdict{font-size:1.12em;margin:.6em 0 1em}.small{font-size:.88em;color:var(--dim)}"
    "a{color:var(--memory)}footer{margin-top:2.4em;color:var(--dim);font-size:.86em}"
    "@media(max-width:560px){body{padding:12px;font-size:15px}.tiles{grid-template-columns:"
    "repeat(2,1fr)}th,td{padding:4px}.wide "
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

/* Only what this job's timeline has. */
static void legend(FILE *out, const struct report *r, const struct report_sums *sums,
                   const struct report_places *places)
{
    enum { NAMED = 16 };
    const struct {
        const char *colour, *level, *name;
        bool shown;
    } entry[] = {
        {"work", NULL, "work", true},
        {"memory", "memory", "version in memory", false},
        {"local", "local", "local", false},
        {"erasure", "erasure", "erasure", false},
        {"disk", "global", "global", false},
        {"recover", NULL, "recovery", sums->recoveries > 0},
        {"down", NULL, "torn down", sums->relaunches > 0},
        {"faultdot", NULL, "fault", sums->recoveries + sums->relaunches > 0},
    };
    fputs("<ul class='legend'>", out);
    for (size_t k = 0; k < sizeof entry / sizeof *entry; k++) {
        bool shown = entry[k].shown;
        for (int i = 0; i < r->saves && entry[k].level && !shown; i++)
            shown = strcmp(r->save[i].level, entry[k].level) == 0;
        if (shown)
            fprintf(out, "<li><span class='key %s'></span>%s</li>", entry[k].colour, entry[k].name);
    }
    for (int i = 0; places->nodes > 1 && i < places->nodes && i < NAMED; i++) {
        fprintf(out, "<li><span class='key' style='background:%s;height:.3em'></span>",
                report_node_colour(i));
        report_text(out, places->node[i]);
        fputs("</li>", out);
    }
    if (places->nodes > NAMED)
        fprintf(out, "<li>… %d nodes in all</li>", places->nodes);
    fputs("</ul>", out);
}

static void level(FILE *out, const struct report *r, const char *name)
{
    int n = 0, failed = 0;
    double bytes = 0, moved = 0, seconds = 0;
    mend_version_t newest = 0;
    char text[32];
    for (int i = 0; i < r->saves; i++) {
        const struct report_save *s = &r->save[i];
        if (strcmp(s->level, name) != 0)
            continue;
        failed += s->failed;
        if (s->failed)
            continue;
        n++;
        bytes += s->bytes;
        moved += s->moved;
        seconds += s->seconds;
        if (s->version > newest)
            newest = s->version;
    }
    if (n + failed == 0)
        return;
    fprintf(out, "<tr><td>%s</td><td>%ld</td><td>%d</td><td>%d</td><td>", name, newest, n, failed);
    report_amount(text, sizeof text, n ? bytes / n : 0, "</td><td>");
    fputs(text, out);
    report_amount(text, sizeof text, n ? moved / n : 0, "</td><td>");
    fputs(text, out);
    report_put_duration(out, n ? seconds / n : -1);
    report_amount(text, sizeof text, seconds > 0 ? moved / seconds : 0, "/s");
    fprintf(out, "</td><td>%s</td></tr>", seconds > 0 && moved > 0 ? text : "-");
}

static void levels(FILE *out, const struct report *r)
{
    static const char *const names[] = {"memory", "partner", "local", "erasure", "global"};
    fputs("<section id='versions'><h2>Versions and levels</h2><div class='wide'><table><tr>"
          "<th>level</th><th>newest version</th><th>parts saved</th><th>failed</th><th>size of a "
          "part</th><th>moved</th><th>time</th><th>rate of a rank</th></tr>",
          out);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        level(out, r, names[k]);
    fputs("</table></div>", out);
    int given_up = 0;
    for (int i = 0; i < r->marks; i++)
        given_up += strcmp(r->mark[i].what, "given up") == 0;
    if (given_up)
        fprintf(out,
                "<p>%d checkpoint%s given up, because the ranks did not come to rest in time or a "
                "rank died: checkpoint.given_up in events.jsonl says which.</p>",
                given_up, given_up == 1 ? " was" : "s were");
    fputs("<p class='small'>A part is what one rank saves of a version. Sizes, times and rates are "
          "means. The levels partner and global are written beside the program where that is "
          "possible; the level memory is the pause of the program.</p></section>",
          out);
}

static void row(FILE *out, const char *name, double seconds)
{
    fprintf(out, "<tr><td>%s</td><td>", name);
    report_put_duration(out, seconds);
    fputs("</td></tr>", out);
}

/* Every interval that the planner chose. Returns the last, or what was asked for. */
static double planned(FILE *out, const struct report *r)
{
    enum { SHOWN = 12 };
    double last = r->every;
    int n = 0;
    for (int i = 0; i < r->marks; i++) {
        if (strcmp(r->mark[i].what, "interval") != 0)
            continue;
        last = r->mark[i].value;
        if (n++ >= SHOWN)
            continue;
        fputs("<tr><td>the planner's interval, chosen after ", out);
        report_put_duration(out, r->mark[i].t - r->begin);
        fputs("</td><td>", out);
        report_put_duration(out, last);
        fputs("</td></tr>", out);
    }
    if (n > SHOWN) {
        fprintf(out, "<tr><td>… and %d more choices; the last</td><td>", n - SHOWN);
        report_put_duration(out, last);
        fputs("</td></tr>", out);
    }
    return last;
}

/* The intervals, and what the simplest formula gives (Young: sqrt(2 C M)). */
static void costs(FILE *out, const struct report *r, const struct report_sums *s)
{
    double failures = s->recoveries + (r->launches > 1 ? r->launches - 1 : 0);
    double mtbf = failures > 0 ? s->seconds / failures : 0;
    double gone = s->saving + s->recovering + s->lost + s->down;
    fputs("<section id='costs'><h2>Costs compared with the plan</h2><table>", out);
    double asked = planned(out, r);
    if (!r->automatic && asked > 0)
        row(out, "requested interval", asked);
    if (s->versions > 0)
        row(out, "observed interval (time over versions)", s->seconds / s->versions);
    row(out, "a save stops the job for", s->save_mean);
    if (s->recoveries)
        row(out, "a recovery in place takes", s->recovery_mean);
    if (mtbf > 0)
        row(out, "mean time between failures, observed", mtbf);
    if (mtbf > 0 && s->save_mean > 0)
        row(out, "best interval for that (Young's formula)", sqrt(2 * s->save_mean * mtbf));
    fprintf(out, "<tr><td>time not spent on work</td><td>%.2f %%</td></tr></table></section>",
            s->seconds > 0 ? 100 * gone / s->seconds : 0);
}

static void put_address(FILE *out, const char *path)
{
    for (const unsigned char *c = (const unsigned char *)path; *c; c++)
        if (isalnum(*c) || strchr("/._-", *c))
            fputc(*c, out);
        else
            fprintf(out, "%%%02X", *c);
}

static void files(FILE *out, const struct report *r)
{
    static const char *const file[][2] = {
        {"output/", "what each rank printed, a file a rank"},
        {"events.jsonl", "every event, a line each"},
        {"job.json", "how the job was started, and how it is"},
        {"run.out", "what mend run printed"},
        {"run.err", "what mend run reported"},
    };
    if (!r->files)
        return;
    fputs("<section id='files'><h2>Files</h2><table>", out);
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        char path[4400];
        snprintf(path, sizeof path, "%s/%s", r->dir, file[i][0]);
        if (access(path, F_OK))
            continue;
        fputs("<tr><td><a href='", out);
        put_address(out, r->files);
        fprintf(out, "%s'>%s</a></td><td>%s</td></tr>", file[i][0], file[i][0], file[i][1]);
    }
    fputs("</table></section>", out);
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
    report_head(out, r, &s);
    fputs("<section id='timeline'><h2>Ranks over time</h2><div class='wide'>", out);
    struct report_places places;
    report_places(&places, r);
    report_timeline(out, r, &places);
    fputs("</div>", out);
    legend(out, r, &s, &places);
    report_places_free(&places);
    fputs("</section><section id='time'><h2>Where the time went</h2>", out);
    report_time_bar(out, r);
    fputs("</section>", out);
    report_cores(out, r, &s);
    fputs("<section id='recoveries'><h2>Recoveries and their phases</h2>", out);
    report_phases(out, r);
    fputs("</section>", out);
    levels(out, r);
    costs(out, r, &s);
    report_hindsight(out, r, &s);
    report_failures(out, r);
    files(out, r);
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
