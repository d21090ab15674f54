/* border_mpi.c - as border.c, with the kinds of MPI's objects: made, used and freed as often as can be.
 * usage: border_mpi [KIND]: only this kind of call. It ends when there is a file named "enough". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks, calls;

/* ---- each returns the number of things that were wrong ------------------------------------------- */

static int copied, deleted;
static int copy_attribute(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void)c, (void)key;
    *(void **)out = (char *)in + *(int *)extra;
    *flag = 1;
    copied++;
    return MPI_SUCCESS;
}
static int delete_attribute(MPI_Comm c, int key, void *value, void *extra)
{
    (void)c, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}
static int attributes(void)
{
    static int one = 1;
    static char place[2];
    int key, flag = 0, c = copied, d = deleted;
    char *found = NULL;
    MPI_Comm a, b;
    MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, &one);
    MPI_Comm_dup(MPI_COMM_SELF, &a);
    MPI_Comm_set_attr(a, key, place);
    MPI_Comm_dup(a, &b);
    MPI_Comm_get_attr(b, key, &found, &flag);
    MPI_Comm_free(&a);
    MPI_Comm_free(&b);
    MPI_Comm_free_keyval(&key);
    return !flag || found != place + 1 || copied != c + 1 || deleted != d + 2;
}

static void largest(void *in, void *io, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        if (((int *)in)[i] > ((int *)io)[i])
            ((int *)io)[i] = ((int *)in)[i];
}
static int operations(void)
{
    MPI_Op op;
    int a[3] = {1, 8, 3}, b[3] = {4, 2, 9}, c[3] = {0};
    MPI_Op_create(largest, 1, &op);
    MPI_Reduce_local(a, b, 3, MPI_INT, op);
    MPI_Allreduce(b, c, 3, MPI_INT, op, MPI_COMM_SELF);
    MPI_Op_free(&op);
    return c[0] != 4 || c[1] != 8 || c[2] != 9;
}

static int handled;
static void on_error(MPI_Comm *c, int *code, ...)
{
    (void)c, (void)code;
    handled++;
}
static int errors(void)
{
    MPI_Errhandler h;
    MPI_Comm c;
    int before = handled, class = 0;
    MPI_Comm_dup(MPI_COMM_SELF, &c);
    MPI_Comm_create_errhandler(on_error, &h);
    MPI_Comm_set_errhandler(c, h);
    MPI_Errhandler_free(&h);
    int rc = MPI_Send(&before, 1, MPI_INT, 77, 0, c);
    MPI_Error_class(rc, &class);
    MPI_Comm_free(&c);
    return handled != before + 1 || class != MPI_ERR_RANK;
}

static int infos(void)
{
    MPI_Info a, b;
    char text[64] = "";
    int flag = 0, n = 0;
    MPI_Info_create(&a);
    MPI_Info_set(a, "colour", "green");
    MPI_Info_set(a, "size", "4");
    MPI_Info_dup(a, &b);
    MPI_Info_delete(b, "size");
    MPI_Info_get(b, "colour", 63, text, &flag);
    MPI_Info_get_nkeys(b, &n);
    MPI_Info_free(&a);
    MPI_Info_free(&b);
    return !flag || n != 1 || strcmp(text, "green");
}

static int memory(void)
{
    char *p = NULL;
    MPI_Alloc_mem(300000, MPI_INFO_NULL, &p);
    memset(p, 5, 300000);
    int wrong = p[299999] != 5;
    MPI_Free_mem(p);
    return wrong;
}

static int windows(void)
{
    MPI_Win w;
    int here[4] = {0}, out = 7, in = 0;
    MPI_Win_create(here, sizeof here, sizeof *here, MPI_INFO_NULL, MPI_COMM_SELF, &w);
    MPI_Win_fence(0, w);
    MPI_Put(&out, 1, MPI_INT, 0, 2, 1, MPI_INT, w);
    MPI_Win_fence(0, w);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w);
    MPI_Get(&in, 1, MPI_INT, 0, 2, 1, MPI_INT, w);
    MPI_Win_unlock(0, w);
    MPI_Win_free(&w);
    return here[2] != 7 || in != 7;
}

