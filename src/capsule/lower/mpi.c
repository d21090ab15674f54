/* mpi.c - the only file that is compiled against the real mpi.h; built once per MPI library.
 * Wraps each MPI function in the neutral calling convention of border.h, so that the same image can
 * be resumed on top of another MPI library. Most wrappers are made from functions.def; the rest is
 * below.
 */
#include "recover.h"
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mpi_more.h"

#ifndef MPI_LOGICAL1 /* MPICH has none, see predefined.def */
#define MPI_LOGICAL1 MPI_INT8_T
#define MPI_LOGICAL2 MPI_INT16_T
#define MPI_LOGICAL4 MPI_INT32_T
#define MPI_LOGICAL8 MPI_INT64_T
#endif
#define COMM(h) ((MPI_Comm)(h))
#define TYPE(h) ((MPI_Datatype)(h))
#define OP(h)   ((MPI_Op)(h))
#define REQ(h)  ((MPI_Request)(h))

static int rank_in(int r)
{
    return r >= 0                    ? r
           : r == NEUTRAL_ANY_SOURCE ? MPI_ANY_SOURCE
           : r == NEUTRAL_PROC_NULL  ? MPI_PROC_NULL
           : r == NEUTRAL_ROOT       ? MPI_ROOT
                                     : r;
}
static int rank_out(int r)
{
    return r == MPI_ANY_SOURCE ? NEUTRAL_ANY_SOURCE : r == MPI_PROC_NULL ? NEUTRAL_PROC_NULL : r;
}
static int tag_in(int t)
{
    return t == NEUTRAL_ANY_TAG ? MPI_ANY_TAG : t;
}
static int split_in(int s)
{
    return s == NEUTRAL_SPLIT_SHARED ? MPI_COMM_TYPE_SHARED : s;
}
static void *buf_in(const void *b)
{
    return b == NEUTRAL_IN_PLACE ? MPI_IN_PLACE : (void *)b;
}
static int size_of_comm(handle_t c)
{
    int n, inter;
    MPI_Comm_test_inter(COMM(c), &inter);
    if (inter)
        MPI_Comm_remote_size(COMM(c), &n);
    else
        MPI_Comm_size(COMM(c), &n);
    return n;
}

/* The fields of a status that have no name in the standard: asking for them by functions would
 * double the cost of a short message.
 */
static void status_out(const MPI_Status *s, struct status *n)
{
    n->source = rank_out(s->MPI_SOURCE);
    n->tag = s->MPI_TAG; /* MPI_ANY_TAG is -1 in both libraries */
    n->error = error_out(s->MPI_ERROR);
#ifdef OPEN_MPI
    n->bytes = s->_ucount;
    n->cancelled = s->_cancelled;
#else
    unsigned high = (unsigned)s->count_hi_and_cancelled;
    n->bytes = (size_t)(high >> 1) << 32 | (unsigned)s->count_lo;
    n->cancelled = (int)(high & 1);
#endif
}

#define OBJECT handle_t
#include "kinds_lower.h"
// clang-format off
#define BELOW_ROW(Name, name, ...) \
    static int lower_##Name(LIST(PARAM, __VA_ARGS__)) \
    { EACH(BEFORE, __VA_ARGS__) int rc = GUARD(#Name, MPI_##Name(LIST(ARG, __VA_ARGS__))); EACH(AFTER, __VA_ARGS__) return __builtin_expect(rc, 0) ? error_out(rc) : 0; }
#define FUNCTION BELOW
#include "../functions.def"
#undef FUNCTION
#undef BELOW_ROW
// clang-format on

/* ---- by hand ---- */

MPI_Comm app_world, app_self;
handle_t request_consumed;
void fill_predefined(void)
{
#define PREDEFINED(kind, symbol, name, fortran) lower.predef[PRE_##name] = (handle_t)(name);
#include "../predefined.def"
#undef PREDEFINED
    lower.predef[PRE_MPI_COMM_WORLD] = (handle_t)app_world;
    lower.predef[PRE_MPI_COMM_SELF] = (handle_t)app_self;
}

/* Open MPI has one request for all sends that need none; MPI_PROC_NULL gives it. */
static void find_sent_at_once(void)
{
#ifdef OPEN_MPI
    MPI_Request a, b;
    if (MPI_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &a) ||
        MPI_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &b))
        return;
    if (a == b)
        lower.sent_at_once = (handle_t)a;
    MPI_Wait(&a, MPI_STATUS_IGNORE);
    MPI_Wait(&b, MPI_STATUS_IGNORE);
#endif
}

