/* Chapter 4 of MPI-4: partitioned communication. A ring in which each rank sends to the right, in partitions of several
 * numbers, sizes and orders. Collectives between two partitions are where checkpoints come.
 *
 * Natively the data goes in ordinary persistent messages: the partitioned ones of Open MPI 5.0.7 deliver wrong data or hang when the two
 * sides have different numbers of partitions, or when requests are started again after MPI_Parrived; and MPICH 4.2 crashes for
 * MPI_PROC_NULL. The result does not depend on it.
 */
#include "chapter.h"

enum { N = 720, LARGE = 3 << 17 };
static int left, right, in_capsule;
static MPI_Comm ring;

static void send_init(const int *buf, int parts, int count, MPI_Datatype type, int tag,
                      MPI_Request *q)
{
    if (in_capsule)
        MPI_Psend_init(buf, parts, count, type, right, tag, ring, MPI_INFO_NULL, q);
    else
        MPI_Send_init(buf, parts * count, type, right, tag, ring, q);
}
static void recv_init(int *buf, int parts, int count, MPI_Datatype type, int tag, MPI_Request *q)
{
    if (in_capsule)
        MPI_Precv_init(buf, parts, count, type, left, tag, ring, MPI_INFO_NULL, q);
    else
        MPI_Recv_init(buf, parts * count, type, left, tag, ring, q);
}
static void ready(int first, int last, MPI_Request q)
{
    if (in_capsule)
        MPI_Pready_range(first, last, q);
}

static int value(int from, int r, int k)
{
    return from * 100000 + r * 1000 + k;
}
static void fill(int *a, int n, int r)
{
    for (int i = 0; i < n; i++)
        a[i] = value(me, r, i);
}
static void filled(const int *a, int n, int r)
{
    int ok = 1;
    for (int i = 0; i < n; i++)
        ok &= a[i] == value(left, r, i);
    CHECK(ok);
    mix(a, (size_t)n * sizeof *a);
}
static void meet(void)
{
    int one = 1, all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, ring);
    CHECK(all == ranks);
}

/* A pair of requests that lives for the whole program. */
static struct pair {
    int out_parts, in_parts, large;
    int *out, *in, n;
    MPI_Request q[2];
} pairs[] = {{6, 6}, {8, 3}, {1, 5}, {9, 1}, {4, 6, 1}};
enum { PAIRS = sizeof pairs / sizeof *pairs };

static void make(struct pair *p, int k)
{
    p->n = p->large ? LARGE : N;
    p->out = calloc((size_t)p->n, sizeof(int));
    p->in = calloc((size_t)p->n, sizeof(int));
    int tag = in_capsule ? 7 + k / 2
                         : 7 + k; /* partitioned ones match in the order in which they are made */
    send_init(p->out, p->out_parts, p->n / p->out_parts, MPI_INT, tag, &p->q[0]);
    recv_init(p->in, p->in_parts, p->n / p->in_parts, MPI_INT, tag, &p->q[1]);
}

