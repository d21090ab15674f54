/* Chapter 3 of MPI-3.1: point-to-point communication, all of its functions. */
#include "chapter.h"

enum { N = 300 };
static int left, right;
static MPI_Comm ring, apart; /* not the world: messages on them must survive too */

static void fill(int *a, int n, int seed)
{
    for (int i = 0; i < n; i++)
        a[i] = seed * 1000 + i;
}
static void filled(const int *a, int n, int seed)
{
    int ok = 1;
    for (int i = 0; i < n; i++)
        ok &= a[i] == seed * 1000 + i;
    CHECK(ok);
    mix(a, (size_t)n * sizeof *a);
}

static void blocking_modes(int r)
{
    int out[N], in[N], n;
    MPI_Status st;
    /* odd ranks send first where the mode may block */
    for (int mode = 0; mode < 4; mode++) {
        MPI_Request ready;
        fill(out, N, me + r + mode);
        MPI_Irecv(in, N, MPI_INT, left, 10 + mode, ring, &ready);
        if (mode == 3) {
            MPI_Sendrecv(NULL, 0, MPI_INT, left, 99, NULL, 0, MPI_INT, right, 99, ring,
                         MPI_STATUS_IGNORE);
            MPI_Rsend(out, N, MPI_INT, right, 13, ring);
        } else if (mode == 0)
            MPI_Send(out, N, MPI_INT, right, 10, ring);
        else if (mode == 1)
            MPI_Ssend(out, N, MPI_INT, right, 11, ring);
        else
            MPI_Bsend(out, N, MPI_INT, right, 12, ring);
        MPI_Wait(&ready, &st);
        MPI_Get_count(&st, MPI_INT, &n);
        SAME(n, N);
        SAME(st.MPI_SOURCE, left);
        SAME(st.MPI_TAG, 10 + mode);
        filled(in, N, left + r + mode);
    }
    MPI_Send(out, N, MPI_INT, MPI_PROC_NULL, 1, ring);
    MPI_Recv(in, N, MPI_INT, MPI_PROC_NULL, 1, ring, &st);
    SAME(st.MPI_SOURCE == MPI_PROC_NULL, 1);
    SAME(st.MPI_TAG == MPI_ANY_TAG, 1);
    MPI_Get_count(&st, MPI_INT, &n);
    SAME(n, 0);
}

static void nonblocking_modes(int r)
{
    int out[4][N], in[4][N], n, flag;
    MPI_Request q[8];
    MPI_Status st[8];
    for (int i = 0; i < 4; i++)
        MPI_Irecv(in[i], N, MPI_INT, i & 1 ? MPI_ANY_SOURCE : left, 20 + i, ring, &q[i]);
    MPI_Barrier(ring);
    for (int i = 0; i < 4; i++)
        fill(out[i], N, me + r + i);
    MPI_Isend(out[0], N, MPI_INT, right, 20, ring, &q[4]);
    MPI_Issend(out[1], N, MPI_INT, right, 21, ring, &q[5]);
    MPI_Ibsend(out[2], N, MPI_INT, right, 22, ring, &q[6]);
    MPI_Irsend(out[3], N, MPI_INT, right, 23, ring, &q[7]);
    do
        MPI_Request_get_status(q[0], &flag, &st[0]);
    while (!flag);
    SAME(st[0].MPI_TAG, 20);
    CHECK(q[0] != MPI_REQUEST_NULL);
    switch (r % 5) {
    case 0: MPI_Waitall(8, q, st); break;
    case 1:
        do
            MPI_Testall(8, q, &flag, st);
        while (!flag);
        break;
    case 2:
        for (int left_over = 8; left_over; left_over--) {
            int i;
            MPI_Waitany(8, q, &i, &st[7]);
            CHECK(i >= 0 && i < 8 && q[i] == MPI_REQUEST_NULL);
            if (i < 4)
                SAME(st[7].MPI_SOURCE, left);
        }
        MPI_Waitany(8, q, &n, &st[7]);
        SAME(n == MPI_UNDEFINED, 1);
        break;
    case 3:
        for (int done = 0; done < 8;) {
            int idx[8], some;
            MPI_Waitsome(8, q, &some, idx, st);
            CHECK(some > 0);
            done += some;
        }
        MPI_Waitsome(8, q, &n, (int[8]){0}, st);
        SAME(n == MPI_UNDEFINED, 1);
        break;
    default:
        for (int done = 0, idx[8], some; done < 8; done += some)
            if (done & 1) {
                MPI_Testany(8, q, idx, &some, st);
                if (some)
                    CHECK(q[idx[0]] == MPI_REQUEST_NULL);
            } else {
                MPI_Testsome(8, q, &some, idx, st);
            }
    }
    for (int i = 0; i < 8; i++)
        CHECK(q[i] == MPI_REQUEST_NULL);
    for (int i = 0; i < 4; i++)
        filled(in[i], N, left + r + i);
}

