/* messages/special_requests.c - requests that do not stand for exactly one request of the lower half: persistent
 * ones (their arguments and, while active, an ordinary request inside), generalized ones, composites (several
 * ordinary requests), partitioned ones (partitioned.c), and flushes (buffers.c).
 */
#include "core/face.h"
#include "messages/messages.h"
#include "messages/partitioned.h"
#include <stdlib.h>
#include <string.h>

object *new_special(enum special what)
{
    object *r = new_request(0, NULL, 0, TYPE_BYTE, NEUTRAL_PROC_NULL, 0, COMM_SELF);
    r->req.special = need(calloc(1, sizeof *r->req.special));
    r->req.special->what = what;
    r->req.done = 1; /* draining and restart skip it: it has nothing below */
    return r;
}
object *composite(int n, object **inner, int status_of, void *keep)
{
    object *r = new_special(SPECIAL_COMPOSITE);
    struct special_request *s = r->req.special;
    s->n = n;
    s->inner = inner;
    s->status_of = status_of;
    s->keep = keep;
    return r;
}
static int is_started(const struct special_request *s)
{
    return s->what == SPECIAL_PERSISTENT || s->what == SPECIAL_PARTITIONED;
}
int special_inactive(const object *r)
{
    return r->req.special && is_started(r->req.special) && !r->req.special->n;
}
static void unhold(object *o)
{
    if (o->kind == KIND_TYPE)
        unref_type(o);
    else if (o->kind == KIND_COMM)
        unref_comm(o);
    else
        unref_op(o);
}
static void free_types(object **array)
{
    for (object **t = array; *t; t++)
        unref_type(*t);
    free(array);
}
static void dismantle(object **h)
{
    struct special_request *s = (*h)->req.special;
    if (s->channel && s->channel->comm.of)
        channel_give(s->channel->comm.of, s->channel);
    for (int i = 0; i < s->n_held; i++)
        unhold(s->held[i]);
    for (int i = 0; i < s->n_arrays; i++)
        free_types((object **)(void *)s->inner[1 + i]);
    partitioned_free(s->parts);
    free(s->keep);
    free(s->inner);
    free(s);
    (*h)->req.special = NULL;
    (*h)->req.freed = 0;
    retire_request(h);
}
/* Waiting for a generalized request asks nothing of the library below. But others may need its progress: a large message
 * of ours that they receive, a window of ours. */
static void let_library_go_on(void)
{
    struct status s;
    int flag;
    LOWER(Iprobe, NEUTRAL_ANY_SOURCE, NEUTRAL_ANY_TAG, core.creation_channel->real, &flag, &s);
}
int special_poll(object *r, int *error)
{
    struct special_request *s = r->req.special;
    (void)error;
    if (s->what == SPECIAL_GENERALIZED) {
        if (!s->complete)
            let_library_go_on();
        return s->complete;
    }
    if (s->what == SPECIAL_PARTITIONED)
        return partitioned_poll(s->parts);
    if (s->what == SPECIAL_FLUSH)
        return flush_done(s->keep);
    int all = 1;
    for (int i = 0; i < s->n; i++)
        if (s->inner[i] != predef[PRE_MPI_REQUEST_NULL] && !request_poll(s->inner[i]))
            all = 0;
    return all;
}
int special_waits(object *r)
{
    const struct special_request *s = r->req.special;
    return s &&
           (s->what == SPECIAL_GENERALIZED || s->what == SPECIAL_PARTITIONED ||
            s->what == SPECIAL_FLUSH) &&
           !special_poll(r, NULL);
}
static int generalized_status(struct special_request *s, struct status *st)
{
    struct status own = empty_status;
    int rc = face_call_query(s, &own);
    tell_status(st, &own);
    return rc;
}
int special_finish(object **h, struct status *st)
{
    object *r = *h;
    struct special_request *s = r->req.special;
    int rc = 0;
    struct status one = empty_status, wanted = empty_status;
    switch (s->what) {
    case SPECIAL_GENERALIZED: {
        rc = generalized_status(s, st);
        int rc2 = face_call_free(s);
        dismantle(h);
        return rc ? rc : rc2;
    }
    case SPECIAL_PERSISTENT:
        if (s->n) {
            rc = core_Wait(&s->inner[0], &wanted);
            s->n = 0;
        }
        break;
    case SPECIAL_PARTITIONED:
        rc = partitioned_status(s->parts, &wanted);
        s->n = 0;
        if (rc)
            request_failed(rc, s->held[1]);
        break;
    default:
        for (int i = 0; i < s->n; i++) {
            int e = core_Wait(&s->inner[i], &one);
            if (i == s->status_of)
                wanted = one;
            if (e)
                rc = e;
        }
    }
    tell_status(st, &wanted);
    if (s->what == SPECIAL_COMPOSITE || s->what == SPECIAL_FLUSH)
        dismantle(h);
    return rc;
}
void special_release(object *r)
{
    dismantle(&r);
}
int special_free(object **h)
{
    struct special_request *s = (*h)->req.special;
    int rc = 0;
    if (s->what == SPECIAL_PARTITIONED && s->n && s->parts->is_recv && s->parts->left) {
        s->parts->freed = 1; /* the arrival of its last piece frees it */
        *h = predef[PRE_MPI_REQUEST_NULL];
        return 0;
    }
    if (s->what == SPECIAL_PARTITIONED)
        s->n = 0; /* partitions already sent no longer need it */
    if (s->what == SPECIAL_FLUSH)
        flush_forget(s->keep);
    if (s->what == SPECIAL_GENERALIZED) {
        /* The program may still complete it, which then calls its free function. */
        (*h)->req.freed = 1;
        if (s->complete) {
            rc = face_call_free(s);
            dismantle(h);
        }
        *h = predef[PRE_MPI_REQUEST_NULL];
        return rc;
    }
    for (int i = 0; i < s->n; i++)
        if (s->inner[i] != predef[PRE_MPI_REQUEST_NULL]) {
            if (s->what == SPECIAL_COMPOSITE && !request_poll(s->inner[i]))
                s->keep = NULL; /* a send still reads from it: it stays until the program ends */
            rc = core_Request_free(&s->inner[i]);
        }
    dismantle(h);
    return rc;
}
int special_cancel(object *r)
{
    struct special_request *s = r->req.special;
    if (s->what == SPECIAL_GENERALIZED)
        return face_call_cancel(s, s->complete);
    if (s->what == SPECIAL_PARTITIONED)
        return NEUTRAL_MPI_ERR_REQUEST;
    return s->what == SPECIAL_PERSISTENT && s->n ? core_Cancel(&s->inner[0]) : 0;
}

