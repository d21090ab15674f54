/* Read events and job description into plain arrays. Trusts nothing: it counts and skips lines that do not parse,
 * or whose numbers cannot be those of a job. */
#include "jobfile.h"
#include "report.h"

#include <base/fail.h>
#include <base/io.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const json_t *e, const char *key)
{
    const char *s = json_string_value(json_object_get(e, key));
    return s ? s : "";
}

static double number_of(const json_t *e, const char *key)
{
    return json_number_value(json_object_get(e, key));
}

/* Numbers that a job can have; everything computed from them later is finite and fits its type. */
static bool plausible(const json_t *e)
{
    static const struct {
        const char *key;
        double least, most;
    } bound[] = {{"t", 0, 1e11},
                 {"rank", -1, REPORT_RANKS - 1},
                 {"ranks", 0, REPORT_RANKS},
                 {"spares", 0, REPORT_RANKS},
                 {"seconds", 0, 1e11},
                 {"pause", 0, 1e11},
                 {"sent", 0, 1e18},
                 {"since_detection", 0, 1e11},
                 {"every", 0, 1e11},
                 {"version", -1, 1e15},
                 {"bytes", 0, 1e18},
                 {"pid", 0, 1e15},
                 {"launch", 0, 1e9},
                 {"code", -1e9, 1e9}};
    for (size_t i = 0; i < sizeof bound / sizeof *bound; i++) {
        double value = number_of(e, bound[i].key);
        if (!(value >= bound[i].least && value <= bound[i].most))
            return false;
    }
    return true;
}

/* One more element of an array that doubles; NULL: no memory. */
static void *more(void *array, int *count, size_t size)
{
    void **base = array;
    if ((*count & (*count - 1)) == 0) {
        void *grown = realloc(*base, (size_t)(*count ? 2 * *count : 1) * size);
        if (!grown)
            return NULL;
        *base = grown;
    }
    void *element = (char *)*base + (size_t)*count * size;
    memset(element, 0, size);
    ++*count;
    return element;
}

/* A job that relaunches has one event for all ranks: its pause is what the program waited for, and its bytes are of all. */
static void note_save(struct report *r, const json_t *e, double t, int rank, bool failed)
{
    struct report_save *s = more(&r->save, &r->saves, sizeof *s);
    double ranks = number_of(e, "ranks"), sent = number_of(e, "sent");
    if (!s)
        return;
    s->t = t;
    s->rank = ranks > 0 ? -1 : rank;
    s->seconds = number_of(e, json_object_get(e, "pause") ? "pause" : "seconds");
    s->version = (mend_version_t)number_of(e, "version");
    s->bytes = number_of(e, "bytes") / (ranks > 0 ? ranks : 1);
    s->moved = json_object_get(e, "sent") && sent < s->bytes ? sent : s->bytes;
    s->failed = failed;
    snprintf(s->level, sizeof s->level, "%s",
             text_of(e, "level")[0] ? text_of(e, "level") : "global");
    s->stops = !failed && (strcmp(s->level, "memory") == 0 || json_object_get(e, "pause"));
}

static void note_fault(struct report *r, const json_t *e, double t, int rank, bool noticed)
{
    struct report_fault *f = more(&r->fault, &r->faults, sizeof *f);
    if (!f)
        return;
    f->t = t;
    f->rank = rank;
    f->noticed = noticed;
    if (noticed)
        snprintf(f->what, sizeof f->what, "noticed in MPI_%.100s", text_of(e, "call"));
    else if (strcmp(text_of(e, "event"), "launch.lost") == 0)
        snprintf(f->what, sizeof f->what, "node %.60s is lost, with %.0f processes: %.60s",
                 text_of(e, "host"), number_of(e, "processes"), text_of(e, "how"));
    else if (strcmp(text_of(e, "event"), "run.crash") == 0)
        snprintf(f->what, sizeof f->what, "rank %.0f crashed by its own error (signal %.0f)",
                 number_of(e, "of"), number_of(e, "signal"));
    else
        snprintf(f->what, sizeof f->what, "%.20s %.80s: %.40s", text_of(e, "kind"),
                 text_of(e, "hit"), text_of(e, "result"));
}

static void note_recovery(struct report *r, const json_t *e, double t, int rank)
{
    bool process = strcmp(text_of(e, "event"), "process.resume") == 0;
    if (strcmp(text_of(e, "how"), "waiting") == 0)
        return;
    struct report_recovery *v = more(&r->recovery, &r->recoveries, sizeof *v);
    if (!v)
        return;
    v->t = t;
    v->rank = rank;
    v->seconds = number_of(e, process ? "since_detection" : "seconds");
    v->version = process ? -1 : (mend_version_t)number_of(e, "version");
    snprintf(v->how, sizeof v->how, "%s", process ? "resumed" : text_of(e, "how"));
    snprintf(v->phases, sizeof v->phases, "%s", text_of(e, "phases"));
}

