/* -div(a grad u) = f on a square by hypre's IJ interface: BoomerAMG inside PCG, again for each step of a slow source. */
#include <HYPRE.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 90, STEPS = 12 };

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int me, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    HYPRE_Initialize();
    int total = N * N, first = (int)((long)total * me / ranks),
        last = (int)((long)total * (me + 1) / ranks) - 1;
    HYPRE_IJMatrix A;
    HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first, last, first, last, &A);
    HYPRE_IJMatrixSetObjectType(A, HYPRE_PARCSR);
    HYPRE_IJMatrixInitialize(A);
    for (int i = first; i <= last; i++) {
        int columns[5], n = 0, x = i % N, y = i / N;
        double values[5], a = 1 + (x > N / 2) * 9.0, sum = 0;
        int to[4] = {x > 0 ? i - 1 : -1, x < N - 1 ? i + 1 : -1, y > 0 ? i - N : -1,
                     y < N - 1 ? i + N : -1};
        for (int k = 0; k < 4; k++) {
            sum += a;
            if (to[k] >= 0) {
                columns[n] = to[k];
                values[n++] = -a;
            }
        }
        columns[n] = i;
        values[n++] = sum;
        HYPRE_IJMatrixSetValues(A, 1, &n, &i, columns, values);
    }
    HYPRE_IJMatrixAssemble(A);
    HYPRE_ParCSRMatrix matrix;
    HYPRE_IJMatrixGetObject(A, (void **)&matrix);
    HYPRE_IJVector b, u;
    HYPRE_ParVector rhs, solution;
    HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, last, &b);
    HYPRE_IJVectorSetObjectType(b, HYPRE_PARCSR);
    HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, last, &u);
    HYPRE_IJVectorSetObjectType(u, HYPRE_PARCSR);
    HYPRE_IJVectorInitialize(b);
    HYPRE_IJVectorInitialize(u);
    HYPRE_IJVectorAssemble(b);
    HYPRE_IJVectorAssemble(u);
    HYPRE_IJVectorGetObject(b, (void **)&rhs);
    HYPRE_IJVectorGetObject(u, (void **)&solution);
    for (int step = 0; step < STEPS; step++) {
        for (int i = first; i <= last; i++) {
            double f = 1e-3 * (1 + sin(0.1 * (i % N) + step)) * (i / N), zero = 0;
            HYPRE_IJVectorSetValues(b, 1, &i, &f);
            HYPRE_IJVectorSetValues(u, 1, &i, &zero);
        }
        HYPRE_IJVectorAssemble(b);
        HYPRE_IJVectorAssemble(u);
        HYPRE_Solver solver, multigrid;
        HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &solver);
        HYPRE_PCGSetMaxIter(solver, 200);
        HYPRE_PCGSetTol(solver, 1e-9);
        HYPRE_PCGSetTwoNorm(solver, 1);
        HYPRE_BoomerAMGCreate(&multigrid);
        HYPRE_BoomerAMGSetMaxIter(multigrid, 1);
        HYPRE_BoomerAMGSetTol(multigrid, 0);
        HYPRE_BoomerAMGSetRelaxType(multigrid, 6);
        HYPRE_PCGSetPrecond(solver, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve,
                            (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup, multigrid);
        HYPRE_ParCSRPCGSetup(solver, matrix, rhs, solution);
        HYPRE_ParCSRPCGSolve(solver, matrix, rhs, solution);
        int iterations;
        double own = 0, all;
        HYPRE_PCGGetNumIterations(solver, &iterations);
        for (int i = first; i <= last; i++) {
            double v;
            HYPRE_IJVectorGetValues(u, 1, &i, &v);
            own += v;
        }
        MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (me == 0) {
            printf("step %d: %d iterations, mean %.8e\n", step, iterations, all / total);
            fflush(stdout);
        }
        HYPRE_BoomerAMGDestroy(multigrid);
        HYPRE_ParCSRPCGDestroy(solver);
    }
    HYPRE_IJMatrixDestroy(A);
    HYPRE_IJVectorDestroy(b);
    HYPRE_IJVectorDestroy(u);
    HYPRE_Finalize();
    MPI_Finalize();
    return 0;
}
