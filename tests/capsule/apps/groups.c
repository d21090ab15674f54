/* groups.c - plain MPI: makes and frees, all the time, communicators by MPI_Comm_create_group: of all ranks but
 * one, another one in each round, which goes on alone meanwhile. usage: groups [rounds|FILE] (see until.h) */
#include "../../fault/apps/until.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    struct until rounds = until(argc > 1 ? argv[1] : NULL, 1000);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Group all, some;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    long sum = rank;
    for (int r = 0; until_more(&rounds, r); r++) {
        int without = r * 7 % size;
        MPI_Comm comm;
        if (rank == without)
            continue;
        MPI_Group_excl(all, 1, &without, &some);
        MPI_Comm_create_group(MPI_COMM_WORLD, some, r % 30000, &comm);
        MPI_Group_free(&some);
        if (r % 10 == 0) {
            long mine = sum + r;
            MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_BXOR, comm);
            sum += rank;
        }
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&all);
    long total;
    MPI_Reduce(&sum, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("groups: %d rounds, %ld\n", rounds.steps, total);
    MPI_Finalize();
    return 0;
}
