/* lifetimes.c - objects that the program frees while a request still needs them, and calls that fail half-way: they leave
 * nothing behind. */
#include "conform.h"

static void twice_the_sum(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] = 2 * (((int *)in)[i] + ((int *)inout)[i]) / 2;
}

static void freed_operations(void)
{
    int mine[2] = {me + 1, 10 * me}, all[2] = {-1, -1};
    MPI_Op op;
    MPI_Request r;
    CALL(MPI_Op_create(twice_the_sum, 1, &op));
    CALL(MPI_Iallreduce(mine, all, 2, MPI_INT, op, world, &r));
    CALL(MPI_Op_free(&op));
    say("%s", op == MPI_OP_NULL ? "null" : "not null");
    CALL(MPI_Wait(&r, MPI_STATUS_IGNORE));
    say("%d %d", all[0], all[1]);

    CALL(MPI_Op_create(twice_the_sum, 1, &op));
    CALL(MPI_Allreduce_init(mine, all, 2, MPI_INT, op, world, MPI_INFO_NULL, &r));
    CALL(MPI_Op_free(&op));
    for (int round = 0; round < 2; round++) {
        MPI_Op other;
        mine[0] += round;
        CALL(MPI_Op_create(twice_the_sum, 1, &other));
        CALL(MPI_Start(&r));
        CALL(MPI_Wait(&r, MPI_STATUS_IGNORE));
        say("round %d: %d %d", round, all[0], all[1]);
        CALL(MPI_Op_free(&other));
    }
    CALL(MPI_Request_free(&r));
}

static void failed_sendrecv(void)
{
    int out = 5, in = -1;
    MPI_Status s;
    CALL(
        MPI_Sendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 1, &in, 1, MPI_INT, ranks + 5, 1, world, &s));
    CALL(MPI_Sendrecv(&out, 1, MPI_INT, ranks + 5, 1, &in, 1, MPI_INT, me, 1, world, &s));
    CALL(MPI_Sendrecv(&out, 1, MPI_INT, me, 1, &in, 1, MPI_INT, me, 1, world, &s));
    say("got %d from %d", in, s.MPI_SOURCE == me);
    CALL(MPI_Sendrecv_replace(&out, 1, MPI_INT, ranks + 5, 1, me, 1, world, &s));
    CALL(MPI_Sendrecv_replace(&out, 1, MPI_INT, me, 1, me, 1, world, &s));
    say("still %d", out);
}

static void failed_neighbours(void)
{
    int out = me, in[2] = {-1, -1}, flag = 0, periodic = 1;
    MPI_Comm ring;
    MPI_Request r;
    MPI_Status s;
    MPI_Cart_create(world, 1, &ranks, &periodic, 0, &ring);
    FAILS(MPI_Neighbor_allgather(&out, -1, MPI_INT, in, 1, MPI_INT, ring));
    CALL(MPI_Ineighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, ring, &r));
    while (!flag)
        if (MPI_Request_get_status(r, &flag, &s) != MPI_SUCCESS)
            break;
    say("complete %d", flag);
    CALL(MPI_Wait(&r, MPI_STATUS_IGNORE));
    say("neighbours %d %d", in[0], in[1]);
    MPI_Comm_free(&ring);
}

/* Both libraries refuse longer ones, though not all by the same name; the longest must fit the buffer. */
static void long_words(void)
{
    char word[MPI_MAX_INFO_VAL + 2], key[MPI_MAX_INFO_KEY + 1] = "";
    MPI_Info i;
    MPI_Info_create(&i);
    memset(word, 'w', sizeof word);
    word[MPI_MAX_INFO_KEY + 1] = 0;
    FAILS(MPI_Info_set(i, word, "x"));
    word[MPI_MAX_INFO_KEY - 1] = 0;
    CALL(MPI_Info_set(i, word, "x"));
    CALL(MPI_Info_get_nthkey(i, 0, key));
    say("%s", strlen(key) == MPI_MAX_INFO_KEY - 1 ? "whole" : "cut");
    memset(word, 'v', sizeof word);
    word[MPI_MAX_INFO_VAL + 1] = 0;
    FAILS(MPI_Info_set(i, "long", word));
    word[MPI_MAX_INFO_VAL - 1] = 0;
    CALL(MPI_Info_set(i, "long", word));
    MPI_Info_free(&i);
}

enum { MANY = 64 };
static int keys[MANY], made;
static int makes_keys(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    for (int i = 0; i < MANY / 4 && made < MANY; i++)
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keys[made++], NULL);
    return MPI_SUCCESS;
}
static int copies(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    makes_keys(comm, key, in, extra);
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}
static void keys_in_callbacks(void)
{
    int key, flag = -1;
    void *value = NULL;
    MPI_Comm copy;
    CALL(MPI_Comm_create_keyval(copies, makes_keys, &key, NULL));
    CALL(MPI_Comm_set_attr(world, key, &made));
    CALL(MPI_Comm_set_attr(world, key, &key));
    CALL(MPI_Comm_dup(world, &copy));
    CALL(MPI_Comm_get_attr(copy, key, &value, &flag));
    say("%d %d", flag, value == &key);
    CALL(MPI_Comm_free(&copy));
    CALL(MPI_Comm_delete_attr(world, key));
    CALL(MPI_Comm_free_keyval(&key));
    for (int i = 0; i < made; i++)
        MPI_Comm_free_keyval(&keys[i]);
    say("%d keyvals", made);
}

void part_lifetimes(void)
{
    void *memory = NULL;
    freed_operations();
    failed_sendrecv();
    failed_neighbours();
    long_words();
    keys_in_callbacks();
#ifdef OPEN_MPI /* MPICH says that it has got the memory */
    CALL(MPI_Alloc_mem((MPI_Aint)1 << 60, MPI_INFO_NULL, &memory));
#endif
}
