/* missing.c - MPI functions that no face provides yet.  They must exist, because programs and
 * libraries linked with -z now (libpnetcdf, libmpichfort) are refused by ld.so otherwise, even if
 * they never call them.  Calling one stops the job and says which it was.  All are weak: they give
 * way to the real ones when this library is linked (at run time ld.so makes no such difference). */
#include "mpi_names.h"
#include <stdio.h>
#include <stdlib.h>
static void missing(const char *name)
{
    fprintf(stderr, "mend: %s is not implemented\n", name);
    abort();
}
#define MISSING(symbol, name)               \
    __attribute__((weak)) void symbol(void) \
    {                                       \
        missing(name);                      \
    }

#ifdef MPICH_ABI /* Fortran: MPICH's own libmpichfort, on top of the C functions */
#define X(Name, name) MISSING(PMPI_##Name, "MPI_" #Name) MISSING(MPI_##Name, "MPI_" #Name)
MPI_NAMES(X)
#undef X
#define X(Name) MISSING(P##Name, #Name) MISSING(Name, #Name)
MPICH_NAMES(X)
#undef X
#define X(Name) MISSING(Name, #Name)
MPICH_INTERNALS(X)
#else
#define X(Name, name)                                  \
    MISSING(PMPI_##Name, "MPI_" #Name)                 \
    MISSING(MPI_##Name, "MPI_" #Name)                  \
    MISSING(mpi_##name##_, "MPI_" #Name " (Fortran)")  \
    MISSING(pmpi_##name##_, "MPI_" #Name " (Fortran)") \
    MISSING(ompi_##name##_f, "MPI_" #Name " (Fortran)")
MPI_NAMES(X)
#endif
