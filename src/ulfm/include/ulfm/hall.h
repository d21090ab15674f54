/* The hall: where the living processes meet before they agree, and the way out of an agreement that does not end.
 *
 * Open MPI's agreement (in MPIX_Comm_shrink, MPIX_Comm_agree) hangs forever in about 1 of 600 runs on a heavily
 * overloaded machine, and no revoke ends it. So no process enters it before all have come and know of the same
 * deaths; it has a time limit; and processes can leave it. Then all leave it, and meet again on communicators that
 * nobody has used. hall.c has the protocol.
 *
 * Step 1 of the protocol (who lives, who has come) is the place to plug in a launcher that reports membership by
 * epochs: mend_hall_gather() then asks the launcher, and nothing else changes. */
#ifndef ULFM_HALL_H
#define ULFM_HALL_H

#include <mpi.h>
#include <stdbool.h>

struct mend_hall;

/* Open a hall for the processes of comm, all of which must be alive. Each agreement may take `seconds`. Collective; a
 * death inside is an error on some or all. If any process has MPI_THREAD_MULTIPLE, or the library does not let us
 * hook its progress, all meet, but they cannot leave an agreement; other threads of ours stop meanwhile (gate.h).
 * NULL without an error: there is no hall (too many processes, no memory, or no limit). The calls below accept NULL
 * and then make the plain call. */
int mend_hall_open(MPI_Comm comm, double seconds, struct mend_hall **hall);

/* The places for attempts run out. USED: some were needed since the last were added. Then open another hall of the
 * living processes and add its places; mend_hall_add frees `more`. All processes do this or none. */
enum mend_hall_state { HALL_NONE, HALL_FRESH, HALL_USED };
enum mend_hall_state mend_hall_state(const struct mend_hall *hall);
void mend_hall_add(struct mend_hall *hall, struct mend_hall *more);
/* together: all processes close it, and it frees its communicators; otherwise they stay. */
void mend_hall_close(struct mend_hall *hall, bool together);

/* Begin an attempt. Returns when every living process has come here, too. Collective over the living. If the previous
 * attempt was abandoned, *base becomes a fresh communicator of the same processes. */
void mend_hall_gather(struct mend_hall *hall, MPI_Comm *base);

/* Wait again, before an agreement, until every living process has come here, too, and knows of the same deaths. So
 * the agreement's limit does not hit processes that have long work to do before it, and no notice of a death arrives
 * inside it. All processes call it before they agree. False: the attempt was abandoned; call the agreement anyway,
 * which reports it. */
bool mend_hall_assemble(struct mend_hall *hall);

/* Is there a way out of a call that does not end? Not without a hall, nor when its channels are used up. */
bool mend_hall_is_bounded(const struct mend_hall *hall);

/* mend_ulfm_shrink and mend_ulfm_agree, with a way out. A process that has abandoned an agreement cannot know its
 * result until the next gathering; mend_hall_unsure() says so. When another process leaves the attempt, we revoke
 * *alive to end calls on it. `patient`: the others may have long work to do before they agree, so wait without a
 * limit. */
int mend_hall_shrink(struct mend_hall *hall, MPI_Comm base, MPI_Comm *alive);
int mend_hall_agree(struct mend_hall *hall, MPI_Comm alive, int *flags, bool patient);
bool mend_hall_unsure(const struct mend_hall *hall);

/* This process has adopted the result of this attempt's agreement. */
void mend_hall_adopted(struct mend_hall *hall);
/* After a gathering: did another process adopt the agreement that this one abandoned? */
bool mend_hall_was_adopted(const struct mend_hall *hall);

#endif
