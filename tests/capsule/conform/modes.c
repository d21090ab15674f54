/* modes.c - ways to send, matched messages, and what is left of one-sided communication. */
#include "conform.h"

static void ways_to_send(void)
{
    int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks, out = me, in = -1, flag = 0;
    MPI_Request q, r;
    MPI_Status s = FRESH;
    MPI_Message m = MPI_MESSAGE_NULL;
    static char room[4096];
    void *gone;
    int bytes;
    MPI_Buffer_attach(room, sizeof room);
#define RECEIVE()     \
    MPI_Wait(&r, &s); \
    say("%d from %d", in, s.MPI_SOURCE)
#define POST()                                      \
    in = -1;                                        \
    MPI_Irecv(&in, 1, MPI_INT, left, 1, world, &r); \
    MPI_Barrier(world)
    POST();
    CALL(MPI_Ssend(&out, 1, MPI_INT, right, 1, world));
    RECEIVE();
    POST();
    CALL(MPI_Rsend(&out, 1, MPI_INT, right, 1, world));
    RECEIVE();
    POST();
    CALL(MPI_Bsend(&out, 1, MPI_INT, right, 1, world));
    RECEIVE();
    POST();
    CALL(MPI_Issend(&out, 1, MPI_INT, right, 1, world, &q));
    CALL(MPI_Wait(&q, MPI_STATUS_IGNORE));
    RECEIVE();
    POST();
    CALL(MPI_Irsend(&out, 1, MPI_INT, right, 1, world, &q));
    CALL(MPI_Wait(&q, MPI_STATUS_IGNORE));
    RECEIVE();
    POST();
    CALL(MPI_Ibsend(&out, 1, MPI_INT, right, 1, world, &q));
    CALL(MPI_Wait(&q, MPI_STATUS_IGNORE));
    RECEIVE();
    CALL(MPI_Buffer_detach(&gone, &bytes));
    say("the same %d %d", gone == room, bytes);
    CALL(MPI_Ssend(NULL, 0, MPI_INT, MPI_PROC_NULL, 1, world));
    CALL(MPI_Rsend(NULL, 0, MPI_INT, MPI_PROC_NULL, 1, world));
    MPI_Isend(&out, 1, MPI_INT, right, 2, world, &q);
    while (!flag)
        MPI_Improbe(left, 2, world, &flag, &m, &s);
    say("found from %d", s.MPI_SOURCE);
    CALL(MPI_Imrecv(&in, 1, MPI_INT, &m, &r));
    say("taken %d", m == MPI_MESSAGE_NULL);
    RECEIVE();
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CALL(MPI_Isendrecv(&out, 1, MPI_INT, right, 3, &in, 1, MPI_INT, left, 3, world, &q));
    CALL(MPI_Wait(&q, MPI_STATUS_IGNORE));
    say("%d", in);
    CALL(MPI_Isendrecv_replace(&out, 1, MPI_INT, right, 4, left, 4, world, &q));
    CALL(MPI_Wait(&q, MPI_STATUS_IGNORE));
    say("%d", out);
}

#ifdef MPICH /* Open MPI sends short messages without any buffer, and waits for the receiver of long ones */
/* Room for one message: the second one finds none until the first has left. Each rank speaks with itself. */
enum { MUCH = 100000 };
static char much[MUCH], there[MUCH], room_for_one[MUCH + MPI_BSEND_OVERHEAD];
static void take(int tag)
{
    there[MUCH - 1] = 0;
    CALL(MPI_Recv(there, MUCH, MPI_CHAR, me, tag, world, MPI_STATUS_IGNORE));
    say("took %d", there[MUCH - 1]);
}
static void buffers(void)
{
    void *gone = NULL;
    int bytes = -1;
    MPI_Datatype odd;
    MPI_Request q;
    MPI_Type_vector(MUCH / 2, 1, 2, MPI_CHAR, &odd);
    MPI_Type_commit(&odd);
    FAILS(MPI_Bsend(much, 1, MPI_CHAR, me, 6, world));
    CALL(MPI_Bsend(much, 1, MPI_CHAR, MPI_PROC_NULL, 6, world));
    FAILS(MPI_Buffer_detach(&gone, &bytes));
    FAILS(MPI_Buffer_attach(room_for_one, -1));
    CALL(MPI_Buffer_attach(room_for_one, sizeof room_for_one));
    much[MUCH - 1] = 1;
    CALL(MPI_Bsend(much, MUCH, MPI_CHAR, me, 6, world));
    much[MUCH - 1] = 2;
    CALL(MPI_Bsend(much, MUCH, MPI_CHAR, me, 6, world));
    FAILS(MPI_Bsend(much, 1, MPI_CHAR, ranks, 6, world));
    take(6);
    CALL(MPI_Ibsend(much, MUCH, MPI_CHAR, me, 7, world, &q));
    take(7);
    CALL(MPI_Wait(&q, MPI_STATUS_IGNORE));
    much[MUCH - 2] = 3;
    CALL(MPI_Bsend(much, 1, odd, me, 8, world));
    CALL(MPI_Recv(there, MUCH, MPI_CHAR, me, 8, world, MPI_STATUS_IGNORE));
    say("odd %d", there[MUCH / 2 - 1]);
    CALL(MPI_Buffer_detach(&gone, &bytes));
    say("the same %d %d", gone == room_for_one, bytes == (int)sizeof room_for_one);
    MPI_Type_free(&odd);
}

