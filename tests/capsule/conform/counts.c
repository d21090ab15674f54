/* counts.c - negative numbers of things, handles that were never given, and whose error handler hears of an error that
 * belongs to no communicator. What one of the libraries itself does not survive is asked of the other only. */
#include "conform.h"

static int n, flag, zero, one = 1, minus = -1;

static void requests(void)
{
    MPI_Request q[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status s[2];
    int at[2];
    CALL(MPI_Waitall(-1, q, s));
    CALL(MPI_Waitall(-7, q, MPI_STATUSES_IGNORE));
    CALL(MPI_Waitany(-1, q, &n, s));
    CALL(MPI_Waitsome(-1, q, &n, at, s));
    CALL(MPI_Testall(-1, q, &flag, s));
    CALL(MPI_Testany(-1, q, &n, &flag, s));
    CALL(MPI_Testsome(-1, q, &n, at, s));
    CALL(MPI_Startall(-1, q));
    MPI_Send_init(&n, 1, MPI_INT, MPI_PROC_NULL, 0, world, &q[0]);
    FAILS(MPI_Startall(2, q)); /* the second is null */
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    MPI_Request_free(&q[0]);
}

static void messages(void)
{
    int room[4];
    MPI_Request q = MPI_REQUEST_NULL;
    MPI_Status s;
    CALL(MPI_Send(room, -1, MPI_INT, me, 0, world));
    CALL(MPI_Isend(room, -1, MPI_INT, me, 0, world, &q));
    CALL(MPI_Irecv(room, -1, MPI_INT, me, 0, world, &q));
    CALL(MPI_Recv(room, -1, MPI_INT, me, 0, world, &s));
    CALL(MPI_Bsend(room, -1, MPI_INT, me, 0, world));
    CALL(MPI_Send_init(room, -1, MPI_INT, me, 0, world, &q));
    CALL(MPI_Recv_init(room, -1, MPI_INT, me, 0, world, &q));
    CALL(MPI_Send(room, 1, MPI_INT, me, -5, world));
    CALL(MPI_Send_init(room, 1, MPI_INT, me, -5, world, &q));
    CALL(MPI_Recv_init(room, 1, MPI_INT, me, -5, world, &q));
    CALL(MPI_Send_init(room, 1, MPI_INT, 99, 0, world, &q));
    CALL(MPI_Recv_init(room, 1, MPI_INT, 99, 0, world, &q));
    CALL(MPI_Recv_init(room, 1, MPI_DATATYPE_NULL, me, 0, world, &q));
    CALL(MPI_Iprobe(99, 0, world, &flag, &s));
    CALL(MPI_Iprobe(me, -5, world, &flag, &s));
    CALL(MPI_Sendrecv(room, -1, MPI_INT, me, 0, room, 1, MPI_INT, me, 0, world, &s));
    CALL(MPI_Sendrecv(room, 1, MPI_INT, MPI_PROC_NULL, 0, room, -1, MPI_INT, me, 0, world, &s));
    CALL(MPI_Sendrecv_replace(room, -1, MPI_INT, me, 0, me, 0, world, &s));
    CALL(MPI_Bcast(room, -1, MPI_INT, 0, world));
    CALL(MPI_Bcast(room, 1, MPI_INT, 99, world));
    CALL(MPI_Bcast_init(room, -1, MPI_INT, 0, world, MPI_INFO_NULL, &q));
    CALL(MPI_Reduce(room, room + 1, 1, MPI_INT, MPI_OP_NULL, 0, world));
    CALL(MPI_Allreduce_init(room, room + 1, 1, MPI_INT, MPI_OP_NULL, world, MPI_INFO_NULL, &q));
    FAILS(MPI_Allreduce_init(room, room + 1, 1, MPI_DATATYPE_NULL, MPI_SUM, world, MPI_INFO_NULL,
                             &q));
}

static void objects(void)
{
    MPI_Comm c;
    MPI_Datatype t;
    MPI_Group all, g;
    MPI_Aint at = 0;
    MPI_Comm_group(world, &all);
    FAILS(MPI_Group_translate_ranks(all, -1, &zero, all, &n));
    MPI_Group_free(&all);
    CALL(MPI_Type_contiguous(-1, MPI_INT, &t));
    CALL(MPI_Type_vector(-1, 1, 1, MPI_INT, &t));
    CALL(MPI_Type_vector(1, -1, 1, MPI_INT, &t));
    CALL(MPI_Type_create_hvector(1, -1, 1, MPI_INT, &t));
    CALL(MPI_Type_indexed(-1, &one, &zero, MPI_INT, &t));
    CALL(MPI_Type_indexed(1, &minus, &zero, MPI_INT, &t));
    CALL(MPI_Type_create_indexed_block(1, -1, &zero, MPI_INT, &t));
    CALL(MPI_Type_create_struct(1, &minus, &at, (MPI_Datatype[]){MPI_INT}, &t));
    CALL(MPI_Type_create_struct(1, &one, &at, (MPI_Datatype[]){MPI_DATATYPE_NULL}, &t));
    CALL(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &t));
    CALL(MPI_Type_dup(MPI_DATATYPE_NULL, &t));
    CALL(MPI_Type_create_resized(MPI_DATATYPE_NULL, 0, 4, &t));
    FAILS(MPI_Type_create_subarray(-1, &one, &one, &zero, MPI_ORDER_C, MPI_INT, &t));
    FAILS(MPI_Type_create_subarray(1, &one, &one, &one, MPI_ORDER_C, MPI_INT, &t));
    FAILS(MPI_Type_create_subarray(1, &one, &one, &zero, 12345, MPI_INT, &t));
    FAILS(MPI_Cart_create(world, -1, &one, &zero, 0, &c));
    CALL(MPI_Comm_split(world, -5, 0, &c));
    CALL(MPI_Comm_create(world, MPI_GROUP_NULL, &c));
    CALL(MPI_Pack_size(-1, MPI_INT, world, &n));
}

