/* A program that uses a GPU, as far as anybody can see from outside: it loads the driver's library (argv[1]) and has a
 * device of it open (argv[2]). It takes a while, and calls MPI all the time. */
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size;
    long sum = 0, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 3 || !dlopen(argv[1], RTLD_NOW) || open(argv[2], O_RDWR) < 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (int i = 0; i < 1500; i++) {
        long one = rank + i;
        MPI_Allreduce(&one, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        sum += all;
        usleep(1000);
    }
    if (rank == 0)
        printf("gpu: %ld\n", sum);
    MPI_Finalize();
    return 0;
}
