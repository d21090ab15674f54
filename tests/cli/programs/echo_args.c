/* Works for a while, then rank 0 prints its arguments byte by byte, and standard input's first line. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, sum = 0, one = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < atoi(argv[1]); i++) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        usleep(10000);
    }
    if (rank == 0)
        for (int i = 2; i < argc; i++) {
            for (unsigned char *p = (unsigned char *)argv[i]; *p; p++)
                printf("%02x", *p);
            putchar('\n');
        }
    MPI_Finalize();
    return 0;
}
