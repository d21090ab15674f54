/* window.c - windows: memory of the upper half. The lower half sees it through a window that stays in
 * one passive access epoch to all ranks, from its creation to its end. The memory of MPI_Win_allocate
 * belongs to the lower half as well (struct twin): the library allocates it, and the upper half maps
 * the same pages at an address of its own. The upper half builds all of MPI's synchronisation from
 * three things: flushes below, messages and barriers on a communicator of our own, and one word
 * per rank that serves as a lock (common.c). So the state of a window is always in saved memory, and a checkpoint
 * may happen inside any epoch:
 *
 *   fence             flush all; barrier
 *   post              send a message to each origin
 *   start             do nothing
 *   complete          await the posts of all targets, flush, send a message to each target
 *   wait              await the messages of all origins
 *   lock              compare-and-swap or fetch-and-add on the target's word until the lock is ours
 *   unlock            flush, and restore the word
 *   lock_all          take the shared lock of a target at the first access to it
 */
#include "comm/comm.h"
#include "core/face.h"
#include "windows/windows.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int window_below(struct window *w, int filled, handle_t *real)
{
    if (w->flavor == FLAVOR_DYNAMIC)
        return LOWER(win_create_dynamic, w->comm->real, real);
    if (w->flavor == FLAVOR_ALLOCATE)
        return LOWER(win_allocate, &w->twin, w->unit, filled, w->comm->real, real);
    return LOWER(win_create, w->base, w->size, w->unit, w->comm->real, real);
}

/* Reserve the program's address for the whole life of the window. The memory is zero, as in both libraries, though the
 * standard does not promise it. Where there is no room for it, lower_win_allocate() fails on all ranks. */
static void twin_take(struct window *w, long size)
{
    void *p = mmap(NULL, (size_t)size + !size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                   -1, 0);
    w->base = p == MAP_FAILED ? NULL : p;
    w->twin = (struct twin){.program = w->base, .size = size};
}
static void twin_give(struct twin *t)
{
    if (t->program)
        munmap(t->program, (size_t)t->size + !t->size);
    t->program = NULL;
}

static void forget(struct window *w)
{
    segment_free(w);
    for (struct attached *a = w->attached, *next; a; a = next) {
        next = a->next;
        free(a);
    }
    twin_give(&w->twin);
    free(w->held);
    free(w->access);
    free(w->exposed);
    free(w->arrivals);
    free(w);
}

