/* p2p.c - sending, receiving, probing. */
#include "messages/messages.h"

#include <stdlib.h>

/* A blocking send counts its message before it sends it, and sets upper.activity: a checkpoint may find
 * it waiting for its receiver, which then drains the message (drain.c). This rank's counts are final then: if the same
 * call of the program sends again (members_meet in comm.c), it stops first.
 */
#define BLOCKING_SEND(Name, name)                                                             \
    int core_##Name(const void *b, int n, object *t, int dest, int tag, object *c)            \
    {                                                                                         \
        if (__builtin_expect(upper.several, 0)) { /* nobody waits below: core/baton.h */      \
            object *r;                                                                        \
            int begun = core_I##name(b, n, t, dest, tag, c, &r);                              \
            return begun ? begun : core_Wait(&r, NULL);                                       \
        }                                                                                     \
        if (dest >= c->comm.n_peers || dest < NEUTRAL_PROC_NULL)                              \
            return NEUTRAL_MPI_ERR_RANK;                                                      \
        if (__builtin_expect(upper.stop_phase == STOP_HERE, 0))                               \
            stop_now();                                                                       \
        count_send(c, dest);                                                                  \
        __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the agent's membarrier() does the rest */ \
        upper.activity = ACTIVITY_SENDING;                                                    \
        int rc = LOWER(Name, b, n, t->real, dest, tag, c->real);                              \
        if (__builtin_expect(rc, 0))                                                          \
            count_failed_send(c, dest);                                                       \
        upper.activity = ACTIVITY_NONE;                                                       \
        return rc;                                                                            \
    }
BLOCKING_SEND(Send, send)
BLOCKING_SEND(Ssend, ssend)
BLOCKING_SEND(Rsend, rsend)

#define NONBLOCKING_SEND(Name)                                                                   \
    int core_##Name(const void *b, int n, object *t, int dest, int tag, object *c, object **out) \
    {                                                                                            \
        handle_t real;                                                                           \
        if (dest >= c->comm.n_peers || dest < NEUTRAL_PROC_NULL)                                 \
            return NEUTRAL_MPI_ERR_RANK;                                                         \
        int rc = LOWER(Name, b, n, t->real, dest, tag, c->real, &real);                          \
        if (__builtin_expect(rc, 0))                                                             \
            return rc;                                                                           \
        count_send(c, dest);                                                                     \
        *out = sent_request(real, b, n, t, dest, tag, c);                                        \
        return 0;                                                                                \
    }
NONBLOCKING_SEND(Isend)
NONBLOCKING_SEND(Issend)

/* A checkpoint came while the receive was waiting: from here on the receive is an ordinary request. */
static int recv_as_request(void *b, int n, object *t, int source, int tag, object *c, handle_t h,
                           struct status *st)
{
    object *r = new_request(1, b, n, t, source, tag, c);
    r->real = h;
    stop_now();
    return core_Wait(&r, st);
}

int recv_otherwise(int got, void *b, int n, object *t, int source, int tag, object *c,
                   const struct wait_item *item, struct status *st)
{
    return got == RECV_STOPPED ? recv_as_request(b, n, t, source, tag, c, *item->real, st)
                               : item->error; /* RECV_NOT_BEGUN */
}

int core_Recv(void *b, int n, object *t, int source, int tag, object *c, struct status *st)
{
    struct message *m;
    struct status s;
    if (source >= c->comm.n_peers)
        return NEUTRAL_MPI_ERR_RANK;
    if (books.drained && (m = find_drained(source, tag, c, 1)))
        return deliver_drained(m, b, n, t, st ? st : &s);

    handle_t h;
    int learn = st || source == NEUTRAL_ANY_SOURCE; /* else no status is needed */
    struct wait_item item = {&h, learn ? &s : NULL,
                             source >= 0 ? c->comm.peers[source] : WAITING_FOR_ANY, 0};
    s.source = source;
    int got = LOWER(recv_or_stop, b, n, t->real, source, tag, c->real, &item);
    if (got != RECV_DONE)
        return recv_otherwise(got, b, n, t, source, tag, c, &item, st);
    count_recv(c, &s);
    tell_status(st, &s);
    return item.error;
}

int core_Irecv(void *b, int n, object *t, int source, int tag, object *c, object **out)
{
    struct message *m;
    if (source >= c->comm.n_peers)
        return NEUTRAL_MPI_ERR_RANK;
    object *r = *out = new_request(1, b, n, t, source, tag, c);
    if (books.drained && (m = find_drained(source, tag, c, 1))) {
        r->req.done = 1;
        r->req.error = deliver_drained(m, b, n, t, &r->req.status);
        return 0;
    }
    int rc = LOWER(Irecv, b, n, t->real, source, tag, c->real, &r->real);
    if (__builtin_expect(rc, 0))
        retire_request(out);
    return rc;
}

/* An operation of several messages asks this of each before it begins the first: a receive that it withdraws later may
 * have matched a message that is not meant for it. */
int message_error(int n, const object *t, int peer, int tag, const object *c)
{
    if (peer >= c->comm.n_peers || (peer < 0 && peer != NEUTRAL_PROC_NULL))
        return NEUTRAL_MPI_ERR_RANK;
    if (n < 0)
        return NEUTRAL_MPI_ERR_COUNT;
    if (!t || t == predef[PRE_MPI_DATATYPE_NULL])
        return NEUTRAL_MPI_ERR_TYPE;
    return tag < 0 ? NEUTRAL_MPI_ERR_TAG : 0;
}

void withdraw(object **receive)
{
    core_Cancel(receive);
    core_Wait(receive, NULL);
    error_holder = NULL; /* the caller has another error to raise */
}

int core_Sendrecv(const void *sb, int sn, object *st, int dest, int stag, void *rb, int rn,
                  object *rt, int source, int rtag, object *c, struct status *status)
{
    object *r;
    int rc = message_error(sn, st, dest, stag, c);
    if (!rc)
        rc = core_Irecv(rb, rn, rt, source, rtag, c, &r);
    if (rc)
        return rc;
    rc = core_Send(sb, sn, st, dest, stag, c);
    if (!rc)
        return core_Wait(&r, status);
    withdraw(&r);
    return rc;
}

int core_Sendrecv_replace(void *b, int n, object *t, int dest, int stag, int source, int rtag,
                          object *c, struct status *st)
{
    int size, position = 0, rc = core_Pack_size(n, t, c, &size);
    if (rc || size < 0) /* more than an int holds */
        return rc ? rc : NEUTRAL_MPI_ERR_COUNT;
    char *copy = need(malloc((size_t)size + 1));
    rc = core_Pack(b, n, t, copy, size, &position, c);
    if (!rc)
        rc = core_Sendrecv(copy, position, predef[PRE_MPI_PACKED], dest, stag, b, n, t, source,
                           rtag, c, st);
    free(copy);
    return rc;
}

int core_Iprobe(int source, int tag, object *c, int *flag, struct status *st)
{
    struct status s;
    struct message *m = find_drained(source, tag, c, 0);
    int rc = 0;
    if (m) {
        s = *drained_status(m);
        *flag = 1;
    } else {
        rc = LOWER(Iprobe, source, tag, c->real, flag, &s);
    }
    if (*flag)
        tell_status(st, &s);
    return rc;
}

int core_Probe(int source, int tag, object *c, struct status *st)
{
    int flag, rc;
    for (;;) {
        rc = core_Iprobe(source, tag, c, &flag, st);
        if (flag || rc)
            break;
        wait_turn(c, source);
    }
    return rc;
}