/* Where handles, special values and error classes of the border are this library's own, the busiest
 * functions need nothing between the halves.
 */
static void take_shortcuts(void)
{
#ifdef OPEN_MPI
#define SHORTCUT(Name) lower.Name = (__typeof__(lower.Name))(void *)MPI_##Name
    SHORTCUT(Send);
    SHORTCUT(Isend);
    SHORTCUT(Irecv);
    SHORTCUT(Barrier);
    SHORTCUT(Bcast);
    SHORTCUT(Reduce);
    SHORTCUT(Allreduce);
    SHORTCUT(Alltoall);
    SHORTCUT(Allgather);
#undef SHORTCUT
#endif
}

static int lower_Init_thread(int required, int *provided)
{
    if (recovering) {
        MPI_Query_thread(provided);
        recover_begun();
        return 0;
    }
    int rc = MPI_Init_thread(NULL, NULL, required, provided);
    /* every error comes back: the program's own handlers live above */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    app_world = MPI_COMM_WORLD;
    app_self = MPI_COMM_SELF;
    fill_predefined();
    find_sent_at_once();
    take_shortcuts();
    return rc;
}

static int lower_Finalize(void)
{
    if (recovering)
        recover_finalize();
    return MPI_Finalize();
}

/* Windows and requests of the program are open: network libraries complain about that on standard
 * output (UCX), where only the program's own words belong. */
static void lower_leave(void)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0)
        dup2(nowhere, STDOUT_FILENO);
    lower_Finalize();
}

static int lower_resumed(void)
{
    if (recovering)
        recover_resumed();
    return 0;
}

static int lower_Get_processor_name(char *name, int *len)
{
    return MPI_Get_processor_name(name, len);
}
static int lower_Get_library_version(char *name, int *len)
{
    return MPI_Get_library_version(name, len);
}
static int lower_Error_string(int code, char *s, int *len)
{
    return MPI_Error_string(code, s, len);
}
static int lower_Error_class(int code, int *class)
{
    return MPI_Error_class(code, class);
}
static int lower_tag_ub(void)
{
    int *v, flag;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &v, &flag);
    return flag ? *v : 32767;
}
static int lower_Comm_rank(handle_t c, int *r)
{
    return MPI_Comm_rank(COMM(c), r);
}
static int lower_Comm_size(handle_t c, int *n)
{
    return MPI_Comm_size(COMM(c), n);
}
static int lower_Comm_free(handle_t c)
{
    MPI_Comm x = COMM(c);
    comm_gone(x);
    return error_out(GUARD("Comm_free", MPI_Comm_free(&x)));
}
static int lower_Comm_set_errhandler(handle_t c, handle_t e)
{
    if (recovering) /* every error comes to us first */
        return 0;
    return MPI_Comm_set_errhandler(COMM(c), (MPI_Errhandler)e);
}

/* Members of a communicator as world ranks: all that is needed to build an
 * equivalent communicator in another MPI library (MANA-2.0, section III-C). */
