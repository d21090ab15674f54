/* drain.c - bringing every message that was sent into memory of the upper half. */
#include "core.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
long *sent_to, *received_from; /* messages to / from each world rank */
struct message {
    struct message *next;
    object *comm;
    struct status status;
    char data[];
};
struct message *drained; /* received during a checkpoint, not yet asked for */

/* Oldest drained message that (src, tag, comm) would match, unlinked if take. */
struct message *find_drained(int src, int tag, const object *c, int take)
{
    for (struct message **p = &drained, *m; (m = *p); p = &m->next)
        if (m->comm == c && (src == NEUTRAL_ANY_SOURCE || src == m->status.source) &&
            (tag == NEUTRAL_ANY_TAG || tag == m->status.tag)) {
            if (take)
                *p = m->next;
            return m;
        }
    return NULL;
}
struct message *new_message(size_t bytes)
{
    struct message *m = malloc(sizeof *m + bytes);
    m->next = NULL;
    return m;
}
void *message_data(struct message *m)
{
    return m->data;
}
struct status *message_status(struct message *m)
{
    return &m->status;
}
void wait_turn(const object *comm, int source)
{
    (void)comm;
    (void)source;
}
const struct status *drained_status(const struct message *m)
{
    return &m->status;
}
int deliver_drained(struct message *m, void *buf, int n, object *t, struct status *s)
{
    *s = m->status;
    int rc = LOWER(self_copy, m->data, m->status.bytes, buf, n, t->real);
    free(m);
    return rc;
}
static void probe_and_keep(object *c)
{
    int flag;
    struct status s;
    LOWER(Iprobe, NEUTRAL_ANY_SOURCE, NEUTRAL_ANY_TAG, c->real, &flag, &s);
    if (!flag)
        return;
    struct message *m = malloc(sizeof *m + s.bytes), **p = &drained;
    m->next = NULL;
    m->comm = c;
    LOWER(Recv, m->data, (int)s.bytes, TYPE_BYTE->real, s.source, s.tag, c->real, &m->status);
    count_recv(c, &m->status);
    while (*p)
        p = &(*p)->next;
    *p = m;
}

/* Bring every message that was sent into upper-half memory: afterwards the
 * lower half holds nothing of the application (MANA-2.0, section III-B). */
void drain(void)
{
    long *expect = malloc(upper.size * sizeof *expect);
    LOWER(Alltoall, sent_to, sizeof(long), TYPE_BYTE->real, expect, sizeof(long), TYPE_BYTE->real,
          COMM_WORLD->real);
    for (;;) {
        int missing = 0;
        for (int i = 0; i < upper.size; i++)
            missing |= received_from[i] != expect[i];
        if (!missing)
            break;
        EACH_LIVE(r, KIND_REQ)
        if (r->req.is_recv && !r->req.done && !r->req.special) {
            LOWER(Test, r->real, &r->req.done, &r->req.status);
            if (r->req.done)
                count_recv(r->req.comm, &r->req.status);
        }
        drain_matched();
        probe_and_keep(COMM_WORLD);
        probe_and_keep(COMM_SELF);
        EACH_LIVE(c, KIND_COMM) probe_and_keep(c);
    }
    EACH_LIVE(r, KIND_REQ)
    while (!r->req.is_recv && !r->req.done)
        LOWER(Test, r->real, &r->req.done, &r->req.status);
    free(expect);
    LOWER(Barrier, COMM_WORLD->real);
    if (getenv("MEND_CAPSULE_VERBOSE")) {
        int kept = 0, done = 0, pending = 0, types = 0, comms = 0;
        for (struct message *m = drained; m; m = m->next)
            kept++;
        EACH_LIVE(r, KIND_REQ) r->req.done ? done++ : pending++;
        EACH_LIVE(t, KIND_TYPE)
        {
            (void)t;
            types++;
        }
        EACH_LIVE(c, KIND_COMM)
        {
            (void)c;
            comms++;
        }
        fprintf(stderr,
                "mend: rank %d: drained %d messages; live requests: %d complete, %d receives "
                "pending; %d communicators, %d datatypes; %d threads\n",
                upper.rank, kept, done, pending, comms, types, upper.nthreads);
    }
}
