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
struct window {
    struct gate gate; /* while it is made */
    object *comm;     /* a duplicate of our own: synchronisation speaks over it */
    int flavor, unit;
    int flavor_out, model; /* as the ABI spells them */
    void *base;
    long size;
    struct twin twin; /* the memory of MPI_Win_allocate */
    struct attached *attached;
    /* shared memory: one segment for all, mapped at the same place in no two processes */
    struct segment *segment;
    /* locks */
    handle_t locks_real; /* a window below over the words of all ranks */
    long *lock_word;     /* ours: 0 free, -1 exclusive, n > 0: n shared; good in an image */
    long *lock_live;     /* where the lower half has it, at other times */
    unsigned char *held; /* per target: what we hold */
    int lock_all;
    int fenced; /* since the last fence there is an epoch */
    /* general active target */
    int n_access, *access, n_exposed, *exposed, n_arrived;
    object **arrivals;
};
enum { TAG_POST = 1, TAG_COMPLETE }; /* messages on its communicator */
/* What the libraries do not agree on. */
#ifdef MPICH_ABI
enum { NOTHING_IS_NULL = 1, EPOCHS_ARE_CHECKED = 1, MODE_NOSUCCEED = 16384 };
#else
enum { NOTHING_IS_NULL = 0, EPOCHS_ARE_CHECKED = 0, MODE_NOSUCCEED = 16 };
#endif
/* --- locks.c --- */
int window_access(object *win, int target);
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
void rebind_windows(void);
void windows_before_image(
    void); /* everything that was begun is done; shared memory comes into the image */
void windows_flush(void); /* what this rank has begun on windows of others is done */
void windows_leave(void);
void windows_go_on(void);
int segment_create(object *comm, long size, int unit, struct window *w);
int segment_query(struct window *w, int rank, long *size, int *unit, void **base);
void segment_free(struct window *w);
void segment_save(struct window *w);
int segment_restore(struct window *w, int resumed);

#pragma GCC visibility pop
#endif
