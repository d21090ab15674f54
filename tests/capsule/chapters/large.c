/* MPI-4.0's functions with large counts, where the library has them (MPICH 4): each at least once,
 * with small counts. */
#include "chapter.h"

#ifdef MPICH_VERSION
enum { N = 16 };
static int left, right;
static MPI_Comm row;

static void messages(int r)
{
    int out[N], in[N], flag;
    MPI_Request q[2];
    MPI_Status st;
    MPI_Message m;
    MPI_Count n;
    for (int i = 0; i < N; i++)
        out[i] = me * 100 + i + r;
    MPI_Isend_c(out, N, MPI_INT, right, 1, row, &q[0]);
    MPI_Recv_c(in, N, MPI_INT, left, 1, row, &st);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    MPI_Get_count_c(&st, MPI_INT, &n);
    SAME(n, N);
    MPI_Get_elements_c(&st, MPI_INT, &n);
    SAME(n, N);
    mix(in, sizeof in);
    MPI_Irecv_c(in, N, MPI_INT, left, 2, row, &q[0]);
    MPI_Send_c(out, N, MPI_INT, right, 2, row);
    MPI_Wait(&q[0], &st);
    MPI_Irecv_c(in, N, MPI_INT, left, 3, row, &q[0]);
    MPI_Ssend_c(out, N, MPI_INT, right, 3, row);
    MPI_Wait(&q[0], &st);
    MPI_Issend_c(out, N, MPI_INT, right, 4, row, &q[0]);
    do
        MPI_Improbe(left, 4, row, &flag, &m, &st);
    while (!flag);
    MPI_Imrecv_c(in, N, MPI_INT, &m, &q[1]);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    MPI_Isend_c(out, N, MPI_INT, right, 5, row, &q[0]);
    MPI_Mprobe(left, 5, row, &m, &st);
    MPI_Mrecv_c(in, N, MPI_INT, &m, &st);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    mix(in, sizeof in);
    MPI_Sendrecv_c(out, N, MPI_INT, right, 6, in, N, MPI_INT, left, 6, row, &st);
    MPI_Sendrecv_replace_c(out, N, MPI_INT, right, 7, left, 7, row, &st);
    mix(out, sizeof out);
    MPI_Isendrecv_c(out, N, MPI_INT, right, 8, in, N, MPI_INT, left, 8, row, &q[0]);
    MPI_Wait(&q[0], &st);
    MPI_Send_init_c(out, N, MPI_INT, right, 9, row, &q[0]);
    MPI_Recv_init_c(in, N, MPI_INT, left, 9, row, &q[1]);
    MPI_Startall(2, q);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    MPI_Request_free(&q[0]);
    MPI_Request_free(&q[1]);
    mix(in, sizeof in);
}

static void plus(void *in, void *inout, MPI_Count *n, MPI_Datatype *t)
{
    CHECK(*t == MPI_LONG);
    for (MPI_Count i = 0; i < *n; i++)
        ((long *)inout)[i] += ((long *)in)[i];
}
static MPI_Op op;

