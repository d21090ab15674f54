/* request.c - requests: completion, cancellation, and what a restart posts again. */
#include "core.h"
#include <stdlib.h>
#include <string.h>
object *new_request(int is_recv, void *buf, int n, object *t, int peer, int tag, object *c)
{
    object *r = object_new(KIND_REQ);
    r->req.is_recv = is_recv;
    r->req.buf = buf;
    r->req.n = n;
    r->req.type = t;
    r->req.comm = c;
    r->req.peer = peer;
    r->req.tag = tag;
    t->refs++;
    c->refs++;
    return r;
}
void retire_request(object **h)
{
    unref_type((*h)->req.type);
    unref_comm((*h)->req.comm);
    object_delete(*h);
    *h = predef[PRE_MPI_REQUEST_NULL];
}

void rebind_requests(void)
{
    EACH_LIVE(r, KIND_REQ)
    if (r->req.is_recv && !r->req.done) /* still waiting: post it again */
        LOWER(Irecv, r->req.buf, r->req.n, r->req.type->real, r->req.peer, r->req.tag,
              r->req.comm->real, &r->real);
}
const struct status empty_status = {NEUTRAL_ANY_SOURCE, NEUTRAL_ANY_TAG, 0, 0, 0};
int request_idle(const object *r)
{
    return r == predef[PRE_MPI_REQUEST_NULL] || special_inactive(r);
}
#define is_null request_idle

/* Is it complete?  Never retires it. */
int request_poll(object *r)
{
    if (r->req.special)
        return special_poll(r, NULL);
    if (!r->req.done) {
        LOWER(Test, r->real, &r->req.done, &r->req.status);
        if (r->req.done && r->req.is_recv)
            count_recv(r->req.comm, &r->req.status);
    }
    return r->req.done;
}
int core_Wait(object **h, struct status *st)
{
    object *r = *h;
    int rc = 0;
    if (is_null(r)) {
        if (st)
            *st = empty_status;
        return 0;
    }
    if (r->req.special) {
        while (r->req.special->what == SPECIAL_GENERALIZED && !r->req.special->complete)
            wait_turn(COMM_SELF, NEUTRAL_ANY_SOURCE);
        return special_finish(h, st);
    }
    if (!r->req.done) {
        int ignore = !st && !(r->req.is_recv && r->req.peer == NEUTRAL_ANY_SOURCE);
        r->req.status.source = r->req.peer;
        rc = LOWER(Wait, r->real, ignore ? NULL : &r->req.status);
        if (r->req.is_recv)
            count_recv(r->req.comm, &r->req.status);
    }
    if (st)
        *st = r->req.status;
    retire_request(h);
    return rc;
}
int core_Test(object **h, int *flag, struct status *st)
{
    if (is_null(*h)) {
        *flag = 1;
        if (st)
            *st = empty_status;
        return 0;
    }
    *flag = request_poll(*h);
    if (!*flag)
        return 0;
    if ((*h)->req.special)
        return special_finish(h, st);
    if (st)
        *st = (*h)->req.status;
    retire_request(h);
    return 0;
}
int core_Waitall(int n, object **h, struct status *st)
{
    int rc = 0;
    for (int i = 0; i < n; i++) {
        int e = core_Wait(&h[i], st ? &st[i] : NULL);
        if (e)
            rc = e;
    }
    return rc;
}
int core_Testall(int n, object **h, int *flag, struct status *st)
{
    *flag = 1;
    for (int i = 0; i < n; i++)
        if (!is_null(h[i]) && !request_poll(h[i]))
            *flag = 0;
    return *flag ? core_Waitall(n, h, st) : 0;
}
int core_Testany(int n, object **h, int *index, int *flag, struct status *st)
{
    int any = 0;
    for (int i = 0; i < n; i++)
        if (!is_null(h[i])) {
            any = 1;
            if (request_poll(h[i])) {
                *index = i;
                *flag = 1;
                return core_Wait(&h[i], st);
            }
        }
    *index = NEUTRAL_UNDEFINED;
    *flag = !any;
    if (!any && st)
        *st = empty_status;
    return 0;
}
int core_Waitany(int n, object **h, int *index, struct status *st)
{
    int flag, rc;
    do
        rc = core_Testany(n, h, index, &flag, st);
    while (!flag && !rc);
    return rc;
}
int core_Waitsome(int n, object **h, int *count, int *indices, struct status *st)
{
    int any = 0;
    *count = 0;
    do
        for (int i = 0; i < n; i++)
            if (!is_null(h[i])) {
                any = 1;
                if (request_poll(h[i])) {
                    indices[*count] = i;
                    core_Wait(&h[i], st ? &st[*count] : NULL);
                    ++*count;
                }
            }
    while (any && !*count);
    if (!any)
        *count = NEUTRAL_UNDEFINED;
    return 0;
}
int core_Request_free(object **h) /* prototype: completes it */
{
    if ((*h)->req.special)
        return special_free(h);
    return core_Wait(h, NULL);
}
int core_Cancel(object **h)
{
    object *r = *h;
    if (r->req.special)
        return special_cancel(r);
    if (r->req.done || !r->req.is_recv)
        return 0;
    int rc = LOWER(Cancel, r->real); /* prototype: assumes that nothing had arrived */
    r->req.done = 1;
    r->req.status = empty_status;
    r->req.status.cancelled = 1;
    return rc;
}

/* A request that is not bound yet has the null handle: whoever walks the list may rely on it. */
void unbind_requests(void)
{
    EACH_LIVE(r, KIND_REQ) r->real = upper.lower->predef[PRE_MPI_REQUEST_NULL];
}
void each_request(void (*visit)(handle_t real, int is_receive))
{
    EACH_LIVE(r, KIND_REQ)
    if (!r->req.done)
        visit(r->real, r->req.is_recv);
}
