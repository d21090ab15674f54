/* A profiling tool: counts MPI_Comm_split and MPI_Allreduce, and calls the PMPI names, as tools do. */
#include <mpi.h>

int tool_splits, tool_reductions;

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
    tool_splits++;
    return PMPI_Comm_split(comm, color, key, made);
}

int MPI_Allreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    tool_reductions++;
    return PMPI_Allreduce(from, to, n, type, op, comm);
}
