/* inter.c - between two groups, and what else makes or ends a communicator; names and error handlers of one. */
#include "conform.h"

static void two_groups(void)
{
    MPI_Comm half, inter, merged, split;
    MPI_Group g;
    int n = -1, rank = -1, flag = -1, last = me == ranks - 1;
    MPI_Comm_split(world, last, me, &half);
    CALL(MPI_Intercomm_create(half, 0, world, last ? 0 : ranks - 1, 5, &inter));
    CALL(MPI_Comm_test_inter(inter, &flag));
    CALL(MPI_Comm_remote_size(inter, &n));
    CALL(MPI_Comm_rank(inter, &rank));
    say("inter %d, remote %d, rank %d", flag, n, rank);
    CALL(MPI_Comm_remote_group(inter, &g));
    MPI_Group_size(g, &n);
    say("%d", n);
    MPI_Group_free(&g);
    CALL(MPI_Intercomm_merge(inter, last, &merged));
    MPI_Comm_rank(merged, &rank);
    say("merged %d", rank);
    MPI_Comm_free(&merged);
    CALL(MPI_Intercomm_merge(inter, !last, &merged));
    MPI_Comm_rank(merged, &rank);
    say("merged %d", rank);
    MPI_Comm_free(&merged);
    CALL(MPI_Comm_split(inter, 0, me, &split));
    MPI_Comm_remote_size(split, &n);
    say("split: remote %d", n);
    MPI_Comm_free(&split);
#ifdef OPEN_MPI /* MPICH looks behind its objects */
    n = -1;
    FAILS(MPI_Comm_remote_size(world, &n));
    say("%d", n);
    FAILS(MPI_Comm_remote_group(world, &g));
    FAILS(MPI_Intercomm_merge(world, 0, &merged));
#endif
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* By what the hints say. */
static void split_by(const char *what, int type, const char *key, const char *value)
{
    MPI_Comm c = MPI_COMM_NULL;
    MPI_Info info;
    char back[64] = "";
    int n = 0, flag = 0;
    MPI_Info_create(&info);
    if (key)
        MPI_Info_set(info, key, value);
    int rc = MPI_Comm_split_type(world, type, -me, info, &c);
    if (!rc && c != MPI_COMM_NULL)
        MPI_Comm_size(c, &n);
    MPI_Info_get(info, "mpi_hw_resource_type", 63, back, &flag);
    say("%s by %s: %s, %d members, %s", what, value, name_of(rc), n, flag ? back : "no resource");
    if (c != MPI_COMM_NULL)
        MPI_Comm_free(&c);
    MPI_Info_free(&info);
}
static void hinted(void)
{
    split_by("guided", MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "machine");
    split_by("guided", MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "core");
    split_by("guided", MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "nothing of this kind");
    split_by("guided", MPI_COMM_TYPE_HW_GUIDED, NULL, "nothing");
    split_by("unguided", MPI_COMM_TYPE_HW_UNGUIDED, NULL, "nothing");
#ifdef MPIX_COMM_TYPE_NEIGHBORHOOD
    split_by("neighborhood", MPIX_COMM_TYPE_NEIGHBORHOOD, "nbhd_common_dirname", "/tmp");
#endif
}

static void kinds(void)
{
    MPI_Comm c = MPI_COMM_NULL;
    MPI_Request q;
    MPI_Info info;
    int n = -1;
    CALL(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &c));
    MPI_Comm_size(c, &n);
    say("%d", n);
    CALL(MPI_Comm_disconnect(&c));
    say("%s", c == MPI_COMM_NULL ? "null" : "not null");
    CALL(MPI_Comm_split_type(world, MPI_UNDEFINED, 0, MPI_INFO_NULL, &c));
    say("%s", c == MPI_COMM_NULL ? "null" : "not null");
    FAILS(MPI_Comm_split_type(world, -12345, 0, MPI_INFO_NULL, &c));
    FAILS(MPI_Comm_disconnect(&c));
    hinted();
    MPI_Info_create(&info);
    MPI_Info_set(info, "nobody_knows_this", "yes");
    CALL(MPI_Comm_idup_with_info(world, info, &c, &q));
    CALL(MPI_Wait(&q, MPI_STATUS_IGNORE));
    CALL(MPI_Comm_compare(world, c, &n));
    say("congruent %d", n == MPI_CONGRUENT);
    MPI_Comm_free(&c);
    CALL(MPI_Comm_dup_with_info(world, info, &c));
    MPI_Comm_free(&c);
    MPI_Info_free(&info);
    MPI_Group all, some;
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 2, (int[]){1, 0}, &some);
    if (me < 2) {
        CALL(MPI_Comm_create_group(world, some, 3, &c));
        MPI_Comm_rank(c, &n);
        say("%d", n);
        MPI_Comm_free(&c);
    }
    CALL(MPI_Comm_create(world, MPI_GROUP_EMPTY, &c));
    say("%s", c == MPI_COMM_NULL ? "null" : "not null");
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    CALL(MPI_Comm_idup(world, &c, &q));
    CALL(MPI_Wait(&q, MPI_STATUS_IGNORE));
    MPI_Comm_free(&c);
    CALL(MPI_Comm_get_parent(&c));
    say("%s", c == MPI_COMM_NULL ? "null" : "not null");
}

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int n = -1;
    MPI_Comm c;
    CALL(MPI_Comm_get_name(MPI_COMM_WORLD, name, &n));
    say("%d %s", n, name);
    CALL(MPI_Comm_get_name(MPI_COMM_SELF, name, &n));
    say("%d %s", n, name);
    MPI_Comm_dup(world, &c);
    CALL(MPI_Comm_get_name(c, name, &n));
    say("%d %s", n, name);
    CALL(MPI_Comm_set_name(c, "ours"));
    CALL(MPI_Comm_get_name(c, name, &n));
    say("%d %s", n, name);
    MPI_Comm_free(&c);
}

