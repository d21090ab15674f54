/* A sparse system whose matrix is spread over the ranks, by MUMPS: analysis once, then factorisation and solution for each step. */
#include <dmumps_c.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 60, STEPS = 10, COMM_WORLD = -987654 };

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int me, ranks, n = N * N, mine = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    DMUMPS_STRUC_C id = {.comm_fortran = COMM_WORLD, .par = 1, .sym = 0, .job = -1};
    dmumps_c(&id);
    for (int k = 0; k < 4; k++)
        id.icntl[k] = k == 3 ? 0 : -1; /* it prints nothing */
    id.icntl[17] = 3;                  /* the matrix is given by all */
    int *rows = malloc(5 * n * sizeof *rows), *columns = malloc(5 * n * sizeof *columns);
    double *values = malloc(5 * n * sizeof *values), *rhs = malloc(n * sizeof *rhs);
    for (int i = me; i < n; i += ranks) {
        int x = i % N, y = i / N,
            to[5] = {i, x ? i - 1 : -1, x < N - 1 ? i + 1 : -1, y ? i - N : -1,
                     y < N - 1 ? i + N : -1};
        for (int k = 0; k < 5; k++)
            if (to[k] >= 0) {
                rows[mine] = i + 1;
                columns[mine] = to[k] + 1;
                values[mine++] = k ? -1 - 0.01 * ((i + k) % 7) : 4.5;
            }
    }
    id.n = n;
    id.nnz_loc = mine;
    id.irn_loc = rows;
    id.jcn_loc = columns;
    id.a_loc = values;
    id.rhs = rhs;
    id.job = 1;
    dmumps_c(&id);
    for (int step = 0; step < STEPS; step++) {
        for (int k = 0; k < mine; k++)
            if (rows[k] == columns[k])
                values[k] = 4.5 + 0.1 * step;
        for (int i = 0; i < n && me == 0; i++)
            rhs[i] = (i + step) % 13;
        id.job = 5;
        dmumps_c(&id);
        double sum = 0;
        for (int i = 0; i < n && me == 0; i++)
            sum += rhs[i] * (1 + i % 3);
        if (me == 0) {
            printf("step %d: info %d, sum %.9e, %d entries in the factors\n", step, id.infog[0],
                   sum, id.infog[28]);
            fflush(stdout);
        }
    }
    id.job = -2;
    dmumps_c(&id);
    MPI_Finalize();
    return 0;
}
