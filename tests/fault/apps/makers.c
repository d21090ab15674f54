/* Communicators are made all the time, in each way that Open MPI does by another road: inside a group, of two halves
 * that do not know each other, from those by dup, split, create and merge. A sum over each goes into the result. usage: makers [rounds|FILE] (see
 * until.h) */
#include "until.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long sum_over(MPI_Comm comm, long mine)
{
    long sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm);
    return sum;
}

int main(int argc, char **argv)
{
    int rank, size;
    struct until rounds = until(argc > 1 ? argv[1] : NULL, 100);
    unsigned long result = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; until_more(&rounds, i); i++) {
        MPI_Comm half, inter, copy, part, some, merged;
        MPI_Group all, group;
        int low = rank < size / 2, first[2] = {0, size / 2};
        MPI_Comm_split(MPI_COMM_WORLD, low, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, first[low], 7, &inter);
        MPI_Comm_dup(inter, &copy);
        MPI_Comm_split(copy, i % 2, rank, &part);
        MPI_Intercomm_merge(inter, !low, &merged);
        MPI_Comm_group(MPI_COMM_WORLD, &all);
        MPI_Group_range_incl(all, 1, (int[1][3]){{i % 2, size - 1, 1}}, &group);
        if (rank >= i % 2) {
            MPI_Comm_create_group(MPI_COMM_WORLD, group, i % 100, &some);
            result = result * 31 + (unsigned long)sum_over(some, rank + i);
            MPI_Comm_free(&some);
        }
        result = result * 31 + (unsigned long)sum_over(copy, rank + 1); /* of the other half */
        result = result * 31 + (unsigned long)sum_over(part, rank + 2);
        result = result * 31 + (unsigned long)sum_over(merged, rank * i);
        MPI_Group_free(&group);
        MPI_Group_free(&all);
        MPI_Comm *made[] = {&merged, &part, &copy, &inter, &half};
        for (int k = 0; k < 5; k++)
            MPI_Comm_free(made[k]);
    }
    printf("rank %d of %d: %lx\n", rank, size, result);
    if (rank == 0)
        printf("makers: %d rounds, done\n", rounds.steps);
    MPI_Finalize();
    return 0;
}