static void buffers_of_comms(void)
{
    void *gone = NULL;
    int bytes = -1;
    MPI_Count wide = -1;
    MPI_Request q;
    MPI_Comm other;
    MPI_Comm_dup(world, &other);
    CALL(MPI_Buffer_attach(room_for_one, sizeof room_for_one));
    CALL(MPI_Bsend(much, MUCH, MPI_CHAR, me, 6, world));
    CALL(MPI_Buffer_iflush(&q));
    take(6);
    CALL(MPI_Wait(&q, MPI_STATUS_IGNORE));
    CALL(MPI_Bsend(much, MUCH, MPI_CHAR, me, 6, world));
    take(6);
    CALL(MPI_Buffer_flush());
    MPI_Buffer_detach(&gone, &bytes);
    CALL(MPI_Comm_attach_buffer(world, room_for_one, sizeof room_for_one));
    FAILS(MPI_Comm_attach_buffer(world, room_for_one, sizeof room_for_one));
    CALL(MPI_Bsend(much, MUCH, MPI_CHAR, me, 6, world));
    FAILS(MPI_Bsend(much, 1, MPI_CHAR, me, 6, other));
    CALL(MPI_Comm_iflush_buffer(world, &q));
    take(6);
    CALL(MPI_Wait(&q, MPI_STATUS_IGNORE));
    CALL(MPI_Comm_flush_buffer(world));
    CALL(MPI_Comm_detach_buffer(world, &gone, &bytes));
    say("the same %d %d", gone == room_for_one, bytes == (int)sizeof room_for_one);
    CALL(MPI_Comm_attach_buffer_c(world, room_for_one, sizeof room_for_one));
    CALL(MPI_Comm_detach_buffer_c(world, &gone, &wide));
    say("the same %d %d", gone == room_for_one, wide == (MPI_Count)sizeof room_for_one);
    CALL(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    CALL(MPI_Bsend(much, MUCH, MPI_CHAR, me, 6, world));
    CALL(MPI_Bsend(much, MUCH, MPI_CHAR, me, 6, world));
    take(6);
    take(6);
    CALL(MPI_Buffer_detach(&gone, &bytes));
    say("automatic %d %d", gone == MPI_BUFFER_AUTOMATIC, bytes);
    MPI_Comm_free(&other);
}
#endif

/* A persistent send of each kind, twice. */
static void persistent_sends(void)
{
    int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks, out = 0, in = -1, bytes;
    MPI_Request q, r;
    static char room[4096];
    void *gone;
    MPI_Buffer_attach(room, sizeof room);
#define TWICE(call)                                                       \
    CALL(call);                                                           \
    CALL(MPI_Recv_init(&in, 1, MPI_INT, left, 5, world, &r));             \
    for (int turn = 0; turn < 2; turn++) {                                \
        out = 10 * me + turn;                                             \
        MPI_Start(&r);                                                    \
        MPI_Barrier(world);                                               \
        MPI_Startall(1, &q);                                              \
        CALL(MPI_Waitall(2, (MPI_Request[]){q, r}, MPI_STATUSES_IGNORE)); \
        say("%d", in);                                                    \
    }                                                                     \
    CALL(MPI_Request_free(&q));                                           \
    CALL(MPI_Request_free(&r))
    TWICE(MPI_Send_init(&out, 1, MPI_INT, right, 5, world, &q));
    TWICE(MPI_Ssend_init(&out, 1, MPI_INT, right, 5, world, &q));
    TWICE(MPI_Rsend_init(&out, 1, MPI_INT, right, 5, world, &q));
    TWICE(MPI_Bsend_init(&out, 1, MPI_INT, right, 5, world, &q));
    CALL(MPI_Send_init(NULL, 0, MPI_INT, MPI_PROC_NULL, 5, world, &q));
    CALL(MPI_Start(&q));
    CALL(MPI_Wait(&q, MPI_STATUS_IGNORE));
    say("%s", q == MPI_REQUEST_NULL ? "null" : "still there");
    MPI_Request_free(&q);
    MPI_Buffer_detach(&gone, &bytes);
}

static int asked, freed;
static int query(void *extra, MPI_Status *s)
{
    (void)extra;
    asked++;
    MPI_Status_set_elements(s, MPI_INT, 3);
    MPI_Status_set_cancelled(s, 0);
    s->MPI_SOURCE = MPI_UNDEFINED;
    s->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
static int let_go(void *extra)
{
    (void)extra;
    freed++;
    return MPI_SUCCESS;
}
static int cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

static void generalized(void)
{
    MPI_Request q;
    MPI_Status s = FRESH;
    int n = -1, flag = -1;
    CALL(MPI_Grequest_start(query, let_go, cancel, NULL, &q));
    CALL(MPI_Test(&q, &flag, &s));
    say("%d", flag);
    CALL(MPI_Grequest_complete(q));
    CALL(MPI_Wait(&q, &s));
    MPI_Get_count(&s, MPI_INT, &n);
    say("%d; freed %d", n, freed);
}

static void one_sided(void)
{
    MPI_Win w;
    MPI_Group g, all;
    MPI_Errhandler e;
    MPI_Request q;
    long *base, one = 1, zero = 0, got = -1;
    int next = (me + 1) % ranks, n = -1;
    char name[MPI_MAX_OBJECT_NAME] = "";
    MPI_Win_allocate(4 * sizeof *base, sizeof *base, MPI_INFO_NULL, world, &base, &w);
    memset(base, 0, 4 * sizeof *base);
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    MPI_Barrier(world);
    CALL(MPI_Win_get_group(w, &g));
    MPI_Comm_group(world, &all);
    MPI_Group_compare(g, all, &n);
    say("the same %d", n == MPI_IDENT);
    MPI_Group_free(&g);
    MPI_Group_free(&all);
    CALL(MPI_Win_set_name(w, "ours"));
    CALL(MPI_Win_get_name(w, name, &n));
    say("%s %d", name, n);
    CALL(MPI_Win_set_info(w, MPI_INFO_NULL) ? 0 : 0); /* the libraries do not agree on it */
    CALL(MPI_Win_get_errhandler(w, &e));
    say("returns %d", e == MPI_ERRORS_RETURN);
    CALL(MPI_Win_call_errhandler(w, MPI_ERR_RMA_CONFLICT));
    CALL(MPI_Win_lock_all(0, w));
    CALL(MPI_Compare_and_swap(&one, &zero, &got, MPI_LONG, next, 0, w));
    CALL(MPI_Win_flush(next, w));
    say("%ld", got);
    CALL(MPI_Rput(&one, 1, MPI_LONG, next, 1, 1, MPI_LONG, w, &q));
    CALL(MPI_Wait(&q, MPI_STATUS_IGNORE));
    CALL(MPI_Win_flush(next, w));
    CALL(MPI_Rget(&got, 1, MPI_LONG, next, 1, 1, MPI_LONG, w, &q));
    CALL(MPI_Wait(&q, MPI_STATUS_IGNORE));
    say("%ld", got);
    CALL(MPI_Raccumulate(&one, 1, MPI_LONG, next, 2, 1, MPI_LONG, MPI_SUM, w, &q));
    CALL(MPI_Wait(&q, MPI_STATUS_IGNORE));
    CALL(MPI_Win_flush(next, w));
    CALL(MPI_Rget_accumulate(&one, 1, MPI_LONG, &got, 1, MPI_LONG, next, 2, 1, MPI_LONG, MPI_SUM, w,
                             &q));
    CALL(MPI_Wait(&q, MPI_STATUS_IGNORE));
    say("%ld", got);
    CALL(MPI_Win_sync(w));
    CALL(MPI_Win_unlock_all(w));
    MPI_Barrier(world);
    CALL(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, w));
    say("%ld %ld %ld", base[0], base[1], base[2]);
    CALL(MPI_Win_unlock(me, w));
    CALL(MPI_Win_free(&w));
    long memory[2];
    MPI_Win_create_dynamic(MPI_INFO_NULL, world, &w);
    CALL(MPI_Win_attach(w, memory, sizeof memory));
    CALL(MPI_Win_detach(w, memory));
    CALL(MPI_Win_free(&w));
}

void part_modes(void)
{
    ways_to_send();
#ifdef MPICH
    buffers();
    buffers_of_comms();
#endif
    persistent_sends();
    generalized();
    one_sided();
}