#ifdef OPEN_MPI /* in MPICH 0 may be a handle */
static void never_given(void)
{
    MPI_Comm c = NULL;
    MPI_Datatype t = NULL;
    MPI_Group g = NULL;
    CALL(MPI_Comm_free(&c));
    CALL(MPI_Comm_rank(c, &n));
    CALL(MPI_Comm_dup(c, &c));
    CALL(MPI_Type_free(&t));
    CALL(MPI_Type_commit(&t));
    CALL(MPI_Type_contiguous(1, t, &t));
    CALL(MPI_Group_free(&g));
    CALL(MPI_Group_size(g, &n));
}
#endif

static void hears_world(MPI_Comm *c, int *code, ...)
{
    (void)code;
    say("that of MPI_COMM_WORLD, with %s", *c == MPI_COMM_WORLD  ? "it"
                                           : *c == MPI_COMM_SELF ? "MPI_COMM_SELF"
                                                                 : "another one");
}
static void hears_self(MPI_Comm *c, int *code, ...)
{
    (void)code;
    say("that of MPI_COMM_SELF, with %s", *c == MPI_COMM_WORLD  ? "MPI_COMM_WORLD"
                                          : *c == MPI_COMM_SELF ? "it"
                                                                : "another one");
}
/* An error that belongs to no communicator, window or file. */
static void nobodys(void)
{
    MPI_Errhandler of_world, of_self;
    MPI_Datatype t;
    MPI_Group g;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Request q = MPI_REQUEST_NULL;
    MPI_Op op = MPI_OP_NULL;
    MPI_Comm c = MPI_COMM_NULL;
    MPI_Win win = MPI_WIN_NULL;
    void *p;
    MPI_Comm_create_errhandler(hears_world, &of_world);
    MPI_Comm_create_errhandler(hears_self, &of_self);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, of_world);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, of_self);
    CALL(MPI_Type_contiguous(-1, MPI_INT, &t));
    CALL(MPI_Group_incl(MPI_GROUP_NULL, 0, NULL, &g));
    CALL(MPI_Info_set(info, "a", "b"));
    CALL(MPI_Start(&q));
    CALL(MPI_Op_free(&op));
    CALL(MPI_Comm_free(&c));
    CALL(MPI_Comm_size(c, &n));
    CALL(MPI_Win_free(&win));
    CALL(MPI_Win_fence(0, win));
    CALL(MPI_Alloc_mem(-1, MPI_INFO_NULL, &p));
    CALL(MPI_Waitall(-1, &q, MPI_STATUSES_IGNORE));
    CALL(MPI_Get_address(&n, NULL));
#ifndef OPEN_MPI /* one without a handler of its own, and one that was freed: in Open MPI a stray pointer */
    MPI_Comm copy, freed;
    CALL(MPI_Send(&one, 1, MPI_INT, 99, 0, early));
    MPI_Win_create(&n, sizeof n, 1, MPI_INFO_NULL, early, &win);
    CALL(MPI_Win_lock(MPI_LOCK_SHARED, 99, 0, win));
    MPI_Win_free(&win);
    MPI_Comm_dup(world, &copy);
    freed = copy;
    MPI_Comm_free(&copy);
    CALL(MPI_Barrier(freed));
#endif
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&of_world);
    MPI_Errhandler_free(&of_self);
}

void part_counts(void)
{
    requests();
    messages();
    objects();
#ifdef OPEN_MPI
    never_given();
#endif
    nobodys();
}
