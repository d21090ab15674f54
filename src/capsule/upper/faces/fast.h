/* fast.h - the busiest functions of Open MPI's C ABI by hand: what face and core do, as long as
 * nothing is out of the ordinary, in as few instructions as can be. Everything else goes to the
 * functions that are made from the table, here called slow_Name().
 *
 * All of this is FAST_CODE: core.h says what that means.
 */
#define UNLIKELY(x)      __builtin_expect(!!(x), 0)
#define IS_PEER(c, rank) ((unsigned)(rank) < (unsigned)(c)->comm.n_peers)

/* Only one thread is inside MPI at a time, unless the program asked for MPI_THREAD_MULTIPLE and got it: what is in `upper` and `books` is its own.
 * With several every function below takes the slow way.
 */
#define FAST_ONE_INSIDE() (!upper.several)

/* LOWER, by way of upper.fast. */
#define LOWER_FAST(function, ...)                                                                \
    ({                                                                                           \
        void *pointer_above_ = thread_pointer_get();                                             \
        upper.thread_pointer_inside = pointer_above_;                                            \
        thread_pointer_set(upper.fast.thread_pointer);                                           \
        __typeof__(upper.fast.function(__VA_ARGS__)) result_ = upper.fast.function(__VA_ARGS__); \
        thread_pointer_set(pointer_above_);                                                      \
        result_;                                                                                 \
    })

/* Messages are counted before they are sent; a blocking send is marked, for a checkpoint may find
 * it waiting for its receiver, who will then drain it (drain.c).
 */
struct sending { /* in memory, not in registers that would have to be saved: seldom needed */
    handle_t real;
    const void *buf;
    object *type, *comm;
    MPI_Request *request;
    int n, dest, tag;
};
FAST_CODE __attribute__((noinline)) static int send_failed(const struct sending *s, int rc,
                                                           const char *name)
{
    count_failed_send(s->comm, s->dest);
    upper.activity = ACTIVITY_NONE;
    return raise_error(rc, s->comm, name);
}

FAST_CODE int PMPI_Send(const void *buf, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    object *t = IN_TYPE(type), *c = IN_COMM(comm);
    if (UNLIKELY(upper.stop_phase == STOP_HERE || !IS_PEER(c, dest) || !FAST_ONE_INSIDE()))
        return slow_Send(buf, n, type, dest, tag, comm);
    struct sending s;
    s.comm = c;
    s.dest = dest;
    upper.sent_to[c->comm.peers[dest]]++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the agent's membarrier() does the rest */
    upper.activity = ACTIVITY_SENDING;
    int rc = LOWER_FAST(Send, buf, n, t->real, dest, tag, c->real);
    if (UNLIKELY(rc))
        return send_failed(&s, rc, "MPI_Send");
    upper.activity = ACTIVITY_NONE;
    return 0;
}

/* The send is not complete yet, or has failed. */
FAST_CODE __attribute__((noinline)) static int isend_otherwise(const struct sending *s, int rc)
{
    if (rc) {
        *s->request = MPI_REQUEST_NULL;
        return send_failed(s, rc, "MPI_Isend");
    }
    in_library++;
    *s->request =
        (MPI_Request)sent_request(s->real, s->buf, s->n, s->type, s->dest, s->tag, s->comm);
    in_library--;
    return 0;
}

FAST_CODE int PMPI_Isend(const void *buf, int n, MPI_Datatype type, int dest, int tag,
                         MPI_Comm comm, MPI_Request *request)
{
    object *t = IN_TYPE(type), *c = IN_COMM(comm);
    if (UNLIKELY(upper.stop_phase == STOP_HERE || !IS_PEER(c, dest) || !FAST_ONE_INSIDE()))
        return slow_Isend(buf, n, type, dest, tag, comm, request);
    struct sending s;
    s.buf = buf;
    s.type = t;
    s.comm = c;
    s.request = request;
    s.n = n;
    s.dest = dest;
    s.tag = tag;
    upper.sent_to[c->comm.peers[dest]]++;
    *request = (MPI_Request)books.sent; /* most often it is */
    int rc = LOWER_FAST(Isend, buf, n, t->real, dest, tag, c->real, &s.real);
    if (UNLIKELY(rc || s.real != upper.fast.sent_at_once))
        return isend_otherwise(&s, rc);
    return 0;
}

