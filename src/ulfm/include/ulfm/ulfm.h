/* The only room that includes mpi-ext.h. cures.def lists Open MPI's faults; layers above that use these functions
 * have every cure. Not collective, unless stated. */
#ifndef ULFM_ULFM_H
#define ULFM_ULFM_H

#include <mpi.h>
#include <stdbool.h>

/* 0, or MEND_ERR_NO_ULFM with the reason: the library lacks ULFM, or the job runs without it. */
int mend_ulfm_require(void);

/* Runs by itself when the program is loaded (settings.c). */
void mend_ulfm_set_parameters(void);

/* A write to a process that has just died raises SIGPIPE in the tcp transport, whose default action kills the writer
 * as well. From now on this process ignores it, in jobs with fault tolerance, unless the program has set a handler. */
void mend_ulfm_survive_broken_pipes(void);

/* Was the library built with ULFM? */
bool mend_ulfm_built(void);

/* Does this MPI error code mean a dead peer or a revoked communicator? */
bool mend_ulfm_is_failure(int mpi_code);
/* The codes for "this communicator is revoked" and "a peer has died". */
int mend_ulfm_revoked_code(void);
int mend_ulfm_failed_code(void);

bool mend_ulfm_is_revocation(int mpi_code);
/* A receive from any source that a death has put in doubt: it may still complete. */
bool mend_ulfm_is_pending(int mpi_code);

/* Did a death cause this error? This is the rule for every call of every layer; see failure.c. `look` returns what is
 * known of the processes that the call concerns. It is called repeatedly, and should let MPI make progress. */
enum mend_news { NEWS_UNKNOWN, NEWS_DEATH, NEWS_ALL_ALIVE };
bool mend_ulfm_caused_by_death(int mpi_code, enum mend_news (*look)(void *arg), void *arg);

/* Wake every process that waits in an operation on this communicator (but not in shrink or agree). */
void mend_ulfm_revoke(MPI_Comm comm);
/* Drives no progress: it shows another process's revoke only after some other MPI call. */
bool mend_ulfm_is_revoked(MPI_Comm comm);

/* Make a communicator of the living processes of comm, in their old order. Works on a revoked communicator. */
int mend_ulfm_shrink(MPI_Comm comm, MPI_Comm *alive);

/* Bitwise AND of *flags over the living members. The result, including error codes, is the same for all. A process
 * that has learned of a failure only through a revoke must know the death before it calls this (see await_failure). */
int mend_ulfm_agree(MPI_Comm comm, int *flags);

/* How many members are known to be dead; `dead` (may be NULL) gets one flag per rank. */
int mend_ulfm_failed(MPI_Comm comm, bool *dead);

/* Drive MPI until this process knows of a death on comm, at most this many seconds. A process that knows of a failure
 * only through a revoke, and then agrees, sometimes crashes in Open MPI. */
void mend_ulfm_await_failure(MPI_Comm comm, double seconds);

/* Let this process open as many connections, as far as its limit of file descriptors may be raised. */
void mend_ulfm_allow_connections(int processes);

/* Connect all members of comm, so that they can send to each other without waiting (connect.c). Collective. */
int mend_ulfm_connect(MPI_Comm comm);

/* Drop what Open MPI keeps for reuse from sends and receives that never ended (requests.c). */
void mend_ulfm_forget_kept_requests(void);

/* Let MPI process what has arrived. */
void mend_ulfm_progress(MPI_Comm comm);

#endif
