/* round/collect.c - step 1 of a round (coordinator.c): how far ranks run before they stop. */
#include "round/coordinator.h"

#include <stdlib.h>
#include <string.h>

static struct target *target_of(uint64_t id)
{
    /* open addressing in a table that is rebuilt for each round */
    if (2 * the.targets >= the.target_room) {
        size_t old_room = the.target_room;
        struct target *old = the.target;
        the.target_room = old_room ? 2 * old_room : 64;
        the.target = calloc(the.target_room, sizeof *the.target);
        if (!the.target)
            die("no memory for the table of communicators");
        the.targets = 0;
        for (size_t i = 0; i < old_room; i++)
            if (old[i].id)
                *target_of(old[i].id) = old[i];
        free(old);
    }
    size_t at = id & (the.target_room - 1);
    while (the.target[at].id && the.target[at].id != id)
        at = (at + 1) & (the.target_room - 1);
    if (!the.target[at].id) {
        the.target[at].id = id;
        the.target[at].count = 0;
        the.targets++;
    }
    return &the.target[at];
}

static int is_behind(const struct member *m)
{
    for (uint64_t i = 0; i < m->clocks->count; i++)
        if (m->clocks->clock[i].begun < target_of(m->clocks->clock[i].id)->count)
            return 1;
    return 0;
}

/* It may be behind on a communicator that it does not know yet; it will report that soon. */
static int is_creating(const struct member *m)
{
    return m->clocks->activity == ACTIVITY_CREATING;
}

static void send_targets(int rank)
{
    struct member *m = &the.member[rank];
    uint64_t *pairs = malloc((2 * m->clocks->count + 1) * sizeof *pairs), n = 0, sum = 1;
    if (!pairs)
        return;
    for (uint64_t i = 0; i < m->clocks->count; i++) {
        const struct control_clock *c = &m->clocks->clock[i];
        uint64_t count = target_of(c->id)->count;
        if (c->begun < count) {
            pairs[n++] = c->id;
            pairs[n++] = count;
            sum = sum * 0x100000001b3ull ^ c->id ^ count * 0x9e3779b97f4a7c15ull;
        }
    }
    if (n && sum != m->targets_sum) {
        m->targets_sum = sum;
        tell(rank, CONTROL_TARGETS, pairs, n * sizeof *pairs);
    }
    free(pairs);
}

/* From its last report. 1: that raises a target, so that others may be behind now. */
static int raises_targets(const struct member *m)
{
    int raised = 0;
    for (uint64_t k = 0; k < m->clocks->count; k++) {
        const struct control_clock *c = &m->clocks->clock[k];
        struct target *t = target_of(c->id);
        if (t->count < c->begun) {
            t->count = c->begun;
            raised = 1;
        }
    }
    return raised;
}

/* Where this rank stands; if it is behind, it learns how far it has to go. */
static void judge(int rank)
{
    struct member *m = &the.member[rank];
    the.behind -= m->behind;
    the.creating -= m->creating;
    m->creating = is_creating(m);
    m->behind = is_behind(m);
    the.behind += m->behind;
    the.creating += m->creating;
    if (m->behind)
        send_targets(rank);
}

static void stop_if_even(void)
{
    if (the.behind || the.creating)
        return;
    the.state = STOPPING;
    the.stop_began = the.patient_since = seconds_now();
    tell_all(CONTROL_STOP, NULL, 0);
}

/* All have reported. Looks at all ranks: done once, and then only when a target was raised. */
static void judge_all(void)
{
    for (int i = 0; i < the.ranks; i++)
        judge(i);
    stop_if_even();
}

/* Returns 1 if a target was raised. */
static int open_doors_of(const struct member *m)
{
    const struct control_clocks *c = m->clocks;
    int opened = 0;
    if (!c || is_behind(m))
        return 0;
    for (uint64_t k = 0; k < c->count; k++) {
        struct target *t = c->clock[k].at_door ? target_of(c->clock[k].id) : NULL;
        if (t && t->count <= c->clock[k].begun) {
            t->count = c->clock[k].begun + 1;
            opened = 1;
        }
    }
    return opened;
}

/* Nothing has moved for a while. For whom does a rank that is behind wait, directly or through others that
 * wait for a message? If such a rank stands at a door, open the door. */
void open_doors(void)
{
    char *needed = calloc((size_t)(unsigned)the.ranks, 1);
    int opened = 0, grew = 1;
    if (!needed)
        return;
    for (int i = 0; i < the.ranks; i++)
        needed[i] =
            the.member[i].reported && (is_behind(&the.member[i]) || is_creating(&the.member[i]));
    while (grew) {
        grew = 0;
        for (int i = 0; i < the.ranks; i++) {
            const struct control_clocks *c = the.member[i].clocks;
            if (!needed[i] || !c ||
                (c->activity != ACTIVITY_WAITING && c->activity != ACTIVITY_CREATING))
                continue;
            int anybody = c->waiting_for == 0 || c->activity == ACTIVITY_CREATING;
            for (int j = 0; j < the.ranks; j++)
                if (!needed[j] && (anybody || c->waiting_for == (uint64_t)j + 1))
                    needed[j] = 1, grew = 1;
        }
    }
    for (int i = 0; i < the.ranks; i++)
        if (needed[i])
            opened |= open_doors_of(&the.member[i]);
    free(needed);
    if (opened)
        judge_all();
}

/* Nothing has moved for long, and somebody is behind. It may be inside a call of the library that waits (a send, a
 * flush): nobody knows for whom. A target may be raised at any time, as if that collective had begun earlier. The
 * patience doubles each time: a rank that is behind may just compute for long, and others must not run on in turns
 * for ever. */
void open_all_doors(void)
{
    int opened = 0;
    if (!(the.behind || the.creating) || seconds_now() - the.moved_at < the.patience_at_doors)
        return;
    for (int i = 0; i < the.ranks; i++)
        opened |= open_doors_of(&the.member[i]);
    if (!opened)
        return;
    the.moved_at = seconds_now();
    the.patience_at_doors *= 2;
    judge_all();
}

/* Does a report say more than what its rank waits for? */
static int has_moved(const struct control_clocks *old, const struct control_clocks *new)
{
    return !old || old->count != new->count ||
           memcmp(old->clock, new->clock, new->count * sizeof new->clock[0]);
}

void take_clocks(struct member *m, void *payload, size_t bytes)
{
    struct control_clocks *c = payload;
    if (bytes < sizeof *c || c->count > bytes / sizeof c->clock[0] ||
        bytes != sizeof *c + c->count * sizeof c->clock[0])
        return;
    if (has_moved(m->clocks, c))
        the.moved_at = seconds_now();
    free(m->clocks);
    m->clocks = malloc(bytes);
    if (!m->clocks)
        die("no memory for a report of %zu bytes", bytes);
    memcpy(m->clocks, payload, bytes);
    the.reports += !m->reported;
    m->reported = 1;
    the.last_change = seconds_now();
    if (the.state != COLLECTING)
        return;
    int raised = raises_targets(m);
    if (the.reports < the.ranks)
        return;
    if (raised || !the.judged) {
        the.judged = 1;
        judge_all();
    } else {
        judge((int)(m - the.member));
        stop_if_even();
    }
}
