/* mend/fortran.h: for the module in bindings/fortran/mend.f90, not for C programs. */
#ifndef MEND_FORTRAN_H
#define MEND_FORTRAN_H

#include <mend/process.h>
#include <mend/store.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As mend_store_open() and mend_store_rebind(), with MPI's integer handles. The options are the
 * defaults; folders that are not empty replace the configured ones. Collective, agreed, deaths and
 * errors: as those two; MEND_ERR_CONFIG of mend_store_defaults() is not agreed. */
MEND_API int mend_store_open_fortran(MPI_Fint comm, int logical_rank, const char *name,
                                     const char *local_dir, const char *global_dir,
                                     mend_store **store);
MEND_API int mend_store_rebind_fortran(mend_store *store, MPI_Fint comm, int logical_rank);

/* As mend_process_open() in mode MANUAL, with the first two policies to try: collective, agreed,
 * deaths and errors as there. And the fields of mend_process_state(): not collective, no errors. */
MEND_API int mend_process_open_fortran(MPI_Fint base, int spares, int first_policy,
                                       int second_policy, mend_process **process);
MEND_API void mend_process_state_fortran(const mend_process *p, MPI_Fint *comm, int *role,
                                         int *rank, int *size, int *generation, int *spares);

#ifdef __cplusplus
}
#endif
#endif