static struct report_mark *note_mark(struct report *r, const char *what, double t, int rank,
                                     double value)
{
    struct report_mark *m = more(&r->mark, &r->marks, sizeof *m);
    if (!m)
        return NULL;
    m->t = t;
    m->rank = rank;
    m->value = value;
    snprintf(m->what, sizeof m->what, "%s", what);
    return m;
}

/* A process is this rank from now on. */
static void note_playing(struct report *r, const json_t *e, double t, int rank)
{
    struct report_mark *m = note_mark(r, "playing", t, rank, number_of(e, "pid"));
    if (m)
        snprintf(m->host, sizeof m->host, "%.63s", text_of(e, "host"));
}

/* If no event reports a tear-down (the launcher killed mend run's job, or the log is older), it counts as happening at
 * the last event before the next launch. */
static void note_torn(struct report *r, double t, bool stopped)
{
    struct report_relaunch *l = r->relaunches ? &r->relaunch[r->relaunches - 1] : NULL;
    if (l && l->up == 0)
        return; /* torn down again before it came to work */
    l = more(&r->relaunch, &r->relaunches, sizeof *l);
    if (!l)
        return;
    l->t = t;
    l->stopped = stopped;
}

static void note_up(struct report *r, double t, mend_version_t version)
{
    struct report_relaunch *l = r->relaunches ? &r->relaunch[r->relaunches - 1] : NULL;
    if (!l || l->up > 0)
        return;
    l->up = t;
    l->version = version;
}

static void note(struct report *r, const json_t *e)
{
    const char *name = text_of(e, "event");
    double t = number_of(e, "t");
    int rank = (int)json_integer_value(json_object_get(e, "rank"));
    if (!(t > 0))
        return;
    if (r->begin == 0 || t < r->begin)
        r->begin = t;
    if (t > r->end)
        r->end = t;
    if (strcmp(name, "checkpoint.commit") == 0 || strcmp(name, "store.commit") == 0 ||
        strcmp(name, "capsule.saved") == 0)
        note_save(r, e, t, rank, false);
    else if (strcmp(name, "checkpoint.failed") == 0 || strcmp(name, "store.level_failed") == 0)
        note_save(r, e, t, rank, true);
    else if (strcmp(name, "chaos.fault") == 0 || strcmp(name, "launch.lost") == 0 ||
             strcmp(name, "run.crash") == 0)
        note_fault(r, e, t, rank, false);
    else if (strcmp(name, "process.detect") == 0 ||
             (strcmp(name, "recover.noticed") == 0 && strcmp(text_of(e, "how"), "failure") == 0))
        note_fault(r, e, t, rank, true);
    else if (strcmp(name, "recover.resumed") == 0 || strcmp(name, "process.resume") == 0)
        note_recovery(r, e, t, rank);
    else if (strcmp(name, "recover.playing") == 0) {
        note_playing(r, e, t, rank);
        note_up(r, t, (mend_version_t)number_of(e, "version"));
    } else if (strcmp(name, "recover.born") == 0 && rank >= 0)
        note_playing(r, e, t, rank); /* a rank that no spare can replace */
    else if (strcmp(name, "restart") == 0)
        note_up(r, t, (mend_version_t)number_of(e, "version"));
    else if (strcmp(name, "run.torn_down") == 0)
        note_torn(r, t, false);
    else if (strcmp(name, "plan.interval") == 0)
        note_mark(r, "interval", t, -1, number_of(e, "seconds"));
    else if (strcmp(name, "checkpoint.given_up") == 0)
        note_mark(r, "given up", t, -1, 0);
    else if (strcmp(name, "run.launch") == 0) {
        note_mark(r, "launch", t, -1, number_of(e, "launch"));
        if (r->launches)
            note_torn(r, r->last > 0 ? r->last : t, r->ended);
        r->ended = false;
        r->launches++;
        r->ranks = (int)number_of(e, "ranks");
        r->spares = (int)number_of(e, "spares");
        snprintf(r->mpi, sizeof r->mpi, "%s", text_of(e, "mpi"));
    } else if (strcmp(name, "run.end") == 0) {
        r->ended = true;
        r->code = (int)number_of(e, "code");
    }
    r->last = t;
    if (rank >= r->ranks)
        r->ranks = rank + 1;
    if (r->also)
        r->also(r->to, e);
}

void report_note_job(struct report *r, json_t *j)
{
    size_t used = 0;
    json_t *program = json_object_get(j, "program");
    for (size_t i = 0; i < json_array_size(program) && used < sizeof r->program - 1; i++) {
        const char *word = jobfile_text(json_array_get(program, i));
        used += (size_t)snprintf(r->program + used, sizeof r->program - used, "%s%s", i ? " " : "",
                                 word ? word : "?");
    }
    if (!plausible(j))
        return;
    snprintf(r->state, sizeof r->state, "%s", text_of(j, "state"));
    r->every = number_of(j, "every");
    r->automatic = json_is_true(json_object_get(j, "auto"));
    if (number_of(j, "ranks") > r->ranks)
        r->ranks = (int)number_of(j, "ranks");
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b; /* t is the first field of each */
    return (x > y) - (x < y);
}

