/* messages/pending.c - pending requests: cancellation, and posting receives again after a restart. */
#include "messages/messages.h"

int core_Cancel(object **h)
{
    object *r = *h;
    if (r == predef[PRE_MPI_REQUEST_NULL])
        return NEUTRAL_MPI_ERR_REQUEST;
    if (r->req.special)
        return special_cancel(r);
    if (r->req.done || !r->req.is_recv)
        return 0; /* sends are never cancelled and complete as usual */
    int rc = LOWER(Cancel, &r->real, &r->req.status);
    r->req.done = 1;
    if (!r->req.status.cancelled) /* it was matched already */
        count_recv(r->req.comm, &r->req.status);
    return rc;
}

/* Not qsort(): it may call malloc(), which a checkpoint may have interrupted. */
static void sort_by_order(object **r, size_t n)
{
    for (size_t gap = n / 2; gap; gap /= 2)
        for (size_t i = gap; i < n; i++) {
            object *one = r[i];
            size_t at = i;
            for (; at >= gap && r[at - gap]->req.order > one->req.order; at -= gap)
                r[at] = r[at - gap];
            r[at] = one;
        }
}

/* After a restart only unmatched receives are pending: post them again, in their old order. */
void rebind_requests(void)
{
    size_t n = 0, at = 0;
    EACH_REQUEST (r)
        n += r->req.is_recv && !r->req.done;
    object **open = keep_alloc((n + 1) * sizeof *open);
    EACH_REQUEST (r)
        if (r->req.is_recv && !r->req.done)
            open[at++] = r;
    sort_by_order(open, n);
    for (at = 0; at < n; at++) {
        object *r = open[at];
        int rc = LOWER(Irecv, r->req.buf, r->req.n, r->req.type->real,
                       r->req.comm->comm.released ? NEUTRAL_ANY_SOURCE : r->req.peer, r->req.tag,
                       r->req.comm->real, &r->real);
        if (rc) { /* another library may not have its type, or not allow its tag */
            r->req.error = rc;
            r->req.done = 1;
        }
    }
    keep_free(open);
}

/* A request that is not bound yet has the null handle: code that walks the requests relies on it. */
void unbind_requests(void)
{
    EACH_REQUEST (r)
        r->real = upper.lower->predef[PRE_MPI_REQUEST_NULL];
}

void each_request(void (*visit)(handle_t real, int is_receive))
{
    EACH_REQUEST (r)
        if (!r->req.done && !r->req.special)
            visit(r->real, r->req.is_recv);
}
