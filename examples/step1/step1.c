/* step1: hello. One line is changed (the include), and the program can lose a rank.
 *
 *     MEND_FLOW_SPARES=1 mpirun --with-ft ulfm -n 4 ./step1
 *
 * runs it on 3 ranks; the fourth process waits inside MPI_Init. MPI_COMM_WORLD means the three. Without a safe point,
 * a program that loses a rank starts over automatically. Here rank 1 kills itself once. */
#include <mend/flow.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size, sum;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (atoi(getenv("OMPI_COMM_WORLD_RANK")) == 1 && !getenv("CALM"))
        raise(SIGKILL); /* its replacement has another number in the launcher's list */
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("step1: %d ranks, sum %d\n", size, sum);
    MPI_Finalize();
    return 0;
}