struct posting { /* as struct sending */
    MPI_Request *request;
};
FAST_CODE __attribute__((noinline)) static int irecv_failed(const struct posting *p, int rc)
{
    MPI_Request *request = p->request;
    object *c = ((object *)*request)->req.comm;
    in_library++;
    retire_request((object **)request);
    in_library--;
    return raise_error(rc, c, "MPI_Irecv"); /* all is whole again: no longer inside */
}

FAST_CODE int PMPI_Irecv(void *buf, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                         MPI_Request *request)
{
    object *t = IN_TYPE(type), *c = IN_COMM(comm), *r = books.spare;
    /* a checkpoint can wait, and whatever is wrong is seen below */
    if (UNLIKELY(books.careful || !r || !FAST_ONE_INSIDE()))
        return slow_Irecv(buf, n, type, source, tag, comm, request);
    take_request(r, 1, buf, n, t, source, tag, c);
    struct posting p = {request};
    *request = (MPI_Request)r;
    int rc = LOWER_FAST(Irecv, buf, n, t->real, source, tag, c->real, &r->real);
    return UNLIKELY(rc) ? irecv_failed(&p, rc) : 0;
}

struct receiving {
    struct wait_item item; /* first */
    handle_t real;
    void *buf;
    object *type, *comm;
    int n, source, tag;
};
FAST_CODE __attribute__((noinline)) static int recv_unusual(const struct receiving *r, int got)
{
    int rc = r->item.error;
    if (got != RECV_DONE) {
        upper.received_from[r->item.peer]--;
        in_library++;
        rc = recv_otherwise(got, r->buf, r->n, r->type, r->source, r->tag, r->comm, &r->item,
                            r->item.status);
        in_library--;
    }
    return rc ? raise_error(rc, r->comm, "MPI_Recv") : 0;
}

/* The message is counted before it is here: there is time while we wait for it. Nobody looks at the
 * counts before this call has ended, or has counted back.
 */
FAST_CODE int PMPI_Recv(void *buf, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                        MPI_Status *status)
{
    object *t = IN_TYPE(type), *c = IN_COMM(comm);
    /* recv_or_stop thinks of checkpoints */
    if (UNLIKELY(books.careful || !IS_PEER(c, source) || !FAST_ONE_INSIDE()))
        return slow_Recv(buf, n, type, source, tag, comm, status);
    struct receiving r;
    r.buf = buf;
    r.type = t;
    r.comm = c;
    r.n = n;
    r.source = source;
    r.tag = tag;
    r.item = (struct wait_item){&r.real, status == MPI_STATUS_IGNORE ? NULL : (void *)status,
                                c->comm.peers[source], 0};
    upper.received_from[r.item.peer]++;
    int got = LOWER_FAST(recv_or_stop, buf, n, t->real, source, tag, c->real, &r.item);
    return UNLIKELY(got != RECV_DONE || r.item.error) ? recv_unusual(&r, got) : 0;
}

struct waiting {
    struct wait_item item; /* first */
    MPI_Request *request;
    MPI_Status *status;
};
/* A checkpoint comes first, or the receive has failed: it is complete then, with what is known of it. */
FAST_CODE __attribute__((noinline)) static int wait_unusual(const struct waiting *w, int done)
{
    if (done) {
        object *r = (object *)*w->request;
        in_library++;
        r->req.status = w->item.status ? *w->item.status : (struct status){.source = r->req.peer};
        r->req.error = w->item.error;
        r->req.done = 1;
        count_recv_from(r->req.comm, r->req.peer);
        in_library--;
    }
    return slow_Wait(w->request, w->status);
}

FAST_CODE __attribute__((noinline)) static void wait_let_go(MPI_Request *request)
{
    in_library++;
    retire_request((object **)request);
    in_library--;
}

/* A receive from a known rank, or a send that was complete at once and of which nobody wants to know more. Null and
 * special requests are done.
 */
