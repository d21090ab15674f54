/* What an event says about the job. The reader of mend report (report/read.c) checks the lines and passes each event on;
 * this file checks whatever else it uses. Events mean the same as in run/follow/events.c. */
#include "top.h"

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

/* A number that is only shown. */
static long shown(const json_t *e, const char *key)
{
    double value = number_of(e, key);
    return value > -1e15 && value < 1e15 ? (long)value : -1;
}

static mend_version_t version_of(const json_t *e)
{
    return (mend_version_t)number_of(e, "version");
}

/* ---- what has failed ------------------------------------------------------------------------ */

static struct top_failure *add_failure(struct top *t, double at)
{
    struct top_failure *f = &t->failure[t->failures++ % TOP_FAILURES];
    memset(f, 0, sizeof *f);
    f->t = at;
    return f;
}

/* Several ranks may report the same. */
static void add_words(struct top *t, double at, const char *text)
{
    if (t->failures && strcmp(t->failure[(t->failures - 1) % TOP_FAILURES].text, text) == 0)
        return;
    snprintf(add_failure(t, at)->text, sizeof t->failure[0].text, "%s", text);
}

static struct top_failure *last_recovery(struct top *t)
{
    bool there = t->recovery >= 0 && t->failures - t->recovery <= TOP_FAILURES;
    return there ? &t->failure[t->recovery % TOP_FAILURES] : NULL;
}

/* ---- ranks ---------------------------------------------------------------------------------- */

/* NULL: it cannot be one of this job. */
static struct top_rank *rank_at(struct top *t, double number)
{
    if (!(number >= 0 && number < REPORT_RANKS))
        return NULL;
    int rank = (int)number, most = rank < t->sums.ranks ? t->sums.ranks : rank + 1;
    if (rank >= t->ranks) {
        struct top_rank *grown = calloc((size_t)most, sizeof *grown);
        if (!grown)
            return NULL;
        if (t->rank)
            memcpy(grown, t->rank, (size_t)t->ranks * sizeof *grown);
        free(t->rank);
        t->rank = grown;
        t->ranks = most;
    }
    return &t->rank[rank];
}

static void set_state(struct top_rank *rank, enum top_state state, double at)
{
    if (!rank || rank->state == state)
        return;
    rank->state = state;
    rank->since = at;
}

static void set_all(struct top *t, enum top_state state, double at)
{
    for (int i = 0; i < t->ranks; i++)
        set_state(&t->rank[i], state, at);
}

static void set_process(struct top_rank *rank, const json_t *e)
{
    rank->pid = (long)number_of(e, "pid");
    snprintf(rank->node, sizeof rank->node, "%.63s", text_of(e, "host"));
}

static void note_born(struct top *t, const json_t *e, double at)
{
    struct top_rank *rank = rank_at(t, number_of(e, "rank"));
    if (!rank) /* spares start without a rank, and so does every process that can be replaced */
        return;
    set_process(rank, e);
    set_state(rank, TOP_PLAYING, at);
}

/* The first event of a relaunch says where it continues from. */
static void note_again(struct top *t, mend_version_t version, double at)
{
    char text[sizeof t->failure[0].text];
    if (!t->again)
        return;
    t->again = false;
    if (version > 0)
        snprintf(text, sizeof text, "relaunched, it works again from version %ld", (long)version);
    else
        snprintf(text, sizeof text, "relaunched, it starts from the beginning");
    add_words(t, at, text);
}

static void note_playing(struct top *t, const json_t *e, double at)
{
    struct top_rank *rank = rank_at(t, number_of(e, "rank"));
    long pid = (long)number_of(e, "pid");
    t->spares_left = (int)number_of(e, "spares");
    t->counted_from = at;
    t->torn = false;
    top_levels_rollback(t, version_of(e));
    note_again(t, version_of(e), at);
    if (!rank)
        return;
    if (rank->pid && (rank->pid != pid || strcmp(rank->node, text_of(e, "host")) != 0)) {
        struct top_failure *f = add_failure(t, at);
        bool moved = strcmp(rank->node, text_of(e, "host")) != 0;
        snprintf(f->text, sizeof f->text,
                 "rank %ld: process %ld%s%s is gone, process %ld%s%.63s replaces it",
                 shown(e, "rank"), rank->pid, moved ? " on " : "", moved ? rank->node : "", pid,
                 moved ? " on " : "", moved ? text_of(e, "host") : "");
    }
    set_process(rank, e);
    if (rank->state != TOP_RECOVERING) /* then it continues when all do */
        set_state(rank, t->noticed ? TOP_RECOVERING : TOP_PLAYING, at);
}

