/* The communicators of a family: the resilient one and everything made from it.
 *
 * Each carries an attribute (with one keyval of ours) that points to its entry. When a communicator is freed, the
 * attribute's delete function removes the entry. So we can find the family of a communicator, and the members of a
 * family. intercept.c adds the members. */
#ifndef PROCESS_COMMS_H
#define PROCESS_COMMS_H

#include <mpi.h>
#include <stdbool.h>

struct mend_family; /* one generation of one resilient communicator */

/* Make a family with `root` (the resilient communicator) as its first member. `channel` reaches all processes of the
 * family and carries only confirmations. `owner` is for mend_comms_owner. NULL: no memory, or MPI failed. */
struct mend_family *mend_comms_family(MPI_Comm root, MPI_Comm channel, void *owner);

/* Dissolve the family. Its members stay valid but belong to no family, and errors on them are stale. */
void mend_comms_dissolve(struct mend_family *family);

/* Add a communicator, once: a member stays a member. 0, or an MPI error code. */
int mend_comms_join(struct mend_family *family, MPI_Comm comm);

/* Note a duplicate under construction. It joins when its request is complete. */
void mend_comms_join_later(struct mend_family *family, MPI_Comm comm, MPI_Request request);

/* Add the duplicates that have become complete. */
void mend_comms_refresh(struct mend_family *family);

/* The family of a communicator, or NULL. */
struct mend_family *mend_comms_of(MPI_Comm comm);
void *mend_comms_owner(const struct mend_family *family);
MPI_Comm mend_comms_root(const struct mend_family *family);

/* Revoke every member, the root first. Returns the number of members. */
int mend_comms_revoke(struct mend_family *family);
int mend_comms_count(const struct mend_family *family);
void mend_comms_set_errhandler(struct mend_family *family, MPI_Errhandler handler);

/* Check that all members of a communicator just made from `parent` hold it. Waits for them on `channel`, and gives up
 * when that or the parent is revoked: then it revokes `made` and returns the error code. Without this, a rank that
 * failed to make the communicator could not wake those that wait for it there. Nor may a message travel on a
 * communicator before all hold it: ranks that failed reuse its context id, and would take a late message for one on
 * the next communicator. */
int mend_comms_confirm(MPI_Comm channel, MPI_Comm parent, MPI_Comm made);
MPI_Comm mend_comms_channel(const struct mend_family *family);

/* The wrappers of intercept.c call this when `made` came from `parent`, and return its code. */
int mend_comms_made(MPI_Comm parent, MPI_Comm *made);
/* MPI_Comm_create_group on a member of a family, built from calls that a revoke of `comm` ends. */
int mend_comms_assemble(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made);
/* Can the wrappers reach the MPI library behind them? 0, or MEND_ERR_MPI. */
int mend_comms_intercept(void);

#endif
