/* ended.c - a program that ends itself, by a code or by MPI_Abort, is told to `mend run`: a relaunch
 * would only repeat it. */
#include "lower.h"

#include <base/event.h>

static int (*plain_abort)(handle_t comm, int code);
static int watched;

static int abort_and_tell(handle_t comm, int code)
{
    output_direct();
    mend_event("recover.ended", ev_int("code", code ? code : 1), ev_str("how", "MPI_Abort"));
    return plain_abort(comm, code);
}

void ended_watch(void)
{
    watched = 1;
    plain_abort = lower.Abort;
    lower.Abort = abort_and_tell;
}

void ended_by_exit(int code)
{
    if (watched)
        mend_event("recover.ended", ev_int("code", code), ev_str("how", "exit"));
}
