/* mpi/wait.c - the lower half of receiving and completing: a checkpoint can interrupt everything that waits
 * here. Built once per MPI library. */
#include "online/online.h"
#include <mpi.h>
#include <sched.h>

#include "mpi/values.h"
#include "mpi/watch.h"

/* MPI_Test; the status, which may be NULL, is changed only if the request is done. Returns the library's error. */
#ifdef OPEN_MPI
/* Its handles are as wide as ours, its status has the fields of ours in their places, and it leaves the error alone. */
_Static_assert(sizeof(MPI_Request) == sizeof(handle_t) &&
                   sizeof(MPI_Status) == sizeof(struct status) &&
                   offsetof(MPI_Status, MPI_TAG) == offsetof(struct status, tag) &&
                   offsetof(MPI_Status, _cancelled) == offsetof(struct status, cancelled) &&
                   offsetof(MPI_Status, _ucount) == offsetof(struct status, bytes),
               "a status of Open MPI is not one of ours");
static inline int test(handle_t *r, int *flag, struct status *s)
{
    return GUARD("Test", MPI_Test((MPI_Request *)r, flag, s ? (MPI_Status *)s : MPI_STATUS_IGNORE));
}
/* The same in the `turn`th turn of a loop that waits: mpi/watch.c. may_leave: it is a receive. */
enum { TURNS_FOR_A_TEST = 64 };
static inline int test_in_turn(unsigned turn, int may_leave, handle_t *r, int *flag,
                               struct status *s)
{
    if (!watch.turn || turn % TURNS_FOR_A_TEST == TURNS_FOR_A_TEST - 1)
        return test(r, flag, s);
    if (!watch_done(*r)) {
        if (watch.finished)
            watch_free();
        watch.turn();
        if (!watch_done(*r))
            return 0;
    }
    *flag = 1;
    if (may_leave && !s && watch_leave(*r)) {
        *r = (handle_t)MPI_REQUEST_NULL;
        return 0;
    }
    return MPI_Wait((MPI_Request *)r, s ? (MPI_Status *)s : MPI_STATUS_IGNORE);
}
#else
static inline int test(handle_t *r, int *flag, struct status *s)
{
    MPI_Request q = REQ(*r);
    MPI_Status st = UNTOLD;
    int rc = GUARD_REQUEST("Test", *r, q, MPI_Test(&q, flag, s ? &st : MPI_STATUS_IGNORE));
    *r = (handle_t)q;
    if (*flag && s)
        status_out(&st, s);
    return rc;
}
#define test_in_turn(turn, may_leave, ...) test(__VA_ARGS__)
#endif

int lower_Test(handle_t *r, int *flag, struct status *s)
{
    return error_out(test(r, flag, s));
}

/* Turns of a waiting loop: after some of them we tell the agent for whom we wait, and yield the core. */
enum { TURNS_BEFORE_TELLING = 1000, TURNS_BEFORE_YIELDING = 20000 };
static void long_wait(unsigned *turn, int peer)
{
    if (++*turn < TURNS_BEFORE_TELLING)
        return;
    lower.upper->waiting_for = peer;
    lower.upper->turns++;
    if (*turn > TURNS_BEFORE_YIELDING && *turn % 16 == 0)
        sched_yield();
}

/* A checkpoint wants us, or another thread of the application (upper/core/baton.h). */
static inline int must_leave(void)
{
    return __builtin_expect(lower.upper->stop_phase == STOP_HERE || lower.upper->wanted, 0);
}

static int wait_one(handle_t *real, struct status *status, int peer, int *error)
{
    unsigned turn = 0;
    int flag = 0, rc;
    for (;;) {
        rc = test_in_turn(turn, 0, real, &flag, status);
        if (flag || rc || must_leave())
            break;
        long_wait(&turn, peer);
    }
    *error = __builtin_expect(rc, 0) ? error_out(rc) : 0;
    return flag || rc;
}

int lower_wait_or_stop(int n, struct wait_item *items)
{
    for (int i = 0; i < n; i++)
        if (!wait_one(items[i].real, items[i].status, items[i].peer, &items[i].error))
            return i;
    return n;
}

/* One receive whose peer is known. */
int lower_finish_receive(struct posting *p, struct status *status, int peer)
{
    int flag = 0, rc;
    if (__builtin_expect(p->done, 0)) /* it could not be begun */
        return FINISH_STOPPED;
    rc = test_in_turn(0, 1, &p->real, &flag, status); /* most are done: without the loop */
    if (__builtin_expect(flag && !rc, 1))
        return 0;
    if (rc)
        return error_out(rc);
    return wait_one(&p->real, status, peer, &rc) ? rc : FINISH_STOPPED;
}

