/* Starts new processes in place of dead ones, so that a job survives the tenth failure like the first.
 *
 *  1. If fewer processes live than there should be (--keep), and a node that is up has a free slot, the head
 *     announces a new process to all nodes (ADD), and that node starts it. The process is a world of its own, in its
 *     own PMIx namespace. The head waits for a moment after a death, so that the start of a process does not take the
 *     processors from the recovery, unless the recovery itself waits for a process (3).
 *  2. The process runs its own MPI_Init, opens a port, and publishes it as "mend.port.PROCESS". When all nodes have
 *     said ADDED, too, the process is ready.
 *  3. The others meet, after a death or at a checkpoint, and one of them looks up "mend.join". It gets the port of a
 *     process that is ready, or nothing. "mend.join.wait" also says whether to ask again. While they connect,
 *     "mend.join.offered" says whether that process is alive.
 *  4. They connect to it. From now on the head reports its death to all.
 *  5. When the meeting has taken it in, the process publishes "mend.joined.PROCESS", and is a part of the job like
 *     the ranks.
 *
 * Death between any two steps. If the new process dies before 4, nobody knows of it, and the head starts another one
 * after a pause that doubles. If it dies in 4 or 5, whoever waits for its names or connects to it gets an error, and
 * the head reports the death. If one of the others dies, or a meeting fails for any reason, the next lookup of
 * "mend.join" ends every process that was offered before and has not joined.
 *
 * A program that dies again and again (out of memory, say) must not loop forever. The ranks look up "mend.join.peek"
 * only at the end of a checkpoint. If too many losses were made good since the last such lookup, the head starts no
 * more until the next checkpoint, and the job ends like one without spares.
 */
#include "head/head.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum fill_state { FILL_STARTS, FILL_READY, FILL_OFFERED, FILL_MEMBER, FILL_GONE };
struct fill {
    enum fill_state state;
    bool *added; /* [nodes]: the node knows of this process */
    uint32_t nodes;
    char *port;
    double began, since; /* when it started; when it entered this state */
};
enum { FAILURES_MAX = 6 };            /* in a row */
enum { HASTY_MAX = 12 };              /* losses made good without a checkpoint in between */
static const double a_moment = 1;     /* seconds after a death */
static const double calm = 600;       /* so many seconds without an offer count as a checkpoint */
static const double start_limit = 60; /* seconds until a process must be ready */
static const double join_limit = 30;  /* seconds from the offer until it must have joined */

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

/* Processes that were started together fail together, for one reason: they count once. */
static void failed(struct head *h, double began)
{
    if (began < h->fill_failed)
        return;
    h->fill_failed = launcher_clock();
    h->fills_failed++;
    if (h->fills_failed == FAILURES_MAX + 1)
        head_say(h,
                 "new processes ended before they joined the job, %u times in a row: Mend starts "
                 "no more, and the remaining spares are the last",
                 h->fills_failed);
    uint32_t doublings = h->fills_failed < FAILURES_MAX ? h->fills_failed : FAILURES_MAX;
    h->fill_next = launcher_clock() + 0.25 * (double)(1 << doublings);
}

bool fill_ended(struct head *h, uint32_t process)
{
    struct fill *f = find(h, process);
    if (!f)
        return true;
    bool known = f->state == FILL_OFFERED || f->state == FILL_MEMBER;
    if (f->state < FILL_MEMBER && !h->ending) {
        head_report(h, "unfilled %u", process);
        if (h->nodes[h->job.node_of[process]].state == NODE_UP) /* else it went with its machine */
            failed(h, f->began);
    }
    f->state = FILL_GONE;
    if (f->port)
        gather_dropped(h, f->port);
    return known;
}

/* ---- 1 --------------------------------------------------------------------------------------- */

void fill_died(struct head *h)
{
    h->fill_quiet = launcher_clock() + a_moment;
    h->fill_news = true;
}

static uint32_t living(const struct head *h, uint32_t node)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < h->job.processes; r++)
        n += h->ranks[r] < RANK_DONE && (node == UINT32_MAX || h->job.node_of[r] == node);
    return n;
}

/* The node with the most free slots; UINT32_MAX: there is no room. */
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
    if (!h->keep || h->ending || now < h->fill_next || now < h->fill_quiet || !is_worth_it(h))
        return false;
    for (uint32_t i = 0; i < h->hosts.count; i++)
        if (h->nodes[i].state == NODE_STARTING && !h->nodes[i].late)
            return false;
    for (uint32_t r = 0; r < h->job.processes; r++)
        if (h->ranks[r] == RANK_DONE) /* the program is ending */
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
    if (well || h->ranks[process] >= RANK_DONE)
        return;
    if (h->job.node_of[process] != node) {
        if (f->state <= FILL_READY) /* it can never be offered: this node does not know it */
            drop(h, process);
        return;
    }
    h->ranks[process] = RANK_DEAD;
    fill_ended(h, process);
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

/* A machine with many ranks is one loss, and many offers. */
static void note_haste(struct head *h)
{
    double now = launcher_clock();
    if (now - h->fill_offered > calm)
        h->fills_hasty = 0;
    h->fill_offered = now;
    h->fills_hasty += h->fill_news;
    if (h->fill_news && h->fills_hasty == HASTY_MAX + 1)
        head_say(h,
                 "new processes have replaced dead ones %u times without a checkpoint in between: "
                 "no more will start until there is one",
                 h->fills_hasty - 1);
    h->fill_news = false;
}

static bool peek(struct head *h)
{
    h->fills_hasty = 0;
    return one_is(h, FILL_READY);
}

static const char *offer(struct head *h, bool waits)
{
    const char *port = NULL;
    bool coming = false, dropped = false; /* dropped: its slot is about to be free */
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
    if (waits)
        h->fill_quiet = 0;
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
