/* locks.c - passive target: locks, flushes, and the check before each access; see the list in window.c. */
#include "windows/windows.h"
#include "core/face.h"
#include <sched.h>

/* The word of a target: how many hold it shared, or try to; plus EXCLUSIVE, far below zero, if one holds it alone. */
#define EXCLUSIVE (-(1L << 40))

static int try_lock(struct window *w, int type, int target, int *got)
{
    long zero = 0, alone = EXCLUSIVE, minus = -1, one = 1, old = 0;
    object *t = predef[PRE_MPI_LONG];
    long at = window_word(w, WORD_LOCK);
    handle_t words = w->common->real;
    int rc;
    if (type == LOCK_EXCLUSIVE) {
        rc = LOWER(Compare_and_swap, &alone, &zero, &old, t->real, target, at, words);
        if (!rc)
            rc = LOWER(win_flush, target, words);
        *got = old == 0;
        return rc;
    }
    rc = LOWER(Fetch_and_op, &one, &old, t->real, target, at, predef[PRE_MPI_SUM]->real, words);
    if (!rc)
        rc = LOWER(win_flush, target, words);
    *got = old >= 0;
    if (!rc && !*got) { /* another rank holds it exclusively: undo the increment */
        rc = LOWER(Fetch_and_op, &minus, &old, t->real, target, at, predef[PRE_MPI_SUM]->real,
                   words);
        if (!rc)
            rc = LOWER(win_flush, target, words);
    }
    return rc;
}
void window_turn(const struct window *w)
{
    struct status s;
    int flag = 0;
    LOWER(Iprobe, NEUTRAL_ANY_SOURCE, NEUTRAL_ANY_TAG, w->comm->real, &flag, &s);
    wait_turn(w->comm, NEUTRAL_ANY_SOURCE); /* nobody knows who holds it */
    sched_yield();                          /* the holder may be waiting for this core */
}
static int take_lock(object *win, int type, int target)
{
    struct window *w = win->win.w;
    int got = 0, rc;
    for (;;) {
        rc = try_lock(w, type, target, &got);
        if (rc || got)
            break;
        window_turn(w);
    }
    if (!rc)
        w->held[target] = type;
    return rc;
}
static int give_lock(object *win, int target)
{
    struct window *w = win->win.w;
    handle_t words = w->common->real;
    long at = window_word(w, WORD_LOCK);
    long back = w->held[target] == LOCK_EXCLUSIVE ? -EXCLUSIVE : -1, old;
    int rc = LOWER(win_flush, target, win->real);
    LOWER(win_sync, win->real);
    /* also after an error: others wait for this lock */
    int given = LOWER(Fetch_and_op, &back, &old, predef[PRE_MPI_LONG]->real, target, at,
                      predef[PRE_MPI_SUM]->real, words);
    if (!given)
        given = LOWER(win_flush, target, words);
    w->held[target] = 0;
    return rc ? rc : given;
}
static int holds_any(const struct window *w)
{
    for (int i = 0; i < w->comm->comm.size; i++)
        if (w->held[i])
            return 1;
    return 0;
}
int holds_locks(const struct window *w)
{
    return w->lock_all || holds_any(w);
}
int in_epoch(const struct window *w)
{
    return w->access || w->exposed || holds_locks(w);
}
/* Whether the program is in an epoch that excludes locks. Open MPI looks at MPI_Win_start only, and not for memory that it
 * has allocated itself. */
