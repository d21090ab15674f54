/* A second wake-up for an owner that missed the first: see nudge.c. */
#ifndef PROCESS_NUDGE_H
#define PROCESS_NUDGE_H

#include "board.h"

#include <mpi.h>

struct mend_nudge;

/* NULL: not needed (no MPI_THREAD_MULTIPLE), or no memory. All calls accept NULL. */
struct mend_nudge *mend_nudge_open(void);
/* Set the communicators to watch for the owner. Call it before one of them is freed. */
void mend_nudge_watch(struct mend_nudge *nudge, MPI_Comm base, MPI_Comm world);
/* Call it after a repair, in the owner's thread: it makes communicators. */
void mend_nudge_refill(struct mend_nudge *nudge);
/* Call it from time to time in another thread, with the owner's phase. */
void mend_nudge_tick(struct mend_nudge *nudge, enum mend_phase phase);
void mend_nudge_close(struct mend_nudge *nudge);

#endif
