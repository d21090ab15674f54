/* steady: a plain MPI program whose output depends on every message: halo exchange, collectives on
 * the world and on a split, large ones too, messages in flight. usage: steady [steps|FILE]
 * [doubles] [pause µs] [steps between two looks at FILE] (see until.h) */
#include "until.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Sums of a few such numbers are exact: they do not depend on the order in which a library adds. */
static double coarse(double x)
{
    return (double)(long)(x * (1 << 20)) / (1 << 20);
}

int main(int argc, char **argv)
{
    int rank, size, n = argc > 2 ? atoi(argv[2]) : 4096;
    struct until steps = until(argc > 1 ? argv[1] : NULL, 2000);
    int pause = argc > 3 ? atoi(argv[3]) : 500;
    steps.every = argc > 4 ? atoi(argv[4]) : steps.every;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), sum = 0;
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    for (int i = 0; i < n; i++)
        a[i] = rank + i % 97;
    MPI_Request pending;
    double early = rank, late;
    MPI_Isend(&early, 1, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, &pending);
    for (int s = 0; until_more(&steps, s); s++) {
        MPI_Request q[2];
        MPI_Irecv(b, n, MPI_DOUBLE, last, 1, MPI_COMM_WORLD, &q[0]);
        MPI_Isend(a, n, MPI_DOUBLE, next, 1, MPI_COMM_WORLD, &q[1]);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            a[i] = 0.5 * a[i] + 0.25 * b[i] + (s + rank) % 5;
        double mine = coarse(a[s % n]), all, part;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(&mine, &part, 1, MPI_DOUBLE, MPI_MAX, half);
        if (s % 20 == 3)
            MPI_Bcast(a, n, MPI_DOUBLE, s % size, MPI_COMM_WORLD);
        if (s % 20 == 13)
            MPI_Allreduce(MPI_IN_PLACE, a, n, MPI_DOUBLE, MPI_MAX, half);
        sum = 0.999 * sum + all - 0.125 * part;
        if (s % 25 == 0) { /* a message that waits for a whole round */
            MPI_Recv(&late, 1, MPI_DOUBLE, last, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Wait(&pending, MPI_STATUS_IGNORE);
            early = late + sum;
            MPI_Isend(&early, 1, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, &pending);
        }
        if (s % 100 == 0 && rank == 0)
            printf("steady: step %d sum %.17g late %.17g\n", s, sum, late);
        if (pause)
            usleep(pause);
    }
    MPI_Recv(&late, 1, MPI_DOUBLE, last, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
    double check = sum + late, total;
    for (int i = 0; i < n; i++)
        check += a[i] * (i % 7);
    check = coarse(check);
    MPI_Reduce(&check, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("steady: %d steps, %d doubles: %.17g\n", steps.steps, n, total);
    MPI_Finalize();
    return 0;
}
