/* comms.c - communicators: made while others are being made, attributes whose copy fails, names, null handles, hints. */
#include "conform.h"

static void made_meanwhile(void)
{
    MPI_Comm later, few = MPI_COMM_NULL;
    MPI_Request q;
    MPI_Group all, some;
    int first[2] = {0, 1}, n = -1, sum = -1;
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 2, first, &some);
    for (int turn = 0; turn < 3; turn++) {
        CALL(MPI_Comm_idup(turn == 1 ? world : MPI_COMM_WORLD, &later, &q));
        if (me < 2) {
            CALL(MPI_Comm_create_group(turn == 2 ? MPI_COMM_WORLD : world, some, turn, &few));
            MPI_Comm_size(few, &n);
            MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, few);
            say("%d ranks, sum %d", n, sum);
            MPI_Comm_free(&few);
        }
        CALL(MPI_Wait(&q, MPI_STATUS_IGNORE));
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, later);
        say("sum %d", sum);
        MPI_Comm_free(&later);
    }
    MPI_Group_free(&some);
    MPI_Group_free(&all);
}

/* One has begun to duplicate the world, another has not yet, and both make a communicator of their own first. */
static void one_after_the_other(void)
{
    MPI_Comm later, few;
    MPI_Request q;
    MPI_Group all, some;
    int first[2] = {0, 1}, sum = -1;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, first, &some);
    for (int turn = 0; turn < 3; turn++) {
        if (me == 0)
            CALL(MPI_Comm_idup(MPI_COMM_WORLD, &later, &q));
        if (me < 2)
            CALL(MPI_Comm_create_group(MPI_COMM_WORLD, some, 0, &few));
        if (me > 0)
            CALL(MPI_Comm_idup(MPI_COMM_WORLD, &later, &q));
        CALL(MPI_Wait(&q, MPI_STATUS_IGNORE));
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, later);
        say("sum %d", sum);
        MPI_Comm_free(&later);
        if (me < 2)
            MPI_Comm_free(&few);
    }
    MPI_Group_free(&some);
    MPI_Group_free(&all);
}

static int refuse_copy(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void)c, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_ERR_OTHER;
}
static int deleted;
static int count_delete(MPI_Comm c, int key, void *value, void *extra)
{
    (void)c, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}
static int refuse_type_copy(MPI_Datatype t, int key, void *extra, void *in, void *out, int *flag)
{
    (void)t, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_ERR_OTHER;
}

static void attributes(void)
{
    MPI_Comm c, d = world;
    MPI_Datatype t, u = MPI_INT;
    int key, type_key, flag = -1, *value = NULL, other = MPI_KEYVAL_INVALID;
    void *place;
    MPI_Comm_dup(world, &c);
    MPI_Comm_create_keyval(refuse_copy, count_delete, &key, NULL);
    CALL(MPI_Comm_set_attr(c, key, &flag));
    say("Comm_dup: %s", name_of(MPI_Comm_dup(c, &d)));
    say("the new one is %s", d == MPI_COMM_NULL ? "null" : d == world ? "untouched" : "there");
    CALL(MPI_Comm_delete_attr(c, key));
    FAILS(MPI_Comm_delete_attr(c, key));
    CALL(MPI_Comm_get_attr(c, key, &place, &flag));
    say("flag %d, deleted %d", flag, deleted);
    FAILS(MPI_Comm_set_attr(c, MPI_TAG_UB, &flag));
    FAILS(MPI_Comm_set_attr(c, MPI_KEYVAL_INVALID, &flag));
    FAILS(MPI_Comm_get_attr(c, MPI_KEYVAL_INVALID, &place, &flag));
    CALL(MPI_Comm_free_keyval(&key));
    say("key %d", key == MPI_KEYVAL_INVALID);
    FAILS(MPI_Comm_free_keyval(&key));
    FAILS(MPI_Comm_free_keyval(&other));
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(c, key, &flag);
    other = key;
    CALL(MPI_Comm_free_keyval(&key));
    FAILS(MPI_Comm_free_keyval(&other)); /* the attribute keeps it alive */
    MPI_Type_create_keyval(refuse_type_copy, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL);
    MPI_Type_contiguous(2, MPI_INT, &t);
    MPI_Type_set_attr(t, type_key, &flag);
    say("Type_dup: %s", MPI_Type_dup(t, &u) ? "fails" : "ok");
    FAILS(MPI_Comm_set_attr(c, type_key, &flag));
    MPI_Type_free(&t);
    MPI_Type_free_keyval(&type_key);
    MPI_Comm_get_attr(c, MPI_APPNUM, &value, &flag);
    say("appnum %d", flag ? *value : -1);
    MPI_Comm_get_attr(c, MPI_UNIVERSE_SIZE, &value, &flag);
    say("universe %s", flag ? "is told" : "is not told");
    MPI_Comm_get_attr(c, MPI_WTIME_IS_GLOBAL, &value, &flag);
    say("global time %s", flag ? "is told" : "is not told");
    MPI_Comm_get_attr(c, MPI_HOST, &value, &flag);
    say("host %d %d", flag, flag && *value == MPI_PROC_NULL);
    MPI_Comm_get_attr(c, MPI_IO, &value, &flag);
    say("io %d %d", flag, flag && *value == MPI_ANY_SOURCE);
    MPI_Comm_free(&c);
}

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME + 1] = "";
    int n = -1;
    MPI_Comm c;
    MPI_Datatype t;
    MPI_Win w;
