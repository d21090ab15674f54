/* fast.h - the busiest functions of Open MPI's C ABI, by hand: the ordinary case of what face and core
 * do, in as few instructions as possible. All other cases go to the functions that the table makes,
 * here called slow_Name().
 *
 * All of this is FAST_CODE, which core/inside.h explains.
 */
#define UNLIKELY(x)      __builtin_expect(!!(x), 0)
#define IS_PEER(c, rank) ((unsigned)(rank) < (unsigned)(c)->comm.n_peers)

/* Unless the program asked for MPI_THREAD_MULTIPLE and got it, only one thread is inside MPI at a time and owns `upper`
 * and `books`. With several threads, every function below takes the slow path; also on a machine that sets the
 * thread pointer by a system call.
 */
#define FAST_ALLOWED() (!upper.fast.off)

/* LOWER, through upper.fast. `waiting`: receives may wait to be begun, before the call itself. */
#define LOWER_FAST(waiting, function, ...)                                                       \
    ({                                                                                           \
        void *pointer_above_ = thread_pointer_get();                                             \
        upper.thread_pointer_inside = pointer_above_;                                            \
        thread_pointer_set_fast(upper.fast.thread_pointer);                                      \
        if (waiting) {                                                                           \
            struct posting *first_ = upper.later;                                                \
            upper.later = NULL;                                                                  \
            upper.later_end = &upper.later;                                                      \
            upper.fast.begin_receives(first_);                                                   \
        }                                                                                        \
        __typeof__(upper.fast.function(__VA_ARGS__)) result_ = upper.fast.function(__VA_ARGS__); \
        thread_pointer_set_fast(pointer_above_);                                                 \
        result_;                                                                                 \
    })

/* A call of the lower half that begins waiting receives first is a function of its own, so that the others need not
 * save their arguments: PMPI_Name and Name_after are both made from name_below(). */
#define BELOW_CODE static inline __attribute__((always_inline))
#define AFTER_CODE FAST_CODE __attribute__((noinline)) static

enum { SMALL_ITEMS = 512, SMALL_TAGS = 1 << 15 }; /* every library allows these tags */
/* Without its communicator, peer and type, which the caller knows. */
BELOW_CODE int is_small(const void *buf, int n, int tag)
{
    return buf && (unsigned)n <= SMALL_ITEMS && (unsigned)tag < SMALL_TAGS;
}

/* The library below checks the arguments of every call. It need not where they are known to be right: those of a small
 * message, to a rank that the communicator has, of a predefined type that it has accepted before. */
BELOW_CODE void check_unless_right(const void *buf, int n, const object *t, int tag)
{
    *upper.fast.checks = !(t == upper.fast.right && is_small(buf, n, tag));
}
FAST_CODE __attribute__((noinline)) static void accepted(const object *t)
{
    if (t->predefined)
        upper.fast.right = t;
}

/* These count a message before they send it. A blocking send also sets upper.activity: a checkpoint may
 * find it waiting for its receiver, which then drains the message (drain.c).
 */