static int lower_comm_world_ranks(handle_t c, int *ranks)
{
    MPI_Group w, g;
    int n;
    MPI_Comm_group(app_world, &w);
    MPI_Comm_group(COMM(c), &g);
    MPI_Group_size(g, &n);
    int *id = malloc(n * sizeof *id);
    for (int i = 0; i < n; i++)
        id[i] = i;
    int rc = MPI_Group_translate_ranks(g, n, id, w, ranks);
    free(id);
    MPI_Group_free(&g);
    MPI_Group_free(&w);
    return rc;
}
static MPI_Group group_of(int n, const int *ranks)
{
    MPI_Group w, g;
    MPI_Comm_group(app_world, &w);
    MPI_Group_incl(w, n, (int *)ranks, &g);
    MPI_Group_free(&w);
    return g;
}
static void group_done(MPI_Group g)
{
    if (g != MPI_GROUP_EMPTY && g != MPI_GROUP_NULL)
        MPI_Group_free(&g);
}
static int lower_comm_create(handle_t comm, int n, const int *ranks, handle_t *out)
{
    MPI_Group g = group_of(n, ranks);
    MPI_Comm c;
    int rc = GUARD("Comm_create", MPI_Comm_create(COMM(comm), g, &c));
    group_done(g);
    comm_made(c);
    *out = (handle_t)c;
    return error_out(rc);
}
static int lower_comm_from_ranks(int n, const int *ranks, int tag, handle_t *out)
{
    MPI_Group g = group_of(n, ranks);
    MPI_Comm c;
    int rc = GUARD("Comm_create_group", MPI_Comm_create_group(app_world, g, tag, &c));
    group_done(g);
    comm_made(c);
    *out = (handle_t)c;
    return error_out(rc);
}
/* Make the communicators of the upper half again: collective over all ranks.
 *
 * 1. Each rank proposes the smallest id among its communicators that are still to be made.
 * 2. A communicator whose members all propose it is made in this turn, by one MPI_Comm_split of the
 * world for all that are ready: their members are disjoint. The smallest id of all is always ready.
 * 3. Until nobody has one left.
 */
static int by_id(const void *a, const void *b)
{
    uint64_t x = (*(struct comm_card *const *)a)->id, y = (*(struct comm_card *const *)b)->id;
    return x < y ? -1 : x > y;
}

static int all_propose(const struct comm_card *c, const uint64_t *proposed)
{
    for (int i = 0; i < c->size; i++)
        if (proposed[c->ranks[i]] != c->id)
            return 0;
    for (int i = 0; i < c->remote_size; i++)
        if (proposed[c->remote_ranks[i]] != c->id)
            return 0;
    return 1;
}

/* One that was released is not: other members may have nothing left of it, and what its requests
 * waited for was drained before the image. */
static int is_to_be_made(const struct comm_card *c)
{
    return !c->freed && !c->released && c->id != WORLD_CARD_ID;
}

static int lower_comms_rebuild(struct upper *upper)
{
    size_t n = 0, next = 0;
    for (struct comm_card *c = upper->cards; c; c = c->next)
        n += is_to_be_made(c);
    struct comm_card **card = calloc(n + 1, sizeof *card);
    uint64_t *proposed = calloc((size_t)upper->size, sizeof *proposed), mine;
    if (!card || !proposed)
        die("no memory for %zu communicators", n);
    n = 0;
    for (struct comm_card *c = upper->cards; c; c = c->next) {
        MPI_Comm alone;
        if (is_to_be_made(c)) {
            card[n++] = c;
        } else if (c->released && !c->freed) { /* a place for receives that nobody will match */
            MPI_Comm_dup(MPI_COMM_SELF, &alone);
            *c->real = (handle_t)alone;
        }
    }
    qsort(card, n, sizeof *card, by_id);
    for (;;) {
        int left = 0;
        mine = next < n ? card[next]->id : UINT64_MAX;
        GUARD("Allgather",
              MPI_Allgather(&mine, 1, MPI_UINT64_T, proposed, 1, MPI_UINT64_T, app_world));
        for (int i = 0; i < upper->size; i++)
            left |= proposed[i] != UINT64_MAX;
        if (!left)
            break;
        MPI_Comm made = MPI_COMM_NULL;
        struct comm_card *c = next < n && all_propose(card[next], proposed) ? card[next] : NULL;
        int rc = GUARD("Comm_split", MPI_Comm_split(app_world, c ? c->ranks[0] : MPI_UNDEFINED,
                                                    c ? c->rank : 0, &made));
        if (rc == 0 && c && c->remote_size) {
            MPI_Comm local = made;
            rc = MPI_Intercomm_create(local, 0, app_world, c->remote_ranks[0],
                                      (int)(c->id & 0x3fff), &made);
            MPI_Comm_free(&local);
        }
        if (rc)
            die("cannot make a communicator again (MPI error %d)", rc);
        if (c) {
            comm_made(made);
            *c->real = (handle_t)made;
            next++;
        }
    }
    free(card);
    free(proposed);
    return 0;
}

