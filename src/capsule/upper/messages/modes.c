/* messages/modes.c - buffered and ready sends, matched messages, combined calls. */
#include "messages/messages.h"
#include <stdlib.h>
#include <string.h>

int core_Bsend(const void *b, int n, object *t, int dst, int tag, object *c)
{
    int rc = LOWER(Bsend, b, n, t->real, dst, tag, c->real);
    if (!rc)
        count_send(c, dst);
    return rc;
}
#define ISEND(Name)                                                                             \
    int core_##Name(const void *b, int n, object *t, int dst, int tag, object *c, object **out) \
    {                                                                                           \
        handle_t real;                                                                          \
        int rc = LOWER(Name, b, n, t->real, dst, tag, c->real, &real);                          \
        if (rc)                                                                                 \
            return rc;                                                                          \
        count_send(c, dst);                                                                     \
        *out = sent_request(real, b, n, t, dst, tag, c);                                        \
        return 0;                                                                               \
    }
ISEND(Ibsend)
ISEND(Irsend)

/* The buffer for buffered sends belongs to the program; after a restart it is given to the new
 * lower half. At a checkpoint nothing in it is on its way any more: every message was drained by
 * its receiver. */
static struct {
    void *at; /* NULL: none */
    int size;
} buffer;
int core_Buffer_attach(void *b, int size)
{
    if (buffer.at)
        return NEUTRAL_MPI_ERR_BUFFER;
    int rc = LOWER(Buffer_attach, b, size);
    if (!rc) {
        buffer.at = b;
        buffer.size = size;
    }
    return rc;
}
int core_Buffer_detach(void **b, int *size)
{
    int rc = buffer.at ? LOWER(Buffer_detach) : 0;
    if (rc)
        return rc;
    *b = buffer.at;
    *size = buffer.size;
    buffer.at = NULL;
    buffer.size = 0;
    return 0;
}
void rebind_buffer(void)
{
    if (buffer.at)
        LOWER(Buffer_attach, buffer.at, buffer.size);
}

/* --- matched messages: taken from the lower half only when received, or when a checkpoint drains
 * them --- */
int core_Improbe(int src, int tag, object *c, int *flag, object **out, struct status *st)
{
    struct status s;
    if (src == NEUTRAL_PROC_NULL) {
        *flag = 1;
        *out = predef[PRE_MPI_MESSAGE_NO_PROC];
        tell_status(st, &empty_status);
        if (st)
            st->source = NEUTRAL_PROC_NULL;
        return 0;
    }
    struct message *kept = books.drained ? find_drained(src, tag, c, 1) : NULL;
    handle_t h = 0;
    int rc = 0;
    if (kept) {
        *flag = 1;
        s = *drained_status(kept);
    } else
        rc = LOWER(Improbe, src, tag, c->real, flag, &h, &s);
    if (rc || !*flag)
        return rc;
    object *m = object_new(KIND_MSG);
    m->real = h;
    m->msg.drained = kept;
    m->msg.comm = c;
    m->msg.status = s;
    c->refs++;
    *out = m;
    tell_status(st, &s);
    return 0;
}
int core_Mprobe(int src, int tag, object *c, object **out, struct status *st)
{
    int flag = 0, rc;
    do
        rc = core_Improbe(src, tag, c, &flag, out, st);
    while (!rc && !flag && (wait_turn(c, src), 1));
    return rc;
}
static void message_done(object **m)
{
    unref_comm((*m)->msg.comm);
    object_delete(*m);
    *m = predef[PRE_MPI_MESSAGE_NULL];
}
int core_Mrecv(void *buf, int n, object *t, object **m, struct status *st)
{
    struct status s = empty_status;
    int rc;
    if (*m == predef[PRE_MPI_MESSAGE_NO_PROC]) {
        s.source = NEUTRAL_PROC_NULL;
        *m = predef[PRE_MPI_MESSAGE_NULL];
        tell_status(st, &s);
        return 0;
    }
    if (*m == predef[PRE_MPI_MESSAGE_NULL])
        return NEUTRAL_MPI_ERR_REQUEST;
    object *c = (*m)->msg.comm;
    if ((*m)->msg.drained)
        rc = deliver_drained((*m)->msg.drained, buf, n, t, &s);
    else {
        handle_t h = (*m)->real;
        rc = LOWER(Mrecv, buf, n, t->real, &h, &s);
        count_recv(c, &s);
    }
    message_done(m);
    tell_status(st, &s);
    return rc;
}
/* An ordinary receive from here on. Its message was sent, so draining always completes it: it is
 * never posted again. */
