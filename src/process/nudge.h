/* A second call for owners who have missed the first: see nudge.c. */
#ifndef PROCESS_NUDGE_H
#define PROCESS_NUDGE_H

#include "board.h"

#include <mpi.h>

struct mend_nudge;

/* NULL: not needed (one thread only uses MPI), or no memory; all calls accept it. */
struct mend_nudge *mend_nudge_open(void);
/* News about these concern the owner. Must be told before one of them is freed. */
void mend_nudge_watch(struct mend_nudge *nudge, MPI_Comm base, MPI_Comm world);
/* After a repair. Makes communicators, so it is for the owner's thread. */
void mend_nudge_refill(struct mend_nudge *nudge);
/* From time to time, in another thread, with the phase that the owner is in. */
void mend_nudge_tick(struct mend_nudge *nudge, enum mend_phase phase);
void mend_nudge_close(struct mend_nudge *nudge);

#endif
