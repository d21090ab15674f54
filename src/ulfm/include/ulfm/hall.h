/* The hall: where the living meet before they agree, and the way out of an agreement that does not end.
 *
 * Open MPI's agreement (in MPIX_Comm_shrink, MPIX_Comm_agree) hangs for ever in about 1 of 600 runs
 * on a machine that is far overloaded, and no revoke ends it. So it is not entered before everybody is
 * there and knows the same deaths, it may last so long only, and it can be left: then all leave it, and
 * meet again on communicators that nobody has used. The protocol is in hall.c.
 *
 * Step 1 of it (who lives, who has come) is the seam for a launcher that tells membership by epochs:
 * mend_hall_gather() is then a question to the launcher, and nothing else changes. */
#ifndef ULFM_HALL_H
#define ULFM_HALL_H

#include <mpi.h>
#include <stdbool.h>

struct mend_hall;

/* A new hall for the processes of comm, all of which live. Each agreement may take so many `seconds`.
 * Collective; a death inside is an error on some or all. If one of them has MPI_THREAD_MULTIPLE, or if the
 * library does not let us look at its progress, all meet, but an agreement cannot be left; other threads of
 * ours stand still meanwhile (gate.h). NULL without an error: no hall can be had (very
 * many processes); the calls below accept it and then do the plain thing. */
int mend_hall_open(MPI_Comm comm, double seconds, struct mend_hall **hall);

/* Places for further attempts run out. USED: some were needed since the last were added. Then open another
 * hall, of the processes that live, and add its places; `more` is freed. All do or none. */
enum mend_hall_state { HALL_NONE, HALL_FRESH, HALL_USED };
enum mend_hall_state mend_hall_state(const struct mend_hall *hall);
void mend_hall_add(struct mend_hall *hall, struct mend_hall *more);
/* Together: all close it, and its communicators are freed; else they stay. */
void mend_hall_close(struct mend_hall *hall, bool together);

/* An attempt begins: return when every living process has come here, too. Collective over the
 * living. If the attempt before was left, *base becomes a fresh communicator of the same processes. */
void mend_hall_gather(struct mend_hall *hall, MPI_Comm *base);

/* Wait once more, before an agreement, until every living process has come here, too, and knows the same
 * deaths: the limit of the agreement then does not hit those who have long work to do before it, and no news
 * of a death comes inside. All call it before they agree. False: the
 * attempt was left; go to the agreement all the same, which says so. */
bool mend_hall_assemble(struct mend_hall *hall);

/* Will a call that does not end be left? Not without a hall, nor when its channels are used up. */
bool mend_hall_is_bounded(const struct mend_hall *hall);

/* mend_ulfm_shrink and mend_ulfm_agree, which may be left. After an agreement that was left this
 * process cannot know its result until the next gathering; mend_hall_unsure() says so. A call on
 * *alive that a revoke can end is ended by us when another process leaves the attempt. `patient`: the
 * others may have long work to do before they agree; wait without a limit. */
int mend_hall_shrink(struct mend_hall *hall, MPI_Comm base, MPI_Comm *alive);
int mend_hall_agree(struct mend_hall *hall, MPI_Comm alive, int *flags, bool patient);
bool mend_hall_unsure(const struct mend_hall *hall);

/* This process has acted upon the agreement of this attempt. */
void mend_hall_adopted(struct mend_hall *hall);
/* After a gathering: had the agreement that this process left ended in a yes for another one? */
bool mend_hall_was_adopted(const struct mend_hall *hall);

#endif
