/* A rank dies; its spare takes the place under the same number; survivors jump back. */
#include "process_test.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    mend_process *p;
    mend_process_options options = {.spares = test_spares(), .resume = MEND_RESUME_JUMP};
    int seats;
    MPI_Comm_size(MPI_COMM_WORLD, &seats);
    EXPECT(mend_process_open(MPI_COMM_WORLD, &options, &p) == 0);
    int rc = mend_process_resume_here(p);
    EXPECT(rc == 0);
    const mend_repair *now = mend_process_state(p);
    if (now->role != MEND_ROLE_RELEASED) {
        EXPECT(now->size == seats - options.spares);
        if (now->generation == 0) {
            EXPECT(now->role == MEND_ROLE_INITIAL && now->rank == test_rank());
            test_die_as(1);
        } else {
            EXPECT(now->generation == 1 && now->n_failed == 1 && now->failed[0] == 1);
            EXPECT(now->n_replaced == 1 && now->replaced[0] == 1);
            EXPECT(now->policy == MEND_POLICY_SPARE && now->spares == options.spares - 1);
            EXPECT(now->role == (now->rank == 1 ? MEND_ROLE_RECOVERED : MEND_ROLE_SURVIVOR));
            int survivors;
            EXPECT(mend_process_count_role(p, MEND_ROLE_SURVIVOR, &survivors) == 0);
            EXPECT(survivors == now->size - 1);
        }
        int sum = 0, one = 1;
        for (int i = 0; i < 100; i++)
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, now->comm);
        EXPECT(now->generation == 1 && sum == now->size);
    }
    int rank = now->rank;
    EXPECT(mend_process_close(p) == 0);
    if (rank == 0)
        test_pass();
    MPI_Finalize();
    return 0;
}
