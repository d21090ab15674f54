/* Communicators that belong to a resilient one: itself and everything made from it.
 *
 * Each carries an attribute (one keyval of ours) that points to its entry; freeing the communicator
 * removes the entry by the attribute's delete function. So a communicator can be asked for its
 * family, and a family for its members. How members come in: intercept.c. */
#ifndef PROCESS_COMMS_H
#define PROCESS_COMMS_H

#include <mpi.h>
#include <stdbool.h>

struct mend_family; /* one generation of one resilient communicator */

/* A new family with `root` (the resilient communicator) as its first member. `channel` reaches all
 * processes of the family and is used by nobody else: confirmations go over it. `owner` is kept for
 * mend_comms_owner. NULL: no memory or MPI failed. */
struct mend_family *mend_comms_family(MPI_Comm root, MPI_Comm channel, void *owner);

/* Break up: members keep living, but belong to nobody; the errors on them are stale. */
void mend_comms_dissolve(struct mend_family *family);

/* Take one more communicator in (once; a member stays a member). 0, or an MPI error code. */
int mend_comms_join(struct mend_family *family, MPI_Comm comm);

/* A duplicate that is still being made: it joins when its request has completed. */
void mend_comms_join_later(struct mend_family *family, MPI_Comm comm, MPI_Request request);

/* Let duplicates join that have been completed by now. */
void mend_comms_refresh(struct mend_family *family);

/* The family of a communicator, or NULL. */
struct mend_family *mend_comms_of(MPI_Comm comm);
void *mend_comms_owner(const struct mend_family *family);
MPI_Comm mend_comms_root(const struct mend_family *family);

/* Revoke every member, the root first; returns how many. */
int mend_comms_revoke(struct mend_family *family);
int mend_comms_count(const struct mend_family *family);
void mend_comms_set_errhandler(struct mend_family *family, MPI_Errhandler handler);

/* Do all members of a communicator that was just made from `parent` hold it? Waits for them on
 * `channel`, and gives up when that or the parent is revoked: then `made` is revoked and the code
 * is returned. Without this, a rank that failed to make it could not wake those who wait for it
 * there. And no message may travel on a communicator before all hold it: those who failed use its
 * context id again, and would take a late message for one of the next communicator. */
int mend_comms_confirm(MPI_Comm channel, MPI_Comm parent, MPI_Comm made);
MPI_Comm mend_comms_channel(const struct mend_family *family);

/* Called by the wrappers of intercept.c when `made` came from `parent`; returns the code that the
 * wrapper returns. */
int mend_comms_made(MPI_Comm parent, MPI_Comm *made);
/* MPI_Comm_create_group on a member of a family, in a way that a revoke of `comm` ends. */
int mend_comms_assemble(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made);
/* Can the MPI library be reached behind the wrappers? 0, or MEND_ERR_MPI. */
int mend_comms_intercept(void);

#endif
