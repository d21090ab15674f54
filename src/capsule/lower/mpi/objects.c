/* mpi/objects.c - the lower half of communicators, datatypes and user-defined operations; built once per MPI
 * library. */
#include "online/online.h"
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/values.h"
#include "mpi/watch.h"

int lower_Comm_rank(handle_t c, int *r)
{
    return MPI_Comm_rank(COMM(c), r);
}
int lower_Comm_size(handle_t c, int *n)
{
    return MPI_Comm_size(COMM(c), n);
}
int lower_Comm_free(handle_t c)
{
    watch_free(); /* the last receive may hold it */
    MPI_Comm x = COMM(c);
    comm_gone(x);
    return error_out(GUARD("Comm_free", MPI_Comm_free(&x)));
}
int lower_Comm_set_errhandler(handle_t c, handle_t e)
{
    if (ground.recovering) /* every error comes to us first */
        return 0;
    return MPI_Comm_set_errhandler(COMM(c), (MPI_Errhandler)e);
}

/* The members of a communicator as world ranks: that is all we need to build an equivalent communicator in
 * another MPI library (MANA-2.0, section III-C). */
int lower_comm_world_ranks(handle_t c, int *ranks)
{
    MPI_Group w, g;
    int n;
    MPI_Comm_group(online.world, &w);
    MPI_Comm_group(COMM(c), &g);
    MPI_Group_size(g, &n);
    int *id = need(malloc(n * sizeof *id));
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
    MPI_Comm_group(online.world, &w);
    MPI_Group_incl(w, n, (int *)ranks, &g);
    MPI_Group_free(&w);
    return g;
}
static void group_done(MPI_Group g)
{
    if (g != MPI_GROUP_EMPTY && g != MPI_GROUP_NULL)
        MPI_Group_free(&g);
}
int lower_comm_create(handle_t comm, int n, const int *ranks, handle_t *out)
{
    MPI_Group g = group_of(n, ranks);
    MPI_Comm c = MPI_COMM_NULL;
    int rc = CREATE("Comm_create", MPI_Comm_create(COMM(comm), g, &c));
    group_done(g);
    comm_made(c);
    *out = (handle_t)c;
    return error_out(rc);
}
/* MPICH 4.2 looks into the parent's group, which exists only if somebody has asked for it. */
int lower_comm_from_ranks(handle_t parent, int n, const int *ranks, int tag, handle_t *out)
{
    MPI_Group g = group_of(n, ranks), of_parent;
    MPI_Comm_group(COMM(parent), &of_parent);
    MPI_Group_free(&of_parent);
    MPI_Comm c = MPI_COMM_NULL;
    int rc = CREATE("Comm_create_group", MPI_Comm_create_group(COMM(parent), g, tag, &c));
    group_done(g);
    comm_made(c);
    *out = (handle_t)c;
    return error_out(rc);
}
/* Rebuilds the communicators of the upper half: collective over all ranks.
 *
 *   1. Each rank proposes the smallest id among its communicators that are still to be made.
 *   2. A communicator whose members all propose it is made in this turn, by one MPI_Comm_split of
 *      the world for all that are ready: their members are disjoint. The smallest id of all is
 *      always ready.
 *   3. Repeat until nobody has one left.
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

/* A released communicator is not rebuilt: other members may have nothing left of it, and what its requests
 * waited for was drained before the image. */
static int is_to_be_made(const struct comm_card *c)
{
    return c->real && !c->freed && !c->released && c->id != WORLD_CARD_ID;
}