static void sort_by_time(void *array, int count, size_t size)
{
    if (count)
        qsort(array, (size_t)count, size, by_time);
}

void report_note_events(struct report *r, char *text)
{
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        json_error_t error;
        if (!line[0])
            continue;
        r->lines++;
        json_t *e = json_loads(line, 0, &error);
        if (json_is_object(e) && plausible(e))
            note(r, e);
        else
            r->bad_lines++;
        json_decref(e);
    }
    sort_by_time(r->save, r->saves, sizeof *r->save);
    sort_by_time(r->fault, r->faults, sizeof *r->fault);
    sort_by_time(r->recovery, r->recoveries, sizeof *r->recovery);
    sort_by_time(r->mark, r->marks, sizeof *r->mark);
    sort_by_time(r->relaunch, r->relaunches, sizeof *r->relaunch);
}

int report_read(struct report *r, const char *dir)
{
    char path[4400], *text;
    size_t size;
    memset(r, 0, sizeof *r);
    snprintf(r->dir, sizeof r->dir, "%s", dir);
    snprintf(path, sizeof path, "%s/events.jsonl", dir);
    int rc = mend_io_read_file(path, (size_t)1 << 31, &text, &size);
    if (rc)
        return rc;
    report_note_events(r, text);
    free(text);
    if (r->end == 0) {
        report_free(r);
        return mend_fail(MEND_ERR_FORMAT, "%s has no events", path);
    }
    json_t *job;
    if (jobfile_read(dir, &job))
        return MEND_OK; /* the folder of a store without a job has none */
    report_note_job(r, job);
    json_decref(job);
    return MEND_OK;
}

void report_free(struct report *r)
{
    free(r->save);
    free(r->fault);
    free(r->recovery);
    free(r->mark);
    free(r->relaunch);
}

/* Entries of different ranks that overlap in time are one recovery. */
int report_whole_recoveries(const struct report *r, int *index, int room)
{
    int n = 0;
    double until = -1;
    for (int i = 0; i < r->recoveries; i++) {
        const struct report_recovery *v = &r->recovery[i];
        if (n && v->t - v->seconds <= until) {
            if (v->seconds > r->recovery[index[n - 1]].seconds)
                index[n - 1] = i;
        } else if (n < room) {
            index[n++] = i;
        }
        if (v->t > until)
            until = v->t;
    }
    return n;
}

double report_lost_since(const struct report *r, mend_version_t version, double noticed)
{
    double from = r->begin;
    for (int i = 0; i < r->saves && r->save[i].t < noticed; i++)
        if (r->save[i].version == version && !r->save[i].failed && r->save[i].version > 0)
            from = r->save[i].t;
    for (int i = 0; i < r->marks && r->mark[i].t < noticed; i++)
        if (strcmp(r->mark[i].what, "launch") == 0 && r->mark[i].t > from && version <= 0)
            from = r->mark[i].t;
    return noticed > from ? noticed - from : 0;
}

struct report_sums report_sum(const struct report *r)
{
    struct report_sums s = {.seconds = r->end - r->begin};
    enum { ROOM = 100000 };
    static int whole[ROOM];
    mend_version_t newest = 0;
    double longest = 0;
    int counted = 0;
    for (int i = 0; i < r->saves; i++) {
        const struct report_save *v = &r->save[i];
        if (!v->stops)
            continue;
        if (v->version != newest) {
            s.saving += longest;
            longest = 0;
            newest = v->version;
            s.versions++;
        }
        longest = fmax(longest, v->seconds);
        s.bytes_mean += v->bytes;
        counted++;
    }
    s.saving += longest;
    if (counted)
        s.bytes_mean /= counted;
    s.save_mean = s.versions ? s.saving / s.versions : 0;
    s.recoveries = report_whole_recoveries(r, whole, ROOM);
    for (int i = 0; i < s.recoveries; i++) {
        const struct report_recovery *v = &r->recovery[whole[i]];
        s.recovering += v->seconds;
        s.recovery_longest = fmax(s.recovery_longest, v->seconds);
        if (v->version >= 0)
            s.lost += report_lost_since(r, v->version, v->t - v->seconds);
    }
    for (int i = 0; i < r->relaunches; i++) {
        const struct report_relaunch *l = &r->relaunch[i];
        s.down += (l->up > l->t ? l->up : r->end) - l->t;
        s.relaunches += l->up > 0 && !l->stopped;
        if (l->up > 0)
            s.lost += report_lost_since(r, l->version, l->t);
    }
    s.recovery_mean = s.recoveries ? s.recovering / s.recoveries : 0;
    return s;
}
