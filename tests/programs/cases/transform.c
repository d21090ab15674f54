/* FFTW's transforms in parallel: there and back, a plan that is used many times, and one that is made in between */
#include <complex.h>
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const ptrdiff_t n = 96, m = 80;
    int rank;
    MPI_Init(&argc, &argv);
    fftw_mpi_init();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    ptrdiff_t rows, first, size = fftw_mpi_local_size_2d(n, m, MPI_COMM_WORLD, &rows, &first);
    fftw_complex *a = fftw_alloc_complex((size_t)size);
    fftw_plan there = fftw_mpi_plan_dft_2d(n, m, a, a, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_ESTIMATE);
    fftw_plan back = fftw_mpi_plan_dft_2d(n, m, a, a, MPI_COMM_WORLD, FFTW_BACKWARD, FFTW_ESTIMATE);
    for (ptrdiff_t i = 0; i < rows * m; i++)
        a[i] = sin(0.01 * (double)(i + first * m)) + I * cos(0.03 * (double)(i + first * m));
    for (int step = 1; step <= 60; step++) {
        fftw_execute(there);
        for (ptrdiff_t i = 0; i < rows * m; i++)
            a[i] *= cexp(I * 0.001 * (double)(i + first * m)) / (double)(n * m);
        if (step % 7 == 0) {
            fftw_plan other = fftw_mpi_plan_dft_2d(n, m, a, a, MPI_COMM_WORLD, FFTW_FORWARD,
                                                   FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_OUT);
            fftw_destroy_plan(other);
        }
        fftw_execute(back);
        double sum[2] = {0, 0};
        for (ptrdiff_t i = 0; i < rows * m; i++)
            sum[0] += creal(a[i]), sum[1] += cabs(a[i]);
        if (rank == 0 && step % 10 == 0)
            printf("%d %.17g %.17g\n", step, sum[0], sum[1]), fflush(stdout);
    }
    fftw_destroy_plan(there);
    fftw_destroy_plan(back);
    fftw_free(a);
    MPI_Finalize();
}
