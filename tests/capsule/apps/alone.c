/* alone: a job of one rank that makes communicators all the time. A checkpoint finds it at the door of MPI_COMM_WORLD, inside a
 * call that makes one, with nobody else to wait for. Prints a sum.
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    long sum = 0;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 20; i++) {
        MPI_Comm half, copy;
        int rank, mine = i, all = 0;
        MPI_Comm_split(MPI_COMM_WORLD, i % 2, 0, &half);
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Comm_rank(copy, &rank);
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, half);
        sum = sum * 7 + all + rank;
        MPI_Comm_free(&half);
        MPI_Comm_free(&copy);
    }
    printf("alone: %ld\n", sum);
    MPI_Finalize();
    return 0;
}
