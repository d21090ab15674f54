/* mend/fortran.h: for the bindings to other languages (bindings/), not for C programs. */
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

/* Safe points: MPI_Init of mend/flow.h, work(), MPI_Finalize. Inside work() there are loops, each
 * with its own name: body() is called until it returns 0, with a safe point before each call. A
 * process that goes back leaves body(), or work(), by a jump. Collective, deaths and errors: as
 * MPI_Init, MPI_Finalize and mend_point() there. */
typedef void mend_fortran_main(void);
typedef int mend_fortran_body(void);
MEND_API int mend_flow_main_fortran(mend_fortran_main *work);
MEND_API void mend_flow_loop_fortran(const char *name, mend_fortran_body *body);

/* As mend_view() and mend_view_global() for `bytes` bytes; offset and total count elements. Not
 * collective. Errors: as those, and MEND_ERR_VIEW for an array that is not contiguous. */
MEND_API int mend_flow_view_fortran(const char *label, void *address, size_t bytes, int contiguous,
                                    int flags);
MEND_API int mend_flow_view_global_fortran(const char *label, void *address, size_t bytes,
                                           int contiguous, int64_t offset, int64_t total,
                                           size_t element, int flags);

/* As mend_rebuild(), mend_flow_world() and mend_flow_watch(): collective, deaths and errors as
 * there. */
MEND_API int mend_flow_rebuild_fortran(mend_fortran_main *build);
MEND_API MPI_Fint mend_flow_world_fortran(void);
MEND_API int mend_flow_watch_fortran(MPI_Fint comm);

/* As FTI_Init() of compat/fti.h, with MPI's integer handle; *comm becomes FTI_COMM_WORLD. Collective,
 * deaths and errors: as there. */
MEND_API int mend_fti_init_fortran(const char *config_file, MPI_Fint *comm);

#ifdef __cplusplus
}
#endif
#endif
