/* Agreements on a stack of their own, so that a process can leave them (apart.c). */
#ifndef ULFM_APART_H
#define ULFM_APART_H

#include <mpi.h>
#include <stdbool.h>

struct mend_apart_order {
    MPI_Comm comm;
    bool agree;     /* else shrink */
    int flags;      /* agree: in and out */
    MPI_Comm alive; /* shrink: out */
    int mpi_code;   /* out */
};

/* Carry out the order on a stack of its own. False: the call was abandoned, and *order has no result. One at a time,
 * and only where one thread calls MPI. Without memory for a stack the call runs here, and cannot be left. */
bool mend_apart(struct mend_apart_order *order);

/* Called inside the call, between two turns of the library: leave it for good. Does not return if there is a call to
 * leave; otherwise it does nothing. */
void mend_apart_leave(void);

/* The same as mend_apart on this stack, without a way out. */
void mend_apart_here(struct mend_apart_order *order);

#endif