struct sending { /* seldom needed, so in memory: registers would have to be saved */
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

BELOW_CODE int send_below(int waiting, const void *buf, int n, object *t, int dest, int tag,
                          object *c)
{
    struct sending s;
    s.comm = c;
    s.type = t;
    s.dest = dest;
    check_unless_right(buf, n, t, tag);
    upper.sent_to[c->comm.peers[dest]]++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the agent's membarrier() does the rest */
    upper.activity = ACTIVITY_SENDING;
    int rc = LOWER_FAST(waiting, Send, buf, n, t->real, dest, tag, c->real);
    *upper.fast.checks = 1;
    if (UNLIKELY(rc))
        return send_failed(&s, rc, "MPI_Send");
    upper.activity = ACTIVITY_NONE;
    if (UNLIKELY(s.type != upper.fast.right))
        accepted(s.type);
    return 0;
}

AFTER_CODE int Send_after(const void *buf, int n, object *t, int dest, int tag, object *c)
{
    return send_below(1, buf, n, t, dest, tag, c);
}

FAST_CODE int PMPI_Send(const void *buf, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    object *t = IN_TYPE(type), *c = IN_COMM(comm);
    if (UNLIKELY(upper.stop_phase == STOP_HERE || !IS_PEER(c, dest) || !FAST_ALLOWED()))
        return slow_Send(buf, n, type, dest, tag, comm);
    return UNLIKELY(upper.later) ? Send_after(buf, n, t, dest, tag, c)
                                 : send_below(0, buf, n, t, dest, tag, c);
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

BELOW_CODE int isend_below(int waiting, const void *buf, int n, object *t, int dest, int tag,
                           object *c, MPI_Request *request)
{
    struct sending s;
    s.buf = buf;
    s.type = t;
    s.comm = c;
    s.request = request;
    s.n = n;
    s.dest = dest;
    s.tag = tag;
    check_unless_right(buf, n, t, tag);
    upper.sent_to[c->comm.peers[dest]]++;
    *request = (MPI_Request)books.sent; /* the usual result */
    int rc = LOWER_FAST(waiting, Isend, buf, n, t->real, dest, tag, c->real, &s.real);
    *upper.fast.checks = 1;
    if (UNLIKELY(s.type != upper.fast.right) && !rc)
        accepted(s.type);
    if (UNLIKELY(rc || s.real != upper.fast.sent_at_once))
        return isend_otherwise(&s, rc);
    return 0;
}

AFTER_CODE int Isend_after(const void *buf, int n, object *t, int dest, int tag, object *c,
                           MPI_Request *request)
{
    return isend_below(1, buf, n, t, dest, tag, c, request);
}

FAST_CODE int PMPI_Isend(const void *buf, int n, MPI_Datatype type, int dest, int tag,
                         MPI_Comm comm, MPI_Request *request)
{
    object *t = IN_TYPE(type), *c = IN_COMM(comm);
    if (UNLIKELY(upper.stop_phase == STOP_HERE || !IS_PEER(c, dest) || !FAST_ALLOWED()))
        return slow_Isend(buf, n, type, dest, tag, comm, request);
    return UNLIKELY(upper.later) ? Isend_after(buf, n, t, dest, tag, c, request)
                                 : isend_below(0, buf, n, t, dest, tag, c, request);
}

FAST_CODE __attribute__((noinline)) static int irecv_failed(MPI_Request *request, int rc)
{
    object *c = ((object *)*request)->req.comm;
    in_library++;
    retire_request((object **)request);
    in_library--;
    return raise_error(rc, c, "MPI_Irecv"); /* outside again: all objects are consistent */
}

/* A small receive waits above the border until the next call that crosses it, of whatever kind, and is begun before
 * that: so a row of receives crosses once. Nothing could come in before: only calls make the library progress. A
 * checkpoint begins what waits before it looks at requests. The arguments are known to be right, so nobody misses an
 * error here. Large receives are begun at once: data may be on its way that a network card moves by itself.
 */
BELOW_CODE int may_wait_above(const void *buf, int n, const object *t, int source, int tag,
                              const object *c)
{
    return upper.later_end && is_small(buf, n, tag) && IS_PEER(c, source) && t->predefined &&
           t != predef[PRE_MPI_DATATYPE_NULL];
}

FAST_CODE int PMPI_Irecv(void *buf, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                         MPI_Request *request)
{
    object *t = IN_TYPE(type), *c = IN_COMM(comm), *r = books.spare;
    /* A checkpoint can wait, and the lower half checks the arguments. */
    if (UNLIKELY(books.careful || !r || !FAST_ALLOWED()))
        return slow_Irecv(buf, n, type, source, tag, comm, request);
    int waits = may_wait_above(buf, n, t, source, tag, c);
    if (UNLIKELY(!waits && upper.later))
        return slow_Irecv(buf, n, type, source, tag, comm, request);
    take_request(r, 1, buf, n, t, source, tag, c);
    *request = (MPI_Request)r;
    if (waits) {
        r->real = upper.fast.no_request;
        r->next = NULL;
        *upper.later_end = (struct posting *)r;
        upper.later_end = (struct posting **)&r->next;
        return 0;
    }
    int rc = LOWER_FAST(0, Irecv, buf, n, t->real, source, tag, c->real, &r->real);
    return UNLIKELY(rc) ? irecv_failed(request, rc) : 0;
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

/* This counts the message before it arrives, in time that would be spent waiting. Nobody reads the
 * counts before this call has ended, or has undone its count.
 */
BELOW_CODE int recv_below(int waiting, void *buf, int n, object *t, int source, int tag, object *c,
                          MPI_Status *status)
{
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
    int got = LOWER_FAST(waiting, recv_or_stop, buf, n, t->real, source, tag, c->real, &r.item);
    return UNLIKELY(got != RECV_DONE || r.item.error) ? recv_unusual(&r, got) : 0;
}

AFTER_CODE int Recv_after(void *buf, int n, object *t, int source, int tag, object *c,
                          MPI_Status *status)
{
    return recv_below(1, buf, n, t, source, tag, c, status);
}

FAST_CODE int PMPI_Recv(void *buf, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                        MPI_Status *status)
{
    object *t = IN_TYPE(type), *c = IN_COMM(comm);
    /* recv_or_stop handles checkpoints */
    if (UNLIKELY(books.careful || !IS_PEER(c, source) || !FAST_ALLOWED()))
        return slow_Recv(buf, n, type, source, tag, comm, status);
    return UNLIKELY(upper.later) ? Recv_after(buf, n, t, source, tag, c, status)
                                 : recv_below(0, buf, n, t, source, tag, c, status);
}

/* Either a checkpoint comes first, or the receive has failed. One that failed after it was begun is complete, with
 * whatever its status says. */
FAST_CODE __attribute__((noinline)) static int wait_unusual(MPI_Request *request,
                                                            MPI_Status *status, int rc)
{
    if (rc != FINISH_STOPPED) {
        object *r = (object *)*request;
        in_library++;
        r->req.status = status == MPI_STATUS_IGNORE ? (struct status){.source = r->req.peer}
                                                    : *(struct status *)status;
        r->req.error = rc;
        r->req.done = 1;
        count_recv_from(r->req.comm, r->req.peer);
        in_library--;
    }
    return slow_Wait(request, status);
}

FAST_CODE __attribute__((noinline)) static void wait_let_go(MPI_Request *request)
{
    in_library++;
    retire_request((object **)request);
    in_library--;
}

BELOW_CODE int wait_below(int waiting, MPI_Request *request, MPI_Status *status)
{
    object *r = (object *)*request;
    int peer = r->req.comm->comm.peers[r->req.peer];
    struct status *told = status == MPI_STATUS_IGNORE ? NULL : (struct status *)status;
    int rc = LOWER_FAST(waiting, finish_receive, (struct posting *)r, told, peer);
    if (UNLIKELY(rc))
        return wait_unusual(request, status, rc);
    upper.received_from[peer]++;
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

AFTER_CODE int Wait_after(MPI_Request *request, MPI_Status *status)
{
    return wait_below(1, request, status);
}

/* Handles a receive from a named rank, and a send that was complete at once and whose status nobody wants. Null and
 * special requests have `done` set, so they take the slow path.
 */
FAST_CODE int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    object *r = request ? (object *)*request : NULL;
    if (UNLIKELY(!r || upper.stop_phase == STOP_HERE || !FAST_ALLOWED()))
        return slow_Wait(request, status);
    if (r == books.sent && status == MPI_STATUS_IGNORE) {
        *request = MPI_REQUEST_NULL;
        return 0;
    }
    if (UNLIKELY(r->req.done || !r->req.is_recv || !IS_PEER(r->req.comm, r->req.peer)))
        return slow_Wait(request, status);
    return UNLIKELY(upper.later) ? Wait_after(request, status) : wait_below(0, request, status);
}

/* --- collectives ------------------------------------------------------------------------------- */

/* The lower half's MPI_Name takes these arguments as they are. A null communicator or type is an error that the slow
 * function reports. An operation of the program's own runs as a callback, in which the thread must not look as if it
 * were outside MPI.
 */
#define FAST_COMM(c) ((c) && (c)->comm.card && FAST_ALLOWED() && !upper.later)
#define FAST_TYPE(t) ((t) != NULL)
#define FAST_OP(o)   ((o) && (o)->predefined)

FAST_CODE __attribute__((noinline)) static void wait_at_door(struct comm_card *card)
{
    in_library++;
    collective_door(card);
    in_library--;
}

/* card_enter for FAST_CODE: count first, then look at one variable (core/collectives.c). */
static inline __attribute__((always_inline)) void fast_enter(struct comm_card *card)
{
    __atomic_store_n(&card->begun, card->begun + 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the agent's membarrier() does the rest */
    if (UNLIKELY(upper.stop_phase))
        wait_at_door(card);
    FENCE_INSIDE(); /* after that, the process may have another lower half */
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
    int rc = LOWER_FAST(0, Barrier, c->real);
    return UNLIKELY(rc) ? collective_failed(rc, c, "MPI_Barrier") : 0;
}

FAST_CODE int PMPI_Bcast(void *buf, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    object *t = IN_TYPE(type), *c = IN_COMM(comm);
    if (UNLIKELY(!FAST_COMM(c) || !FAST_TYPE(t)))
        return slow_Bcast(buf, n, type, root, comm);
    fast_enter(c->comm.card);
    int rc = LOWER_FAST(0, Bcast, buf, n, t->real, root, c->real);
    return UNLIKELY(rc) ? collective_failed(rc, c, "MPI_Bcast") : 0;
}

FAST_CODE int PMPI_Reduce(const void *s, void *r, int n, MPI_Datatype type, MPI_Op op, int root,
                          MPI_Comm comm)
{
    object *t = IN_TYPE(type), *o = IN_OP(op), *c = IN_COMM(comm);
    if (UNLIKELY(!FAST_COMM(c) || !FAST_TYPE(t) || !FAST_OP(o)))
        return slow_Reduce(s, r, n, type, op, root, comm);
    fast_enter(c->comm.card);
    int rc = LOWER_FAST(0, Reduce, s, r, n, t->real, o->real, root, c->real);
    return UNLIKELY(rc) ? collective_failed(rc, c, "MPI_Reduce") : 0;
}

FAST_CODE int PMPI_Allreduce(const void *s, void *r, int n, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm)
{
    object *t = IN_TYPE(type), *o = IN_OP(op), *c = IN_COMM(comm);
    if (UNLIKELY(!FAST_COMM(c) || !FAST_TYPE(t) || !FAST_OP(o)))
        return slow_Allreduce(s, r, n, type, op, comm);
    fast_enter(c->comm.card);
    int rc = LOWER_FAST(0, Allreduce, s, r, n, t->real, o->real, c->real);
    return UNLIKELY(rc) ? collective_failed(rc, c, "MPI_Allreduce") : 0;
}
