/* Chapter 5 of MPI-3.1 and 6 of MPI-4.0: collectives, each blocking, non-blocking and persistent,
 * on the world, on a part of it, in place, with user-defined operations. */
#include "chapter.h"

enum { MAX = 8 };
static MPI_Comm comm;
static int n, rank;
static MPI_Op op_concat, op_plus;
static MPI_Datatype mat;

/* associative, does not commute: 2x2 matrices modulo a prime */
static void mat_mul(void *in, void *inout, int *len, MPI_Datatype *t)
{
    int size;
    MPI_Type_size(*t, &size);
    CHECK(size == 16 && *t == mat);
    int *a = in, *b = inout;
    for (int k = 0; k < *len; k++, a += 4, b += 4) {
        int c[4] = {(a[0] * b[0] + a[1] * b[2]) % 9973, (a[0] * b[1] + a[1] * b[3]) % 9973,
                    (a[2] * b[0] + a[3] * b[2]) % 9973, (a[2] * b[1] + a[3] * b[3]) % 9973};
        memcpy(b, c, sizeof c);
    }
}
static void plus(void *in, void *inout, int *len, MPI_Datatype *t)
{
    CHECK(*t == MPI_LONG);
    for (int k = 0; k < *len; k++)
        ((long *)inout)[k] += ((long *)in)[k];
}

/* Each way to call a collective: plain; its I form and a wait; its _init form, started twice. */
enum { PLAIN, NONBLOCKING, PERSISTENT, WAYS };
static void finish(MPI_Request *q)
{
    int flag = 0;
    if (round_now % 2)
        while (!flag)
            MPI_Test(q, &flag, MPI_STATUS_IGNORE);
    else
        MPI_Wait(q, MPI_STATUS_IGNORE);
}
static void start(MPI_Request *q)
{
    MPI_Start(q);
    finish(q);
    CHECK(*q != MPI_REQUEST_NULL);
    MPI_Request_free(q);
}
#define RUN(Name, ...)                                          \
    do {                                                        \
        MPI_Request q_;                                         \
        if (way == PLAIN)                                       \
            MPI_##Name(__VA_ARGS__);                            \
        else if (way == NONBLOCKING) {                          \
            MPI_I##Name##_(__VA_ARGS__, &q_);                   \
            finish(&q_);                                        \
        } else {                                                \
            MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &q_); \
            start(&q_);                                         \
        }                                                       \
    } while (0)
#define MPI_IBarrier_              MPI_Ibarrier
#define MPI_IBcast_                MPI_Ibcast
#define MPI_IGather_               MPI_Igather
#define MPI_IGatherv_              MPI_Igatherv
#define MPI_IScatter_              MPI_Iscatter
#define MPI_IScatterv_             MPI_Iscatterv
#define MPI_IAllgather_            MPI_Iallgather
#define MPI_IAllgatherv_           MPI_Iallgatherv
#define MPI_IAlltoall_             MPI_Ialltoall
#define MPI_IAlltoallv_            MPI_Ialltoallv
#define MPI_IAlltoallw_            MPI_Ialltoallw
#define MPI_IReduce_               MPI_Ireduce
#define MPI_IAllreduce_            MPI_Iallreduce
#define MPI_IReduce_scatter_       MPI_Ireduce_scatter
#define MPI_IReduce_scatter_block_ MPI_Ireduce_scatter_block
#define MPI_IScan_                 MPI_Iscan
#define MPI_IExscan_               MPI_Iexscan

