/* mpi/values.h - converts between the handles and special values of this MPI library and the neutral ones of
 * border/border.h. */
#ifndef CAPSULE_MPI_VALUES_H
#define CAPSULE_MPI_VALUES_H
#include "mpi/services.h"
#include <mpi.h>

#define COMM(h) ((MPI_Comm)(h))
#define TYPE(h) ((MPI_Datatype)(h))
#define OP(h)   ((MPI_Op)(h))
#define REQ(h)  ((MPI_Request)(h))

static inline int rank_in(int r)
{
    return r >= 0                    ? r
           : r == NEUTRAL_ANY_SOURCE ? MPI_ANY_SOURCE
           : r == NEUTRAL_PROC_NULL  ? MPI_PROC_NULL
           : r == NEUTRAL_ROOT       ? MPI_ROOT
                                     : r;
}
static inline int rank_out(int r)
{
    return r == MPI_ANY_SOURCE ? NEUTRAL_ANY_SOURCE : r == MPI_PROC_NULL ? NEUTRAL_PROC_NULL : r;
}
static inline int tag_in(int t)
{
    return t == NEUTRAL_ANY_TAG ? MPI_ANY_TAG : t;
}
static inline void *buf_in(const void *b)
{
    return b == NEUTRAL_IN_PLACE ? MPI_IN_PLACE : (void *)b;
}

/* MPICH does not touch the status of a send: it must not hold what was on the stack. */
#define UNTOLD ((MPI_Status){.MPI_SOURCE = MPI_PROC_NULL, .MPI_TAG = MPI_ANY_TAG})

/* Everything but the error: only calls that complete several requests report it in the status, and only when
 * one of them failed; in all others that field belongs to the program. We read the fields without a name in
 * the standard directly: asking for them by functions would double the cost of a short message. */
static inline void status_out(const MPI_Status *s, struct status *n)
{
    n->source = rank_out(s->MPI_SOURCE);
    n->tag = s->MPI_TAG; /* MPI_ANY_TAG is -1 in both libraries */
#ifdef OPEN_MPI
    n->bytes = s->_ucount;
    n->cancelled = s->_cancelled;
#else
    unsigned high = (unsigned)s->count_hi_and_cancelled;
    n->bytes = (size_t)(high >> 1) << 32 | (unsigned)s->count_lo;
    n->cancelled = (int)(high & 1);
#endif
}
#endif