static void note_lost(struct top *t, const json_t *e, double at)
{
    struct top_failure *f = add_failure(t, at);
    snprintf(f->text, sizeof f->text, "node %.80s is lost with %ld processes: %.80s",
             text_of(e, "host"), shown(e, "processes"), text_of(e, "how"));
    for (int i = 0; i < t->ranks; i++)
        if (t->rank[i].pid && strcmp(t->rank[i].node, text_of(e, "host")) == 0)
            set_state(&t->rank[i], TOP_LOST, at);
}

/* ---- recoveries ----------------------------------------------------------------------------- */

static void note_noticed(struct top *t, const json_t *e, double at)
{
    struct top_rank *rank = rank_at(t, number_of(e, "rank"));
    set_state(rank, TOP_RECOVERING, at);
    t->round_since = 0;
    if (t->noticed || strcmp(text_of(e, "how"), "spare") == 0)
        return;
    t->noticed = true;
    struct top_failure *f = add_failure(t, at);
    snprintf(f->text, sizeof f->text, "rank %ld notices a failure%s%.60s", shown(e, "rank"),
             text_of(e, "call")[0] ? " in MPI_" : "", text_of(e, "call"));
}

/* The slowest rank of a recovery counts. */
static void note_resumed(struct top *t, const json_t *e, double at, double seconds)
{
    struct top_failure *f = last_recovery(t);
    if (strcmp(text_of(e, "how"), "waiting") == 0)
        return; /* a spare continues to wait */
    set_state(rank_at(t, number_of(e, "rank")), TOP_PLAYING, at);
    if (!f || at - seconds > t->recovery_until) {
        t->recovery = t->failures;
        t->recovery_until = at;
        f = add_failure(t, at - seconds);
        if (json_object_get(e, "version"))
            top_levels_rollback(t, version_of(e));
    }
    t->noticed = false;
    t->counted_from = at;
    if (at > t->recovery_until)
        t->recovery_until = at;
    if (f->text[0] && seconds <= f->seconds)
        return;
    f->seconds = seconds;
    if (json_object_get(e, "version"))
        snprintf(f->text, sizeof f->text, "recovered in place: %.20s from version %ld in %.1f ms",
                 text_of(e, "how"), (long)version_of(e), 1e3 * seconds);
    else
        snprintf(f->text, sizeof f->text, "recovered in place in %.1f ms", 1e3 * seconds);
    snprintf(f->phases, sizeof f->phases, "%.390s", text_of(e, "phases"));
}

/* ---- versions ------------------------------------------------------------------------------- */

static void note_commit(struct top *t, const json_t *e, double at)
{
    int level = top_level_of(text_of(e, "level"));
    double number = json_object_get(e, "ranks") ? -1 : number_of(e, "rank");
    struct top_version said = {.version = version_of(e),
                               .bytes = number_of(e, "bytes"),
                               .seconds = number_of(e, "seconds"),
                               .at = at};
    struct top_rank *rank = number >= 0 ? rank_at(t, number) : NULL;
    said.moved = said.bytes;
    double sent = number_of(e, "sent");
    if (json_object_get(e, "sent") && sent >= 0 && sent <= said.bytes)
        said.moved = sent;
    if (number >= 0 && !rank)
        return;
    if (!top_level_saved(t, level, &said, (int)number))
        return;
    if (level == 0 || !t->online) { /* all ranks took part: every noticed failure is repaired */
        t->round_since = 0;
        t->counted_from = at;
        t->noticed = false;
    }
}

static void note_failed(struct top *t, const json_t *e, double at)
{
    int level = top_level_of(text_of(e, "level"));
    const char *why = text_of(e, "why")[0] ? text_of(e, "why") : text_of(e, "error");
    char text[sizeof t->failure[0].text];
    snprintf(text, sizeof text, "version %ld was not written at the level %s: %.100s",
             (long)version_of(e), top_level_name[level], why);
    t->level[level].failures++;
    add_words(t, at, text);
}

/* ---- launches ------------------------------------------------------------------------------- */

static void note_launch(struct top *t, double at)
{
    t->noticed = t->torn = false;
    t->again = t->sums.launches > 1;
    t->round_since = 0;
    t->counted_from = at;
    t->spares_left = t->sums.spares;
    top_levels_launch(t);
    if (t->sums.ranks > 0)
        rank_at(t, t->sums.ranks - 1);
    for (int i = 0; i < t->ranks; i++) {
        t->rank[i].pid = 0;
        set_state(&t->rank[i], TOP_STARTING, at);
    }
}

