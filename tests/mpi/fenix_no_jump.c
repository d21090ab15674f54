/* fenix_no_jump info|option: Fenix without a jump. The failing call returns its error; role and
 * communicator of Fenix_Init have changed by then. Later all spares are gone: the rest goes on. */
#include "process_test.h"

#include <fenix.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int role = -1, error = 1234, rank, size, seats, value = 44;
    MPI_Comm comm;
    MPI_Comm_size(MPI_COMM_WORLD, &seats);
    if (argc > 1 && strcmp(argv[1], "info") == 0) {
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "FENIX_RESUME_MODE", "NO_JUMP");
        Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, test_spares(), 0, info, &error);
        MPI_Info_free(&info);
    } else {
        EXPECT(Fenix_set_option(FENIX_RECOVERY_MODE, FENIX_RECOVERY_NOOP) ==
               FENIX_ERROR_INVALID_SETTING_OPTION);
        EXPECT(Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_RETURN) == FENIX_SUCCESS);
        Fenix_Init(&role, MPI_COMM_WORLD, &comm, NULL, NULL, test_spares(), &error);
    }
    EXPECT(error == FENIX_SUCCESS);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm before = comm;
    test_die_as(1);
    if (rank == 1) {
        EXPECT(role == FENIX_ROLE_RECOVERED_RANK);
        value = 33;
        MPI_Send(&value, 1, MPI_INT, 0, 1, comm);
    } else if (rank == 0) {
        EXPECT(role == FENIX_ROLE_INITIAL_RANK);
        EXPECT(MPI_Recv(&value, 1, MPI_INT, 1, 1, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS);
        EXPECT(role == FENIX_ROLE_SURVIVOR_RANK && value == 44 && comm != before);
        EXPECT(MPI_Recv(&value, 1, MPI_INT, 1, 1, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        EXPECT(value == 33);
    } else {
        while (MPI_Barrier(comm) == MPI_SUCCESS)
            ;
        EXPECT(role == FENIX_ROLE_SURVIVOR_RANK && comm != before);
    }
    EXPECT(MPI_Barrier(comm) == MPI_SUCCESS);
    test_out_of_it("repaired", size - 1, rank == 2);

    /* one more than there are spares: shrink, with a warning */
    EXPECT(Fenix_get_nspare() == 0);
    if (rank == 2)
        test_die();
    while (MPI_Barrier(comm) == MPI_SUCCESS)
        ;
    EXPECT(error == FENIX_WARNING_SPARE_RANKS_DEPLETED && Fenix_get_error() == error);
    int now;
    MPI_Comm_size(comm, &now);
    EXPECT(now == size - 1);
    MPI_Comm_rank(comm, &rank);
    int sum, one = 1;
    EXPECT(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && sum == now);
    EXPECT(Fenix_Finalize() == FENIX_SUCCESS);
    if (rank == 0)
        test_pass();
    MPI_Finalize();
    return 0;
}
