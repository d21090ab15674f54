/* fast.h - the busiest functions of Open MPI's C ABI by hand: what face and core do, as long as
 * nothing is out of the ordinary, in as few instructions as can be. Everything else goes to the
 * functions that are made from the table, here called slow_Name().
 *
 * All of this is FAST_CODE: core.h says what that means.
 */
#define UNLIKELY(x)       __builtin_expect(!!(x), 0)
#define IS_PEER(c, rank)  ((unsigned)(rank) < (unsigned)(c)->comm.n_peers)

/* Messages are counted before they are sent; a blocking send is marked, for a checkpoint may find
 * it waiting for its receiver, who will then drain it (drain.c).
 */
FAST_CODE int PMPI_Send(const void *buf, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    object *t = IN_TYPE(type), *c = IN_COMM(comm);
    if (UNLIKELY(upper.stop_phase == STOP_HERE || !IS_PEER(c, dest)))
        return slow_Send(buf, n, type, dest, tag, comm);
    upper.sent_to[c->comm.peers[dest]]++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the agent's membarrier() does the rest */
    upper.activity = ACTIVITY_SENDING;
    int rc = LOWER(Send, buf, n, t->real, dest, tag, c->real);
    if (UNLIKELY(rc))
        count_failed_send(c, dest);
    upper.activity = ACTIVITY_NONE;
    return UNLIKELY(rc) ? raise_error(rc, c, "MPI_Send") : 0;
}

/* What is needed only if the send is not complete at once: in memory, not in registers that would
 * have to be saved. */
struct sending {
    const void *buf;
    object *type;
    int n, tag;
};
FAST_CODE __attribute__((noinline)) static int remember_send(const struct sending *s, handle_t real,
                                                             int dest, object *c, MPI_Request *out)
{
    in_library++;
    *out = (MPI_Request)sent_request(real, s->buf, s->n, s->type, dest, s->tag, c);
    in_library--;
    return 0;
}

FAST_CODE int PMPI_Isend(const void *buf, int n, MPI_Datatype type, int dest, int tag,
                         MPI_Comm comm, MPI_Request *request)
{
    object *t = IN_TYPE(type), *c = IN_COMM(comm);
    handle_t real;
    if (UNLIKELY(upper.stop_phase == STOP_HERE || !IS_PEER(c, dest)))
        return slow_Isend(buf, n, type, dest, tag, comm, request);
    struct sending s = {buf, t, n, tag};
    int rc = LOWER(Isend, buf, n, t->real, dest, tag, c->real, &real);
    if (UNLIKELY(rc))
        return raise_error(rc, c, "MPI_Isend");
    upper.sent_to[c->comm.peers[dest]]++;
    *request = (MPI_Request)books.sent;
    return __builtin_expect(real == upper.lower->sent_at_once, 1)
               ? 0
               : remember_send(&s, real, dest, c, request);
}

FAST_CODE int PMPI_Irecv(void *buf, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                         MPI_Request *request)
{
    object *t = IN_TYPE(type), *c = IN_COMM(comm), *r = books.spare;
    if (UNLIKELY(upper.stop_phase == STOP_HERE || books.careful || !r || !IS_PEER(c, source)))
        return slow_Irecv(buf, n, type, source, tag, comm, request);
    take_request(r, 1, buf, n, t, source, tag, c);
    int rc = LOWER(Irecv, buf, n, t->real, source, tag, c->real, &r->real);
    *request = (MPI_Request)r;
    if (UNLIKELY(rc)) {
        in_library++;
        retire_request((object **)request);
        in_library--;
        return raise_error(rc, c, "MPI_Irecv"); /* all is whole again: no longer inside */
    }
    return 0;
}

struct receiving {
    struct wait_item item; /* first */
    handle_t real;
    void *buf;
    object *type;
    int n, tag;
};
FAST_CODE __attribute__((noinline)) static int recv_unusual(const struct receiving *r, int got,
                                                            int source, object *c)
{
    int rc = r->item.error;
    if (got != RECV_DONE) {
        in_library++;
        rc = recv_otherwise(got, r->buf, r->n, r->type, source, r->tag, c, &r->item,
                            r->item.status);
        in_library--;
    } else {
        upper.received_from[r->item.peer]++;
    }
    return rc ? raise_error(rc, c, "MPI_Recv") : 0;
}

FAST_CODE int PMPI_Recv(void *buf, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                        MPI_Status *status)
{
    object *t = IN_TYPE(type), *c = IN_COMM(comm);
    if (UNLIKELY(upper.stop_phase == STOP_HERE || books.careful || !IS_PEER(c, source)))
        return slow_Recv(buf, n, type, source, tag, comm, status);
    struct receiving r = {.buf = buf, .type = t, .n = n, .tag = tag};
    r.item = (struct wait_item){&r.real, status == MPI_STATUS_IGNORE ? NULL : (void *)status,
                                c->comm.peers[source], 0};
    int got = LOWER(recv_or_stop, buf, n, t->real, source, tag, c->real, &r.item);
    if (UNLIKELY(got != RECV_DONE || r.item.error))
        return recv_unusual(&r, got, source, c);
    upper.received_from[r.item.peer]++;
    return 0;
}
