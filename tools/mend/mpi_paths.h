/* The MPI libraries of this build. CMake writes share/mend/mpi, which says where they are, so that nothing
 * depends on the caller's PATH. */
#ifndef MEND_TOOL_MPI_PATHS_H
#define MEND_TOOL_MPI_PATHS_H

#include <stdbool.h>
#include <stddef.h>

/* The program `what` (mpirun, cc, cxx, fortran) of `mpi` (openmpi, mpich): the build's own if it is still
 * there, else what.MPI on $PATH under its usual name. False: there is none; *path is the name that was searched. */
bool tool_mpi_program(const char *mpi, const char *what, char *path, size_t size);

/* Set the environment that Open MPI needs if it was moved after its build, and allow root to start jobs. Call this
 * before starting a job. */
void tool_mpi_environment(void);

#endif
