/* On which node each rank was, and when: the processes that took it say so. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

/* Its number in the list of nodes; -1: unknown, or one too many. */
static int node_of(struct report_places *p, const char *host)
{
    for (int i = 0; i < p->nodes; i++)
        if (strcmp(p->node[i], host) == 0)
            return i;
    if (!host[0] || p->nodes == REPORT_NODES)
        return -1;
    p->node[p->nodes] = host;
    return p->nodes++;
}

/* last: the index of each rank's newest stay, plus one. */
static void add_stay(struct report_places *p, int *last, const struct report_mark *m)
{
    int node = node_of(p, m->host);
    struct report_stay *before = last[m->rank] ? &p->stay[last[m->rank] - 1] : NULL;
    if (before && before->node == node)
        return;
    if (before)
        before->to = m->t;
    p->stay[p->stays++] =
        (struct report_stay){.rank = m->rank, .node = node, .from = m->t, .to = p->end};
    last[m->rank] = p->stays;
}

void report_places(struct report_places *p, const struct report *r)
{
    int *last = calloc((size_t)r->ranks + 1, sizeof *last);
    *p = (struct report_places){.end = r->end};
    p->stay = calloc((size_t)r->marks + 1, sizeof *p->stay);
    for (int i = 0; last && p->stay && i < r->marks; i++)
        if (strcmp(r->mark[i].what, "playing") == 0 && r->mark[i].rank >= 0 &&
            r->mark[i].rank < r->ranks)
            add_stay(p, last, &r->mark[i]);
    free(last);
}

void report_places_free(struct report_places *p)
{
    free(p->stay);
}

/* Told apart as neighbours; more nodes begin again. */
const char *report_node_colour(int node)
{
    static const char *const colour[] = {"#17a2b8", "#d1a11f", "#c2557f", "#7a8b2e",
                                         "#6f5bd0", "#b5651d", "#2e8b57", "#6b7785"};
    return node < 0 ? "none" : colour[(size_t)node % (sizeof colour / sizeof *colour)];
}
