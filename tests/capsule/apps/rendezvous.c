/* rendezvous: two pairs of ranks that meet in barriers, and one message between the pairs for which its sender waits. In each
 * step rank 2 waits in the barrier of its pair when rank 0 asks for a checkpoint (in the barrier with itself). Then rank 0
 * sends to rank 1 and cannot come to that barrier before rank 1 receives, which first has to pass a barrier of its own pair.
 * usage: rendezvous [steps]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { COUNT = 1 << 18 };
static int data[COUNT];

int main(int argc, char **argv)
{
    int rank, steps = argc > 1 ? atoi(argv[1]) : 3;
    unsigned long sum = 0, all = 0;
    MPI_Comm pair;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &pair);
    for (int step = 0; step < steps; step++) {
        usleep(rank % 2 ? 600000 : rank == 0 ? 200000 : 0);
        if (rank == 0) {
            for (int i = 0; i < COUNT; i++)
                data[i] = step + i;
            MPI_Barrier(MPI_COMM_SELF);
            MPI_Ssend(data, COUNT, MPI_INT, 1, step, MPI_COMM_WORLD);
        }
        MPI_Barrier(pair);
        if (rank == 1) {
            MPI_Recv(data, COUNT, MPI_INT, 0, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < COUNT; i++)
                sum = sum * 3 + (unsigned)data[i];
        }
    }
    MPI_Reduce(&sum, &all, 1, MPI_UNSIGNED_LONG, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("rendezvous: %d steps, %lu\n", steps, all);
    MPI_Finalize();
    return 0;
}
