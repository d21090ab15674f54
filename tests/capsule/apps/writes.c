/* writes.c - plain MPI: has several collective writes of one file pending, over and over, waits for all of them, and
 * reads the file back. usage: writes [rounds|FILE] (see until.h)
 *
 * The library goes on with such an operation while it is tested. A checkpoint that comes meanwhile must test them in the
 * same order on all ranks, although they lie in memory in another order on each.
 */
#include "../../fault/apps/until.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PENDING = 3, BLOCKS = 4, BLOCK = 64, BYTES = BLOCKS * BLOCK };
static char out[PENDING][BYTES], in[BYTES];

/* The ranks give their requests back in different orders, and get them again in different orders. */
static void shuffle_requests(int rank)
{
    MPI_Request q[PENDING];
    for (int i = 0; i < PENDING; i++)
        MPI_Irecv(NULL, 0, MPI_INT, rank, i, MPI_COMM_WORLD, &q[i]);
    for (int i = 0; i < PENDING; i++) {
        int k = rank % 2 ? PENDING - 1 - i : i;
        MPI_Send(NULL, 0, MPI_INT, rank, k, MPI_COMM_WORLD);
        MPI_Wait(&q[k], MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    long wrong = 0, all = 0;
    struct until rounds = until(argc > 1 ? argv[1] : NULL, 100);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_File f;
    MPI_Datatype view;
    MPI_Type_vector(BLOCKS, BLOCK, size * BLOCK, MPI_CHAR, &view);
    MPI_Type_commit(&view);
    MPI_File_open(MPI_COMM_WORLD, "writes.data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                  &f);
    MPI_File_set_view(f, (MPI_Offset)rank * BLOCK, MPI_CHAR, view, "native", MPI_INFO_NULL);
    for (int r = 0; until_more(&rounds, r); r++) {
        MPI_Request q[PENDING];
        shuffle_requests(rank);
        for (int i = 0; i < PENDING; i++) {
            memset(out[i], 'a' + (rank + i + r) % 26, BYTES);
            MPI_File_iwrite_at_all(f, (MPI_Offset)i * BYTES, out[i], BYTES, MPI_CHAR, &q[i]);
        }
        usleep(2000);
        MPI_Waitall(PENDING, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < PENDING; i++) {
            MPI_File_read_at(f, (MPI_Offset)i * BYTES, in, BYTES, MPI_CHAR, MPI_STATUS_IGNORE);
            wrong += memcmp(in, out[i], BYTES) != 0;
        }
    }
    MPI_File_close(&f);
    MPI_Type_free(&view);
    MPI_Reduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("writes: %d rounds, %ld wrong\n", rounds.steps, all);
    MPI_Finalize();
    return all > 0;
}
