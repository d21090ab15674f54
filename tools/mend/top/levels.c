/* Which version is complete at which level, and when the next one is due there.
 *
 * A rank reports its own part. A version is complete when all ranks have reported; until then we count its reports, for a
 * few versions at once. Each rank writes the level global in the background, at its own speed, so several versions may be
 * in progress. */
#include "top.h"

#include <base/config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const top_level_name[TOP_LEVELS] = {"memory", "partner", "local", "erasure", "global"};

int top_level_of(const char *name)
{
    for (int i = 0; i < TOP_LEVELS; i++)
        if (strcmp(name, top_level_name[i]) == 0)
            return i;
    return TOP_LEVELS - 1; /* jobs that relaunch have no other */
}

/* memory,partner[:E],local[:E],erasure:K+M[:E],global[:E], as mend run has checked it; anything else is skipped. */
static void asked(struct top *t, const char *word)
{
    char name[16] = "";
    size_t length = strcspn(word, ":");
    if (length >= sizeof name)
        return;
    memcpy(name, word, length);
    int level = top_level_of(name);
    if (strcmp(name, top_level_name[level]) != 0)
        return;
    const char *number = strrchr(word, ':');
    long every = strcmp(name, "global") == 0 ? 5 : 1, given;
    if (number && !strchr(number, '+') && mend_parse_integer(number + 1, &given) == 0 &&
        given >= 1 && given <= 1000000)
        every = given;
    t->level[level].every = every;
}

void top_levels_asked(struct top *t, const char *text)
{
    char copy[256], *rest = copy;
    for (int i = 0; i < TOP_LEVELS; i++)
        t->level[i].every = 0;
    if (!text) { /* a job that relaunches writes every version there */
        t->level[TOP_LEVELS - 1].every = 1;
        return;
    }
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word; (word = strsep(&rest, ","));)
        asked(t, word);
}

static void forget(struct top_version *v)
{
    free(v->who);
    memset(v, 0, sizeof *v);
}

static struct top_version *counted(struct top_level *l, mend_version_t version)
{
    struct top_version *oldest = &l->pending[0];
    for (int i = 0; i < TOP_PENDING; i++) {
        struct top_version *v = &l->pending[i];
        if (v->told && v->version == version)
            return v;
        if (oldest->told && (!v->told || v->version < oldest->version))
            oldest = v;
    }
    forget(oldest);
    oldest->version = version;
    return oldest;
}

/* False: it has reported before, or there is no memory to remember it. */
static bool tells(struct top_version *v, int rank)
{
    size_t byte = (size_t)rank / 8;
    unsigned char bit = (unsigned char)(1u << rank % 8);
    if (byte >= v->room) {
        size_t room = byte + 1 + v->room;
        unsigned char *who = calloc(room, 1);
        if (!who)
            return false;
        if (v->who)
            memcpy(who, v->who, v->room);
        free(v->who);
        v->who = who;
        v->room = room;
    }
    if (v->who[byte] & bit)
        return false;
    v->who[byte] |= bit;
    v->told++;
    return true;
}

static void add(struct top_version *v, const struct top_version *said)
{
    v->bytes += said->bytes;
    v->moved += said->moved;
    v->seconds = fmax(v->seconds, said->seconds);
    v->at = fmax(v->at, said->at);
}

static void complete(struct top_level *l, struct top_version *v)
{
    mend_version_t version = v->version;
    forget(&l->newest);
    l->newest = *v;
    memset(v, 0, sizeof *v);
    for (int i = 0; i < TOP_PENDING; i++)
        if (l->pending[i].told && l->pending[i].version <= version)
            forget(&l->pending[i]);
}

bool top_level_saved(struct top *t, int level, const struct top_version *said, int rank)
{
    struct top_level *l = &t->level[level];
    if (rank < 0 && l->newest.told && l->newest.version == said->version) {
        add(&l->newest, said); /* taken first, written later: two events of one version */
        return false;
    }
    struct top_version *v = counted(l, said->version);
    if (rank < 0)
        v->told = t->sums.ranks > 0 ? t->sums.ranks : 1;
    else if (!tells(v, rank))
        return false;
    add(v, said);
    if (v->told < t->sums.ranks)
        return false;
    complete(l, v);
    return true;
}

void top_levels_rollback(struct top *t, mend_version_t version)
{
    for (int i = 0; i < TOP_LEVELS; i++) {
        struct top_level *l = &t->level[i];
        if (l->newest.told && l->newest.version > version)
            forget(&l->newest);
        for (int k = 0; k < TOP_PENDING; k++)
            if (l->pending[k].told && l->pending[k].version > version)
                forget(&l->pending[k]);
    }
}

void top_levels_launch(struct top *t)
{
    for (int i = 0; i < TOP_LEVELS; i++) {
        struct top_level *l = &t->level[i];
        if (i < top_level_of("local"))
            forget(&l->newest);
        for (int k = 0; k < TOP_PENDING; k++)
            forget(&l->pending[k]);
    }
}

void top_levels_free(struct top *t)
{
    for (int i = 0; i < TOP_LEVELS; i++) {
        forget(&t->level[i].newest);
        for (int k = 0; k < TOP_PENDING; k++)
            forget(&t->level[i].pending[k]);
    }
}

static double step_of(const struct top *t)
{
    return t->every > 0 ? t->every : t->sums.every;
}

double top_level_period(const struct top *t, int level)
{
    const struct top_level *l = &t->level[level];
    if (!l->every)
        return 0;
    return l->planned >= 0 ? l->planned : (double)l->every * step_of(t);
}

const struct top_version *top_newest(const struct top *t)
{
    const struct top_version *newest = NULL;
    for (int i = 0; i < TOP_LEVELS; i++) {
        const struct top_version *v = &t->level[i].newest;
        if (v->told && (!newest || v->version > newest->version))
            newest = v;
    }
    return newest;
}

double top_level_next(const struct top *t, int level, double now)
{
    const struct top_level *l = &t->level[level];
    double step = step_of(t), period = top_level_period(t, level);
    if (step <= 0 || period <= 0 || t->counted_from <= 0 || top_over(t) || t->torn || t->noticed)
        return -1;
    double next = t->round_since > 0 ? 0 : fmax(0, t->counted_from + step - now);
    if (l->planned >= 0)
        return l->newest.told ? fmax(next, l->newest.at + l->planned - now) : next;
    const struct top_version *newest = top_newest(t);
    long since = newest && newest->version > 0 ? (long)(newest->version % l->every) : 0;
    return next + (double)(l->every - 1 - since) * step;
}