int core_Grequest_start(void *query, void *free_fn, void *cancel, enum language language,
                        void *extra, object **out)
{
    object *r = new_special(SPECIAL_GENERALIZED);
    struct special_request *s = r->req.special;
    s->query = query;
    s->free_fn = free_fn;
    s->cancel = cancel;
    s->language = language;
    s->extra = extra;
    *out = r;
    return 0;
}
int core_Grequest_complete(object *r)
{
    if (!r->req.special || r->req.special->what != SPECIAL_GENERALIZED)
        return NEUTRAL_MPI_ERR_REQUEST;
    r->req.special->complete = 1;
    if (r->req.freed) {
        int rc = face_call_free(r->req.special);
        dismantle(&r);
        return rc;
    }
    return 0;
}

/* The status, without retiring the request. */
int core_Request_get_status(object *r, int *flag, struct status *st)
{
    *flag = 1;
    if (r == predef[PRE_MPI_REQUEST_NULL] || special_inactive(r)) {
        tell_empty(st);
        return 0;
    }
    *flag = request_poll(r);
    if (!*flag || !st)
        return 0;
    struct special_request *s = r->req.special;
    if (!s)
        tell_status(st, &r->req.status);
    else if (s->what == SPECIAL_GENERALIZED)
        return generalized_status(s, st);
    else if (s->what == SPECIAL_PARTITIONED) {
        struct status own;
        partitioned_status(s->parts, &own);
        tell_status(st, &own);
    } else if (s->what == SPECIAL_FLUSH)
        tell_empty(st);
    else if (s->what == SPECIAL_PERSISTENT || s->status_of >= 0)
        return core_Request_get_status(s->inner[s->what == SPECIAL_PERSISTENT ? 0 : s->status_of],
                                       flag, st);
    else
        tell_status(st, &empty_status);
    return 0;
}

static int is_persistent(const object *r)
{
    return r && r->kind == KIND_REQ && r->req.special && is_started(r->req.special);
}
/* No rank knows whether others still hold a communicator that is free, so a restart does not make it again. */
static void stop_if_replaced(const struct special_request *s)
{
    for (int i = 0; i < s->n_held && !s->channel; i++)
        if (s->held[i]->kind == KIND_COMM && s->held[i]->comm.released &&
            s->held[i]->comm.card->replaced) {
            file_say("a persistent request cannot start again after a restart: its communicator "
                     "was freed",
                     "MPI_Start");
            abort();
        }
}
int core_Start(object **h)
{
    if (is_persistent(*h))
        stop_if_replaced((*h)->req.special);
    return is_persistent(*h) && !(*h)->req.special->n ? (*h)->req.special->start(*h)
                                                      : NEUTRAL_MPI_ERR_REQUEST;
}
/* Like both libraries, starts none if one of them is not persistent. */
int core_Startall(int n, object **h)
{
    int rc = 0;
    for (int i = 0; i < n; i++)
        if (!is_persistent(h[i]))
            return NEUTRAL_MPI_ERR_REQUEST;
    for (int i = 0; i < n && !rc; i++)
        rc = core_Start(&h[i]);
    return rc;
}
