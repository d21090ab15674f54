/* A Fenix program in the older style: nine arguments, a jump back into Fenix_Init, roles, the list
 * of the failed, callbacks newest first, old requests asked about. Two failures, one after the
 * other. */
#include "process_test.h"

#include <fenix.h>

static int order[8], n_order;

static void note(MPI_Comm comm, int code, void *data)
{
    int size;
    MPI_Comm_size(comm, &size); /* the new communicator works inside a callback */
    EXPECT(code != MPI_SUCCESS && size == atoi(getenv("MEND_TEST_NP")));
    order[n_order++] = *(int *)data;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    static int first = 1, second = 2, third = 3;
    static int buffer = 7, never;
    static MPI_Request satisfied = MPI_REQUEST_NULL, lost = MPI_REQUEST_NULL;
    int role, error = 1234, flag, rank, size, *failed, count;
    MPI_Comm comm;
    EXPECT(Fenix_Initialized(&flag) == FENIX_SUCCESS && flag == 0);
    EXPECT(Fenix_Finalize() == FENIX_ERROR_UNINITIALIZED);
    EXPECT(Fenix_Callback_register(note, NULL) == FENIX_ERROR_UNINITIALIZED);
    EXPECT(Fenix_Process_fail_list(&failed) == FENIX_ERROR_UNINITIALIZED);

    Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, test_spares(), 0, MPI_INFO_NULL, &error);

    EXPECT(error == FENIX_SUCCESS);
    EXPECT(Fenix_Initialized(&flag) == FENIX_SUCCESS && flag == 1);
    EXPECT(role == (int)Fenix_get_role());
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    EXPECT(size == atoi(getenv("MEND_TEST_NP")));
    if (role == FENIX_ROLE_INITIAL_RANK) {
        EXPECT(Fenix_Process_fail_list(&failed) == 0);
        EXPECT(Fenix_Callback_register(note, &first) == FENIX_SUCCESS);
        EXPECT(Fenix_Callback_register(note, &second) == FENIX_SUCCESS);
        EXPECT(Fenix_Callback_register(note, &third) == FENIX_SUCCESS);
        EXPECT(Fenix_Callback_pop() == FENIX_SUCCESS);
        if (rank == 0) {
            MPI_Irecv(&buffer, 1, MPI_INT, 2, 5, comm, &satisfied);
            MPI_Irecv(&never, 1, MPI_INT, 2, 6, comm, &lost);
        }
        int value = 42;
        if (rank == 2)
            MPI_Send(&value, 1, MPI_INT, 0, 5, comm);
        MPI_Barrier(comm);
        if (rank == 0) { /* let the message arrive */
            int done = 0;
            while (!done)
                MPI_Iprobe(MPI_ANY_SOURCE, 99, comm, &flag, MPI_STATUS_IGNORE), done = buffer == 42;
        }
        test_out_of_it("arrived", size - 1, rank == 1);
        if (rank == 1)
            test_die();
        MPI_Barrier(comm);
        MPI_Barrier(comm);
        EXPECT(!"a barrier without rank 1");
    }
    count = Fenix_Process_fail_list(&failed);
    EXPECT(count == 1 && (failed[0] == 1 || failed[0] == 3));
    int survivors, recovered, other;
    EXPECT(Fenix_get_number_of_ranks_with_role(FENIX_ROLE_SURVIVOR_RANK, &survivors) == 0);
    EXPECT(Fenix_get_number_of_ranks_with_role(FENIX_ROLE_RECOVERED_RANK, &recovered) == 0);
    EXPECT(survivors == size - 1 && recovered == 1);
    EXPECT(Fenix_get_role(comm, failed[0], &other) == 0 && other == FENIX_ROLE_RECOVERED_RANK);
    EXPECT(role == (rank == failed[0] ? FENIX_ROLE_RECOVERED_RANK : FENIX_ROLE_SURVIVOR_RANK));
    if (failed[0] == 1) { /* the first recovery */
        if (role == FENIX_ROLE_SURVIVOR_RANK)
            EXPECT(n_order == 2 && order[0] == 2 && order[1] == 1);
        if (rank == 0) {
            EXPECT(Fenix_check_cancelled(&satisfied, MPI_STATUS_IGNORE) == 0 && buffer == 42);
            EXPECT(Fenix_check_cancelled(&lost, MPI_STATUS_IGNORE) == 1);
        }
        EXPECT(Fenix_get_nspare() == test_spares() - 1);
        MPI_Barrier(comm);
        if (rank == 3)
            test_die();
        int found = MPI_SUCCESS;
        while (found == MPI_SUCCESS)
            found = Fenix_Process_detect_failures(0);
        EXPECT(found == MPI_ERR_PROC_FAILED);
        Fenix_Process_detect_failures(1);
        EXPECT(!"no jump");
    }
    int sum, one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    EXPECT(sum == size);
    EXPECT(Fenix_Finalize() == FENIX_SUCCESS);
    EXPECT(Fenix_Finalized(&flag) == FENIX_SUCCESS && flag == 1);
    EXPECT(Fenix_Finalize() == FENIX_ERROR_UNINITIALIZED);
    if (rank == 0)
        test_pass();
    MPI_Finalize();
    return 0;
}
