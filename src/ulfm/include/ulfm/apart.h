/* Agreements in a thread of their own, so that they can be left where several threads call MPI (apart.c). */
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

/* Carry the order out in a thread of its own and wait for it. `give_up` is asked every millisecond. False: it said
 * yes; the thread is left for good, and *order has no result. Needs MPI_THREAD_MULTIPLE. Meanwhile this thread does
 * not drive MPI. */
bool mend_apart(struct mend_apart_order *order, bool (*give_up)(void *arg), void *arg);

/* The same in this thread, without a way out. */
void mend_apart_here(struct mend_apart_order *order);

/* At the end of a turn of the MPI library, in any thread: one that was left yields its core. */
void mend_apart_turn(void);

#endif