static int files(void)
{
    char name[64];
    MPI_File f;
    MPI_Request r;
    MPI_Status s;
    int out[2] = {calls, rank}, in[2] = {-1, -1}, n = 0;
    MPI_Offset at = 0;
    snprintf(name, sizeof name, "border-%d.data", rank);
    if (MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f))
        return 1;
    MPI_File_write_at(f, 8, out, 2, MPI_INT, &s);
    MPI_File_iread_at(f, 8, in, 2, MPI_INT, &r);
    MPI_Wait(&r, &s);
    MPI_Get_count(&s, MPI_INT, &n);
    MPI_File_seek(f, 4, MPI_SEEK_SET);
    MPI_File_get_position(f, &at);
    MPI_File_close(&f);
    return n != 2 || in[0] != calls || in[1] != rank || at != 4;
}

static int packing(void)
{
    MPI_Datatype t;
    char room[64];
    int at = 0, n = 0, integers, addresses, types, how, a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {0};
    MPI_Type_indexed(2, (int[]){1, 2}, (int[]){0, 3}, MPI_INT, &t);
    MPI_Type_commit(&t);
    MPI_Pack(a, 1, t, room, sizeof room, &at, MPI_COMM_SELF);
    MPI_Pack_size(1, t, MPI_COMM_SELF, &n);
    int end = at;
    at = 0;
    MPI_Unpack(room, end, &at, b, 1, t, MPI_COMM_SELF);
    MPI_Type_get_envelope(t, &integers, &addresses, &types, &how);
    MPI_Type_free(&t);
    return b[0] != 1 || b[1] || b[3] != 4 || b[4] != 5 || how != MPI_COMBINER_INDEXED ||
           integers != 5 || n < end;
}

static int matched(void)
{
    MPI_Message m;
    MPI_Request r[2];
    MPI_Status s;
    int out = calls, in = -1, flag = 0;
    MPI_Isend(&out, 1, MPI_INT, 0, 4, MPI_COMM_SELF, &r[0]);
    while (!flag)
        MPI_Improbe(0, 4, MPI_COMM_SELF, &flag, &m, &s);
    MPI_Imrecv(&in, 1, MPI_INT, &m, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    return in != calls;
}

static int buffered(void)
{
    static char room[4096];
    void *back = NULL;
    int out = calls, in = -1, size = 0;
    MPI_Buffer_attach(room, sizeof room);
    MPI_Bsend(&out, 1, MPI_INT, 0, 5, MPI_COMM_SELF);
    MPI_Recv(&in, 1, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&back, &size);
    return in != calls || back != room || size != sizeof room;
}

static int at_once(void)
{
    MPI_Request r[3];
    int out = calls, in = -1, all = -1, flag = 0;
    MPI_Iallreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, &r[0]);
    MPI_Ibarrier(MPI_COMM_SELF, &r[1]);
    MPI_Iallgather(&out, 1, MPI_INT, &all, 1, MPI_INT, MPI_COMM_SELF, &r[2]);
    while (!flag)
        MPI_Testall(3, r, &flag, MPI_STATUSES_IGNORE);
    return in != calls || all != calls;
}

static int topologies(void)
{
    MPI_Comm c, sub;
    int at = -1, kind = 0, from = -1, to = -1, out = calls, in[2] = {-1, -1};
    MPI_Cart_create(MPI_COMM_SELF, 1, (int[]){1}, (int[]){1}, 0, &c);
    MPI_Cart_coords(c, 0, 1, &at);
    MPI_Cart_shift(c, 0, 1, &from, &to);
    MPI_Topo_test(c, &kind);
    MPI_Neighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, c);
    MPI_Cart_sub(c, (int[]){1}, &sub);
    MPI_Comm_free(&sub);
    MPI_Comm_free(&c);
    return at || from || to || kind != MPI_CART || in[0] != calls || in[1] != calls;
}