static void note_torn_down(struct top *t, double at)
{
    struct top_failure *f = add_failure(t, at);
    snprintf(f->text, sizeof f->text, "the launch was torn down");
    t->torn = true;
    t->noticed = false;
    t->round_since = 0;
    set_all(t, TOP_TORN_DOWN, at);
}

static void note_restart(struct top *t, const json_t *e, double at)
{
    struct top_rank *rank = rank_at(t, number_of(e, "rank"));
    set_state(rank, TOP_PLAYING, at);
    t->torn = false;
    t->counted_from = at;
    note_again(t, version_of(e), at);
    top_levels_rollback(t, version_of(e));
}

static void note_words(struct top *t, const char *name, const json_t *e, double at)
{
    char text[sizeof t->failure[0].text] = "";
    if (strcmp(name, "chaos.fault") == 0)
        snprintf(text, sizeof text, "%.20s %.80s: %.60s", text_of(e, "kind"), text_of(e, "hit"),
                 text_of(e, "result"));
    else if (strcmp(name, "launch.ended") == 0)
        snprintf(text, sizeof text, "process %ld of the launch ended: %.20s %ld",
                 shown(e, "process"), text_of(e, "by"), shown(e, "code"));
    else if (strcmp(name, "run.crash") == 0)
        snprintf(text, sizeof text, "rank %ld crashed by signal %ld", shown(e, "of"),
                 shown(e, "signal"));
    else if (strcmp(name, "rank.silent") == 0)
        snprintf(text, sizeof text, "rank %ld does not answer", shown(e, "who"));
    else if (strcmp(name, "recover.gave_up") == 0)
        snprintf(text, sizeof text, "no repair in place is possible");
    else if (strcmp(name, "recover.ended") == 0)
        snprintf(text, sizeof text, "the program ended the job on rank %ld: %.40s, code %ld",
                 shown(e, "rank"), text_of(e, "how"), shown(e, "code"));
    if (text[0])
        add_words(t, at, text);
}

/* An event of a rank that changes what it is doing. */
static void note_state(struct top *t, const char *name, const json_t *e, double at)
{
    static const struct {
        const char *name, *whose;
        enum top_state state;
    } list[] = {
        {"recover.exited", "rank", TOP_ENDED},      {"process.finalize", "rank", TOP_ENDED},
        {"recover.left", "rank", TOP_STOPPED},      {"rank.silent", "who", TOP_SILENT},
        {"rank.answers", "who", TOP_PLAYING},       {"run.crash", "of", TOP_CRASHED},
        {"process.detect", "rank", TOP_RECOVERING}, {"process.start", "of", TOP_PLAYING},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strcmp(name, list[i].name) == 0)
            set_state(rank_at(t, number_of(e, list[i].whose)), list[i].state, at);
}

void top_note(void *to, const json_t *e)
{
    struct top *t = to;
    const char *name = text_of(e, "event");
    double at = number_of(e, "t");
    if (strcmp(name, "checkpoint.commit") == 0 || strcmp(name, "store.commit") == 0)
        note_commit(t, e, at);
    else if (strcmp(name, "checkpoint.failed") == 0 || strcmp(name, "store.level_failed") == 0)
        note_failed(t, e, at);
    else if (strcmp(name, "checkpoint.begin") == 0)
        t->round_since = at;
    else if (strcmp(name, "checkpoint.given_up") == 0)
        t->round_since = 0;
    else if (strcmp(name, "recover.born") == 0)
        note_born(t, e, at);
    else if (strcmp(name, "recover.playing") == 0)
        note_playing(t, e, at);
    else if (strcmp(name, "recover.noticed") == 0)
        note_noticed(t, e, at);
    else if (strcmp(name, "recover.resumed") == 0)
        note_resumed(t, e, at, number_of(e, "seconds"));
    else if (strcmp(name, "process.resume") == 0)
        note_resumed(t, e, at, number_of(e, "since_detection"));
    else if (strcmp(name, "launch.lost") == 0)
        note_lost(t, e, at);
    else if (strcmp(name, "plan.interval") == 0)
        t->every = number_of(e, "seconds");
    else if (strcmp(name, "plan.level") == 0)
        t->level[top_level_of(text_of(e, "level"))].planned = number_of(e, "seconds");
    else if (strcmp(name, "run.launch") == 0)
        note_launch(t, at);
    else if (strcmp(name, "run.torn_down") == 0)
        note_torn_down(t, at);
    else if (strcmp(name, "restart") == 0)
        note_restart(t, e, at);
    else
        note_words(t, name, e, at);
    note_state(t, name, e, at);
}