static int lower_Type_size(handle_t t, int *n)
{
    return MPI_Type_size(TYPE(t), n);
}

static int build_darray(int n, const int *i, MPI_Datatype o, MPI_Datatype *d)
{
    int *distribs = malloc((2 * n + 1) * sizeof(int)), *dargs = distribs + n;
    for (int k = 0; k < n; k++) {
        int how = i[2 + n + k], arg = i[2 + 2 * n + k];
        distribs[k] = how == NEUTRAL_DISTRIBUTE_BLOCK    ? MPI_DISTRIBUTE_BLOCK
                      : how == NEUTRAL_DISTRIBUTE_CYCLIC ? MPI_DISTRIBUTE_CYCLIC
                                                         : MPI_DISTRIBUTE_NONE;
        dargs[k] = arg == NEUTRAL_DISTRIBUTE_DFLT_DARG ? MPI_DISTRIBUTE_DFLT_DARG : arg;
    }
    int rc = MPI_Type_create_darray(
        i[0], i[1], n, i + 2, distribs, dargs, i + 2 + 3 * n,
        i[2 + 4 * n] == NEUTRAL_ORDER_C ? MPI_ORDER_C : MPI_ORDER_FORTRAN, o, d);
    free(distribs);
    return rc;
}
/* Make a datatype from its recipe, at creation and again after a restart. */
static int lower_type_build(int how, int n, const int *i, const long *a, const handle_t *t,
                            handle_t *out)
{
    MPI_Datatype d = MPI_DATATYPE_NULL, o = how >= RECIPE_F90_REAL ? d : TYPE(t[0]);
    int rc = 0;
    switch (how) {
    case RECIPE_CONTIGUOUS: rc = MPI_Type_contiguous(n, o, &d); break;
    case RECIPE_VECTOR: rc = MPI_Type_vector(n, i[0], i[1], o, &d); break;
    case RECIPE_HVECTOR: rc = MPI_Type_create_hvector(n, i[0], a[0], o, &d); break;
    case RECIPE_INDEXED: rc = MPI_Type_indexed(n, i, i + n, o, &d); break;
    case RECIPE_HINDEXED: rc = MPI_Type_create_hindexed(n, i, a, o, &d); break;
    case RECIPE_INDEXED_BLOCK: rc = MPI_Type_create_indexed_block(n, i[0], i + 1, o, &d); break;
    case RECIPE_SUBARRAY:
        rc = MPI_Type_create_subarray(n, i + 1, i + 1 + n, i + 1 + 2 * n,
                                      i[0] == NEUTRAL_ORDER_C ? MPI_ORDER_C : MPI_ORDER_FORTRAN, o,
                                      &d);
        break;
    case RECIPE_RESIZED: rc = MPI_Type_create_resized(o, a[0], a[1], &d); break;
    case RECIPE_DUP: rc = MPI_Type_dup(o, &d); break;
    case RECIPE_HINDEXED_BLOCK: rc = MPI_Type_create_hindexed_block(n, i[0], a, o, &d); break;
    case RECIPE_DARRAY: rc = build_darray(n, i, o, &d); break;
    case RECIPE_F90_REAL: rc = MPI_Type_create_f90_real(i[0], i[1], &d); break;
    case RECIPE_F90_COMPLEX: rc = MPI_Type_create_f90_complex(i[0], i[1], &d); break;
    case RECIPE_F90_INTEGER: rc = MPI_Type_create_f90_integer(i[0], &d); break;
    case RECIPE_STRUCT: {
        MPI_Datatype *ts = malloc((n + 1) * sizeof *ts);
        for (int k = 0; k < n; k++)
            ts[k] = TYPE(t[k]);
        rc = MPI_Type_create_struct(n, i, a, ts, &d);
        free(ts);
        break;
    }
    }
    *out = (handle_t)d;
    return error_out(rc);
}
/* Not before the program says so: the library refuses others in communication. */
static int lower_Type_commit(handle_t t)
{
    MPI_Datatype d = TYPE(t);
    return error_out(MPI_Type_commit(&d));
}
static int lower_Type_free(handle_t t)
{
    MPI_Datatype d = TYPE(t);
    return error_out(MPI_Type_free(&d));
}

