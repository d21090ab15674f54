/* persistent.c - persistent operations: collectives that each rank starts in an order of its own, requests that are freed in
 * another order than they were made.
 */
#include "conform.h"

enum { MANY = 5 };

static void in_any_order(MPI_Comm comm, const char *where)
{
    MPI_Request q[MANY];
    int data[MANY], result[MANY], n, rank;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n);
    for (int turn = 0; turn < 4; turn++) {
        for (int k = 0; k < MANY; k++)
            MPI_Allreduce_init(&data[k], &result[k], 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL,
                               &q[k]);
        for (int again = 0; again < 3; again++) {
            for (int k = 0; k < MANY; k++) {
                data[k] = 100 * turn + 10 * k + rank + again;
                result[k] = -1;
            }
            for (int k = 0; k < MANY; k++) {
                int at = rank % 2 ? MANY - 1 - k : (k + again) % MANY;
                MPI_Start(&q[at]);
            }
            MPI_Waitall(MANY, q, MPI_STATUSES_IGNORE);
            say("%s: %d %d %d %d %d", where, result[0], result[1], result[2], result[3], result[4]);
        }
        for (int k = 0; k < MANY; k++)
            MPI_Request_free(&q[rank % 2 ? k : MANY - 1 - k]);
    }
}

static void neighbours(void)
{
    MPI_Comm ring;
    MPI_Request q[2];
    int out[2][2], in[2][2];
    MPI_Cart_create(world, 1, &ranks, (int[]){1}, 0, &ring);
    for (int k = 0; k < 2; k++)
        MPI_Neighbor_alltoall_init(out[k], 1, MPI_INT, in[k], 1, MPI_INT, ring, MPI_INFO_NULL,
                                   &q[k]);
    for (int again = 0; again < 3; again++) {
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < 2; i++)
                out[k][i] = 1000 * again + 100 * me + 10 * k + i;
        MPI_Start(&q[me % 2]);
        MPI_Start(&q[1 - me % 2]);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        say("neighbours: %d %d %d %d", in[0][0], in[0][1], in[1][0], in[1][1]);
    }
    MPI_Request_free(&q[1]);
    MPI_Request_free(&q[0]);
    MPI_Comm_free(&ring);
}

void part_persistent(void)
{
    MPI_Comm c;
    in_any_order(world, "world");
    MPI_Comm_split(world, me != 1, me, &c);
    in_any_order(c, "half");
    MPI_Comm_free(&c);
    in_any_order(MPI_COMM_SELF, "self");
    neighbours();
}
