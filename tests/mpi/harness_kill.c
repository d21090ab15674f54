/* A rank really dies, the others notice, shrink, and go on: the smallest proof that ULFM works
 * here. */
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 1)
        kill(getpid(), SIGKILL);
    while (MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS)
        ;
    MPIX_Comm_revoke(MPI_COMM_WORLD);
    MPI_Comm survivors;
    MPIX_Comm_shrink(MPI_COMM_WORLD, &survivors);
    MPI_Comm_size(survivors, &size);
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, survivors);
    int ok = size == 2 && sum == 2;
    if (ok && rank == 0) {
        FILE *marker = fopen(getenv("MEND_TEST_MARKER"), "w");
        fputs("PASS\n", marker);
        fclose(marker);
    }
    MPI_Finalize();
    return !ok;
}
