/* freed.c STEPS: inter-communicators that are freed while receives are pending on them (2 ranks). Open MPI gives up such a
 * communicator before the receives if its number is below that of the one it is a copy of, and then writes into freed memory.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { RECEIVES = 3, LOW = 4 };

int main(int argc, char **argv)
{
    int rank, steps = argc > 1 ? atoi(argv[1]) : 100;
    long wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < steps; step++) {
        MPI_Comm low[LOW], parent, comm;
        for (int i = 0; i < LOW; i++)
            MPI_Comm_dup(MPI_COMM_WORLD, &low[i]);
        MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, !rank, step, &parent);
        for (int i = 0; i < LOW; i++)
            MPI_Comm_free(&low[i]);
        MPI_Comm_dup(parent, &comm); /* takes the number of one of them */
        if (rank == step % 2) {
            int got[RECEIVES], told = step;
            MPI_Request r[RECEIVES];
            for (int i = 0; i < RECEIVES; i++)
                MPI_Irecv(&got[i], 1, MPI_INT, 0, i, comm, &r[i]);
            MPI_Comm_free(&comm);
            MPI_Send(&told, 1, MPI_INT, !rank, 0, MPI_COMM_WORLD);
            for (int i = 0; i < RECEIVES; i++) {
                MPI_Wait(&r[i], MPI_STATUS_IGNORE);
                wrong += got[i] != step * RECEIVES + i;
            }
        } else {
            int told;
            MPI_Recv(&told, 1, MPI_INT, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < RECEIVES; i++) {
                int value = told * RECEIVES + i;
                MPI_Send(&value, 1, MPI_INT, 0, i, comm);
            }
            MPI_Comm_free(&comm);
        }
        MPI_Comm_free(&parent);
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("freed: %d steps, %ld wrong\n", steps, wrong);
    MPI_Finalize();
    return 0;
}
