/* appender.c - rank 0 appends a line to a file in every step. usage: appender STEPS FILE [MICROSECONDS a step] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, steps = argc > 1 ? atoi(argv[1]) : 10;
    long sum = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE *f = rank == 0 ? fopen(argv[2], "a") : NULL;
    for (int s = 0; s < steps; s++) {
        sum += s + rank;
        MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        if (f) {
            fprintf(f, "step %d sum %ld\n", s, all);
            fflush(f);
        }
        if (argc > 3)
            usleep((unsigned)atoi(argv[3]));
    }
    if (rank == 0)
        printf("sum %ld\n", all);
    if (f)
        fclose(f);
    MPI_Finalize();
    return 0;
}
