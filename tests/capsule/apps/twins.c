/* twins: communicators that live for a moment, on ranks that are never quite together. While rank 0 comes out of
 * MPI_Comm_dup, rank 1 has freed the new one already and is outside MPI. usage: twins [rounds] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, rounds = argc > 1 ? atoi(argv[1]) : 10, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int r = 0; r < rounds; r++) {
        MPI_Comm twin;
        int same;
        usleep(rank == 0 ? 5000 : 0); /* the others wait inside */
        MPI_Comm_dup(MPI_COMM_WORLD, &twin);
        MPI_Comm_compare(MPI_COMM_WORLD, twin, &same);
        sum += same == MPI_CONGRUENT;
        MPI_Comm_free(&twin);
        usleep(rank == 1 ? 4000 : 0);
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("twins: %d\n", sum);
    MPI_Finalize();
    return 0;
}
