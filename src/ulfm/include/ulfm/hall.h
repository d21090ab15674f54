/* The hall: where the living processes meet and agree, without Open MPI's agreement, which hangs now and then. hall.c has
 * the protocol. An attempt is: gather, shrink, the work of the layer above, agree.
 *
 * Step 1 of the protocol (who lives, who has come) is the place to plug in a launcher that reports membership by
 * epochs: mend_hall_gather() then asks the launcher, and nothing else changes.
 *
 * NULL is a hall, too: that of an MPI library without the functions of making.c. There, shrink and agree are the
 * library's, and nobody gathers. */
#ifndef ULFM_HALL_H
#define ULFM_HALL_H

#include <mpi.h>
#include <stdbool.h>

struct mend_hall;

/* The first hall, whose messages travel on the caller's own communicator, with tags of ours. Meanwhile that returns
 * errors. for_good: nobody else uses that communicator, so there need not be another hall. Local: the processes may be
 * dead. */
struct mend_hall *mend_hall_borrow(MPI_Comm comm, bool for_good);

/* A hall with a channel of its own, for the processes of comm, all of which must be alive. Collective; a death inside is an
 * error on some or all. */
int mend_hall_open(MPI_Comm comm, struct mend_hall **hall);
MPI_Comm mend_hall_channel(const struct mend_hall *hall);
bool mend_hall_is_own(const struct mend_hall *hall);

/* A hall that was opened during an attempt. All processes must hold it before any votes yes. Take it when the vote has
 * said yes, or when this process is unsure; otherwise refuse it. */
void mend_hall_take(struct mend_hall **hall, struct mend_hall *next);
void mend_hall_refuse(struct mend_hall *next);

/* Its communicators stay. Not collective. */
void mend_hall_close(struct mend_hall *hall);

/* Begin an attempt. Returns when every living process has come here, too. Collective over the living. *hall may become an
 * earlier one. */
void mend_hall_gather(struct mend_hall **hall);

/* Make a communicator of those who have gathered, in their old order. If it fails, or anything until the vote, begin
 * again. `base` is for a hall that is NULL. */
int mend_hall_shrink(struct mend_hall *hall, MPI_Comm base, MPI_Comm *alive);

/* Bitwise AND of the flags of all. The result is the same for all that get one. Waits without a limit: the others may have
 * long work to do before they agree. On an error the attempt has failed; or others have the result, and this process is
 * unsure until the shrink of a later attempt has succeeded. Then was_adopted() says whether anybody has adopted it. */
int mend_hall_agree(struct mend_hall *hall, MPI_Comm alive, int *flags);
bool mend_hall_unsure(const struct mend_hall *hall);
bool mend_hall_was_adopted(const struct mend_hall *hall);

/* This process has adopted the result of this attempt's agreement; or that of which it was unsure. */
void mend_hall_adopted(struct mend_hall *hall);

/* This process leaves for good, because the agreement has said so. Those who are unsure of it learn that. */
void mend_hall_farewell(struct mend_hall *hall);

/* An agreement after which all end, whatever it says: 0 if a process dies. */
void mend_hall_agree_to_end(struct mend_hall *hall, MPI_Comm alive, int *flags);

#endif