int lower_comms_rebuild(struct upper *upper)
{
    size_t n = 0, next = 0;
    for (struct comm_card *c = upper->cards; c; c = c->next)
        n += is_to_be_made(c);
    struct comm_card **card = calloc(n + 1, sizeof *card);
    size_t bytes = (size_t)upper->size * sizeof(uint64_t);
    uint64_t *proposed = calloc(2, bytes), *before = proposed + upper->size, mine;
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
            c->replaced = 1;
        }
    }
    qsort(card, n, sizeof *card, by_id);
    for (;;) {
        int left = 0;
        mine = next < n ? card[next]->id : UINT64_MAX;
        GUARD("Allgather",
              MPI_Allgather(&mine, 1, MPI_UINT64_T, proposed, 1, MPI_UINT64_T, online.world));
        for (int i = 0; i < upper->size; i++)
            left |= proposed[i] != UINT64_MAX;
        if (!left)
            break;
        if (memcmp(proposed, before, bytes) == 0)
            die("the images are inconsistent: not all ranks of communicator %llx know it",
                (unsigned long long)mine);
        memcpy(before, proposed, bytes);
        MPI_Comm made = MPI_COMM_NULL;
        struct comm_card *c = next < n && all_propose(card[next], proposed) ? card[next] : NULL;
        int rc = CREATE("Comm_split", MPI_Comm_split(online.world, c ? c->ranks[0] : MPI_UNDEFINED,
                                                     c ? c->rank : 0, &made));
        if (rc == 0 && c && c->remote_size) {
            MPI_Comm local = made;
            rc = CREATE("Intercomm_create",
                        MPI_Intercomm_create(local, 0, online.world, c->remote_ranks[0],
                                             (int)(c->id & 0x3fff), &made));
            MPI_Comm_free(&local);
        }
        if (rc)
            die("cannot rebuild a communicator (MPI error %d)", rc);
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

int lower_Type_size(handle_t t, int *n)
{
    return MPI_Type_size(TYPE(t), n);
}

static int build_darray(int n, const int *i, MPI_Datatype o, MPI_Datatype *d)
{
    int *distribs = malloc((2 * n + 1) * sizeof(int)), *dargs = distribs + n;
    if (!distribs)
        die("no memory for an array datatype of %d dimensions", n);
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
/* Makes a datatype from its recipe, at creation and again after a restart. */
int lower_type_build(int how, int n, const int *i, const long *a, const handle_t *t, handle_t *out)
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
        MPI_Datatype *ts = need(malloc((n + 1) * sizeof *ts));
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
/* Not before the program says so: the library must refuse uncommitted types in communication. */
int lower_Type_commit(handle_t t)
{
    MPI_Datatype d = TYPE(t);
    return error_out(MPI_Type_commit(&d));
}
int lower_Type_free(handle_t t)
{
    MPI_Datatype d = TYPE(t);
    return error_out(MPI_Type_free(&d));
}

/* User-defined operations. MPI passes no context to the user's function, so there is one C function per slot;
 * it enters the upper half with the upper half's thread pointer. */
static void enter_user_op(int slot, void *in, void *inout, int *n, MPI_Datatype *t)
{
    void *low = thread_pointer_get();
    handle_t type = (handle_t)*t;
    struct upper *u = lower.upper;
    if (!u) /* the program that began this was rolled back: nobody reads the result */
        return;
    thread_pointer_set(u->thread_pointer_inside);
    u->user_op(slot, in, inout, n, type);
    thread_pointer_set(low);
}
#define SLOTS8(X, o) X(o##0) X(o##1) X(o##2) X(o##3) X(o##4) X(o##5) X(o##6) X(o##7)
// clang-format off
#define SLOTS64(X, o) SLOTS8(X, o##0) SLOTS8(X, o##1) SLOTS8(X, o##2) SLOTS8(X, o##3) \
    SLOTS8(X, o##4) SLOTS8(X, o##5) SLOTS8(X, o##6) SLOTS8(X, o##7)
#define SLOTS512(X, o) SLOTS64(X, o##0) SLOTS64(X, o##1) SLOTS64(X, o##2) SLOTS64(X, o##3) \
    SLOTS64(X, o##4) SLOTS64(X, o##5) SLOTS64(X, o##6) SLOTS64(X, o##7)
#define SLOTS(X) SLOTS512(X, 0) SLOTS512(X, 01) /* octal numbers */
// clang-format on
#define X(k)                                                             \
    static void user_op_##k(void *in, void *io, int *n, MPI_Datatype *t) \
    {                                                                    \
        enter_user_op(k, in, io, n, t);                                  \
    }
SLOTS(X)
#undef X
#define X(k) user_op_##k,
static MPI_User_function *const user_ops[] = {SLOTS(X)};
_Static_assert(sizeof user_ops / sizeof *user_ops == MAX_USER_OPS, "one function per slot");
#undef X
int lower_op_create(int slot, int commute, handle_t *out)
{
    MPI_Op op;
    int rc = MPI_Op_create(user_ops[slot], commute, &op);
    *out = (handle_t)op;
    return rc;
}
int lower_Op_free(handle_t op)
{
    MPI_Op o = OP(op);
    return error_out(MPI_Op_free(&o));
}