static void both_ways(int r)
{
    int out[N], in[N];
    MPI_Status st;
    MPI_Request q;
    fill(out, N, me + r);
    MPI_Sendrecv(out, N, MPI_INT, right, 30, in, N, MPI_INT, left, 30, ring, &st);
    filled(in, N, left + r);
    MPI_Sendrecv_replace(out, N, MPI_INT, right, 31, left, 31, ring, &st);
    filled(out, N, left + r);
    SAME(st.MPI_SOURCE, left);
    fill(out, N, me + 2 * r);
    MPI_Isendrecv(out, N, MPI_INT, right, 32, in, N, MPI_INT, left, 32, ring, &q);
    MPI_Wait(&q, &st);
    filled(in, N, left + 2 * r);
    MPI_Isendrecv_replace(out, N, MPI_INT, right, 33, left, 33, ring, &q);
    MPI_Wait(&q, &st);
    filled(out, N, left + 2 * r);
}

static void probing(int r)
{
    int out[N], in[N], n, flag = 0;
    MPI_Status st;
    MPI_Message m;
    MPI_Request s, q;
    int len = 10 + r % 100;
    fill(out, N, me + r);
    for (int k = 0; k < 4; k++) {
        MPI_Isend(out, len + k, MPI_INT, right, 40 + k, apart, &s);
        memset(in, 0, sizeof in);
        if (k == 0) {
            MPI_Probe(MPI_ANY_SOURCE, 40, apart, &st);
            MPI_Get_count(&st, MPI_INT, &n);
            MPI_Recv(in, n, MPI_INT, st.MPI_SOURCE, st.MPI_TAG, apart, &st);
        } else if (k == 1) {
            do
                MPI_Iprobe(left, MPI_ANY_TAG, apart, &flag, &st);
            while (!flag);
            MPI_Get_count(&st, MPI_INT, &n);
            MPI_Recv(in, n, MPI_INT, left, 41, apart, MPI_STATUS_IGNORE);
        } else if (k == 2) {
            MPI_Mprobe(left, 42, apart, &m, &st);
            MPI_Get_count(&st, MPI_INT, &n);
            MPI_Mrecv(in, n, MPI_INT, &m, &st);
            CHECK(m == MPI_MESSAGE_NULL);
        } else {
            do
                MPI_Improbe(MPI_ANY_SOURCE, 43, apart, &flag, &m, &st);
            while (!flag);
            MPI_Get_count(&st, MPI_INT, &n);
            MPI_Imrecv(in, n, MPI_INT, &m, &q);
            MPI_Wait(&q, &st);
        }
        SAME(n, len + k);
        SAME(st.MPI_SOURCE, left);
        filled(in, n, left + r);
        MPI_Wait(&s, MPI_STATUS_IGNORE);
    }
    MPI_Mprobe(MPI_PROC_NULL, 1, apart, &m, &st);
    CHECK(m == MPI_MESSAGE_NO_PROC);
    MPI_Mrecv(in, 1, MPI_INT, &m, &st);
    SAME(st.MPI_SOURCE == MPI_PROC_NULL, 1);
}

/* a message stays matched, and another unreceived, over a whole round */
static MPI_Message kept = MPI_MESSAGE_NULL;
static MPI_Request kept_recv = MPI_REQUEST_NULL;
static int kept_in[N], late_in[N], kept_out[N];
static void across_rounds(int r)
{
    MPI_Status st;
    if (r) {
        MPI_Mrecv(kept_in, N, MPI_INT, &kept, &st);
        filled(kept_in, N, left + r - 1);
        MPI_Wait(&kept_recv, &st);
        filled(late_in, N, left + r - 1);
        MPI_Recv(late_in, N, MPI_INT, left, 52, ring, &st); /* sent in the last round */
        filled(late_in, N, left + r - 1);
    }
    fill(kept_out, N, me + r);
    MPI_Irecv(late_in, N, MPI_INT, left, 51, ring, &kept_recv);
    MPI_Bsend(kept_out, N, MPI_INT, right, 50, ring);
    MPI_Bsend(kept_out, N, MPI_INT, right, 52, ring);
    MPI_Mprobe(left, 50, ring, &kept, &st);
    MPI_Bsend(kept_out, N, MPI_INT, right, 51, ring);
}
static void across_rounds_end(int r)
{
    MPI_Status st;
    MPI_Mrecv(kept_in, N, MPI_INT, &kept, &st);
    MPI_Wait(&kept_recv, &st);
    filled(late_in, N, left + r);
    MPI_Recv(late_in, N, MPI_INT, left, 52, ring, &st);
}