int core_Imrecv(void *buf, int n, object *t, object **m, object **out)
{
    object *c = (*m)->predefined ? COMM_SELF : (*m)->msg.comm, *r;
    int rc = 0;
    if ((*m)->predefined || (*m)->msg.drained) {
        r = new_request(0, buf, n, t, NEUTRAL_PROC_NULL, 0, c);
        rc = core_Mrecv(buf, n, t, m, &r->req.status);
        r->req.done = 1;
    } else {
        handle_t h = (*m)->real;
        r = new_request(1, buf, n, t, (*m)->msg.status.source, (*m)->msg.status.tag, c);
        rc = LOWER(Imrecv, buf, n, t->real, &h, &r->real);
        message_done(m);
    }
    if (rc)
        retire_request(&r);
    else
        *out = r;
    return rc;
}
/* for drain.c: bring the matched messages up, too */
int drain_matched(void)
{
    int any = 0;
    EACH_LIVE (m, KIND_MSG) {
        if (m->msg.drained)
            continue;
        struct message *kept = new_message(m->msg.status.bytes);
        void *data = message_data(kept);
        struct status *status = message_status(kept);
        handle_t h = m->real;
        LOWER(Mrecv, data, (int)m->msg.status.bytes, TYPE_BYTE->real, &h, status);
        count_recv(m->msg.comm, status);
        m->msg.drained = kept;
        any = 1;
    }
    return any;
}

int core_Isendrecv(const void *sb, int sn, object *stp, int dst, int stag, void *rb, int rn,
                   object *rtp, int src, int rtag, object *c, object **out)
{
    object **two = need(calloc(2, sizeof *two));
    int rc = core_Irecv(rb, rn, rtp, src, rtag, c, &two[0]);
    if (!rc)
        rc = core_Isend(sb, sn, stp, dst, stag, c, &two[1]);
    if (rc) {
        free(two);
        return rc;
    }
    *out = composite(2, two, 0, NULL);
    return 0;
}
int core_Isendrecv_replace(void *b, int n, object *t, int dst, int stag, int src, int rtag,
                           object *c, object **out)
{
    int size, pos = 0, rc = core_Pack_size(n, t, c, &size);
    if (rc)
        return rc;
    char *copy = malloc(size + 1);
    if (!copy)
        return NEUTRAL_MPI_ERR_NO_MEM;
    rc = core_Pack(b, n, t, copy, size, &pos, c);
    if (!rc)
        rc = core_Isendrecv(copy, pos, predef[PRE_MPI_PACKED], dst, stag, b, n, t, src, rtag, c,
                            out);
    if (rc)
        free(copy);
    else
        (*out)->req.special->keep = copy;
    return rc;
}

int core_Testsome(int n, object **h, int *count, int *indices, struct status *st)
{
    int any = 0, rc = 0;
    *count = 0;
    for (int i = 0; i < n; i++)
        if (!request_idle(h[i])) {
            any = 1;
            if (request_poll(h[i])) {
                int e;
                indices[*count] = i;
                e = core_Wait(&h[i], st ? &st[*count] : NULL);
                if (st)
                    st[*count].error = e;
                if (e)
                    rc = NEUTRAL_MPI_ERR_IN_STATUS;
                ++*count;
            }
        }
    if (!any)
        *count = NEUTRAL_UNDEFINED;
    return rc;
}