static int query(void *extra, MPI_Status *s)
{
    MPI_Status_set_elements(s, MPI_INT, *(int *)extra);
    MPI_Status_set_cancelled(s, 0);
    s->MPI_SOURCE = s->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
static int released;
static int release(void *extra)
{
    (void)extra;
    released++;
    return MPI_SUCCESS;
}
static int cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}
static int generalized(void)
{
    static int three = 3;
    MPI_Request r;
    MPI_Status s;
    int n = 0, before = released;
    MPI_Grequest_start(query, release, cancel, &three, &r);
    MPI_Grequest_complete(r);
    MPI_Wait(&r, &s);
    MPI_Get_count(&s, MPI_INT, &n);
    return n != 3 || released != before + 1;
}

static int cancelled(void)
{
    MPI_Request r;
    MPI_Status s;
    int in, flag = 0;
    MPI_Irecv(&in, 1, MPI_INT, 0, 6, MPI_COMM_SELF, &r);
    MPI_Cancel(&r);
    MPI_Wait(&r, &s);
    MPI_Test_cancelled(&s, &flag);
    return !flag;
}

static int groups(void)
{
    MPI_Group world, some, other, both;
    int n = 0, at = -1, result = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &rank, &some);
    MPI_Group_difference(world, some, &other);
    MPI_Group_union(some, other, &both);
    MPI_Group_size(both, &n);
    MPI_Group_translate_ranks(some, 1, (int[]){0}, world, &at);
    MPI_Group_compare(both, world, &result);
    MPI_Group_free(&world);
    MPI_Group_free(&some);
    if (other != MPI_GROUP_EMPTY)
        MPI_Group_free(&other);
    MPI_Group_free(&both);
    return n != ranks || at != rank || result == MPI_UNEQUAL;
}

/* ---- of all ranks: as often on each ----------------------------------------------------------- */

static int together(void)
{
    MPI_Comm half, made, later;
    MPI_Group group, front;
    MPI_Request r[3];
    int sum = 0, big = -1, peer = rank ^ 1, in = -1, flag = 0, wrong = 0;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_range_incl(group, 1, (int[][3]){{0, ranks - 1, 2}}, &front);
    made = MPI_COMM_NULL;
    if (rank % 2 == 0)
        MPI_Comm_create_group(MPI_COMM_WORLD, front, 11, &made);
    MPI_Comm_idup(half, &later, &r[0]);
    MPI_Iallreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, half, &r[1]);
    MPI_Ireduce(&rank, &big, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD, &r[2]);
    while (!flag)
        MPI_Testall(3, r, &flag, MPI_STATUSES_IGNORE);
    wrong += sum != (ranks + 1 - rank % 2) / 2 || (rank == 0 && big != ranks - 1);
    if (peer < ranks) {
        in = rank;
        MPI_Sendrecv_replace(&in, 1, MPI_INT, peer, 2, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        wrong += in != peer;
    }
    MPI_Bcast(&calls, 1, MPI_INT, 0, later);
    if (made != MPI_COMM_NULL) {
        MPI_Barrier(made);
        MPI_Comm_free(&made);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&front);
    MPI_Comm_free(&later);
    MPI_Comm_free(&half);
    return wrong;
}

static int (*const kinds[])(void) = {attributes, operations, errors,      infos,     memory,
                                     windows,    files,      packing,     matched,   buffered,
                                     at_once,    topologies, generalized, cancelled, groups};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int for_a_while(int (*kind)(void), double seconds)
{
    int wrong = 0;
    for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end; calls++)
        wrong += kind();
    return wrong;
}

int main(int argc, char **argv)
{
    int only = argc > 1 ? atoi(argv[1]) : -1, enough = 0;
    int wrong[KINDS + 1] = {0}, all_wrong[KINDS + 1];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; !enough; i++) {
        int k = only >= 0 && only < KINDS ? only : (i + rank) % KINDS;
        wrong[k] += for_a_while(kinds[k], 0.007);
        wrong[KINDS] += together();
        enough = rank == 0 && access("enough", F_OK) == 0;
        MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Reduce(wrong, all_wrong, KINDS + 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int k = 0; rank == 0 && k <= KINDS; k++)
        if (all_wrong[k])
            printf("border: kind %d WRONG %d times\n", k, all_wrong[k]);
    if (rank == 0)
        printf("border: enough\n");
    char name[64];
    snprintf(name, sizeof name, "border-%d.data", rank);
    unlink(name);
    MPI_Finalize();
    return 0;
}