/* Make it ready in an order of this round, with collectives in between. */
static void make_ready(struct pair *p, int r)
{
    int list[16], n = 0;
    switch (r % 3) {
    case 0:
        for (int k = 0; k < p->out_parts; k++) {
            if (in_capsule)
                MPI_Pready((k + me) % p->out_parts, p->q[0]);
            if (k < 2)
                meet();
        }
        break;
    case 1:
        ready(0, p->out_parts / 2, p->q[0]);
        meet();
        if (p->out_parts / 2 + 1 < p->out_parts)
            ready(p->out_parts / 2 + 1, p->out_parts - 1, p->q[0]);
        break;
    default:
        for (int k = p->out_parts - 1; k >= 0; k--)
            list[n++] = k;
        if (in_capsule)
            MPI_Pready_list(n / 2, list, p->q[0]);
        meet();
        if (in_capsule)
            MPI_Pready_list(n - n / 2, list + n / 2, p->q[0]);
    }
}
static void take(struct pair *p, int r)
{
    MPI_Status st[2];
    int n, flag = 0;
    if (r % 2 && in_capsule)
        for (int k = 0; k < p->in_parts; k++)
            for (flag = 0; !flag;)
                MPI_Parrived(p->q[1], k, &flag);
    else if (r % 4 == 0 && in_capsule)
        while (!flag)
            MPI_Request_get_status(p->q[1], &flag, MPI_STATUS_IGNORE);
    if (r % 3 == 0) {
        MPI_Waitall(2, p->q, st);
    } else {
        MPI_Wait(&p->q[1], &st[1]);
        for (flag = 0; !flag;)
            MPI_Test(&p->q[0], &flag, &st[0]);
    }
    SAME(st[1].MPI_SOURCE, left);
    MPI_Get_count(&st[1], MPI_INT, &n);
    SAME(n, p->n);
    CHECK(p->q[0] != MPI_REQUEST_NULL && p->q[1] != MPI_REQUEST_NULL);
    filled(p->in, p->n, r);
}

/* All at once, in different orders on the two sides. */
static void together(int r)
{
    MPI_Request q[2 * PAIRS];
    for (int k = 0; k < PAIRS; k++) {
        fill(pairs[k].out, pairs[k].n, r + 1000 * k);
        q[k] = pairs[k].q[0];
        q[2 * PAIRS - 1 - k] = pairs[k].q[1];
    }
    MPI_Startall(2 * PAIRS, q);
    for (int k = PAIRS - 1; k >= 0; k--)
        ready(0, pairs[k].out_parts - 1, pairs[k].q[0]);
    for (int done = 0, some, index[2 * PAIRS]; done < 2 * PAIRS; done += some) {
        MPI_Waitsome(2 * PAIRS, q, &some, index, MPI_STATUSES_IGNORE);
        CHECK(some > 0);
    }
    for (int k = 0; k < PAIRS; k++)
        filled(pairs[k].in, pairs[k].n, r + 1000 * k);
}

