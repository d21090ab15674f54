/* Open MPI's agreement is a star: nobody but rank 0 is needed for what others have to say. Rank 1 gives its vote and is
 * then stopped. In a string or a tree it would have to pass on the vote of rank 2 or 3, and nobody would get a result. */
#include "process_test.h"

#include <mpi-ext.h>
#include <ulfm/ulfm.h>

int main(int argc, char **argv)
{
    int rank, vote, pid = getpid(), pids[4];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    EXPECT(mend_ulfm_require() == 0);
    vote = 0xf & ~(1 << rank);
    MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    if (rank == 1) {
        EXPECT(MPIX_Comm_iagree(MPI_COMM_WORLD, &vote, &request) == MPI_SUCCESS);
        test_file("voted", "x");
        raise(SIGSTOP);
        EXPECT(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    } else {
        while (!test_file_exists("voted"))
            usleep(1000);
        EXPECT(MPIX_Comm_agree(MPI_COMM_WORLD, &vote) == MPI_SUCCESS);
    }
    EXPECT(vote == 0);
    if (rank == 0)
        kill(pids[1], SIGCONT);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        test_pass();
    MPI_Finalize();
    return 0;
}
