/* The only door to ULFM: the only room that includes mpi-ext.h. Faults of Open MPI are listed in
 * cures.def; the layers above use these names and have every cure. Not collective, unless it says so. */
#ifndef ULFM_ULFM_H
#define ULFM_ULFM_H

#include <mpi.h>
#include <stdbool.h>

/* 0, or MEND_ERR_NO_ULFM with the reason: not in the library, or not switched on in this job. */
int mend_ulfm_require(void);

/* Runs by itself when the program is loaded (settings.c). */
void mend_ulfm_set_parameters(void);

/* A write to a process that has just died raises SIGPIPE in the tcp transport, and its default is to die as well. In
 * jobs with fault tolerance it is ignored from now on, unless the program has set it. */
void mend_ulfm_survive_broken_pipes(void);

/* Was the library built with ULFM? */
bool mend_ulfm_built(void);

/* Is this MPI error code one of a dead peer or a revoked communicator? */
bool mend_ulfm_is_failure(int mpi_code);
/* The codes for "this communicator is revoked" and "a peer has died". */
int mend_ulfm_revoked_code(void);
int mend_ulfm_failed_code(void);

bool mend_ulfm_is_revocation(int mpi_code);
/* A receive from anybody that a death has put into doubt: it may still be completed. */
bool mend_ulfm_is_pending(int mpi_code);

/* Was this error caused by a death? The one rule, for every call of every layer; see failure.c.
 * `look` says what is known of the processes that the call concerns; it is asked again and again,
 * and should let MPI work on what has arrived. */
enum mend_news { NEWS_UNKNOWN, NEWS_DEATH, NEWS_ALL_ALIVE };
bool mend_ulfm_caused_by_death(int mpi_code, enum mend_news (*look)(void *arg), void *arg);

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

/* All members of comm can send to each other without waiting (connect.c). Collective. */
int mend_ulfm_connect(MPI_Comm comm);

/* Drop what Open MPI has kept for reuse of sends and receives that never ended (requests.c). */
void mend_ulfm_forget_kept_requests(void);

/* Let MPI work on what has arrived. */
void mend_ulfm_progress(MPI_Comm comm);

#endif