static int heard;
static void handler(MPI_Comm *c, int *code, ...)
{
    heard++;
    say("handler: %s, %s", *c == world ? "world" : "another", name_of(*code));
}
static void handlers(void)
{
    MPI_Errhandler e, now;
    int n;
    CALL(MPI_Comm_create_errhandler(handler, &e));
    CALL(MPI_Comm_set_errhandler(world, e));
    CALL(MPI_Comm_get_errhandler(world, &now));
    say("ours %d", now == e);
    CALL(MPI_Errhandler_free(&now));
    CALL(MPI_Errhandler_free(&e)); /* the communicator keeps it */
    CALL(MPI_Comm_call_errhandler(world, MPI_ERR_OTHER));
    MPI_Comm_rank(world, NULL);
    MPI_Send(&n, -1, MPI_INT, 0, 0, world);
    MPI_Send(&n, 1, MPI_INT, 99, 0, world);
    MPI_Bcast(&n, 1, MPI_INT, 99, world);
    say("heard %d", heard);
    CALL(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
    FAILS(MPI_Comm_set_errhandler(world, MPI_ERRHANDLER_NULL));
    FAILS(MPI_Comm_call_errhandler(MPI_COMM_NULL, MPI_ERR_OTHER));
}

static int copies, deletes;
static int copy(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void)c, (void)key;
    copies++;
    *(void **)out = (char *)in + 1;
    *flag = *(int *)extra;
    return MPI_SUCCESS;
}
static int delete(MPI_Comm c, int key, void *value, void *extra)
{
    (void)c, (void)key, (void)extra;
    deletes += (int)(long)value;
    return MPI_SUCCESS;
}
/* The old names: those of a communicator, by other functions. */
static void attributes(void)
{
    MPI_Comm c;
    int key = MPI_KEYVAL_INVALID, old = MPI_KEYVAL_INVALID, flag = -1, yes = 1;
    void *value = NULL;
    CALL(MPI_Comm_create_keyval(copy, delete, &key, &yes));
    CALL(MPI_Comm_set_attr(world, key, (void *)10));
    CALL(MPI_Comm_dup(world, &c));
    CALL(MPI_Comm_get_attr(c, key, &value, &flag));
    say("%ld %d; %d copies", (long)value, flag, copies);
    CALL(MPI_Comm_set_attr(c, key, (void *)20)); /* deletes the first */
    say("%d", deletes);
    CALL(MPI_Comm_free(&c));
    say("%d", deletes);
    CALL(MPI_Comm_delete_attr(world, key));
    say("%d", deletes);
    FAILS(MPI_Comm_delete_attr(world, key));
    CALL(MPI_Comm_get_attr(world, key, &value, &flag));
    say("%d", flag);
    CALL(MPI_Comm_free_keyval(&key));
    say("%s", key == MPI_KEYVAL_INVALID ? "invalid" : "valid");
    FAILS(MPI_Comm_free_keyval(&key));
    FAILS(MPI_Comm_set_attr(world, MPI_KEYVAL_INVALID, NULL));
    FAILS(MPI_Comm_set_attr(world, MPI_TAG_UB, NULL));
    CALL(MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &old, NULL));
    CALL(MPI_Attr_put(world, old, (void *)5));
    CALL(MPI_Attr_get(world, old, &value, &flag));
    say("%ld %d", (long)value, flag);
    CALL(MPI_Attr_delete(world, old));
    CALL(MPI_Keyval_free(&old));
}

void part_inter(void)
{
    two_groups();
    kinds();
    names();
    handlers();
    attributes();
}