static void collectives(int r)
{
    long a = me + r, b = 0, all[8], ex = 0;
    MPI_Count counts[8];
    MPI_Aint disps[8];
    MPI_Request q;
    MPI_Datatype types[8];
    for (int i = 0; i < 8; i++)
        counts[i] = 1, disps[i] = i, types[i] = MPI_LONG;
    MPI_Allreduce_c(&a, &b, 1, MPI_LONG, op, row);
    SAME(b, (long)ranks * r + ranks * (ranks - 1) / 2);
    MPI_Reduce_c(&a, &b, 1, MPI_LONG, MPI_MAX, 0, row);
    MPI_Scan_c(&a, &b, 1, MPI_LONG, MPI_SUM, row);
    mix_int(b);
    MPI_Exscan_c(&a, &ex, 1, MPI_LONG, MPI_SUM, row);
    MPI_Bcast_c(&b, 1, MPI_LONG, 0, row);
    mix_int(b);
    MPI_Gather_c(&a, 1, MPI_LONG, all, 1, MPI_LONG, 0, row);
    MPI_Gatherv_c(&a, 1, MPI_LONG, me ? NULL : all, me ? NULL : counts, me ? NULL : disps, MPI_LONG,
                  0, row);
    if (!me)
        SAME(all[ranks - 1], ranks - 1 + r);
    MPI_Allgather_c(&a, 1, MPI_LONG, all, 1, MPI_LONG, row);
    MPI_Allgatherv_c(&a, 1, MPI_LONG, all, counts, disps, MPI_LONG, row);
    mix(all, (size_t)ranks * sizeof *all);
    MPI_Scatterv_c(all, counts, disps, MPI_LONG, &b, 1, MPI_LONG, 0, row);
    SAME(b, me + r);
    long to[8], from[8];
    for (int i = 0; i < 8; i++)
        to[i] = me * 10 + i;
    MPI_Alltoall_c(to, 1, MPI_LONG, from, 1, MPI_LONG, row);
    MPI_Ialltoallv_c(to, counts, disps, MPI_LONG, from, counts, disps, MPI_LONG, row, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    for (int i = 0; i < 8; i++)
        disps[i] = i * (MPI_Aint)sizeof(long);
    MPI_Alltoallw_c(to, counts, disps, types, from, counts, disps, types, row);
    for (int i = 0; i < ranks; i++)
        SAME(from[i], i * 10 + me);
    MPI_Iallreduce_c(&a, &b, 1, MPI_LONG, op, row, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    mix_int(b);
    MPI_Reduce_local_c(&a, &b, 1, MPI_LONG, op);
    mix_int(b);
    MPI_Allreduce_init_c(&a, &b, 1, MPI_LONG, MPI_SUM, row, MPI_INFO_NULL, &q);
    MPI_Start(&q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Request_free(&q);
}

static MPI_Datatype t[6];
static void types_make(void)
{
    MPI_Type_contiguous_c(3, MPI_INT, &t[0]);
    MPI_Type_vector_c(2, 1, 3, MPI_INT, &t[1]);
    MPI_Type_create_hindexed_c(2, (MPI_Count[]){1, 2}, (MPI_Count[]){0, 16}, MPI_INT, &t[2]);
    MPI_Type_create_struct_c(2, (MPI_Count[]){1, 1}, (MPI_Count[]){0, 8},
                             (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &t[3]);
    MPI_Type_create_subarray_c(2, (MPI_Count[]){4, 4}, (MPI_Count[]){2, 2}, (MPI_Count[]){1, 1},
                               MPI_ORDER_C, MPI_INT, &t[4]);
    MPI_Type_create_resized_c(MPI_INT, 0, 12, &t[5]);
    for (int i = 0; i < 6; i++)
        MPI_Type_commit(&t[i]);
}
static void types_ask(void)
{
    MPI_Count size, lb, extent, ni, na, nl, nt, pos = 0, need;
    int how;
    char in[64], packed[256];
    memset(in, 7, sizeof in);
    for (int i = 0; i < 6; i++) {
        MPI_Type_size_c(t[i], &size);
        mix_int((long)size);
        MPI_Type_get_extent_c(t[i], &lb, &extent);
        mix_int((long)extent);
        MPI_Type_get_true_extent_c(t[i], &lb, &extent);
        mix_int((long)extent);
        MPI_Type_get_envelope_c(t[i], &ni, &na, &nl, &nt, &how);
        CHECK(ni + na + nl + nt > 0);
    }
    MPI_Pack_size_c(1, t[1], MPI_COMM_WORLD, &need);
    CHECK(need >= 8);
    MPI_Pack_c(in, 1, t[1], packed, sizeof packed, &pos, MPI_COMM_WORLD);
    SAME(pos, 8);
    pos = 0;
    MPI_Unpack_c(packed, 8, &pos, in, 1, t[1], MPI_COMM_WORLD);
    SAME(pos, 8);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    chapter_begin(argc, argv);
    left = (me + ranks - 1) % ranks, right = (me + 1) % ranks;
    MPI_Comm_dup(MPI_COMM_WORLD, &row);
    MPI_Op_create_c(plus, 1, &op);
    types_make();
    long *mem;
    MPI_Win w;
    MPI_Win_allocate_c(8 * sizeof(long), sizeof(long), MPI_INFO_NULL, row, &mem, &w);
    for (int r = 0; chapter_round(&r); r++) {
        messages(r);
        collectives(r);
        types_ask();
        long v = me + r, got = -1;
        MPI_Win_fence(0, w);
        MPI_Put_c(&v, 1, MPI_LONG, right, 1, 1, MPI_LONG, w);
        MPI_Win_fence(0, w);
        SAME(mem[1], left + r);
        MPI_Get_c(&got, 1, MPI_LONG, right, 1, 1, MPI_LONG, w);
        MPI_Win_fence(0, w);
        SAME(got, me + r);
    }
    MPI_Win_free(&w);
    MPI_Op_free(&op);
    for (int i = 0; i < 6; i++)
        MPI_Type_free(&t[i]);
    MPI_Comm_free(&row);
    return chapter_end("large");
}
#else
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    chapter_begin(argc, argv);
    for (int r = 0; chapter_round(&r); r++)
        SAME(r, r);
    return chapter_end("large (not in this library)");
}
#endif