#define NAME(what, Which)                                                                         \
    do {                                                                                          \
        name[0] = 0;                                                                              \
        n = -1;                                                                                   \
        say("name of %s: %s, \"%s\", %d", #what, name_of(MPI_##Which##_get_name(what, name, &n)), \
            name, n);                                                                             \
    } while (0)
    NAME(MPI_COMM_WORLD, Comm);
    NAME(MPI_COMM_SELF, Comm);
    NAME(MPI_COMM_NULL, Comm);
    NAME(MPI_INT, Type);
    NAME(MPI_DATATYPE_NULL, Type);
    NAME(MPI_SHORT_INT, Type);
    NAME(MPI_C_BOOL, Type);
    NAME(MPI_WIN_NULL, Win);
    MPI_Comm_dup(world, &c);
    NAME(c, Comm);
    CALL(MPI_Comm_set_name(c, "ours"));
    NAME(c, Comm);
    CALL(MPI_Comm_set_name(c, ""));
    NAME(c, Comm);
    CALL(MPI_Comm_set_name(MPI_COMM_NULL, "nobody's"));
    MPI_Type_contiguous(2, MPI_INT, &t);
    NAME(t, Type);
    MPI_Win_create_dynamic(MPI_INFO_NULL, world, &w);
    MPI_Win_free(&w);
    MPI_Type_free(&t);
    MPI_Comm_free(&c);
}

static void nulls(void)
{
    MPI_Comm c = MPI_COMM_NULL;
    MPI_Group g;
    MPI_Errhandler e = MPI_ERRHANDLER_NULL;
    int n = -1, flag = -1;
    CALL(MPI_Comm_size(MPI_COMM_NULL, &n));
    CALL(MPI_Comm_rank(MPI_COMM_NULL, &n));
    CALL(MPI_Comm_free(&c));
    c = MPI_COMM_WORLD;
    CALL(MPI_Comm_free(&c));
    CALL(MPI_Comm_group(MPI_COMM_NULL, &g));
    CALL(MPI_Comm_dup(MPI_COMM_NULL, &c));
    CALL(MPI_Comm_compare(MPI_COMM_NULL, world, &n));
    CALL(MPI_Comm_compare(world, MPI_COMM_NULL, &n));
    CALL(MPI_Comm_test_inter(MPI_COMM_NULL, &flag));
    CALL(MPI_Comm_split(world, -5, 0, &c));
    CALL(MPI_Comm_create(world, MPI_GROUP_NULL, &c));
    CALL(MPI_Comm_get_errhandler(MPI_COMM_NULL, &e));
    FAILS(MPI_Comm_set_errhandler(world, MPI_ERRHANDLER_NULL));
    FAILS(MPI_Errhandler_free(&e));
    CALL(MPI_Send(&n, 1, MPI_INT, 99, 0, world));
    CALL(MPI_Send(&n, 1, MPI_INT, 0, -3, world));
    CALL(MPI_Send(&n, -1, MPI_INT, 0, 0, world));
    CALL(MPI_Send(&n, 1, MPI_DATATYPE_NULL, 0, 0, world));
    CALL(MPI_Recv(&n, 1, MPI_INT, -7, 0, world, MPI_STATUS_IGNORE));
    CALL(MPI_Recv(&n, -1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE));
    CALL(MPI_Bcast(&n, 1, MPI_INT, 99, world));
    CALL(MPI_Bcast(&n, -1, MPI_INT, 0, world));
    CALL(MPI_Reduce(&n, &flag, 1, MPI_INT, MPI_OP_NULL, 0, world));
}

static void hints(void)
{
    MPI_Comm c, d;
    MPI_Info in, out;
    int n = -1, flag = -1;
    char value[64] = "";
    MPI_Info_create(&in);
    MPI_Info_set(in, "nobody_knows_this", "yes");
    MPI_Info_set(in, "mpi_assert_no_any_tag", "true");
    CALL(MPI_Comm_dup_with_info(world, in, &c));
    CALL(MPI_Comm_get_info(c, &out));
    MPI_Info_get(out, "nobody_knows_this", 63, value, &flag);
    say("an unknown hint is %s", flag ? "kept" : "dropped");
    MPI_Info_free(&out);
    CALL(MPI_Comm_set_info(world, in));
    CALL(MPI_Comm_get_info(world, &out));
    MPI_Info_get(out, "nobody_knows_this", 63, value, &flag);
    say("an unknown hint is %s", flag ? "kept" : "dropped");
    MPI_Info_free(&out);
    CALL(MPI_Comm_dup(c, &d));
    MPI_Comm_free(&d);
    MPI_Comm_free(&c);
    CALL(MPI_Info_get_nkeys(in, &n));
    say("%d keys", n);
    CALL(MPI_Info_get_nthkey(in, 5, value));
    CALL(MPI_Info_delete(in, "none"));
    CALL(MPI_Info_set(in, "", "x"));
    CALL(MPI_Info_get(in, "none", 63, value, &flag));
    say("flag %d", flag);
    CALL(MPI_Info_dup(MPI_INFO_NULL, &out));
    CALL(MPI_Info_get_nkeys(MPI_INFO_NULL, &n));
    MPI_Info_free(&in);
    CALL(MPI_Info_free(&in));
}

void part_comms(void)
{
#ifdef OPEN_MPI /* MPICH 4.2 crashes */
    made_meanwhile();
    one_after_the_other();
#endif
    attributes();
    names();
    nulls();
    hints();
}
