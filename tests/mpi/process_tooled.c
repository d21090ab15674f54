/* A program under a profiling tool: the tool sees every call, and the layer still knows the derived
 * communicators: rank 0 sits in one of them when rank 3 dies. Linked with the tool before Mend and
 * after it. */
#include "process_test.h"

extern int tool_splits, tool_reductions;

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    mend_process *p;
    mend_process_options options = {.spares = test_spares(), .resume = MEND_RESUME_JUMP};
    EXPECT(mend_process_open(MPI_COMM_WORLD, &options, &p) == 0);
    EXPECT(mend_process_resume_here(p) == 0);
    const mend_repair *now = mend_process_state(p);
    if (now->role != MEND_ROLE_RELEASED) {
        MPI_Comm pair;
        int splits = tool_splits, reductions = tool_reductions, value, sum, one = 1;
        MPI_Comm_split(now->comm, now->rank < 2, now->rank, &pair);
        EXPECT(tool_splits == splits + 1);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, now->comm);
        EXPECT(tool_reductions == reductions + 1 && sum == now->size);
        if (now->generation == 0) {
            if (now->rank == 3)
                test_die();
            if (now->rank == 0)
                MPI_Recv(&value, 1, MPI_INT, 1, 7, pair, MPI_STATUS_IGNORE);
            else
                MPI_Recv(&value, 1, MPI_INT, now->rank + 1, 8, now->comm, MPI_STATUS_IGNORE);
            EXPECT(!"a message that nobody sent");
        }
    }
    int rank = now->rank;
    EXPECT(mend_process_close(p) == 0);
    if (rank == 0)
        test_pass();
    MPI_Finalize();
    return 0;
}