static void moving(int way, int r)
{
    int root = r % n, one[MAX], all[MAX * MAX], counts[MAX], disps[MAX], total = 0;
    for (int i = 0; i < n; i++) {
        counts[i] = 1 + (i + r) % 3;
        disps[i] = total;
        total += counts[i];
    }
    RUN(Barrier, comm);
    int b[3] = {rank, r, 5};
    RUN(Bcast, b, 3, MPI_INT, root, comm);
    SAME(b[0], root);
    int v = rank * 10 + r;
    memset(all, 0, sizeof all);
    RUN(Gather, &v, 1, MPI_INT, all, 1, MPI_INT, root, comm);
    for (int i = 0; i < n; i++)
        SAME(all[i], rank == root ? i * 10 + r : 0);
    /* arguments that are not significant may be anything */
    RUN(Gather, &v, 1, MPI_INT, rank == root ? all : NULL, rank == root ? 1 : -7,
        rank == root ? MPI_INT : MPI_DATATYPE_NULL, root, comm);
    for (int i = 0; i < 3; i++)
        one[i] = rank * 100 + i;
    memset(all, 0, sizeof all);
    RUN(Gatherv, one, counts[rank], MPI_INT, all, counts, disps, MPI_INT, root, comm);
    if (rank == root)
        for (int i = 0; i < n; i++)
            SAME(all[disps[i]], i * 100);
    for (int i = 0; i < MAX * MAX; i++)
        all[i] = rank * 1000 + i;
    RUN(Scatter, all, 2, MPI_INT, one, 2, MPI_INT, root, comm);
    SAME(one[1], root * 1000 + 2 * rank + 1);
    RUN(Scatterv, all, counts, disps, MPI_INT, one, counts[rank], MPI_INT, root, comm);
    SAME(one[0], root * 1000 + disps[rank]);
    RUN(Allgather, &v, 1, MPI_INT, all, 1, MPI_INT, comm);
    for (int i = 0; i < n; i++)
        SAME(all[i], i * 10 + r);
    all[rank] = v + 1;
    RUN(Allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, comm);
    SAME(all[n - 1], (n - 1) * 10 + r + 1);
    for (int i = 0; i < 3; i++)
        one[i] = rank * 100 + i;
    RUN(Allgatherv, one, counts[rank], MPI_INT, all, counts, disps, MPI_INT, comm);
    for (int i = 0; i < n; i++)
        SAME(all[disps[i] + counts[i] - 1], i * 100 + counts[i] - 1);
    int to[MAX], from[MAX];
    for (int i = 0; i < n; i++)
        to[i] = rank * 100 + i + r;
    RUN(Alltoall, to, 1, MPI_INT, from, 1, MPI_INT, comm);
    for (int i = 0; i < n; i++)
        SAME(from[i], i * 100 + rank + r);
    int c1[MAX], d1[MAX], cr[MAX], dr[MAX], bd[MAX], bdr[MAX], out[MAX * MAX], in[MAX * MAX];
    MPI_Datatype ts[MAX];
    for (int i = 0; i < n; i++) {
        c1[i] = 1 + (rank + i) % 2;
        d1[i] = 2 * i;
        cr[i] = c1[i];
        dr[i] = 2 * i;
        bd[i] = 2 * i * (int)sizeof(int);
        bdr[i] = bd[i];
        ts[i] = MPI_INT;
    }
    for (int i = 0; i < 2 * n; i++)
        out[i] = rank * 100 + i;
    memset(in, 0, sizeof in);
    RUN(Alltoallv, out, c1, d1, MPI_INT, in, cr, dr, MPI_INT, comm);
    for (int i = 0; i < n; i++)
        SAME(in[2 * i + cr[i] - 1], i * 100 + 2 * rank + cr[i] - 1);
    memset(in, 0, sizeof in);
    RUN(Alltoallw, out, c1, bd, ts, in, cr, bdr, ts, comm);
    for (int i = 0; i < n; i++)
        SAME(in[2 * i], i * 100 + 2 * rank);
    for (int i = 0; i < n; i++) { /* types of the program: a library may hold them until the end */
        MPI_Type_contiguous(2 - i % 2, MPI_INT, &ts[i]);
        MPI_Type_commit(&ts[i]);
        c1[i] = cr[i] = 1;
    }
    MPI_Datatype its[MAX];
    for (int i = 0; i < n; i++)
        its[i] = ts[rank];
    memset(in, 0, sizeof in);
    RUN(Alltoallw, out, c1, bd, ts, in, cr, bdr, its, comm);
    for (int i = 0; i < n; i++)
        SAME(in[2 * i + 1 - rank % 2], i * 100 + 2 * rank + 1 - rank % 2);
    for (int i = 0; i < n; i++)
        MPI_Type_free(&ts[i]);
}

static void reducing(int way, int r)
{
    int root = (r + 1) % n;
    long mine[3] = {rank + 1, r, 3 * rank}, got[3] = {0, 0, 0}, tri = (long)n * (n + 1) / 2;
    RUN(Reduce, mine, got, 3, MPI_LONG, op_plus, root, comm);
    if (rank == root)
        SAME(got[0], tri);
    RUN(Allreduce, mine, got, 3, MPI_LONG, MPI_SUM, comm);
    SAME(got[0], tri);
    SAME(got[1], (long)n * r);
    memcpy(got, mine, sizeof got);
    RUN(Allreduce, MPI_IN_PLACE, got, 3, MPI_LONG, MPI_MAX, comm);
    SAME(got[0], n);
    struct {
        double v;
        int i;
    } p = {(rank * 7 + r) % 5, rank}, w = {0, 0};
    RUN(Allreduce, &p, &w, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
    mix_int(w.i), mix_int((long)w.v);
    int m[4] = {rank + 1, r, 1, rank + 2}, prod[4], pre[4] = {0, 0, 0, 0}, ex[4] = {0, 0, 0, 0};
    RUN(Allreduce, m, prod, 1, mat, op_concat, comm);
    RUN(Scan, m, pre, 1, mat, op_concat, comm);
    RUN(Exscan, m, ex, 1, mat, op_concat, comm);
    mix(prod, sizeof prod), mix(pre, sizeof pre);
    if (rank)
        mix(ex, sizeof ex);
    if (rank == n - 1)
        CHECK(!memcmp(prod, pre, sizeof pre));
    int counts[MAX], total = 0;
    long send[2 * MAX], part[2] = {0, 0};
    for (int i = 0; i < n; i++)
        total += counts[i] = 1 + i % 2;
    for (int i = 0; i < 2 * n; i++)
        send[i] = rank + i;
    RUN(Reduce_scatter, send, part, counts, MPI_LONG, MPI_SUM, comm);
    int before = 0;
    for (int i = 0; i < rank; i++)
        before += counts[i];
    SAME(part[0], tri - n + (long)n * before);
    RUN(Reduce_scatter_block, send, part, 2, MPI_LONG, MPI_SUM, comm);
    SAME(part[1], tri - n + (long)n * (2 * rank + 1));
    CHECK(total >= n);
    const MPI_Op ops[] = {MPI_MIN, MPI_PROD, MPI_LAND, MPI_BAND,
                          MPI_LOR, MPI_BOR,  MPI_LXOR, MPI_BXOR};
    for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++) {
        int a = rank * 3 + 1 + r, b;
        RUN(Allreduce, &a, &b, 1, MPI_INT, ops[i], comm);
        mix_int(b);
    }
}

