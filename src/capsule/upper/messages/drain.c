/* drain.c - bringing every message that was sent into memory of the upper half.
 *
 * While a checkpoint stops the ranks, each receives what others have sent to it and it has not yet
 * asked for, on whatever communicator. The messages wait in a list, in the order of their arrival,
 * and later receives look there first. Then the lower half holds nothing of the application.
 */
#include "messages/messages.h"

#include <sys/mman.h>

/* ---- messages -------------------------------------------------------------------------------- */
struct message {
    struct message *next;
    object *comm;
    struct status status;
    char data[];
};

/* Oldest drained message that (source, tag, comm) would match, unlinked if take. */
struct message *find_drained(int source, int tag, const object *c, int take)
{
    for (struct message **p = &books.drained, *m; (m = *p); p = &m->next)
        if (m->comm == c && (source == NEUTRAL_ANY_SOURCE || source == m->status.source) &&
            (tag == NEUTRAL_ANY_TAG || tag == m->status.tag)) {
            if (take) {
                *p = m->next;
                if (!*p)
                    books.drained_end = p;
                books_changed();
            }
            return m;
        }
    return NULL;
}

struct message *new_message(size_t bytes)
{
    struct message *m = keep_alloc(sizeof *m + bytes);
    m->next = NULL;
    m->comm = NULL;
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

const struct status *drained_status(const struct message *m)
{
    return &m->status;
}

int deliver_drained(struct message *m, void *buf, int n, object *t, struct status *s)
{
    tell_status(s, &m->status);
    int rc = LOWER(self_copy, m->data, m->status.bytes, buf, n, t->real);
    if (m->comm)
        unref_comm(m->comm);
    keep_free(m);
    return rc;
}

static void probe_and_keep(object *c)
{
    int flag = 0;
    struct status s;
    while (LOWER(Iprobe, NEUTRAL_ANY_SOURCE, NEUTRAL_ANY_TAG, c->real, &flag, &s), flag) {
        struct message *m = keep_alloc(sizeof *m + s.bytes);
        m->next = NULL;
        m->comm = c;
        c->refs++;
        LOWER(recv_bytes, m->data, s.bytes, s.source, s.tag, c->real, &m->status);
        count_recv(c, &m->status);
        *books.drained_end = m;
        books.drained_end = &m->next;
        books_changed();
    }
}

/* Take what has arrived, let complete what can. Requests stay in the hands of the application: they
 * are only marked as done. On a communicator that is not complete below nothing can be asked for.
 */
int drain_step(void)
{
    static unsigned step;
    int quiet = 1;
    step += step + 1 ? 1 : 2; /* never 0 */
    EACH_REQUEST (r)
        if (!r->req.special && !request_poll(r) && !r->req.is_recv) {
            quiet = 0;
            if (r->req.tag == TAG_MAKES_COMM)
                r->req.comm->comm.unmade = step;
        }
    drain_matched();
    probe_and_keep(COMM_WORLD);
    probe_and_keep(COMM_SELF);
    EACH_LIVE (c, KIND_COMM)
        if (!c->comm.released && c != core.creation_channel && c->comm.unmade != step)
            probe_and_keep(c);
    return quiet;
}