/* Returns the library's error; the request is null then. */
static inline int begin_receive(void *buf, int n, handle_t type, int source, int tag, handle_t comm,
                                handle_t *real)
{
    MPI_Request q;
    int rc = GUARD("Irecv", MPI_Irecv(buf_in(buf), n, TYPE(type), rank_in(source), tag_in(tag),
                                      COMM(comm), &q));
    *real = (handle_t)(__builtin_expect(rc, 0) ? MPI_REQUEST_NULL : q);
    return rc;
}

/* The program learns of an error when it completes the receive.
 *
 * Only what may_wait_above() (upper/faces/fast.h) found right comes here, with a predefined type; what it does not know is
 * whether this library has the type. So the library checks a receive whose type it has not just accepted, and no other.
 */
void lower_begin_receives(struct posting *p)
{
    unsigned char *checks = lower.checks, before = *checks;
    for (; p; p = p->next) {
        handle_t type = *p->type;
        *checks = type != watch.right;
        int rc = begin_receive(p->buf, p->n, type, p->source, p->tag, *p->comm, &p->real);
        if (__builtin_expect(rc, 0)) {
            p->error = error_out(rc);
            p->done = 1;
        } else {
            watch.right = type;
        }
    }
    *checks = before;
}

static int may_go_on(unsigned *turn)
{
    return !must_leave() && ++*turn < TURNS_BEFORE_TELLING;
}

/* Completes all of them, quickly: until they are done, until a checkpoint wants us, or for some turns.
 * Requests that are done have the null handle afterwards. After an error every status has its error, if
 * `learn` is set.
 *
 * Open MPI: the request that was begun last is often done last: poll it alone, and look at the others when it
 * is done. Not so with MPICH, whose file operations progress only while they are tested themselves, each
 * after those before it: poll them in order.
 */
#ifdef OPEN_MPI
static int all_done(int n, MPI_Request *q, MPI_Status *each, MPI_Status *last, int *flag)
{
    unsigned turn = 0;
    int rc;
    do {
        if (watch.turn)
            while (!watch_done((handle_t)q[n - 1]) && may_go_on(&turn) && turn % TURNS_FOR_A_TEST)
                watch.turn();
        rc = MPI_Test(&q[n - 1], flag, last);
    } while (rc == 0 && !*flag && may_go_on(&turn));
    last->MPI_ERROR = rc;
    if (rc == 0 && *flag)
        do
            rc = MPI_Testall(n - 1, q, flag, each);
        while (rc == 0 && !*flag && may_go_on(&turn));
    return rc;
}
#else
static int all_done(int n, MPI_Request *q, MPI_Status *each, int *flag)
{
    unsigned turn = 0;
    int failed = 0;
    for (int i = 0; i < n; i++) {
        int rc;
        do
            rc = MPI_Test(&q[i], flag, &each[i]);
        while (rc == 0 && !*flag && may_go_on(&turn));
        each[i].MPI_ERROR = rc;
        if (rc)
            failed = rc;
        else if (!*flag)
            break;
    }
    return failed;
}
#endif

int lower_waitall_or_stop(int n, handle_t *real, struct status *status, int learn)
{
    int flag = 0, rc;
    if (ground.recovering) /* only one-by-one tests tell which requests a failed call has used up */
        return 0;
#ifdef OPEN_MPI
    MPI_Request *q = (MPI_Request *)real; /* both are pointers */
    ARRAY_OF(MPI_Status, st, learn ? n : 1);
    rc = all_done(n, q, learn ? st : MPI_STATUSES_IGNORE, learn ? &st[n - 1] : st, &flag);
#else
    ARRAY_OF(MPI_Request, q, n);
    for (int i = 0; i < n; i++)
        q[i] = REQ(real[i]);
    ARRAY_OF(MPI_Status, st, n);
    for (int i = 0; i < n; i++)
        st[i] = UNTOLD;
    rc = all_done(n, q, st, &flag);
    learn = 1; /* only the statuses tell the errors */
#endif
    int result = rc ? error_out(rc) : flag ? WAITALL_DONE : 0;
    if (__builtin_expect(!learn, 1))
        return result;
    for (int i = 0; i < n; i++) {
#ifndef OPEN_MPI
        real[i] = (handle_t)q[i];
#endif
        if (q[i] == MPI_REQUEST_NULL) {
            status_out(&st[i], &status[i]);
            status[i].error = rc ? error_out(st[i].MPI_ERROR) : 0;
        }
    }
    return result;
}