static MPI_Request pers[6];
static int pers_out[4][N], pers_in[2][N];
static void persistent_begin(void)
{
    MPI_Send_init(pers_out[0], N, MPI_INT, right, 60, ring, &pers[0]);
    MPI_Ssend_init(pers_out[1], N, MPI_INT, right, 61, ring, &pers[1]);
    MPI_Bsend_init(pers_out[2], N, MPI_INT, right, 60, ring, &pers[2]);
    MPI_Rsend_init(pers_out[3], N, MPI_INT, right, 61, ring, &pers[3]);
    MPI_Recv_init(pers_in[0], N, MPI_INT, left, 60, ring, &pers[4]);
    MPI_Recv_init(pers_in[1], N, MPI_INT, MPI_ANY_SOURCE, 61, ring, &pers[5]);
}
static void persistent(int r)
{
    MPI_Status st[4];
    int flag;
    for (int half = 0; half < 2; half++) {
        MPI_Request two[4] = {pers[4], pers[5], pers[2 * half], pers[2 * half + 1]};
        MPI_Wait(&two[0], &st[0]); /* not active: returns at once */
        fill(pers_out[2 * half], N, me + r + half);
        fill(pers_out[2 * half + 1], N, me - r + half);
        MPI_Startall(2, two);
        MPI_Barrier(ring); /* for the ready mode */
        MPI_Start(&two[2]);
        MPI_Start(&two[3]);
        if (half)
            do
                MPI_Testall(4, two, &flag, st);
            while (!flag);
        else
            MPI_Waitall(4, two, st);
        for (int i = 0; i < 4; i++)
            CHECK(two[i] != MPI_REQUEST_NULL);
        SAME(st[1].MPI_SOURCE, left);
        filled(pers_in[0], N, left + r + half);
        filled(pers_in[1], N, left - r + half);
    }
}

static void cancelling(int r)
{
    int in[N], flag;
    MPI_Status st;
    MPI_Request q, p;
    MPI_Irecv(in, N, MPI_INT, left, 70, ring, &q);
    MPI_Cancel(&q);
    MPI_Wait(&q, &st);
    MPI_Test_cancelled(&st, &flag);
    SAME(flag, 1);
    MPI_Recv_init(in, N, MPI_INT, left, 71, ring, &p);
    MPI_Start(&p);
    MPI_Cancel(&p);
    MPI_Wait(&p, &st);
    MPI_Test_cancelled(&st, &flag);
    SAME(flag, 1);
    MPI_Request_free(&p);
    CHECK(p == MPI_REQUEST_NULL);
    /* a send that nobody waits for */
    static int out[N];
    fill(out, N, me + r);
    MPI_Isend(out, N, MPI_INT, right, 72, ring, &q);
    MPI_Request_free(&q);
    CHECK(q == MPI_REQUEST_NULL);
    MPI_Recv(in, N, MPI_INT, left, 72, ring, &st);
    filled(in, N, left + r);
    MPI_Barrier(ring);
}

static int queried, freed, cancelled;
static int query_fn(void *x, MPI_Status *st)
{
    queried += *(int *)x;
    MPI_Status_set_elements(st, MPI_INT, 7);
    MPI_Status_set_cancelled(st, 0);
    st->MPI_SOURCE = 3;
    st->MPI_TAG = 4;
    return MPI_SUCCESS;
}
static int free_fn(void *x)
{
    freed += *(int *)x;
    return MPI_SUCCESS;
}
static int cancel_fn(void *x, int complete)
{
    cancelled += complete ? 100 : *(int *)x;
    return MPI_SUCCESS;
}
static int grequest_arg = 2;
static MPI_Request open_grequest;
static void generalized(void)
{
    MPI_Request q;
    MPI_Status st;
    int flag, n;
    MPI_Grequest_start(query_fn, free_fn, cancel_fn, &grequest_arg, &q);
    MPI_Test(&q, &flag, &st);
    SAME(flag, 0);
    MPI_Cancel(&q);
    MPI_Grequest_complete(q);
    MPI_Wait(&q, &st);
    MPI_Get_count(&st, MPI_INT, &n);
    SAME(n, 7);
    SAME(st.MPI_SOURCE, 3);
    MPI_Test(&open_grequest, &flag, &st);
    SAME(flag, 0);
}

static void statuses(void)
{
    MPI_Status st;
    int n;
    MPI_Count big;
    MPI_Datatype pair;
    memset(&st, 0, sizeof st);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Status_set_elements(&st, MPI_INT, 5);
    MPI_Get_count(&st, pair, &n);
    SAME(n == MPI_UNDEFINED, 1);
    MPI_Get_elements(&st, pair, &n);
    SAME(n, 5);
    MPI_Status_set_elements_x(&st, MPI_BYTE, (MPI_Count)3 << 31);
    MPI_Get_elements_x(&st, MPI_BYTE, &big);
    SAME(big, 3L << 31);
    MPI_Get_count(&st, MPI_BYTE, &n);
    SAME(n == MPI_UNDEFINED, 1);
    MPI_Status_set_cancelled(&st, 1);
    MPI_Test_cancelled(&st, &n);
    SAME(n, 1);
    MPI_Type_free(&pair);
}

