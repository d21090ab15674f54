/* New processes in place of those that died, so that the tenth failure is survived like the first.
 *
 *  1. Fewer processes live than shall (--keep), and an up node has a free slot: all nodes hear of a new process (ADD),
 *     and that node starts it. It is a world of its own, in a PMIx namespace of its own.
 *  2. It runs its own MPI_Init, opens a port, and publishes it under "mend.port.PROCESS"; all nodes have said ADDED:
 *     it is ready.
 *  3. The others meet (after a death, or at a checkpoint), and one of them looks up "mend.join": it gets the port of one
 *     that is ready, or nothing. "mend.join.wait" says, too, whether it pays to ask again. While they connect,
 *     "mend.join.offered" says whether that one lives.
 *  4. They connect to it. From now on its death is told to all.
 *  5. It publishes "mend.joined.PROCESS" when the meeting has taken it in: a part of the job like the ranks.
 *
 * Death between any two steps. Of the new one before 4: nobody knows it; another is started, after a pause that
 * doubles. In 4 or 5: who waits for its names, or connects to it, gets an error, and the death is told. Of one of the
 * others, or a meeting that fails for any reason: the next one who looks up "mend.join" ends whoever was offered
 * before and has not joined.
 *
 * A program that is killed again and again (for lack of memory, say) must not go round for ever. Somebody asks for
 * "mend.join.peek" only at the end of a checkpoint: so many joined since the last one, and there was no version in
 * between. Then no more are started until there is one, and the job ends like one without spares.
 */
#include "head/head.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum fill_state { FILL_STARTS, FILL_READY, FILL_OFFERED, FILL_MEMBER, FILL_GONE };
struct fill {
    enum fill_state state;
    bool *added; /* [nodes]: it knows of this process */
    uint32_t nodes;
    char *port;
    double began, since; /* it was started; it is in this state */
};
enum { FAILURES_MAX = 6 };            /* in a row */
enum { HASTY_MAX = 12 };              /* offered without a checkpoint in between */
static const double calm = 600;       /* seconds without a death: there was one */
static const double start_limit = 60; /* seconds until a process must be ready */
static const double join_limit = 30;  /* and taken in, once it was offered */

static struct fill *find(const struct head *h, uint32_t process)
{
    return process < h->job.ranks || process >= h->job.processes
               ? NULL
               : &h->fills[process - h->job.ranks];
}

bool fill_is_member(const struct head *h, uint32_t process)
{
    const struct fill *f = find(h, process);
    return !f || f->state == FILL_MEMBER;
}

static void failed(struct head *h)
{
    h->fills_failed++;
    if (h->fills_failed == FAILURES_MAX + 1)
        fprintf(stderr,
                "mend-node: %u new processes in a row ended before they joined the job: no more "
                "are started, and the remaining spares are the last\n",
                h->fills_failed);
    h->fill_next = launcher_clock() + 0.25 * (double)(1 << h->fills_failed);
}

bool fill_ended(struct head *h, uint32_t process)
{
    struct fill *f = find(h, process);
    if (!f)
        return true;
    bool known = f->state == FILL_OFFERED || f->state == FILL_MEMBER;
    if (f->state < FILL_MEMBER && !h->ending) {
        head_report(h, "unfilled %u", process);
        failed(h);
    }
    f->state = FILL_GONE;
    if (f->port)
        gather_dropped(h, f->port);
    return known;
}

/* ---- 1 --------------------------------------------------------------------------------------- */

static uint32_t living(const struct head *h, uint32_t node)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < h->job.processes; r++)
        n += h->ranks[r] < RANK_DONE && (node == UINT32_MAX || h->job.node_of[r] == node);
    return n;
}

/* The one with the most free slots; UINT32_MAX: there is no room. */
static uint32_t choose(const struct head *h)
{
    uint32_t best = UINT32_MAX, most = 0;
    for (uint32_t i = 0; i < h->hosts.count; i++) {
        uint32_t used = h->nodes[i].state == NODE_UP ? living(h, i) : UINT32_MAX;
        if (used < h->hosts.slots[i] && h->hosts.slots[i] - used > most) {
            most = h->hosts.slots[i] - used;
            best = i;
        }
    }
    return best;
}

static void say_add(struct head *h, uint32_t process, uint32_t to)
{
    char text[64];
    struct wire w = {0};
    snprintf(text, sizeof text, "MEND_ONLINE_JOIN=%u", process);
    wire_put_u32(&w, process);
    wire_put_u32(&w, h->job.node_of[process]);
    wire_put_list(&w, (char *[]){text, NULL});
    link_send(&h->nodes[to].link, SAY_ADD, &w);
    wire_free(&w);
}

void fill_tell(struct head *h, uint32_t node)
{
    for (uint32_t process = h->job.ranks; process < h->job.processes; process++)
        say_add(h, process, node);
}

void fill_grow(struct head *h)
{
    for (uint32_t k = 0; k < h->job.processes - h->job.ranks; k++) {
        struct fill *f = &h->fills[k];
        f->added = launcher_memory(f->added, h->hosts.count * sizeof *f->added);
        while (f->nodes < h->hosts.count)
            f->added[f->nodes++] = false;
    }
}

static void start(struct head *h, uint32_t node, double now)
{
    uint32_t process = h->job.processes, k = process - h->job.ranks;
    job_add(&h->job, node);
    h->ranks = launcher_memory(h->ranks, h->job.processes * sizeof *h->ranks);
    h->ranks[process] = RANK_WAITS;
    h->fills = launcher_memory(h->fills, (k + 1) * sizeof *h->fills);
    h->fills[k] = (struct fill){.state = FILL_STARTS, .began = now, .since = now};
    fill_grow(h);
    for (uint32_t i = 0; i < h->hosts.count; i++)
        if (h->nodes[i].state == NODE_UP)
            say_add(h, process, i);
    head_report(h, "filling %u %s", process, h->hosts.name[node]);
}

