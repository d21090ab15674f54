/* p2p.c - sending, receiving, probing. */
#include "core.h"
#include <stdlib.h>
#include <string.h>
#define SEND(Name)                                                                \
    int core_##Name(const void *b, int n, object *t, int dst, int tag, object *c) \
    {                                                                             \
        if (dst >= c->comm.size || dst < NEUTRAL_PROC_NULL)                       \
            return NEUTRAL_MPI_ERR_RANK;                                          \
        count_send(c, dst);                                                       \
        return LOWER(Name, b, n, t->real, dst, tag, c->real);                     \
    }
SEND(Send)
SEND(Ssend)
SEND(Rsend)
#define ISEND(Name)                                                                             \
    int core_##Name(const void *b, int n, object *t, int dst, int tag, object *c, object **out) \
    {                                                                                           \
        object *r = new_request(0, (void *)b, n, t, dst, tag, c);                               \
        count_send(c, dst);                                                                     \
        *out = r;                                                                               \
        return LOWER(Name, b, n, t->real, dst, tag, c->real, &r->real);                         \
    }
ISEND(Isend)
ISEND(Issend)

    int core_Recv(void *b, int n, object *t, int src, int tag, object *c, struct status *st)
{
    struct status s;
    struct message *m;
    int rc;
    if (__builtin_expect(drained != NULL, 0) && (m = find_drained(src, tag, c, 1)))
        rc = deliver_drained(m, b, n, t, &s);
    else if (!st && src != NEUTRAL_ANY_SOURCE) { /* nothing to learn from a status */
        rc = LOWER(Recv, b, n, t->real, src, tag, c->real, NULL);
        s.source = src;
        count_recv(c, &s);
        return rc;
    } else {
        rc = LOWER(Recv, b, n, t->real, src, tag, c->real, &s);
        count_recv(c, &s);
    }
    if (st)
        *st = s;
    return rc;
}
int core_Irecv(void *b, int n, object *t, int src, int tag, object *c, object **out)
{
    object *r = new_request(1, b, n, t, src, tag, c);
    struct message *m;
    *out = r;
    if (__builtin_expect(drained != NULL, 0) && (m = find_drained(src, tag, c, 1))) {
        r->req.done = 1;
        return deliver_drained(m, b, n, t, &r->req.status);
    }
    return LOWER(Irecv, b, n, t->real, src, tag, c->real, &r->real);
}
int core_Sendrecv(const void *sb, int sn, object *stp, int dst, int stag, void *rb, int rn,
                  object *rtp, int src, int rtag, object *c, struct status *st)
{
    object *r;
    int e1 = core_Irecv(rb, rn, rtp, src, rtag, c, &r), e2 = core_Send(sb, sn, stp, dst, stag, c),
        e3 = core_Wait(&r, st);
    return e1 ? e1 : e2 ? e2 : e3;
}
int core_Sendrecv_replace(void *b, int n, object *t, int dst, int stag, int src, int rtag,
                          object *c, struct status *st)
{
    int size, pos = 0;
    core_Pack_size(n, t, c, &size);
    char *tmp = malloc(size + 1);
    core_Pack(b, n, t, tmp, size, &pos, c);
    int rc = core_Sendrecv(tmp, pos, predef[PRE_MPI_PACKED], dst, stag, b, n, t, src, rtag, c, st);
    free(tmp);
    return rc;
}
int core_Iprobe(int src, int tag, object *c, int *flag, struct status *st)
{
    struct status s;
    struct message *m = find_drained(src, tag, c, 0);
    int rc = 0;
    if (m) {
        s = *drained_status(m);
        *flag = 1;
    } else
        rc = LOWER(Iprobe, src, tag, c->real, flag, &s);
    if (*flag && st)
        *st = s;
    return rc;
}
int core_Probe(int src, int tag, object *c, struct status *st)
{
    int flag, rc;
    do
        rc = core_Iprobe(src, tag, c, &flag, st);
    while (!flag && !rc);
    return rc;
}