static int make(object *comm, object *info, int flavor, int unit, void *base, long size,
                object **out)
{
    if (unit <= 0 || size < 0)
        return unit <= 0 ? NEUTRAL_MPI_ERR_DISP : NEUTRAL_MPI_ERR_SIZE;
    if (comm == predef[PRE_MPI_COMM_NULL])
        return NEUTRAL_MPI_ERR_COMM;
    struct window *w = need(calloc(1, sizeof *w));
    w->flavor = flavor;
    face_window_constants(flavor, &w->flavor_out, &w->model);
    w->unit = unit;
    w->base = base;
    w->size = size;
    int rc = common_take(comm, w);
    if (rc) {
        free(w);
        return rc;
    }
    w->held = need(calloc(w->comm->comm.size, 1));
    /* From here on no image may be taken: it would find a listed window that does not exist below yet,
     * or shared memory that belongs to no listed window. */
    if (flavor == FLAVOR_SHARED)
        rc = segment_create(w->comm, size, unit, w);
    else
        rc = exclusive_enter(w->comm, &w->gate);
    if (flavor == FLAVOR_ALLOCATE)
        twin_take(w, size);
    object *o = object_new(KIND_WIN);
    o->win.w = w;
    o->win.errh = NULL;
    info_take(o, info);
    int made = 0;
    if (!rc) {
        rc = window_below(w, 0, &o->real);
        made = !rc;
    }
    if (!rc)
        rc = common_ready(w->common);
    if (rc) { /* a checkpoint must not find it in the list */
        if (made)
            LOWER(win_free, o->real);
        object_delete(o);
        common_give(w);
    }
    exclusive_leave(&w->gate);
    if (rc) {
        common_gone(w->common);
        forget(w);
    } else
        *out = o;
    return rc;
}
int core_Win_create(void *base, long size, int unit, object *info, object *comm, object **out)
{
    return make(comm, info, FLAVOR_CREATE, unit, base, size, out);
}
int core_Win_allocate(long size, int unit, object *info, object *comm, void *baseptr, object **out)
{
    int rc = make(comm, info, FLAVOR_ALLOCATE, unit, NULL, size, out);
    if (!rc)
        *(void **)baseptr = (*out)->win.w->base;
    return rc;
}
int core_Win_allocate_shared(long size, int unit, object *info, object *comm, void *baseptr,
                             object **out)
{
    int rc = make(comm, info, FLAVOR_SHARED, unit, NULL, size, out);
    if (!rc)
        *(void **)baseptr = size || !NOTHING_IS_NULL ? (*out)->win.w->base : NULL;
    return rc;
}
int core_Win_create_dynamic(object *info, object *comm, object **out)
{
    return make(comm, info, FLAVOR_DYNAMIC, 1, NULL, 0, out);
}
/* MPI-4.1, like MPICH: such a window shares nothing. Open MPI calls the flavour wrong. */
static int not_shared(const struct window *w, int rank, long *size, int *unit, void *baseptr)
{
#ifdef MPICH_ABI
    int own = rank == w->comm->comm.rank;
    if (rank != NEUTRAL_PROC_NULL && (rank < 0 || rank >= w->comm->comm.size))
        return NEUTRAL_MPI_ERR_RANK;
    *size = own ? w->size : 0;
    *unit = own ? w->unit : 0;
    *(void **)baseptr = own ? w->base : NULL;
    return 0;
#else
    (void)w, (void)rank, (void)size, (void)unit, (void)baseptr;
    return NEUTRAL_MPI_ERR_RMA_FLAVOR;
#endif
}
int core_Win_shared_query(object *win, int rank, long *size, int *unit, void *baseptr)
{
    if (win->win.w->flavor != FLAVOR_SHARED)
        return not_shared(win->win.w, rank, size, unit, baseptr);
    int rc = segment_query(win->win.w, rank, size, unit, baseptr);
    if (!rc && !*size && NOTHING_IS_NULL)
        *(void **)baseptr = NULL;
    return rc;
}
int core_Win_attach(object *win, void *base, long size)
{
    struct window *w = win->win.w;
    if (w->flavor != FLAVOR_DYNAMIC)
        return NEUTRAL_MPI_ERR_RMA_FLAVOR;
    int rc = LOWER(win_attach, win->real, base, size);
    if (rc)
        return rc;
    struct attached *a = need(malloc(sizeof *a));
    *a = (struct attached){w->attached, base, size};
    w->attached = a;
    return 0;
}
int core_Win_detach(object *win, const void *base)
{
    struct window *w = win->win.w;
    for (struct attached **p = &w->attached, *a; (a = *p); p = &a->next)
        if (a->base == base) {
            *p = a->next;
            free(a);
            return LOWER(win_detach, win->real, base);
        }
    return NEUTRAL_MPI_ERR_BASE;
}
int core_Win_free(object **win)
{
    object *o = *win;
    if (o->predefined)
        return NEUTRAL_MPI_ERR_WIN;
    struct window *w = o->win.w;
    int rc =
        EPOCHS_ARE_CHECKED && in_epoch(w) ? NEUTRAL_MPI_ERR_RMA_SYNC : attributes_delete_all(o);
    if (rc) {
        error_holder = o;
        return rc;
    }
    LOWER(win_flush_all, o->real);
    rc = core_Barrier(w->comm);
    exclusive_enter(w->comm, &w->gate);
    LOWER(win_free, o->real);
    common_give(w);
    exclusive_leave(&w->gate);
    errhandler_attach(o, NULL);
    object_delete(o); /* before Comm_free, where an image may be taken that must not list it */
    o->win.w = NULL;
    *win = predef[PRE_MPI_WIN_NULL];
    segment_free(w);
    twin_give(&w->twin);
    common_gone(w->common);
    forget(w);
    return rc;
}
int core_Win_get_group(object *win, object **group)
{
    return core_Comm_group(win->win.w->comm, group);
}