static void drop(struct head *h, uint32_t process)
{
    struct wire w = {0};
    uint32_t node = h->job.node_of[process];
    wire_put_u32(&w, process);
    if (h->nodes[node].state == NODE_UP)
        link_send(&h->nodes[node].link, SAY_KILL, &w);
    wire_free(&w);
}

static bool is_worth_it(const struct head *h)
{
    return h->fills_failed <= FAILURES_MAX && h->fills_hasty <= HASTY_MAX;
}

static bool may_start(const struct head *h, double now)
{
    if (!h->keep || h->ending || now < h->fill_next || !is_worth_it(h))
        return false;
    for (uint32_t i = 0; i < h->hosts.count; i++)
        if (h->nodes[i].state == NODE_STARTING && !h->nodes[i].late)
            return false;
    for (uint32_t r = 0; r < h->job.processes; r++)
        if (h->ranks[r] == RANK_DONE) /* the program ends */
            return false;
    return living(h, UINT32_MAX) < h->keep;
}

void fill_tick(struct head *h, double now)
{
    for (uint32_t k = 0; k < h->job.processes - h->job.ranks; k++)
        if ((h->fills[k].state == FILL_STARTS && now - h->fills[k].since > start_limit) ||
            (h->fills[k].state == FILL_OFFERED && now - h->fills[k].since > join_limit))
            drop(h, h->job.ranks + k);
    uint32_t node;
    while (may_start(h, now) && (node = choose(h)) != UINT32_MAX)
        start(h, node, now);
}

/* ---- 2 to 5 ---------------------------------------------------------------------------------- */

void fill_added(struct head *h, uint32_t node, struct wire_reader *r)
{
    uint32_t process = wire_get_u32(r), well = wire_get_u32(r);
    struct fill *f = find(h, process);
    if (r->bad || !f || node >= f->nodes)
        return;
    f->added[node] = well;
    if (!well && h->job.node_of[process] == node && h->ranks[process] < RANK_DONE) {
        h->ranks[process] = RANK_DEAD;
        fill_ended(h, process);
    }
}

static bool known_to_all(const struct head *h, const struct fill *f)
{
    for (uint32_t i = 0; i < h->hosts.count; i++)
        if (h->nodes[i].state == NODE_UP && (i >= f->nodes || !f->added[i]))
            return false;
    return true;
}

static bool one_is(const struct head *h, enum fill_state state)
{
    for (uint32_t k = 0; k < h->job.processes - h->job.ranks; k++)
        if (h->fills[k].state == state && (state > FILL_READY || known_to_all(h, &h->fills[k])))
            return true;
    return false;
}

static void note_haste(struct head *h)
{
    double now = launcher_clock();
    if (now - h->fill_offered > calm)
        h->fills_hasty = 0;
    h->fill_offered = now;
    if (++h->fills_hasty == HASTY_MAX + 1)
        fprintf(stderr,
                "mend-node: %u new processes have joined without a checkpoint in between: no more "
                "are started before there is one\n",
                h->fills_hasty - 1);
}

static bool peek(struct head *h)
{
    h->fills_hasty = 0;
    return one_is(h, FILL_READY);
}

static const char *offer(struct head *h, bool waits)
{
    const char *port = NULL;
    bool coming = false, dropped = false; /* whose slot is free in a moment */
    for (uint32_t k = 0; k < h->job.processes - h->job.ranks; k++) {
        struct fill *f = &h->fills[k];
        if (f->state == FILL_OFFERED) {
            drop(h, h->job.ranks + k);
            dropped = true;
        }
        coming |= f->state <= FILL_READY;
        if (f->state != FILL_READY || port || !known_to_all(h, f))
            continue;
        f->state = FILL_OFFERED;
        f->since = launcher_clock();
        port = f->port;
    }
    if (port)
        note_haste(h);
    if (is_worth_it(h) && (dropped || choose(h) != UINT32_MAX))
        coming = true; /* fill_tick will start one */
    return port ? port : waits && coming ? "wait" : NULL;
}

static void joined(struct head *h, struct fill *f, uint32_t process)
{
    if (f->state != FILL_OFFERED)
        return;
    f->state = FILL_MEMBER;
    h->left++;
    h->fills_failed = 0;
    head_report(h, "filled %u %s %.3f", process, h->hosts.name[h->job.node_of[process]],
                launcher_clock() - f->began);
}

bool fill_name(struct head *h, uint32_t kind, const char *key, const char *value, const char **text)
{
    unsigned process = 0;
    *text = NULL;
    if (!h->keep || strncmp(key, "mend.", 5) != 0)
        return false;
    if (kind == SAY_GET) {
        if (strcmp(key, "mend.join") == 0 || strcmp(key, "mend.join.wait") == 0)
            *text = offer(h, key[9] != 0);
        else if (strcmp(key, "mend.join.peek") == 0)
            *text = peek(h) ? "yes" : NULL;
        else if (strcmp(key, "mend.join.offered") == 0)
            *text = one_is(h, FILL_OFFERED) ? "yes" : NULL;
        return true;
    }
    bool port = sscanf(key, "mend.port.%u", &process) == 1;
    struct fill *f = port || sscanf(key, "mend.joined.%u", &process) == 1 ? find(h, process) : NULL;
    if (!f || h->ranks[process] >= RANK_DONE)
        return true;
    if (!port)
        joined(h, f, process);
    else if (f->state == FILL_STARTS) {
        f->port = memcpy(launcher_memory(NULL, strlen(value) + 1), value, strlen(value) + 1);
        f->state = FILL_READY;
    }
    return true;
}
