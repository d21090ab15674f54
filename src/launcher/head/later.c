/* Nodes that join while the job runs: machines that the user adds, and lost ones that answer again.
 *
 *  1. A machine is absent if this launch or an earlier one lost it (a launch leaves out nodes that an earlier one
 *     lost), or if the user has added it to a file and SIGHUP says so. The head tries an added machine at once, and
 *     the others after a pause that doubles.
 *  2. The machine becomes one more node with a new number, so the head ignores whatever an older daemon there sends.
 *     All nodes hear of it (NODE).
 *  3. The head starts the daemon as at launch. The daemon says hello, and gets the job (JOB) and all processes added
 *     later (ADD).
 *  4. The node is up and has no process yet. New processes go to it as to any other node with free slots (fill.c),
 *     and the next launch places ranks there.
 *
 * Death between any two steps: before 4 nothing depends on the node, and it is absent again. It keeps its number
 * until it has been up. After 4 it is a node like any other, but if it does not last, the pause doubles all the same.
 */
#include "head/head.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NO_NODE = UINT32_MAX };
static const double pause_max = 600; /* seconds */
static const double settled = 60;    /* seconds after its start a node is like any other */

struct absent {
    struct absent *next;
    char *name;
    uint32_t slots;
    uint32_t node; /* its number; NO_NODE: none yet */
    bool trying;
    double at, pause; /* the next attempt, and the pause before the one after that */
};

/* ---- who may be there ------------------------------------------------------------------------ */

static bool add_here(const struct head *h, struct hosts *all)
{
    char here[256] = "localhost";
    gethostname(here, sizeof here - 1);
    hosts_append(all, here, h->job.ranks < HOSTS_SLOTS_MAX ? h->job.ranks : HOSTS_SLOTS_MAX);
    return true;
}

bool later_hosts(struct head *h, struct hosts *all)
{
    const char *what = "--host", *bad = h->host_list;
    bool ok = !bad || hosts_add_list(all, bad);
    if (ok && h->host_file)
        what = "--hostfile", bad = h->host_file, ok = hosts_add_file(all, bad);
    if (ok && all->count == 0)
        ok = add_here(h, all);
    if (!ok) {
        head_say(h, "%s %s is not valid", what, bad);
        return false;
    }
    /* A damaged list of added machines must not prevent a launch. */
    if (h->added_file && access(h->added_file, F_OK) == 0 && !hosts_add_file(all, h->added_file))
        head_say(h, "%s is not valid; machines in it may be left out", h->added_file);
    return true;
}

static struct absent *find(const struct head *h, const char *name)
{
    struct absent *a = h->absent;
    while (a && strcmp(a->name, name) != 0)
        a = a->next;
    return a;
}

static double next_time(const struct head *h, double pause)
{
    return h->retry > 0 ? launcher_clock() + pause : INFINITY;
}

static struct absent *note(struct head *h, const char *name, uint32_t slots, double at)
{
    struct absent *a = find(h, name);
    if (!a) {
        a = launcher_memory(NULL, sizeof *a);
        *a = (struct absent){.next = h->absent, .name = launcher_text(name), .node = NO_NODE};
        h->absent = a;
    }
    a->slots = slots;
    a->at = at;
    a->pause = h->retry;
    return a;
}

void later_absent(struct head *h, const char *name, uint32_t slots)
{
    note(h, name, slots, next_time(h, h->retry));
}

void later_lost(struct head *h, uint32_t node)
{
    const struct head_node *n = &h->nodes[node];
    struct absent *a = find(h, h->hosts.name[node]);
    if (!a) {
        a = note(h, h->hosts.name[node], h->hosts.slots[node], next_time(h, h->retry));
        if (n->pause == 0 || launcher_clock() - n->began > settled)
            return;
        a->pause = n->pause; /* it was up, but not for long; each attempt takes a number */
    }
    a->trying = false;
    a->pause = a->pause < pause_max / 2 ? 2 * a->pause : pause_max;
    a->at = next_time(h, a->pause);
}

void later_up(struct head *h, uint32_t node)
{
    for (struct absent **p = &h->absent, *a; (a = *p); p = &a->next)
        if (a->node == node) {
            h->nodes[node].pause = a->pause;
            *p = a->next;
            free(a->name);
            free(a);
            break;
        }
    head_report(h, "added %s %u", h->hosts.name[node], h->hosts.slots[node]);
    fill_tell(h, node);
}

/* ---- 2, 3 ------------------------------------------------------------------------------------ */

static uint32_t one_more(struct head *h, const char *name, uint32_t slots)
{
    uint32_t node = hosts_append(&h->hosts, name, slots);
    struct wire w = {0};
    h->job.nodes = h->hosts.count;
    h->job.node_names = h->hosts.name;
    h->nodes = launcher_memory(h->nodes, h->hosts.count * sizeof *h->nodes);
    h->nodes[node] = (struct head_node){.state = NODE_LOST, .late = true, .link.fd = -1};
    gather_grow(h);
    fill_grow(h);
    wire_put_u32(&w, node);
    wire_put_text(&w, name);
    for (uint32_t i = 0; i < node; i++)
        if (h->nodes[i].state == NODE_UP)
            link_send(&h->nodes[i].link, SAY_NODE, &w);
    wire_free(&w);
    return node;
}

static void try_it(struct head *h, struct absent *a)
{
    a->trying = true;
    if (a->node == NO_NODE)
        a->node = one_more(h, a->name, a->slots);
    h->hosts.slots[a->node] = a->slots;
    h->nodes[a->node].state = NODE_STARTING;
    if (!start_later(h, a->node))
        head_lose(h, a->node, "its daemon could not be started");
}

/* ---- 1 --------------------------------------------------------------------------------------- */

static uint32_t find_node(const struct head *h, const char *name)
{
    uint32_t i = 0;
    while (i < h->hosts.count &&
           (h->nodes[i].state > NODE_UP || strcmp(h->hosts.name[i], name) != 0))
        i++;
    return i < h->hosts.count ? i : NO_NODE;
}

/* Machines that the sources no longer name stay in the job. */
static void reread(struct head *h, double now)
{
    struct hosts all = {0};
    bool ok = later_hosts(h, &all);
    for (uint32_t i = 0; ok && i < all.count; i++) {
        uint32_t node = find_node(h, all.name[i]);
        if (node == NO_NODE)
            note(h, all.name[i], all.slots[i], now);
        else if (h->hosts.slots[node] < all.slots[i]) {
            h->hosts.slots[node] = all.slots[i];
            head_report(h, "added %s %u", all.name[i], all.slots[i]);
        }
    }
    hosts_free(&all);
}

static bool launching(const struct head *h)
{
    for (uint32_t i = 0; i < h->hosts.count; i++)
        if (h->nodes[i].state == NODE_STARTING && !h->nodes[i].late)
            return true;
    return false;
}

void later_tick(struct head *h, double now)
{
    if (h->ending || launching(h))
        return;
    if (h->reread)
        reread(h, now);
    h->reread = false;
    for (struct absent *a = h->absent; a; a = a->next)
        if (!a->trying && now >= a->at)
            try_it(h, a);
}
