/* windows/windows.h - one-sided communication. */
#ifndef CAPSULE_WINDOWS_H
#define CAPSULE_WINDOWS_H
#include "core/core.h"
#pragma GCC visibility push(hidden)

/* --- window.c, shared.c --- */
enum { FLAVOR_CREATE = 1, FLAVOR_ALLOCATE, FLAVOR_DYNAMIC, FLAVOR_SHARED };
enum { LOCK_EXCLUSIVE = 1, LOCK_SHARED };
enum { EPOCH_NONE, EPOCH_LOCK_ALL = 4 }; /* per target: 0, LOCK_EXCLUSIVE or LOCK_SHARED */
struct attached {
    struct attached *next;
    void *base;
    long size;
};
enum { PLACES = 256 };
struct common { /* what windows of one communicator share: common.c */
    struct common *next;
    object *parent; /* their communicator; NULL: the program has freed it */
    object *comm;   /* our own duplicate, which carries the synchronisation */
    handle_t real;  /* the lower half's window over the words of all ranks: see locks.c */
    long *words;    /* ours, LOCK_WORDS for each place; valid in an image */
    long *live;     /* the lower half's copy, valid at all other times */
    int made;       /* `real` exists */
    int windows;
    unsigned char taken[PLACES];
};
struct window {
    struct gate gate; /* while the window is created or freed */
    struct common *common;
    int place;    /* there */
    object *comm; /* of it */
    int flavor, unit;
    int flavor_out, model; /* in the ABI's encoding */
    void *base;
    long size;
    struct twin twin; /* the memory of MPI_Win_allocate */
    struct attached *attached;
    /* shared memory: one segment for all ranks, at a different address in each process */
    struct segment *segment;
    unsigned char *held; /* per target: the lock that we hold */
    int lock_all;
    int fenced;     /* the last fence opened an epoch */
    int fence_used; /* and the program has used it */
    /* general active target */
    int n_access, *access, n_exposed, *exposed, n_arrived;
    object **arrivals;
};
/* On the communicator that it shares, a window has a pair of words and a pair of tags for itself. */
enum { WORD_LOCK, WORD_MUTEX, TAG_POST = 0, TAG_COMPLETE };
static inline long window_word(const struct window *w, int which)
{
    return (long)w->place * LOCK_WORDS + which;
}
static inline int window_tag(const struct window *w, int which)
{
    return 2 * w->place + which;
}
/* Differences between the libraries. */
#ifdef MPICH_ABI
enum { NOTHING_IS_NULL = 1, EPOCHS_ARE_CHECKED = 1, MODE_NOSUCCEED = 16384 };
#else
enum { NOTHING_IS_NULL = 0, EPOCHS_ARE_CHECKED = 0, MODE_NOSUCCEED = 16 };
#endif
/* Make the lower half's window. `filled`: its memory has content already. */
int window_below(struct window *w, int filled, handle_t *real);
/* --- common.c; all of it collective, but the last one --- */
int common_take(object *parent, struct window *w); /* a place for `w` */
int common_ready(struct common *k); /* make what is below, if it is not there; between two doors */
void common_give(struct window *w); /* between two doors */
void common_gone(struct common *k); /* after that: free it if nobody needs it */
void commons_end(void);             /* before the end of MPI */
int commons_below_again(void);      /* in a new process */
struct common *next_common(struct common *k); /* of those that are below; NULL: the first */
/* --- locks.c --- */
int window_access(object *win, int target);
int holds_locks(const struct window *w);
/* One turn of a loop that waits for the word of a rank. It lets the library below make progress, for whoever holds that word may
 * need an answer from this process before it can go on. Open MPI's atomics on memory of this node do not do that, nor do
 * flushes that find nothing to complete. */
void window_turn(const struct window *w);
int in_epoch(const struct window *w); /* of locks, or of MPI_Win_post and MPI_Win_start */
/* --- pairs.c: pairs_Name() for each row of class ATOMIC --- */
int pairs_are_ours(const object *type, const object *win);
#define PAIRS_ATOMIC(Name, name, ...) int pairs_##Name(LIST(PARAM, __VA_ARGS__));
#define PAIRS_ONESIDED(...)
#define PAIRS_ABOVE(...)
#define FUNCTION(class, ...) PAIRS_##class(__VA_ARGS__)
#define OBJECT               struct object *
#include "table/rma.def"
#undef FUNCTION
#undef OBJECT
/* --- stopped.c, shared.c --- */
void rebind_windows(void);
void windows_before_image(
    void);                /* complete all operations and bring shared memory into the image */
void windows_flush(void); /* complete this rank's operations on other ranks' windows */
void windows_leave(void);
void windows_go_on(void);
int segment_create(object *comm, long size, int unit, struct window *w);
int segment_query(struct window *w, int rank, long *size, int *unit, void **base);
void segment_free(struct window *w);
void segment_save(struct window *w);
int segment_restore(struct window *w, int resumed);

#pragma GCC visibility pop
#endif
