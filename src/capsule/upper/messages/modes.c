/* messages/modes.c - ready sends, matched messages, combined calls. */
#include "messages/messages.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int core_Irsend(const void *b, int n, object *t, int dst, int tag, object *c, object **out)
{
    handle_t real;
    int rc = LOWER(Irsend, b, n, t->real, dst, tag, c->real, &real);
    if (rc)
        return rc;
    count_send(c, dst);
    *out = sent_request(real, b, n, t, dst, tag, c);
    return 0;
}

/* --- matched messages stay in the lower half until the program receives them or a checkpoint drains
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
/* From here on this is an ordinary receive. Its message was sent, so draining always completes it, and a
 * restart never posts it again. */
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
/* MPI_Mrecv of any size: beyond an int, the bytes become one element of a type. */
static int mrecv_bytes(void *data, size_t bytes, handle_t message, struct status *status)
{
    enum { PIECE = 1 << 20 };
    handle_t byte = TYPE_BYTE->real, piece, whole;
    if (bytes <= INT_MAX)
        return LOWER(Mrecv, data, (int)bytes, byte, &message, status);
    int lengths[] = {(int)(bytes / PIECE), (int)(bytes % PIECE)};
    long places[] = {0, (long)(bytes / PIECE * PIECE)};
    int rc = LOWER(type_build, RECIPE_CONTIGUOUS, PIECE, NULL, NULL, &byte, &piece);
    if (rc)
        return rc;
    handle_t parts[] = {piece, byte};
    rc = LOWER(type_build, RECIPE_STRUCT, 2, lengths, places, parts, &whole);
    LOWER(Type_free, piece);
    if (rc)
        return rc;
    rc = LOWER(Type_commit, whole);
    if (!rc)
        rc = LOWER(Mrecv, data, 1, whole, &message, status);
    LOWER(Type_free, whole);
    return rc;
}
/* for drain.c: also bring up the matched messages */
int drain_matched(void)
{
    int any = 0;
    EACH_LIVE (m, KIND_MSG) {
        if (m->msg.drained)
            continue;
        struct message *kept = new_message(m->msg.status.bytes);
        void *data = message_data(kept);
        struct status *status = message_status(kept);
        int rc = mrecv_bytes(data, m->msg.status.bytes, m->real, status);
        if (rc) { /* the counts will not match: this checkpoint cannot complete */
            upper.doubtful = 1;
            message_free(kept);
            break;
        }
        count_recv(m->msg.comm, status);
        m->msg.drained = kept;
        any = 1;
    }
    return any;
}

int core_Isendrecv(const void *sb, int sn, object *stp, int dst, int stag, void *rb, int rn,
                   object *rtp, int src, int rtag, object *c, object **out)
{
    int wrong = message_error(sn, stp, dst, stag, c);
    if (wrong)
        return wrong;
    object **two = need(calloc(2, sizeof *two));
    int rc = core_Irecv(rb, rn, rtp, src, rtag, c, &two[0]), posted = !rc;
    if (!rc)
        rc = core_Isend(sb, sn, stp, dst, stag, c, &two[1]);
    if (rc) {
        if (posted)
            withdraw(&two[0]);
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
    if (rc || size < 0) /* more than an int holds */
        return rc ? rc : NEUTRAL_MPI_ERR_COUNT;
    char *copy = malloc((size_t)size + 1);
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