FAST_CODE int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    object *r = request ? (object *)*request : NULL;
    if (UNLIKELY(!r || upper.stop_phase == STOP_HERE || !FAST_ONE_INSIDE()))
        return slow_Wait(request, status);
    if (r == books.sent && status == MPI_STATUS_IGNORE) {
        *request = MPI_REQUEST_NULL;
        return 0;
    }
    if (UNLIKELY(r->req.done || !r->req.is_recv || !IS_PEER(r->req.comm, r->req.peer)))
        return slow_Wait(request, status);
    struct waiting w;
    w.request = request;
    w.status = status;
    w.item = (struct wait_item){&r->real, status == MPI_STATUS_IGNORE ? NULL : (void *)status,
                                r->req.comm->comm.peers[r->req.peer], 0};
    int done = LOWER(wait_or_stop, 1, &w.item);
    if (UNLIKELY(!done || w.item.error))
        return wait_unusual(&w, done);
    upper.received_from[w.item.peer]++;
    if (UNLIKELY(r->req.holds)) {
        wait_let_go(request);
        return 0;
    }
    r->req.live = 0;
    r->next = books.spare;
    books.spare = r;
    *request = MPI_REQUEST_NULL;
    return 0;
}

/* --- collectives ------------------------------------------------------------------------------- */

/* The arguments are those that MPI_Name of the lower half can be called with as they are: a null communicator or type
 * is an error to be told by the slow one, and an operation of the program is called back, from where it must not be
 * taken for a thread outside MPI.
 */
#define FAST_COMM(c) ((c) && (c)->comm.card && FAST_ONE_INSIDE())
#define FAST_TYPE(t) ((t) != NULL)
#define FAST_OP(o)   ((o) && (o)->predefined)

FAST_CODE __attribute__((noinline)) static void wait_at_door(struct comm_card *card)
{
    in_library++;
    collective_door(card);
    in_library--;
}

/* card_enter, for FAST_CODE: counted first, then a look at one variable (core/collectives.c). */
static inline __attribute__((always_inline)) void fast_enter(struct comm_card *card)
{
    __atomic_store_n(&card->begun, card->begun + 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the agent's membarrier() does the rest */
    if (UNLIKELY(upper.stop_phase))
        wait_at_door(card);
    FENCE_INSIDE(); /* what is known of the lower half may be new after that */
}

FAST_CODE __attribute__((noinline)) static int collective_failed(int rc, object *c,
                                                                 const char *name)
{
    return raise_error(rc, c, name);
}

FAST_CODE int PMPI_Barrier(MPI_Comm comm)
{
    object *c = IN_COMM(comm);
    if (UNLIKELY(!FAST_COMM(c)))
        return slow_Barrier(comm);
    fast_enter(c->comm.card);
    int rc = LOWER_FAST(Barrier, c->real);
    return UNLIKELY(rc) ? collective_failed(rc, c, "MPI_Barrier") : 0;
}

FAST_CODE int PMPI_Bcast(void *buf, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    object *t = IN_TYPE(type), *c = IN_COMM(comm);
    if (UNLIKELY(!FAST_COMM(c) || !FAST_TYPE(t)))
        return slow_Bcast(buf, n, type, root, comm);
    fast_enter(c->comm.card);
    int rc = LOWER_FAST(Bcast, buf, n, t->real, root, c->real);
    return UNLIKELY(rc) ? collective_failed(rc, c, "MPI_Bcast") : 0;
}

FAST_CODE int PMPI_Reduce(const void *s, void *r, int n, MPI_Datatype type, MPI_Op op, int root,
                          MPI_Comm comm)
{
    object *t = IN_TYPE(type), *o = IN_OP(op), *c = IN_COMM(comm);
    if (UNLIKELY(!FAST_COMM(c) || !FAST_TYPE(t) || !FAST_OP(o)))
        return slow_Reduce(s, r, n, type, op, root, comm);
    fast_enter(c->comm.card);
    int rc = LOWER_FAST(Reduce, s, r, n, t->real, o->real, root, c->real);
    return UNLIKELY(rc) ? collective_failed(rc, c, "MPI_Reduce") : 0;
}

FAST_CODE int PMPI_Allreduce(const void *s, void *r, int n, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm)
{
    object *t = IN_TYPE(type), *o = IN_OP(op), *c = IN_COMM(comm);
    if (UNLIKELY(!FAST_COMM(c) || !FAST_TYPE(t) || !FAST_OP(o)))
        return slow_Allreduce(s, r, n, type, op, comm);
    fast_enter(c->comm.card);
    int rc = LOWER_FAST(Allreduce, s, r, n, t->real, o->real, c->real);
    return UNLIKELY(rc) ? collective_failed(rc, c, "MPI_Allreduce") : 0;
}
