/* partitioned.c - partitioned communication. Each request is used once, and both sides have the same number of partitions: Open MPI's own
 * comes to an end only then (chapters/partitioned.c has the rest).
 */
#include "conform.h"

enum { PARTS = 4, EACH = 5, ALL = PARTS * EACH };
enum how { ONE_BY_ONE, RANGE, LIST };

static void make_ready(enum how how, MPI_Request q)
{
    int backwards[] = {3, 2, 1, 0};
    switch (how) {
    case ONE_BY_ONE:
        for (int k = 0; k < PARTS; k++)
            MPI_Pready((k + 2) % PARTS, q);
        break;
    case RANGE:
        MPI_Pready_range(1, PARTS - 1, q);
        MPI_Barrier(world);
        MPI_Pready_range(0, 0, q);
        break;
    case LIST: MPI_Pready_list(PARTS, backwards, q);
    }
}
static void exchange(MPI_Comm comm, enum how how)
{
    int out[ALL], in[ALL], rank, size, arrived, sum = 0;
    MPI_Request q[2];
    MPI_Status st = FRESH;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < ALL; i++) {
        out[i] = 1000 * rank + 100 * (int)how + i;
        in[i] = -1;
    }
    CALL(MPI_Psend_init(out, PARTS, EACH, MPI_INT, (rank + 1) % size, 3, comm, MPI_INFO_NULL,
                        &q[0]));
    CALL(MPI_Precv_init(in, PARTS, EACH, MPI_INT, (rank + size - 1) % size, 3, comm, MPI_INFO_NULL,
                        &q[1]));
    CALL(MPI_Startall(2, q));
    make_ready(how, q[0]);
    for (int k = 0; k < PARTS; k++)
        for (arrived = 0; !arrived;)
            MPI_Parrived(q[1], k, &arrived);
    CALL(MPI_Wait(&q[0], MPI_STATUS_IGNORE));
    CALL(MPI_Wait(&q[1], &st));
    for (int i = 0; i < ALL; i++)
        sum = 31 * sum + in[i];
    say("from %d: %d, %d to %d", st.MPI_SOURCE, sum, in[0], in[ALL - 1]);
    say("still requests: %d %d", q[0] != MPI_REQUEST_NULL, q[1] != MPI_REQUEST_NULL);
    CALL(MPI_Request_free(&q[0]));
    CALL(MPI_Request_free(&q[1]));
    say("freed: %d %d", q[0] == MPI_REQUEST_NULL, q[1] == MPI_REQUEST_NULL);
}

/* Several pairs with one tag, started in another order than they were made in. */
static void in_order_of_init(void)
{
    enum { MANY = 3 };
    int out[MANY][2], in[MANY][2];
    MPI_Request s[MANY], r[MANY];
    for (int k = 0; k < MANY; k++) {
        out[k][0] = 10 * me + k;
        out[k][1] = -out[k][0];
        MPI_Psend_init(out[k], 2, 1, MPI_INT, (me + 1) % ranks, 4, world, MPI_INFO_NULL, &s[k]);
        MPI_Precv_init(in[k], 2, 1, MPI_INT, (me + ranks - 1) % ranks, 4, world, MPI_INFO_NULL,
                       &r[k]);
    }
    for (int k = MANY - 1; k >= 0; k--)
        MPI_Start(&r[k]);
    for (int k = 0; k < MANY; k++) {
        MPI_Start(&s[(k + 1) % MANY]);
        MPI_Pready_range(0, 1, s[(k + 1) % MANY]);
    }
    MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE);
    MPI_Waitall(MANY, s, MPI_STATUSES_IGNORE);
    for (int k = 0; k < MANY; k++) {
        say("pair %d: %d %d", k, in[k][0], in[k][1]);
        MPI_Request_free(&s[k]);
        MPI_Request_free(&r[k]);
    }
}

#ifdef OPEN_MPI /* whose own crashes */
static void errors(void)
{
}
#else
static void errors(void)
{
    int x = 0;
    MPI_Request q;
    CALL(MPI_Psend_init(&x, 1, 1, MPI_INT, ranks, 0, world, MPI_INFO_NULL, &q));
    CALL(MPI_Precv_init(&x, 1, 1, MPI_INT, ranks, 0, world, MPI_INFO_NULL, &q));
    CALL(MPI_Psend_init(&x, 1, 1, MPI_INT, 0, 0, MPI_COMM_NULL, MPI_INFO_NULL, &q));
    FAILS(MPI_Pready(0, MPI_REQUEST_NULL));
    FAILS(MPI_Pready_range(0, 0, MPI_REQUEST_NULL));
    FAILS(MPI_Pready_list(1, (int[]){0}, MPI_REQUEST_NULL));
}
#endif

void part_partitioned(void)
{
    MPI_Comm c;
    for (enum how how = ONE_BY_ONE; how <= LIST; how++)
        exchange(world, how);
    MPI_Comm_split(world, 0, ranks - me, &c);
    exchange(c, RANGE);
    MPI_Comm_free(&c);
    in_order_of_init();
    errors();
}