/* --- active target --- */
int core_Win_fence(int assert_, object *win)
{
    struct window *w = win->win.w;
    if (EPOCHS_ARE_CHECKED && in_epoch(w))
        return NEUTRAL_MPI_ERR_RMA_SYNC;
    w->fenced = !(assert_ & MODE_NOSUCCEED);
    w->fence_used = 0;
    int rc = LOWER(win_flush_all, win->real);
    LOWER(win_sync, win->real);
    if (!rc)
        rc = core_Barrier(w->comm);
    LOWER(win_sync, win->real);
    return rc;
}
static int ranks_of(struct window *w, object *group, int *n, int **ranks)
{
    int count = group->group.size, *list = need(malloc(((size_t)count + 1) * sizeof *list));
    for (int i = 0; i < count; i++) {
        list[i] = index_of(w->comm->comm.size, w->comm->comm.ranks, group->group.ranks[i]);
        if (list[i] < 0) {
            free(list);
            return NEUTRAL_MPI_ERR_GROUP;
        }
    }
    *n = count;
    *ranks = list;
    return 0;
}
/* Does not wait for the receiver, which may be this rank itself and receives later. */
static int tell(struct window *w, int rank, int tag)
{
    object *r;
    int rc = core_Isend(NULL, 0, TYPE_BYTE, rank, window_tag(w, tag), w->comm, &r);
    return rc ? rc : core_Request_free(&r);
}
int core_Win_post(object *group, int assert_, object *win)
{
    struct window *w = win->win.w;
    (void)assert_;
    if (w->exposed)
        return NEUTRAL_MPI_ERR_RMA_SYNC;
    int rc = ranks_of(w, group, &w->n_exposed, &w->exposed);
    if (rc)
        return rc;
    LOWER(win_sync, win->real);
    w->arrivals = need(calloc(w->n_exposed + 1, sizeof *w->arrivals));
    for (int i = 0; i < w->n_exposed && !rc; i++)
        rc = core_Irecv(NULL, 0, TYPE_BYTE, w->exposed[i], window_tag(w, TAG_COMPLETE), w->comm,
                        &w->arrivals[i]);
    for (int i = 0; i < w->n_exposed && !rc; i++)
        rc = tell(w, w->exposed[i], TAG_POST);
    return rc;
}
int core_Win_start(object *group, int assert_, object *win)
{
    struct window *w = win->win.w;
    (void)assert_;
    if (w->access || (EPOCHS_ARE_CHECKED && holds_locks(w)))
        return NEUTRAL_MPI_ERR_RMA_SYNC;
    w->n_arrived = 0;
    w->fenced = 0;
    return ranks_of(w, group, &w->n_access, &w->access);
}
int core_Win_complete(object *win)
{
    struct window *w = win->win.w;
    int rc = 0;
    if (!w->access)
        return NEUTRAL_MPI_ERR_RMA_SYNC;
    for (; w->n_arrived < w->n_access && !rc; w->n_arrived++)
        rc = core_Recv(NULL, 0, TYPE_BYTE, w->access[w->n_arrived], window_tag(w, TAG_POST),
                       w->comm, NULL);
    if (!rc)
        rc = LOWER(win_flush_all, win->real);
    for (int i = 0; i < w->n_access && !rc; i++)
        rc = tell(w, w->access[i], TAG_COMPLETE);
    free(w->access);
    w->access = NULL;
    w->n_access = 0;
    return rc;
}
static void exposure_over(object *win)
{
    struct window *w = win->win.w;
    free(w->exposed);
    free(w->arrivals);
    w->exposed = NULL;
    w->arrivals = NULL;
    w->n_exposed = 0;
    LOWER(win_sync, win->real);
}
int core_Win_wait(object *win)
{
    struct window *w = win->win.w;
    if (!w->exposed)
        return NEUTRAL_MPI_ERR_RMA_SYNC;
    int rc = core_Waitall(w->n_exposed, w->arrivals, NULL);
    exposure_over(win);
    return rc;
}
int core_Win_test(object *win, int *flag)
{
    struct window *w = win->win.w;
    if (!w->exposed)
        return NEUTRAL_MPI_ERR_RMA_SYNC;
    int rc = core_Testall(w->n_exposed, w->arrivals, flag, NULL);
    if (*flag)
        exposure_over(win);
    return rc;
}
