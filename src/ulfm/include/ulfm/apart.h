/* Agreements on a stack of their own, so that they can be left (apart.c). */
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

/* Carry the order out on a stack of its own. False: it was left, and *order has no result. One at a time, and only
 * where one thread calls MPI. Without memory for a stack it is carried out here, and cannot be left. */
bool mend_apart(struct mend_apart_order *order);

/* From inside the call, between two turns of the library: leave it, for good. Does not return if there is a call to
 * leave; else it does nothing. */
void mend_apart_leave(void);

/* The same as mend_apart on this stack, without a way out. */
void mend_apart_here(struct mend_apart_order *order);

#endif
