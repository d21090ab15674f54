/* refused.c - functions that the capsule does not support (table/refused.def). They exist because programs
 * and libraries may be linked against them; a call raises an error that names the function. This file does
 * not include mpi.h: the parameters do not matter.
 */
#include "core/core.h"
#include "faces/fortran_names.h"
#include <stddef.h>

static int refused(const char *function, const char *why)
{
    return raise_error(refuse(function, why), NULL, function);
}
#pragma GCC visibility push(default)
#define C_NAMES(Name, why)                 \
    int PMPI_##Name(void);                 \
    int PMPI_##Name(void)                  \
    {                                      \
        return refused("MPI_" #Name, why); \
    }                                      \
    int MPI_##Name(void) __attribute__((weak, alias("PMPI_" #Name)));
#ifdef MPICH_ABI
#define FORTRAN_NAMES(Name, name, place, why)
#else
#define FORTRAN_NAMES(Name, name, place, why)                                                  \
    void mpi_##name##_(void *, void *, void *, void *, void *, void *, void *, void *, void *, \
                       void *);                                                                \
    void mpi_##name##_(void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h, \
                       void *i, void *j)                                                       \
    {                                                                                          \
        void *all[] = {a, b, c, d, e, f, g, h, i, j};                                          \
        int rc = refused("MPI_" #Name, why);                                                   \
        if (all[place])                                                                        \
            *(int *)all[place] = rc;                                                           \
    }                                                                                          \
    OTHER_NAMES(void, name, (void))
#endif
#define REFUSED(Name, name, place, why) C_NAMES(Name, why) FORTRAN_NAMES(Name, name, place, why)
#define REFUSED_C(Name, why)            C_NAMES(Name, why)
#ifdef MPICH_ABI
#define REFUSED_MPICH(Name, why) C_NAMES(Name, why)
#define REFUSED_OPENMPI(Name, why)
#else
#define REFUSED_MPICH(Name, why)
#define REFUSED_OPENMPI(Name, why) C_NAMES(Name, why)
#endif
#ifdef STANDARD_ABI
#define REFUSED_STANDARD(Name, why) C_NAMES(Name, why)
#else
#define REFUSED_STANDARD(Name, why)
#endif
#pragma GCC diagnostic ignored "-Wattribute-alias"
#include "table/refused.def"
