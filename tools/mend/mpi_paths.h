/* The MPI libraries that this build belongs to: share/mend/mpi, written by CMake, says where they are, so that
 * nothing depends on the PATH of whoever calls. */
#ifndef MEND_TOOL_MPI_PATHS_H
#define MEND_TOOL_MPI_PATHS_H

#include <stdbool.h>
#include <stddef.h>

/* The program `what` (mpirun, cc, cxx, fortran) of `mpi` (openmpi, mpich): the one of the build if it is still
 * there, else what.MPI on $PATH under its usual name. False: there is none, and *path is the name looked for. */
bool tool_mpi_program(const char *mpi, const char *what, char *path, size_t size);

/* Set what an Open MPI needs in its environment if it was moved after it was built, and root's permission to start
 * jobs. Call this before a job is started. */
void tool_mpi_environment(void);

#endif
