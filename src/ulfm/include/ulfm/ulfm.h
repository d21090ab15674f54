/* The only door to ULFM. What Open MPI's implementation does besides the standard is known here and
 * nowhere else; every other file of the layer uses these names. */
#ifndef PROCESS_ULFM_H
#define PROCESS_ULFM_H

#include <mpi.h>
#include <stdbool.h>

/* 0, or MEND_ERR_NO_ULFM with the reason: not in the library, or not switched on in this job. */
int mend_ulfm_require(void);

/* Is this MPI error code one of a dead peer or a revoked communicator? */
bool mend_ulfm_is_failure(int mpi_code);
/* The codes for "this communicator is revoked" and "a peer has died". */
int mend_ulfm_revoked_code(void);
int mend_ulfm_failed_code(void);

/* Wake everybody who waits in an operation on this communicator (but not in shrink or agree). */
void mend_ulfm_revoke(MPI_Comm comm);
/* Drives no progress: a revoke by others is seen only after some other MPI call. */
bool mend_ulfm_is_revoked(MPI_Comm comm);

/* The processes of comm that live, in their old order. Works on a revoked communicator. */
int mend_ulfm_shrink(MPI_Comm comm, MPI_Comm *alive);

/* Bitwise AND of *flags over the living members; the result, error codes included, is the same for
 * all. A failure that came by a revoke only must be known here before (see await_failure). */
int mend_ulfm_agree(MPI_Comm comm, int *flags);

/* How many members are known to be dead; `dead` (may be NULL) gets one flag per rank. */
int mend_ulfm_failed(MPI_Comm comm, bool *dead);

/* Pump MPI until a death on comm is known in this process, at most so many seconds: a process that
 * knows of a failure only through a revoke and then agrees crashes now and then in Open MPI. */
void mend_ulfm_await_failure(MPI_Comm comm, double seconds);

/* Let MPI work on what has arrived. */
void mend_ulfm_progress(MPI_Comm comm);

#endif