/* User-defined operations.  MPI passes no context to the user's function, so there is one
 * C function per slot; it enters the upper half with the upper half's thread pointer. */
static void enter_user_op(int slot, void *in, void *inout, int *n, MPI_Datatype *t)
{
    void *low = thread_pointer_get();
    handle_t type = (handle_t)*t;
    struct upper *u = lower.upper;
    thread_pointer_set(u->thread_pointer_inside);
    u->user_op(slot, in, inout, n, type);
    thread_pointer_set(low);
}
#define SLOTS8(X, o) X(o##0) X(o##1) X(o##2) X(o##3) X(o##4) X(o##5) X(o##6) X(o##7)
#define SLOTS(X)  \
    SLOTS8(X, 0)  \
    SLOTS8(X, 01) \
    SLOTS8(X, 02) SLOTS8(X, 03) SLOTS8(X, 04) SLOTS8(X, 05) SLOTS8(X, 06) SLOTS8(X, 07)
#define X(k)                                                             \
    static void user_op_##k(void *in, void *io, int *n, MPI_Datatype *t) \
    {                                                                    \
        enter_user_op(k, in, io, n, t);                                  \
    }
SLOTS(X)
#undef X
#define X(k) user_op_##k,
static MPI_User_function *const user_ops[MAX_USER_OPS] = {SLOTS(X)};
#undef X
static int lower_op_create(int slot, int commute, handle_t *out)
{
    MPI_Op op;
    int rc = MPI_Op_create(user_ops[slot], commute, &op);
    *out = (handle_t)op;
    return rc;
}
static int lower_Op_free(handle_t op)
{
    MPI_Op o = OP(op);
    return error_out(MPI_Op_free(&o));
}

static int lower_Test(handle_t *r, int *flag, struct status *s)
{
    MPI_Request q = REQ(*r);
    MPI_Status st;
    int rc = GUARD_REQUEST("Test", *r, q, MPI_Test(&q, flag, &st));
    *r = (handle_t)q;
    if (*flag)
        status_out(&st, s);
    return error_out(rc);
}

/* Turns of a waiting loop: after some, the agent is told for whom we wait, and others get the core.
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

static int wait_one(MPI_Request *q, struct wait_item *item)
{
    MPI_Status st;
    unsigned turn = 0;
    int flag = 0;
    for (;;) {
        item->error = GUARD_REQUEST("Test", *item->real, *q,
                                    MPI_Test(q, &flag, item->status ? &st : MPI_STATUS_IGNORE));
        if (flag || item->error)
            break;
        if (__builtin_expect(lower.upper->stop_phase == STOP_HERE, 0))
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

static int lower_wait_or_stop(int n, struct wait_item *items)
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
    return lower.upper->stop_phase != STOP_HERE && ++*turn < TURNS_BEFORE_TELLING;
}

/* All of them, quickly: until they are complete, until a checkpoint wants us, or for some turns.
 * Those that are done have the null handle afterwards. After an error every status tells, if
 * somebody wants to learn something.
 *
 * The one that was begun last is often done last: it is polled alone, and the others are looked at
 * when it has come.
 */