static int is_active(const struct window *w)
{
#ifdef MPICH_ABI
    return w->access || w->fence_used;
#else
    return w->access && (w->flavor == FLAVOR_CREATE || w->flavor == FLAVOR_DYNAMIC);
#endif
}
int window_access(object *win, int target)
{
    struct window *w = win->win.w;
    if (win->predefined || !w)
        return NEUTRAL_MPI_ERR_WIN;
    if (target == NEUTRAL_PROC_NULL)
        return 0;
    if (target < 0 || target >= w->comm->comm.size)
        return NEUTRAL_MPI_ERR_RANK;
    if (EPOCHS_ARE_CHECKED && !w->lock_all && !w->held[target] && !w->access && !w->fenced &&
        !holds_any(w))
        return NEUTRAL_MPI_ERR_RMA_SYNC;
    if (w->fenced)
        w->fence_used = 1;
    if (__builtin_expect(w->access != NULL, 0) && w->n_arrived < w->n_access) {
        /* the first access after MPI_Win_start: wait until the targets have posted */
        int rc = 0;
        for (; w->n_arrived < w->n_access && !rc; w->n_arrived++)
            rc = core_Recv(NULL, 0, TYPE_BYTE, w->access[w->n_arrived], window_tag(w, TAG_POST),
                           w->comm, NULL);
        if (rc)
            return rc;
    }
    return w->lock_all && !w->held[target] ? take_lock(win, LOCK_SHARED, target) : 0;
}
int core_Win_lock(int type, int rank, int assert_, object *win)
{
    struct window *w = win->win.w;
    (void)assert_;
    if (rank == NEUTRAL_PROC_NULL)
        return 0;
    if (type != LOCK_EXCLUSIVE && type != LOCK_SHARED)
        return NEUTRAL_MPI_ERR_LOCKTYPE;
    if (rank < 0 || rank >= w->comm->comm.size)
        return NEUTRAL_MPI_ERR_RANK;
    if (w->held[rank] || w->lock_all || is_active(w))
        return NEUTRAL_MPI_ERR_RMA_SYNC;
    w->fenced = 0;
    int rc = take_lock(win, type, rank);
    LOWER(win_sync, win->real);
    return rc;
}
int core_Win_unlock(int rank, object *win)
{
    if (rank == NEUTRAL_PROC_NULL)
        return 0;
    if (rank < 0 || rank >= win->win.w->comm->comm.size)
        return NEUTRAL_MPI_ERR_RANK;
    return win->win.w->held[rank] ? give_lock(win, rank) : NEUTRAL_MPI_ERR_RMA_SYNC;
}
int core_Win_lock_all(int assert_, object *win)
{
    (void)assert_;
    if (holds_locks(win->win.w) || is_active(win->win.w))
        return NEUTRAL_MPI_ERR_RMA_SYNC;
    win->win.w->fenced = 0;
    win->win.w->lock_all = 1;
    return LOWER(win_sync, win->real);
}
int core_Win_unlock_all(object *win)
{
    struct window *w = win->win.w;
    if (!w->lock_all)
        return NEUTRAL_MPI_ERR_RMA_SYNC;
    int rc = LOWER(win_flush_all, win->real);
    for (int i = 0; i < w->comm->comm.size && !rc; i++)
        if (w->held[i])
            rc = give_lock(win, i);
    w->lock_all = 0;
    LOWER(win_sync, win->real);
    return rc;
}
static int may_flush(const struct window *w, int rank)
{
    if (rank == NEUTRAL_PROC_NULL)
        return 0;
    if (rank < 0 || rank >= w->comm->comm.size)
        return NEUTRAL_MPI_ERR_RANK;
    return EPOCHS_ARE_CHECKED && !w->lock_all && !w->held[rank] && !holds_any(w)
               ? NEUTRAL_MPI_ERR_RMA_SYNC
               : 0;
}
int core_Win_flush(int rank, object *win)
{
    int rc = may_flush(win->win.w, rank);
    return rc || rank == NEUTRAL_PROC_NULL ? rc : LOWER(win_flush, rank, win->real);
}
int core_Win_flush_local(int rank, object *win)
{
    int rc = may_flush(win->win.w, rank);
    return rc || rank == NEUTRAL_PROC_NULL ? rc : LOWER(win_flush_local, rank, win->real);
}
int core_Win_flush_all(object *win)
{
    if (EPOCHS_ARE_CHECKED && !win->win.w->lock_all && !holds_any(win->win.w))
        return NEUTRAL_MPI_ERR_RMA_SYNC;
    return LOWER(win_flush_all, win->real);
}
int core_Win_flush_local_all(object *win)
{
    if (EPOCHS_ARE_CHECKED && !win->win.w->lock_all && !holds_any(win->win.w))
        return NEUTRAL_MPI_ERR_RMA_SYNC;
    return LOWER(win_flush_local_all, win->real);
}
int core_Win_sync(object *win)
{
    return LOWER(win_sync, win->real);
}