/* Receives of every kind begun in a row are matched in their order, whatever call comes next, and even if none comes for a
 * while: the capsule begins small ones when it must. */
static void in_a_row(int r)
{
    enum { ROW = 4, NEXT = 9 };
    MPI_Datatype one;
    MPI_Type_contiguous(1, MPI_INT, &one);
    MPI_Type_commit(&one);
    for (int next = 0; next < NEXT; next++) {
        int out[ROW], in[ROW], flag = 0, more = 0;
        MPI_Request q[ROW], s;
        MPI_Status st[ROW];
        memset(in, 0, sizeof in);
        MPI_Irecv(&in[0], 1, MPI_INT, left, 80, ring, &q[0]);
        MPI_Irecv(&in[1], 1, next % 2 ? MPI_INT : one, left, 80, ring, &q[1]);
        MPI_Irecv(&in[2], 1, MPI_INT, next % 3 ? left : MPI_ANY_SOURCE, 80, ring, &q[2]);
        MPI_Irecv(&in[3], 1, MPI_INT, left, 80, ring, &q[3]);
        fill(out, ROW, me + r + next);
        if (next == 1)
            MPI_Barrier(ring);
        else if (next == 2)
            MPI_Iprobe(left, 81, ring, &flag, MPI_STATUS_IGNORE);
        else if (next == 3)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        else if (next == 4) {
            MPI_Isend(out, 1, MPI_INT, me, 82, ring, &s);
            MPI_Recv(&more, 1, MPI_INT, me, 82, ring, &st[0]);
            MPI_Wait(&s, MPI_STATUS_IGNORE);
            CHECK(more == out[0]);
        } else if (next == 5) {
            MPI_Irecv(&more, 1, MPI_INT, left, 84, ring, &s);
            MPI_Cancel(&s);
            MPI_Wait(&s, &st[0]);
            MPI_Test_cancelled(&st[0], &more);
            SAME(more, 1);
        } else if (next == 6)
            MPI_Request_free(&q[3]);
        for (int i = 0; i < ROW; i++)
            MPI_Send(&out[i], 1, MPI_INT, right, 80, ring);
        if (next < 5)
            MPI_Waitall(ROW, q, st);
        for (int i = 0; i < ROW && next >= 5; i++)
            MPI_Wait(&q[i], next % 2 ? &st[i] : MPI_STATUS_IGNORE);
        if (next == 6) { /* nothing tells that the fourth is here, but messages do not overtake */
            MPI_Sendrecv(out, 1, MPI_INT, right, 83, &more, 1, MPI_INT, left, 83, ring,
                         MPI_STATUS_IGNORE);
            while (!*(volatile int *)&in[3])
                MPI_Iprobe(left, 81, ring, &flag, MPI_STATUS_IGNORE);
        }
        filled(in, ROW, left + r + next);
        SAME(flag, 0);
    }
    MPI_Type_free(&one);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    chapter_begin(argc, argv);
    MPI_Comm_split(MPI_COMM_WORLD, 0, me, &ring);
    MPI_Comm_dup(ring, &apart);
    left = (me + ranks - 1) % ranks;
    right = (me + 1) % ranks;
    int room = 64 * (N * (int)sizeof(int) + MPI_BSEND_OVERHEAD), room_back;
    char *buffer = malloc((size_t)room), *buffer_back;
    MPI_Buffer_attach(buffer, room);
    persistent_begin();
    MPI_Grequest_start(query_fn, free_fn, cancel_fn, &grequest_arg, &open_grequest);
    for (int r = 0; chapter_round(&r); r++) {
        blocking_modes(r);
        nonblocking_modes(r);
        both_ways(r);
        across_rounds(r);
        probing(r);
        persistent(r);
        cancelling(r);
        in_a_row(r);
        generalized();
        statuses();
    }
    across_rounds_end(rounds - 1);
    MPI_Grequest_complete(open_grequest);
    MPI_Wait(&open_grequest, MPI_STATUS_IGNORE);
    SAME(queried, 2 * (rounds + 1));
    SAME(freed, 2 * (rounds + 1));
    SAME(cancelled, 2 * rounds);
    for (int i = 0; i < 6; i++)
        MPI_Request_free(&pers[i]);
    MPI_Buffer_detach(&buffer_back, &room_back);
    CHECK(buffer_back == buffer);
    CHECK(room_back == room);
    free(buffer);
    MPI_Comm_free(&apart);
    MPI_Comm_free(&ring);
    return chapter_end("p2p");
}
