/* PnetCDF: a growing data set, written by blocks in collective and posted calls, read back by others */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>

static void must(int error)
{
    if (error != NC_NOERR) {
        fprintf(stderr, "%s\n", ncmpi_strerror(error));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv)
{
    enum { W = 48, H = 12 };
    int rank, size, file, dims[3], heat, wind, request[2], status[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    must(ncmpi_create(MPI_COMM_WORLD, "sea.nc", NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
    must(ncmpi_def_dim(file, "time", NC_UNLIMITED, &dims[0]));
    must(ncmpi_def_dim(file, "y", (MPI_Offset)H * size, &dims[1]));
    must(ncmpi_def_dim(file, "x", W, &dims[2]));
    must(ncmpi_def_var(file, "heat", NC_DOUBLE, 3, dims, &heat));
    must(ncmpi_def_var(file, "wind", NC_FLOAT, 3, dims, &wind));
    must(ncmpi_enddef(file));
    double *a = malloc(W * H * sizeof *a), *b = malloc(W * H * sizeof *b), sum = 0;
    float *c = malloc(W * H * sizeof *c);
    for (int t = 0; t < 25; t++) {
        MPI_Offset start[3] = {t, (MPI_Offset)rank * H, 0}, count[3] = {1, H, W};
        for (int i = 0; i < W * H; i++) {
            a[i] = t + 0.001 * i + rank + sum * 1e-6;
            c[i] = (float)a[i] / 3;
        }
        must(ncmpi_put_vara_double_all(file, heat, start, count, a));
        must(ncmpi_iput_vara_float(file, wind, start, count, c, &request[0]));
        start[1] = (MPI_Offset)((rank + 1) % size) * H;
        must(ncmpi_iget_vara_double(file, heat, start, count, b, &request[1]));
        must(ncmpi_wait_all(file, 2, request, status));
        double mine = 0;
        for (int i = 0; i < W * H; i++)
            mine += b[i];
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (rank == 0 && t % 5 == 4)
            printf("%d %.17g\n", t, sum), fflush(stdout);
    }
    must(ncmpi_close(file));
    MPI_Finalize();
}