static int lower_waitall_or_stop(int n, handle_t *real, struct status *status, int learn)
{
    int flag = 0, rc, turn = 0;
    if (recovering) /* which requests a failed call has used up is known one by one only */
        return 0;
#ifdef OPEN_MPI
    MPI_Request *q = (MPI_Request *)real; /* both are pointers */
    MPI_Status st[learn ? n : 1];
    MPI_Status *all = learn ? st : MPI_STATUSES_IGNORE, *last = learn ? &st[n - 1] : st;
#else
    MPI_Request q[n];
    for (int i = 0; i < n; i++)
        q[i] = REQ(real[i]);
    MPI_Status st[n], *all = st, *last = &st[n - 1]; /* errors are told only by them */
    learn = 1;
#endif
    do
        rc = MPI_Test(&q[n - 1], &flag, last);
    while (rc == 0 && !flag && may_go_on(&turn));
    last->MPI_ERROR = rc;
    if (rc == 0 && flag)
        do
            rc = MPI_Testall(n - 1, q, &flag, all);
        while (rc == 0 && !flag && may_go_on(&turn));
    int result = rc ? error_out(rc) : flag ? WAITALL_DONE : 0;
    if (__builtin_expect(!learn, 1))
        return result;
    for (int i = 0; i < n; i++) {
#ifndef OPEN_MPI
        real[i] = (handle_t)q[i];
#endif
        if (q[i] == MPI_REQUEST_NULL) {
            status_out(&st[i], &status[i]);
            status[i].error = rc ? status[i].error : 0;
        }
    }
    return result;
}

handle_t receive_under_way;
static int lower_recv_or_stop(void *buf, int n, handle_t type, int source, int tag, handle_t comm,
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
    receive_under_way = (handle_t)q;
    for (;;) {
        rc = GUARD_REQUEST("Test", receive_under_way, q, MPI_Test(&q, &flag, wanted));
        if (flag || __builtin_expect(rc, 0) || lower.upper->stop_phase == STOP_HERE)
            break;
        long_wait(&turn, item->peer);
    }
    receive_under_way = (handle_t)MPI_REQUEST_NULL;
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
static int lower_recv_bytes(void *buf, size_t bytes, int source, int tag, handle_t comm,
                            struct status *s)
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

static int lower_Cancel(handle_t *r, struct status *s)
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
static MPI_Comm private_self = MPI_COMM_NULL;
static int lower_self_copy(const void *from, size_t bytes, void *to, int n, handle_t t)
{
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
static int lower_clock_gettime(int clk, void *ts)
{
    return clock_gettime(clk, ts);
}
#define lower_agent_start            agent_start
#define lower_agent_end              agent_end
#define lower_agent_door             agent_door
#define lower_agent_request          agent_request
#define lower_agent_stop_begin       agent_stop_begin
#define lower_agent_stop_poll        agent_stop_poll
#define lower_agent_save             agent_save
#define lower_bring_back_threads     bring_back_threads
#define lower_agent_stop_end         agent_stop_end
#define lower_agent_take_freed_cards agent_take_freed_cards

struct lower lower = {
#ifdef OPEN_MPI
    .name = "Open MPI",
#else
    .name = "MPICH",
#endif
#define SERVICE(type, name, ...) .name = lower_##name,
#include "../services.def"
#undef SERVICE
#define X(ret, name, args) .name = lower_##name,
    LOWER_SERVICES_MORE(X)
#undef X
#define BELOW_ROW(Name, name, ...) .Name = lower_##Name,
#define FUNCTION                   BELOW
#include "../functions.def"
#undef FUNCTION

};