/* A sender that is ahead: the receiver begins late, and has not even the request at first. */
static void ahead(int r)
{
    int out[12], in[12];
    MPI_Request s, q;
    send_init(out, 3, 4, MPI_INT, 50, &s);
    fill(out, 12, r);
    MPI_Start(&s);
    ready(0, 2, s);
    meet();
    recv_init(in, 2, 6, MPI_INT, 50, &q);
    for (int again = 0; again < 3; again++) {
        if (again) {
            fill(out, 12, r + again);
            MPI_Start(&s);
            ready(0, 2, s);
        }
        MPI_Start(&q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        filled(in, 12, r + again);
        MPI_Wait(&s, MPI_STATUS_IGNORE);
        meet();
    }
    MPI_Request_free(&s);
    MPI_Request_free(&q);
    CHECK(s == MPI_REQUEST_NULL && q == MPI_REQUEST_NULL);
}

/* Types with gaps, another one on each side. */
static void with_gaps(int r)
{
    int out[4 * 6 * 2], in[2 * 12];
    MPI_Datatype every_other, three;
    MPI_Request q[2];
    for (int i = 0; i < 48; i++)
        out[i] = i % 2 ? -1 : value(me, r, i / 2);
    memset(in, 0, sizeof in);
    MPI_Type_vector(6, 1, 2, MPI_INT, &every_other); /* 6 of 11, resized to 12 */
    MPI_Datatype spaced;
    MPI_Type_create_resized(every_other, 0, 12 * sizeof(int), &spaced);
    MPI_Type_contiguous(3, MPI_INT, &three);
    MPI_Type_commit(&spaced);
    MPI_Type_commit(&three);
    send_init(out, 4, 1, spaced, 60, &q[0]);
    recv_init(in, 2, 4, three, 60, &q[1]);
    MPI_Type_free(&three);
    MPI_Type_free(&spaced);
    MPI_Startall(2, q);
    ready(3, 3, q[0]);
    meet();
    ready(0, 2, q[0]);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    filled(in, 24, r);
    for (int k = 0; k < 2; k++)
        MPI_Request_free(&q[k]);
    MPI_Type_free(&every_other);
}

static void nobody(void)
{
    int x = 5, flag = 0;
    MPI_Request q[2];
    MPI_Status st;
    MPI_Psend_init(&x, 1, 1, MPI_INT, MPI_PROC_NULL, 1, ring, MPI_INFO_NULL, &q[0]);
    MPI_Precv_init(&x, 1, 1, MPI_INT, MPI_PROC_NULL, 1, ring, MPI_INFO_NULL, &q[1]);
    MPI_Startall(2, q);
    MPI_Pready(0, q[0]);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    while (!flag)
        MPI_Parrived(q[1], 0, &flag);
    MPI_Wait(&q[1], &st);
    CHECK(x == 5 && st.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Request_free(&q[0]);
    MPI_Request_free(&q[1]);
}

/* What is not allowed is said. */
static void errors(void)
{
    int x = 0, flag;
    MPI_Request s, q;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* for errors without an object */
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    CHECK(MPI_Psend_init(&x, 1, 1, MPI_INT, ranks, 0, ring, MPI_INFO_NULL, &s) != MPI_SUCCESS);
    CHECK(MPI_Precv_init(&x, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, ring, MPI_INFO_NULL, &q) !=
          MPI_SUCCESS);
    MPI_Psend_init(&x, 1, 1, MPI_INT, me, 70, ring, MPI_INFO_NULL, &s);
    MPI_Precv_init(&x, 1, 1, MPI_INT, me, 70, ring, MPI_INFO_NULL, &q);
    CHECK(MPI_Pready(0, s) != MPI_SUCCESS); /* not started */
    CHECK(MPI_Start(&s) == MPI_SUCCESS && MPI_Start(&s) != MPI_SUCCESS);
    CHECK(MPI_Pready(1, s) != MPI_SUCCESS && MPI_Pready(-1, s) != MPI_SUCCESS);
    CHECK(MPI_Pready(0, q) != MPI_SUCCESS && MPI_Pready(0, MPI_REQUEST_NULL) != MPI_SUCCESS);
    CHECK(MPI_Parrived(s, 0, &flag) != MPI_SUCCESS && MPI_Parrived(q, 1, &flag) != MPI_SUCCESS);
    CHECK(MPI_Pready(0, s) == MPI_SUCCESS && MPI_Pready(0, s) != MPI_SUCCESS);
    MPI_Start(&q);
    CHECK(MPI_Cancel(&q) != MPI_SUCCESS);
    CHECK(MPI_Wait(&q, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
          MPI_Wait(&s, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    MPI_Request_free(&s);
    MPI_Request_free(&q);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    chapter_begin(argc, argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &ring);
    in_capsule = getenv("CHAPTER_IN_CAPSULE") != NULL;
    left = (me + ranks - 1) % ranks;
    right = (me + 1) % ranks;
    for (int k = 0; k < PAIRS; k++)
        make(&pairs[k], k);
    for (int r = 0; chapter_round(&r); r++) {
        for (int k = 0; k < PAIRS; k++) {
            fill(pairs[k].out, pairs[k].n, r);
            MPI_Startall(2, pairs[k].q);
            make_ready(&pairs[k], r + k);
            take(&pairs[k], r);
        }
        together(r);
        ahead(r);
        with_gaps(r);
        if (in_capsule) {
            nobody();
            errors();
        }
    }
    for (int k = 0; k < PAIRS; k++) {
        MPI_Request_free(&pairs[k].q[0]);
        MPI_Request_free(&pairs[k].q[1]);
        free(pairs[k].out);
        free(pairs[k].in);
    }
    MPI_Comm_free(&ring);
    return chapter_end("partitioned");
}
