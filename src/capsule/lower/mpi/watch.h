/* mpi/watch.h - how a wait ends sooner, and calls begin sooner, than by the interface of Open MPI alone: watch.c. */
#ifndef CAPSULE_MPI_WATCH_H
#define CAPSULE_MPI_WATCH_H
#include "border/border.h"

/* All of it was found in the running library, by experiment; what was not found is not used. */
extern struct watch {
    /* One turn of the library's progress; NULL: nothing is known, use MPI_Test. */
    void (*turn)(void);
    size_t done_at;  /* where in a request is the word that shows its end: 0, and then 1 */
    size_t error_at; /* and the int that then has its error; 0: unknown */
    handle_t right;  /* a predefined type that the library has accepted */
    /* A receive that is done and right; its request is still to be freed; 0: none. */
    handle_t finished;
} watch;

/* After MPI_Init, before the program's first message. */
void watch_begin(void);
/* Frees what watch_leave() has left. */
void watch_free(void);

static inline int watch_done(handle_t request)
{
    return __atomic_load_n((const uintptr_t *)(request + watch.done_at), __ATOMIC_ACQUIRE) == 1;
}

/* This request is done: leave it, without an error and a status that anybody wants, to be freed in the next turn that waits.
 * 0: not this one. */
static inline int watch_leave(handle_t request)
{
    if (!watch.error_at || watch.finished || *(const int *)(request + watch.error_at))
        return 0;
    watch.finished = request;
    return 1;
}
#endif
