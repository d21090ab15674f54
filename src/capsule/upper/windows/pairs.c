/* pairs.c - atomics on MPI_SHORT_INT. Such a pair is a short, a gap of two bytes, and an int. If Open MPI (5.0.7) did not
 * allocate the window's memory itself, it takes the first six bytes for the data, and the result is wrong. So we do these
 * operations in three steps, get, reduce, put, under a mutex: the second word beside a rank's lock. All atomics of this type
 * come here, and the standard promises nothing about accesses of different types to the same place.
 */
#include "messages/messages.h"
#include "windows/windows.h"
#include <stdlib.h>
#include <string.h>

int pairs_are_ours(const object *type, const object *win)
{
    return type == predef[PRE_MPI_SHORT_INT] && !win->win.w->twin.allocated &&
           !strcmp(upper.lower->name, "Open MPI");
}

/* No checkpoint stops a rank that holds the mutex: until it gives it back, it calls only the lower half. */
static int mutex(struct window *w, int target, long from, long to)
{
    object *t = predef[PRE_MPI_LONG];
    long at = window_word(w, WORD_MUTEX);
    for (;;) {
        handle_t words = w->common->real; /* another one after a restart */
        long old = 0;
        int rc = LOWER(Compare_and_swap, &to, &from, &old, t->real, target, at, words);
        if (!rc)
            rc = LOWER(win_flush, target, words);
        if (rc || old == from)
            return rc;
        window_turn(w);
    }
}

enum { PAIR = 8 }; /* extent of MPI_SHORT_INT in bytes */

static int change(object *win, const void *o, void *r, int n, int target, long disp, object *op)
{
    handle_t t = predef[PRE_MPI_SHORT_INT]->real;
    struct window *w = win->win.w;
    if (target == NEUTRAL_PROC_NULL || n <= 0)
        return n < 0 ? NEUTRAL_MPI_ERR_COUNT : 0;
    if (op == predef[PRE_MPI_OP_NULL])
        return NEUTRAL_MPI_ERR_OP;
    char *now = calloc((size_t)n, PAIR);
    if (!now)
        return NEUTRAL_MPI_ERR_NO_MEM;
    int rc = mutex(w, target, 0, 1);
    if (rc) {
        free(now);
        return rc;
    }
    rc = LOWER(Get, now, n, t, target, disp, n, t, win->real);
    if (!rc)
        rc = LOWER(win_flush, target, win->real);
    if (!rc && r)
        memcpy(r, now, (size_t)n * PAIR);
    if (!rc && op != predef[PRE_MPI_NO_OP]) {
        if (op == predef[PRE_MPI_REPLACE])
            memcpy(now, o, (size_t)n * PAIR);
        else
            rc = LOWER(Reduce_local, o, now, n, t, op->real);
        if (!rc)
            rc = LOWER(Put, now, n, t, target, disp, n, t, win->real);
        if (!rc)
            rc = LOWER(win_flush, target, win->real);
    }
    int rc2 = mutex(w, target, 1, 0);
    free(now);
    return rc ? rc : rc2;
}

/* change() reads and writes pairs one behind the other: does a type of the program's own lay them out so? */
static int one_behind_the_other(object *type, int n, int pairs)
{
    long lb = 0, extent = 0;
    if (type == predef[PRE_MPI_SHORT_INT] || pairs <= 0)
        return 1;
    return !core_Type_get_extent(type, &lb, &extent) && !lb && extent * n == (long)pairs * PAIR;
}
static int has_gaps(void)
{
    return refuse("an accumulate of MPI_SHORT_INT", "its type in this rank's memory has gaps");
}

int pairs_Accumulate(const void *o, int on, object *ot, int target, long disp, int tn, object *tt,
                     object *op, object *win)
{
    (void)tt;
    if (op != predef[PRE_MPI_NO_OP] && !one_behind_the_other(ot, on, tn))
        return has_gaps();
    return change(win, o, NULL, tn, target, disp, op);
}
int pairs_Get_accumulate(const void *o, int on, object *ot, void *r, int rn, object *rt, int target,
                         long disp, int tn, object *tt, object *op, object *win)
{
    (void)tt;
    if ((op != predef[PRE_MPI_NO_OP] && !one_behind_the_other(ot, on, tn)) ||
        !one_behind_the_other(rt, rn, tn))
        return has_gaps();
    return change(win, o, r, tn, target, disp, op);
}
int pairs_Fetch_and_op(const void *o, void *r, object *type, int target, long disp, object *op,
                       object *win)
{
    (void)type;
    return change(win, o, r, 1, target, disp, op);
}
static object *done_request(object *win)
{
    object *r = new_request(0, NULL, 0, TYPE_BYTE, NEUTRAL_PROC_NULL, 0, win->win.w->comm);
    r->req.status = empty_status;
    r->req.done = 1;
    return r;
}
int pairs_Raccumulate(const void *o, int on, object *ot, int target, long disp, int tn, object *tt,
                      object *op, object *win, object **request)
{
    int rc = pairs_Accumulate(o, on, ot, target, disp, tn, tt, op, win);
    if (!rc)
        *request = done_request(win);
    return rc;
}
int pairs_Rget_accumulate(const void *o, int on, object *ot, void *r, int rn, object *rt,
                          int target, long disp, int tn, object *tt, object *op, object *win,
                          object **request)
{
    int rc = pairs_Get_accumulate(o, on, ot, r, rn, rt, target, disp, tn, tt, op, win);
    if (!rc)
        *request = done_request(win);
    return rc;
}
