/* Adds up events.jsonl. Each rank reports its own part: versions and seconds come from rank 0's events, bytes and
 * failures from those of all ranks. */
#include "metrics.h"

#include <base/fail.h>
#include <mend/error.h>

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(json_t *e, const char *key)
{
    const char *s = json_string_value(json_object_get(e, key));
    return s ? s : "";
}

static double number_of(json_t *e, const char *key)
{
    return json_number_value(json_object_get(e, key));
}

static struct metrics_level *level_of(struct metrics *m, json_t *e)
{
    static const char *const names[METRICS_LEVELS] = {"memory", "partner", "local", "erasure",
                                                      "global"};
    for (int i = 0; i < METRICS_LEVELS; i++)
        if (strcmp(text_of(e, "level"), names[i]) == 0)
            return &m->level[i];
    return &m->level[METRICS_LEVELS - 1]; /* jobs that relaunch have no other */
}

static void note_commit(struct metrics *m, json_t *e, double t)
{
    struct metrics_level *level = level_of(m, e);
    mend_version_t version = (mend_version_t)number_of(e, "version");
    level->bytes += (long long)number_of(e, "bytes");
    if ((int)number_of(e, "rank") > 0 || version <= level->last)
        return;
    level->last = version;
    level->versions++;
    level->seconds += number_of(e, "seconds");
    if (version > m->version) {
        m->version = version;
        m->version_at = t;
    }
}

static void note_resumed(struct metrics *m, json_t *e, double t)
{
    double seconds = number_of(e, "seconds");
    if (strcmp(text_of(e, "how"), "waiting") == 0 || t - m->last_recovery < seconds)
        return; /* the other ranks of the same recovery */
    m->last_recovery = t;
    m->recoveries++;
    m->recovery_seconds += seconds;
    if (seconds > m->recovery_longest)
        m->recovery_longest = seconds;
}

static void note_launch(struct metrics *m, json_t *e, double t)
{
    m->launches++;
    m->ranks = (long long)number_of(e, "ranks");
    m->spares = (long long)number_of(e, "spares");
    if (m->began == 0)
        m->began = t;
}

static void note(struct metrics *m, const char *line)
{
    json_t *e = json_loads(line, 0, NULL);
    const char *name = text_of(e, "event");
    double t = number_of(e, "t");
    m->events++;
    if (!*name)
        m->unreadable++;
    else if (strcmp(name, "checkpoint.commit") == 0)
        note_commit(m, e, t);
    else if (strcmp(name, "checkpoint.failed") == 0)
        level_of(m, e)->failures++;
    else if (strcmp(name, "recover.resumed") == 0)
        note_resumed(m, e, t);
    else if (strcmp(name, "run.launch") == 0)
        note_launch(m, e, t);
    else if (strcmp(name, "plan.interval") == 0)
        m->interval = number_of(e, "seconds");
    else {
        const struct {
            const char *name;
            long long *count;
        } counted[] = {{"launch.lost", &m->nodes_lost},
                       {"run.crash", &m->crashes},
                       {"rank.silent", &m->silent},
                       {"run.torn_down", &m->restarts},
                       {"recover.gave_up", &m->given_up}};
        for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
            *counted[i].count += strcmp(name, counted[i].name) == 0;
    }
    json_decref(e);
}

int metrics_read(struct metrics *m)
{
    char path[4200], *line = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "%s/events.jsonl", m->dir);
    FILE *f = fopen(path, "re");
    if (!f && errno == ENOENT)
        return MEND_OK;
    if (!f || fseeko(f, (off_t)m->at, SEEK_SET)) {
        int rc = mend_fail_errno("cannot read %s", path);
        if (f)
            fclose(f);
        return rc;
    }
    for (ssize_t n; (n = getline(&line, &room, f)) > 0 && line[n - 1] == '\n'; m->at += n)
        note(m, line);
    free(line);
    fclose(f);
    return MEND_OK;
}
