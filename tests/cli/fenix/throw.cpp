// A C++ program in the style of Fenix: failures come as exceptions (FENIX_RESUME_THROW).
#include <fenix.h>

#include <csignal>
#include <cstdio>
#include <mpi.h>
#include <unistd.h>

struct Guard { // destructors run when the exception passes
    int &count;
    ~Guard()
    {
        ++count;
    }
};

static int add_up(MPI_Comm comm, int &unwound)
{
    Guard guard{unwound};
    int rank, sum = 0;
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < 20; i++)
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int role, error, rank, unwound = 0, caught = 0, sum = -1;
    MPI_Comm comm;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "FENIX_RESUME_MODE", "THROW");
    Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, 0, info, &error);
    MPI_Comm_rank(comm, &rank);
    if (role == FENIX_ROLE_INITIAL_RANK && rank == 1)
        std::raise(SIGKILL);
    while (sum < 0) {
        try {
            sum = add_up(comm, unwound);
        } catch (const fenix::CommException &failure) {
            caught++;
            if (failure.repaired_comm != comm)
                sum = -2;
        }
    }
    bool right = sum == 6 && (role == FENIX_ROLE_RECOVERED_RANK ? caught == 0 : caught == 1) &&
                 unwound == caught + 1;
    if (!right)
        std::fprintf(stderr, "rank %d: sum %d, caught %d, unwound %d\n", rank, sum, caught,
                     unwound);
    int all = right, ok = 0;
    MPI_Allreduce(&all, &ok, 1, MPI_INT, MPI_LAND, comm);
    Fenix_Finalize();
    if (rank == 0 && ok)
        std::puts("PASS");
    std::fflush(stdout);
    MPI_Finalize();
    return 0;
}