/* several open at a time, some over many rounds: any of them may be open at a checkpoint */
static MPI_Request open_q[4], kept[3];
static int open_in[4][MAX], open_out[4], kept_out[MAX], kept_in[MAX], kept_b;
static void open_begin(int r)
{
    for (int i = 0; i < 4; i++)
        open_out[i] = rank + i + r;
    MPI_Iallgather(&open_out[0], 1, MPI_INT, open_in[0], 1, MPI_INT, comm, &open_q[0]);
    MPI_Iallreduce(&open_out[1], &open_in[1][0], 1, MPI_INT, MPI_SUM, comm, &open_q[1]);
    open_in[2][0] = open_out[2];
    MPI_Ibcast(open_in[2], 1, MPI_INT, 0, comm, &open_q[2]);
    MPI_Ibarrier(comm, &open_q[3]);
}
static void open_end(int r)
{
    MPI_Waitall(4, open_q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        SAME(open_in[0][i], i + r);
    SAME(open_in[1][0], n * (n - 1) / 2 + n * (1 + r));
    SAME(open_in[2][0], 2 + r);
}
static void kept_make(void)
{
    MPI_Allgather_init(&kept_out[0], 1, MPI_INT, kept_in, 1, MPI_INT, comm, MPI_INFO_NULL,
                       &kept[0]);
    MPI_Bcast_init(&kept_b, 1, MPI_INT, n - 1, comm, MPI_INFO_NULL, &kept[1]);
    MPI_Barrier_init(comm, MPI_INFO_NULL, &kept[2]);
}
static void kept_use(int r)
{
    kept_out[0] = rank * 5 + r;
    kept_b = rank == n - 1 ? 77 + r : 0;
    MPI_Startall(3, kept);
    MPI_Waitall(3, kept, MPI_STATUSES_IGNORE);
    SAME(kept_in[n - 1], 5 * (n - 1) + r);
    SAME(kept_b, 77 + r);
}

static void local(void)
{
    long a[2] = {3, 4}, b[2] = {10, 20};
    int c;
    MPI_Reduce_local(a, b, 2, MPI_LONG, op_plus);
    SAME(b[0], 13);
    MPI_Reduce_local(a, b, 2, MPI_LONG, MPI_SUM);
    SAME(b[1], 28);
    MPI_Op_commutative(op_plus, &c);
    SAME(c, 1);
    MPI_Op_commutative(op_concat, &c);
    SAME(c, 0);
    MPI_Op_commutative(MPI_SUM, &c);
    SAME(c, 1);
    MPI_Op extra;
    MPI_Op_create(plus, 1, &extra);
    MPI_Allreduce(a, b, 2, MPI_LONG, extra, comm);
    SAME(b[0], 3L * n);
    MPI_Op_free(&extra);
    CHECK(extra == MPI_OP_NULL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    chapter_begin(argc, argv);
    MPI_Op_create(mat_mul, 0, &op_concat);
    MPI_Op_create(plus, 1, &op_plus);
    MPI_Type_contiguous(4, MPI_INT, &mat);
    MPI_Type_commit(&mat);
    MPI_Comm parts[3];
    MPI_Comm_dup(MPI_COMM_WORLD, &parts[0]);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &parts[1]);
    parts[2] = MPI_COMM_WORLD;
    comm = parts[0];
    n = ranks;
    rank = me;
    kept_make();
    for (int r = 0; chapter_round(&r); r++) {
        comm = parts[0], n = ranks, rank = me;
        open_begin(r);
        for (int k = 0; k < 3; k++) {
            comm = parts[k];
            MPI_Comm_rank(comm, &rank);
            MPI_Comm_size(comm, &n);
            for (int way = 0; way < WAYS; way++) {
                moving(way, r);
                reducing(way, r);
            }
            local();
        }
        comm = parts[0], n = ranks, rank = me;
        open_end(r);
        kept_use(r);
    }
    for (int i = 0; i < 3; i++)
        MPI_Request_free(&kept[i]);
    MPI_Comm_free(&parts[0]);
    MPI_Comm_free(&parts[1]);
    MPI_Op_free(&op_concat);
    MPI_Op_free(&op_plus);
    MPI_Type_free(&mat);
    return chapter_end("coll");
}
