/* mpi.c - the only file that is compiled against the real mpi.h; built once per MPI library.
 * Wraps each MPI function in the neutral calling convention of border.h, so that the same image can
 * be resumed on top of another MPI library. Most wrappers are made from functions.def; the rest is
 * below.
 */
#include "recover.h"
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
#include "mpi_more.h"

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
    int n;
    MPI_Comm_size(COMM(c), &n);
    return n;
}

static void status_out(const MPI_Status *s, struct status *n)
{
    MPI_Count count = 0;
    int cancelled = 0;
    MPI_Get_elements_x((MPI_Status *)s, MPI_BYTE, &count);
    MPI_Test_cancelled((MPI_Status *)s, &cancelled);
    n->source = rank_out(s->MPI_SOURCE);
    n->tag = s->MPI_TAG; /* MPI_ANY_TAG is -1 in both libraries */
    n->error = error_out(s->MPI_ERROR);
    n->cancelled = cancelled;
    n->bytes = count;
}

#define OBJECT handle_t
#include "kinds_lower.h"
// clang-format off
#define BELOW_ROW(Name, name, ...) \
    static int lower_##Name(LIST(PARAM, __VA_ARGS__)) \
    { EACH(BEFORE, __VA_ARGS__) int rc = GUARD(#Name, MPI_##Name(LIST(ARG, __VA_ARGS__))); EACH(AFTER, __VA_ARGS__) return error_out(rc); }
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
static int lower_Init_thread(int required, int *provided)
{
    if (recovering) {
        MPI_Query_thread(provided);
        return 0;
    }
    int rc = MPI_Init_thread(NULL, NULL, required, provided);
    /* every error comes back: the program's own handlers live above */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    app_world = MPI_COMM_WORLD;
    app_self = MPI_COMM_SELF;
    fill_predefined();
    return rc;
}
static int lower_Finalize(void)
{
    if (recovering)
        recover_finalize();
    return MPI_Finalize();
}
static double lower_Wtime(void)
{
    return MPI_Wtime();
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
static int lower_comm_agree_max(handle_t c, int *v)
{
    return GUARD("Allreduce", MPI_Allreduce(MPI_IN_PLACE, v, 1, MPI_INT, MPI_MAX, COMM(c)));
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
/* Make a datatype from its recipe, at creation and again after a restart.  Always
 * committed: that costs little and saves a second step at restart. */
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
    if (!rc && how < RECIPE_F90_REAL)
        rc = MPI_Type_commit(&d);
    *out = (handle_t)d;
    return error_out(rc);
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

static int lower_Wait(handle_t r, struct status *s)
{
    MPI_Request q = REQ(r);
    MPI_Status st;
    int rc = GUARD_REQUEST("Wait", r, q, MPI_Wait(&q, s ? &st : MPI_STATUS_IGNORE));
    if (s)
        status_out(&st, s);
    return error_out(rc);
}
static int lower_Test(handle_t r, int *flag, struct status *s)
{
    MPI_Request q = REQ(r);
    MPI_Status st;
    int rc = GUARD_REQUEST("Test", r, q, MPI_Test(&q, flag, &st));
    if (*flag)
        status_out(&st, s);
    return error_out(rc);
}
static int lower_Cancel(handle_t r)
{
    MPI_Request q = REQ(r);
    MPI_Cancel(&q);
    return GUARD_REQUEST("Wait", r, q, MPI_Wait(&q, MPI_STATUS_IGNORE));
}
/* Deliver drained bytes into a buffer of any datatype: let MPI do it. */
static int lower_self_copy(const void *from, size_t bytes, void *to, int n, handle_t t)
{
    return error_out(MPI_Sendrecv(from, (int)bytes, MPI_BYTE, 0, 0, to, n, TYPE(t), 0, 0,
                                  MPI_COMM_SELF, MPI_STATUS_IGNORE));
}
static int lower_clock_gettime(int clk, void *ts)
{
    return clock_gettime(clk, ts);
}
static int lower_write_image(struct upper *u, const char *dir)
{
    return recovering ? recover_checkpoint(u) : snapshot_write(u, dir);
}
static int lower_resumed(void)
{
    if (recovering)
        recover_resumed();
    return 0;
}
/* Make the communicators of all ranks again. In each round every rank names its oldest one that is
 * missing; those that all their members have named are made by one MPI_Comm_split. (With
 * MPI_Comm_create_group Open MPI hangs for ever if a member dies, and a revoke does not help.) */
static int lower_comms_rebuild(int n, const struct comm_spec *spec, handle_t *out)
{
    int me, size;
    MPI_Comm_rank(app_world, &me);
    MPI_Comm_size(app_world, &size);
    unsigned long mine, *named = malloc(size * sizeof *named);
    for (int i = 0;;) {
        mine = i < n ? spec[i].name | 1 : 0;
        GUARD("Allgather",
              MPI_Allgather(&mine, 1, MPI_UNSIGNED_LONG, named, 1, MPI_UNSIGNED_LONG, app_world));
        int left = 0;
        for (int r = 0; r < size; r++)
            left |= named[r] != 0;
        if (!left)
            break;
        int ready = i < n, key = 0, color = size;
        for (int k = 0; i < n && k < spec[i].size; k++) {
            int r = spec[i].ranks[k];
            if (named[r] != mine)
                ready = 0;
            if (r < color)
                color = r;
            if (r == me)
                key = k;
        }
        MPI_Comm c;
        GUARD("Comm_split", MPI_Comm_split(app_world, ready ? color : MPI_UNDEFINED, key, &c));
        if (!ready)
            continue;
        comm_made(c);
        out[i++] = (handle_t)c;
    }
    free(named);
    return 0;
}

struct lower lower = {
#ifdef OPEN_MPI
    .name = "Open MPI",
#else
    .name = "MPICH",
#endif
#define X(ret, name, args) .name = lower_##name,
    LOWER_SERVICES(X) LOWER_SERVICES_MORE(X)
#undef X
#define BELOW_ROW(Name, name, ...) .Name = lower_##Name,
#define FUNCTION                   BELOW
#include "../functions.def"
#undef FUNCTION

};
