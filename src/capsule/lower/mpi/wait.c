/* mpi/wait.c - the lower half of receiving and completing: whatever waits here can be interrupted by
 * a checkpoint. Built once per MPI library.
 */
#include "online/online.h"
#include <mpi.h>
#include <sched.h>

#include "mpi/values.h"

int lower_Test(handle_t *r, int *flag, struct status *s)
{
    MPI_Request q = REQ(*r);
    MPI_Status st = UNTOLD;
    int rc = GUARD_REQUEST("Test", *r, q, MPI_Test(&q, flag, &st));
    *r = (handle_t)q;
    if (*flag)
        status_out(&st, s);
    return error_out(rc);
}

/* Turns of a waiting loop: after some we tell the agent for whom we wait, and yield the core.
 */
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

static int wait_one(MPI_Request *q, struct wait_item *item)
{
    MPI_Status st = UNTOLD;
    unsigned turn = 0;
    int flag = 0;
    for (;;) {
        item->error = GUARD_REQUEST("Test", *item->real, *q,
                                    MPI_Test(q, &flag, item->status ? &st : MPI_STATUS_IGNORE));
        if (flag || item->error)
            break;
        if (must_leave())
            break;
        long_wait(&turn, item->peer);
    }
    if (flag && item->status)
        status_out(&st, item->status);
    *item->real = (handle_t)*q;
    if (__builtin_expect(item->error, 0)) {
        item->error = error_out(item->error);
        return 1;
    }
    return flag;
}

int lower_wait_or_stop(int n, struct wait_item *items)
{
    for (int i = 0; i < n; i++) {
        MPI_Request q = REQ(*items[i].real);
        if (!wait_one(&q, &items[i]))
            return i;
    }
    return n;
}

static int may_go_on(int *turn)
{
    return !must_leave() && ++*turn < TURNS_BEFORE_TELLING;
}

/* All of them, quickly: until they are complete, until a checkpoint wants us, or for some turns.
 * Those that are done have the null handle afterwards. After an error every status tells, if
 * somebody wants to learn something.
 *
 * Open MPI: the one that was begun last is often done last: it is polled alone, and the others are
 * looked at when it has come. Not so with MPICH, whose file operations make progress only while they are
 * asked for themselves, each after those before it: there they are polled in order.
 */
#ifdef OPEN_MPI
static int all_done(int n, MPI_Request *q, MPI_Status *each, MPI_Status *last, int *flag)
{
    int turn = 0, rc;
    do
        rc = MPI_Test(&q[n - 1], flag, last);
    while (rc == 0 && !*flag && may_go_on(&turn));
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
    int turn = 0, failed = 0;
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
    if (ground.recovering) /* which requests a failed call has used up is known one by one only */
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
    learn = 1; /* errors are told only by the statuses */
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
    MPI_Request q;
    MPI_Status st, *wanted = item->status ? &st : MPI_STATUS_IGNORE;
    unsigned turn = 0;
    int flag = 0;
    int rc = GUARD("Irecv", MPI_Irecv(buf_in(buf), n, TYPE(type), rank_in(source), tag_in(tag),
                                      COMM(comm), &q));
    if (__builtin_expect(rc, 0)) {
        item->error = error_out(rc);
        return RECV_NOT_BEGUN;
    }
    online.receive_under_way = (handle_t)q;
    for (;;) {
        rc = GUARD_REQUEST("Test", online.receive_under_way, q, MPI_Test(&q, &flag, wanted));
        if (flag || __builtin_expect(rc, 0) || must_leave())
            break;
        long_wait(&turn, item->peer);
    }
    online.receive_under_way = (handle_t)MPI_REQUEST_NULL;
    if (__builtin_expect(flag && !rc, 1)) {
        if (item->status)
            status_out(&st, item->status);
        return RECV_DONE;
    }
    *item->real = (handle_t)q;
    if (!rc)
        return RECV_STOPPED;
    if (flag && item->status)
        status_out(&st, item->status);
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

/* Deliver drained bytes into a buffer of any datatype: let MPI do it, on a communicator that the
 * application does not know.
 */
int lower_self_copy(const void *from, size_t bytes, void *to, int n, handle_t t)
{
    static MPI_Comm private_self = MPI_COMM_NULL;
    MPI_Request q;
    struct status s;
    if (private_self == MPI_COMM_NULL)
        MPI_Comm_dup(MPI_COMM_SELF, &private_self);
    int rc = MPI_Irecv(to, n, TYPE(t), 0, 0, private_self, &q);
    if (rc)
        return rc;
    (void)s;
    if (bytes <= 0x7fffffff) {
        rc = MPI_Send(from, (int)bytes, MPI_BYTE, 0, 0, private_self);
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
        rc = MPI_Send(from, 1, whole, 0, 0, private_self);
        MPI_Type_free(&whole);
        MPI_Type_free(&piece);
    }
    int error = MPI_Wait(&q, MPI_STATUS_IGNORE);
    return error_out(error ? error : rc);
}