int lower_recv_or_stop(void *buf, int n, handle_t type, int source, int tag, handle_t comm,
                       struct wait_item *item)
{
    unsigned turn = 0;
    int flag = 0;
    int rc = begin_receive(buf, n, type, source, tag, comm, &online.receive_under_way);
    if (__builtin_expect(rc, 0)) {
        item->error = error_out(rc);
        return RECV_NOT_BEGUN;
    }
    for (;;) {
        rc = test_in_turn(turn, 1, &online.receive_under_way, &flag, item->status);
        if (flag || __builtin_expect(rc, 0) || must_leave())
            break;
        long_wait(&turn, item->peer);
    }
    if (__builtin_expect(flag && !rc, 1)) /* it is the null request now */
        return RECV_DONE;
    *item->real = online.receive_under_way;
    online.receive_under_way = (handle_t)MPI_REQUEST_NULL;
    if (!rc)
        return RECV_STOPPED;
    item->error = error_out(rc);
    return RECV_DONE;
}

/* Bytes of a message of any length. */
int lower_recv_bytes(void *buf, size_t bytes, int source, int tag, handle_t comm, struct status *s)
{
    MPI_Status st;
    MPI_Datatype whole = MPI_BYTE;
    int n = (int)bytes, rc;
    enum { PIECE = 1 << 20 };
    if (bytes > 0x7fffffff) {
        MPI_Datatype piece, part[2];
        MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
        MPI_Aint at[2] = {0, (MPI_Aint)(bytes / PIECE * PIECE)};
        int length[2] = {(int)(bytes / PIECE), (int)(bytes % PIECE)};
        part[0] = piece;
        part[1] = MPI_BYTE;
        MPI_Type_create_struct(2, length, at, part, &whole);
        MPI_Type_commit(&whole);
        MPI_Type_free(&piece);
        n = 1;
    }
    rc = GUARD("Recv", MPI_Recv(buf, n, whole, source, tag, COMM(comm), &st));
    status_out(&st, s);
    if (whole != MPI_BYTE)
        MPI_Type_free(&whole);
    return rc;
}

int lower_Cancel(handle_t *r, struct status *s)
{
    MPI_Request q = REQ(*r);
    MPI_Status st;
    MPI_Cancel(&q);
    int rc = GUARD_REQUEST("Wait", *r, q, MPI_Wait(&q, &st));
    *r = (handle_t)q;
    status_out(&st, s);
    return rc;
}

/* Delivers drained bytes into a buffer of any datatype: lets MPI do it, on a communicator that the
 * application does not know. The send comes first: Open MPI does not tell a receive that was there before that the message
 * from its own rank is too long.
 */
int lower_self_copy(const void *from, size_t bytes, void *to, int n, handle_t t)
{
    static MPI_Comm private_self = MPI_COMM_NULL;
    MPI_Request send, receive;
    if (private_self == MPI_COMM_NULL)
        MPI_Comm_dup(MPI_COMM_SELF, &private_self);
    int rc;
    if (bytes <= 0x7fffffff) {
        rc = MPI_Isend(from, (int)bytes, MPI_BYTE, 0, 0, private_self, &send);
    } else {
        enum { PIECE = 1 << 20 };
        MPI_Datatype piece, whole, part[2];
        MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
        MPI_Aint at[2] = {0, (MPI_Aint)(bytes / PIECE * PIECE)};
        int length[2] = {(int)(bytes / PIECE), (int)(bytes % PIECE)};
        part[0] = piece;
        part[1] = MPI_BYTE;
        MPI_Type_create_struct(2, length, at, part, &whole);
        MPI_Type_commit(&whole);
        rc = MPI_Isend(from, 1, whole, 0, 0, private_self, &send);
        MPI_Type_free(&whole);
        MPI_Type_free(&piece);
    }
    if (rc)
        return error_out(rc);
    rc = MPI_Irecv(to, n, TYPE(t), 0, 0, private_self, &receive);
    if (rc) /* nobody takes the message away: take it into nothing */
        MPI_Irecv(NULL, 0, MPI_BYTE, 0, 0, private_self, &receive);
    int error = MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    return error_out(rc ? rc : error);
}
