/* Where a failure leads.
 *
 * MPI reports a dead peer as an error in some call on the world or on a communicator made from it. The error handler
 * below leaves that call by a jump: to the last safe point if its function is still running; otherwise to MPI_Init,
 * from where set-up runs again; otherwise nowhere, and the job stops with a reason. A jump into a function that has
 * returned would sooner or later give a wrong result, so we walk the stack first. */
#include <base/event.h>
#include <base/fail.h>
#include <base/log.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#include "flow.h"

#if defined(__aarch64__)
enum { FRAME_REGISTER = 29 };
#elif defined(__x86_64__)
enum { FRAME_REGISTER = 6 };
#else
#error "flow: which register is the frame pointer here?"
#endif

struct walk {
    void *frame, *function; /* what we look for */
    void *owner;            /* the outermost function with that frame pointer */
    void *last;             /* the outermost function of all */
    bool found, signal;
};

static void *outermost; /* the function at the root of the stack, from the first complete walk */

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *arg)
{
    struct walk *w = arg;
    int before = 0;
    if (!_Unwind_GetIPInfo(context, &before))
        return _URC_END_OF_STACK;
    void *function = (void *)_Unwind_GetRegionStart(context);
    if (before)
        w->signal = true;
    if ((void *)_Unwind_GetGR(context, FRAME_REGISTER) == w->frame) {
        w->owner = function;
        w->found |= function == w->function;
    }
    if (function)
        w->last = function;
    return _URC_NO_REASON;
}

void *jump_function_of(void *frame, bool *in_signal)
{
    struct walk w = {.frame = frame};
    _Unwind_Backtrace(step, &w);
    if (w.owner)
        outermost = w.last;
    if (in_signal)
        *in_signal = w.signal;
    return w.owner;
}

/* If the stack cannot be walked to its root (code without unwind tables), assume that the frame still exists. */
bool jump_frame_alive(void *frame, void *function)
{
    struct walk w = {.frame = frame, .function = function};
    if (!frame)
        return false;
    if (!function)
        return true;
    _Unwind_Backtrace(step, &w);
    return w.found || w.last != outermost;
}

bool jump_can_start(const mend_flow *f)
{
    return f->is_default && jump_frame_alive(f->start_frame, f->start_function);
}

_Noreturn void jump_to_start(mend_flow *f)
{
    memcpy(f->now, f->start, sizeof f->now);
    f->landing = LANDING_INIT;
    f->has_data = false;
    f->inside = false;
    f->quiet = false;
    origin_put(f);
    longjmp(f->now, 2);
}

_Noreturn void jump_to_safe_point(mend_flow *f, safe_point *at)
{
    memcpy(f->now, at->buffer, sizeof f->now);
    f->landing = LANDING_POINT;
    f->safe_point = at;
    f->site = at->site;
    f->frame = at->frame;
    f->inside = false;
    longjmp(f->now, 2);
}

_Noreturn void jump_away(mend_flow *f)
{
    f->failed_at = mend_now();
    f->failed = true;
    f->inside = false;
    f->quiet = false;
    if (auto_on(f) && f->landing != LANDING_FINALIZE)
        auto_recover(f);
    if (f->landing == LANDING_FINALIZE || (f->landing == LANDING_POINT && f->safe_point &&
                                           jump_frame_alive(f->frame, f->safe_point->function)))
        longjmp(f->now, 1);
    if (jump_can_start(f)) {
        memcpy(f->now, f->start, sizeof f->now);
        f->landing = LANDING_INIT;
        f->has_data = false;
        origin_put(f);
        longjmp(f->now, 1);
    }
    mend_log(MEND_LOG_ERROR,
             "a process died, and there is no way back: the function with the last safe point has "
             "returned, and so has the one that called MPI_Init");
    flow_abort(f->comm);
}

static void on_mpi_error(MPI_Comm *comm, int *code, ...)
{
    mend_flow *f = flow_catching();
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (f && f->repair.is_failure(f->repair.arg, *code)) {
        if (pthread_equal(pthread_self(), f->owner))
            jump_away(f);
        return; /* another thread: its call returns the error; the owner will see it */
    }
    MPI_Error_string(*code, text, &length);
    mend_log(MEND_LOG_ERROR, "an MPI call failed: %s", text);
    flow_abort(*comm);
}

/* Without a repair, the default context catches errors only to end the job in turns (abort.c). */
void jump_catch(mend_flow *f)
{
    if (!f->has_repair && !f->is_default)
        return;
    if (!f->has_handler)
        MPI_Comm_create_errhandler(on_mpi_error, &f->handler);
    f->has_handler = true;
    MPI_Comm_set_errhandler(f->comm, f->handler);
}

void jump_release(mend_flow *f, bool catching)
{
    if (f->has_repair)
        MPI_Comm_set_errhandler(f->comm, catching ? f->handler : MPI_ERRORS_RETURN);
}
