/* neighbour.c - neighbourhood collectives, made of messages, which a checkpoint drains like any
 * others. */
#include "comm/comm.h"
#include "messages/messages.h"
#include <stdlib.h>
#include <string.h>

static int extent_of(object *t, long *extent)
{
    long lb = 0;
    return core_Type_get_extent(t, &lb, extent);
}

/* The data for the neighbours, or from them: address, count and type of the k-th part. */
struct side {
    char *base;
    int count;
    const int *counts, *disps;
    const long *bytes;
    object *type, *const *types;
    long extent;
    int same; /* all neighbours get the same data (the send side of an allgather) */
};
static void *place(const struct side *s, int k)
{
    if (s->same)
        return s->base;
    long off = s->bytes ? s->bytes[k] : (s->disps ? s->disps[k] : (long)k * s->count) * s->extent;
    return s->base + off;
}
#define COUNT_AT(s, k) ((s)->counts ? (s)->counts[k] : (s)->count)
#define TYPE_AT(s, k)  ((s)->types ? (s)->types[k] : (s)->type)

static int side_error(const struct side *s, int n, const object *c)
{
    int rc = 0;
    for (int k = 0; k < n && !rc; k++)
        rc = message_error(COUNT_AT(s, k), TYPE_AT(s, k), NEUTRAL_PROC_NULL, 0, c);
    return rc;
}

static int exchange(struct side *out, struct side *in, object *c, object **request)
{
    object *shadow = c;
    int persistent = c->comm.of != NULL; /* then `c` is a channel */
    c = persistent ? c->comm.of : c;
    int rc = persistent ? 0 : neighbour_comm(c, &shadow), n_in = indegree_of(c),
        n_out = outdegree_of(c), n = 0, receives = 0, tag;
    if (!rc && out->type)
        rc = extent_of(out->type, &out->extent);
    if (!rc && in->type)
        rc = extent_of(in->type, &in->extent);
    if (!rc)
        rc = side_error(out, n_out, shadow);
    if (!rc)
        rc = side_error(in, n_in, shadow);
    if (rc)
        return rc;
    object **q = calloc(n_in + n_out + 1, sizeof *q);
    if (!q)
        return NEUTRAL_MPI_ERR_NO_MEM;
    for (int k = 0; k < n_in && !rc; k++) {
        int from = neighbour_in(c, k, &tag);
        rc = core_Irecv(place(in, k), COUNT_AT(in, k), TYPE_AT(in, k), from, tag, shadow, &q[n]);
        n += !rc;
        receives = n;
    }
    for (int k = 0; k < n_out && !rc; k++) {
        int to = neighbour_out(c, k, &tag);
        rc = core_Isend(place(out, k), COUNT_AT(out, k), TYPE_AT(out, k), to, tag, shadow, &q[n]);
        n += !rc;
    }
    if (!rc) {
        *request = composite(n, q, -1, NULL);
        return 0;
    }
    for (int k = 0; k < n; k++) /* the neighbours may have failed alike and never send */
        if (k < receives)
            withdraw(&q[k]);
        else
            core_Request_free(&q[k]);
    free(q);
    return rc;
}
static int run(struct side out, struct side in, object *c)
{
    object *r = predef[PRE_MPI_REQUEST_NULL];
    int rc = exchange(&out, &in, c, &r), rc2 = core_Wait(&r, NULL);
    return rc ? rc : rc2;
}
#define TWO(Name, PARAMS, OUT, IN)                                 \
    int core_Neighbor_##Name(PARAMS, object *c)                    \
    {                                                              \
        return run((struct side)OUT, (struct side)IN, c);          \
    }                                                              \
    int core_Ineighbor_##Name(PARAMS, object *c, object **request) \
    {                                                              \
        struct side out = OUT, in = IN;                            \
        return exchange(&out, &in, c, request);                    \
    }
#define P(...) __VA_ARGS__
TWO(allgather, P(const void *s, int sn, object *st, void *r, int rn, object *rt),
    P({.base = (char *)s, .count = sn, .type = st, .same = 1}),
    P({.base = r, .count = rn, .type = rt}))
TWO(allgatherv,
    P(const void *s, int sn, object *st, void *r, const int *rns, const int *rds, object *rt),
    P({.base = (char *)s, .count = sn, .type = st, .same = 1}),
    P({.base = r, .counts = rns, .disps = rds, .type = rt}))
TWO(alltoall, P(const void *s, int sn, object *st, void *r, int rn, object *rt),
    P({.base = (char *)s, .count = sn, .type = st}), P({.base = r, .count = rn, .type = rt}))
TWO(alltoallv,
    P(const void *s, const int *sns, const int *sds, object *st, void *r, const int *rns,
      const int *rds, object *rt),
    P({.base = (char *)s, .counts = sns, .disps = sds, .type = st}),
    P({.base = r, .counts = rns, .disps = rds, .type = rt}))
TWO(alltoallw,
    P(const void *s, const int *sns, const long *sds, object *const *sts, void *r, const int *rns,
      const long *rds, object *const *rts),
    P({.base = (char *)s, .counts = sns, .bytes = sds, .types = sts}),
    P({.base = r, .counts = rns, .bytes = rds, .types = rts}))
