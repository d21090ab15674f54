/* mpi.c - the only file that is compiled against the real mpi.h; built once per MPI library.
 * Wraps each MPI function in the neutral calling convention of border/border.h, so that the same image can
 * be resumed on top of another MPI library. Most wrappers are made from table/functions.def; the rest is
 * below.
 */
#include "online/online.h"
#include "gpu/gpu.h"
#include "images/load.h"
#include "output/output.h"
#include "round/agent.h"
#include "undo/undo.h"
#include <base/fault.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mpi/services.h"
#include "mpi/values.h"

#ifndef MPI_LOGICAL1 /* MPICH has none, see table/predefined.def */
#define MPI_LOGICAL1 MPI_INT8_T
#define MPI_LOGICAL2 MPI_INT16_T
#define MPI_LOGICAL4 MPI_INT32_T
#define MPI_LOGICAL8 MPI_INT64_T
#endif

static int split_in(int s)
{
    return s == NEUTRAL_SPLIT_SHARED ? MPI_COMM_TYPE_SHARED : s;
}
static int size_of_comm(handle_t c)
{
    int n, inter;
    MPI_Comm_test_inter(COMM(c), &inter);
    if (inter)
        MPI_Comm_remote_size(COMM(c), &n);
    else
        MPI_Comm_size(COMM(c), &n);
    return n;
}

#define OBJECT handle_t
#include "mpi/kinds.h"
// clang-format off
#define BELOW_ROW(Name, name, ...) \
    static int lower_##Name(LIST(PARAM, __VA_ARGS__)) \
    { EACH(BEFORE, __VA_ARGS__) int rc = GUARD(#Name, MPI_##Name(LIST(ARG, __VA_ARGS__))); EACH(AFTER, __VA_ARGS__) return __builtin_expect(rc, 0) ? error_out(rc) : 0; }
#define FUNCTION BELOW
#include "table/functions.def"
#undef FUNCTION
#undef BELOW_ROW
// clang-format on

/* ---- by hand ---- */

void fill_predefined(void)
{
#define PREDEFINED(kind, symbol, name, fortran) lower.predef[PRE_##name] = (handle_t)(name);
#include "table/predefined.def"
#undef PREDEFINED
    lower.predef[PRE_MPI_COMM_WORLD] = (handle_t)online.world;
    lower.predef[PRE_MPI_COMM_SELF] = (handle_t)online.self;
}

/* Open MPI has one request for all sends that need none; MPI_PROC_NULL gives it. */
static void find_sent_at_once(void)
{
#ifdef OPEN_MPI
    MPI_Request a, b;
    if (MPI_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &a) ||
        MPI_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &b))
        return;
    if (a == b)
        lower.sent_at_once = (handle_t)a;
    MPI_Wait(&a, MPI_STATUS_IGNORE);
    MPI_Wait(&b, MPI_STATUS_IGNORE);
#endif
}

/* Where handles, special values and error classes of the border are this library's own, the busiest
 * functions need nothing between the halves.
 */
static void take_shortcuts(void)
{
#ifdef OPEN_MPI
#define SHORTCUT(Name) lower.Name = (__typeof__(lower.Name))(void *)MPI_##Name
    SHORTCUT(Send);
    SHORTCUT(Isend);
    SHORTCUT(Irecv);
    SHORTCUT(Barrier);
    SHORTCUT(Bcast);
    SHORTCUT(Reduce);
    SHORTCUT(Allreduce);
    SHORTCUT(Alltoall);
    SHORTCUT(Allgather);
#undef SHORTCUT
#endif
}

int lower_Init_thread(int required, int *provided)
{
    if (ground.recovering) {
        MPI_Query_thread(provided);
        recover_begun();
        return 0;
    }
    int begun;
    MPI_Initialized(&begun);
    if (begun) { /* for restart.c, which then found no version */
        MPI_Query_thread(provided);
        return 0;
    }
    int rc = MPI_Init_thread(NULL, NULL, required, provided);
    ended_lend_pointer(); /* after the handlers of the library were installed, as the next */
    if (relaunch_active())
        ended_watch_crashes();
    /* every error comes back: the program's own handlers live above */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    online.world = MPI_COMM_WORLD;
    online.self = MPI_COMM_SELF;
    fill_predefined();
    find_sent_at_once();
    take_shortcuts();
    return rc;
}

int lower_Finalize(void)
{
    if (ground.recovering) {
        recover_finalize();
        coordinator_end(); /* all ranks have been there, so nobody is still on the way to it */
    }
    return online.creations_failed ? MPI_SUCCESS : MPI_Finalize();
}

/* Windows and requests of the program are open: network libraries complain about that on standard
 * output (UCX), where only the program's own words belong. */
void lower_leave(void)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0)
        dup2(nowhere, STDOUT_FILENO);
    lower_Finalize();
    ended_left();
}

int lower_resumed(void)
{
    if (ground.recovering)
        recover_resumed();
    else
        undo_outside_resumed();
    return 0;
}

int lower_Get_processor_name(char *name, int *len)
{
    return MPI_Get_processor_name(name, len);
}
int lower_Get_library_version(char *name, int *len)
{
    return MPI_Get_library_version(name, len);
}
int lower_Error_string(int code, char *s, int *len)
{
    return MPI_Error_string(code, s, len);
}
int lower_Error_class(int code, int *class)
{
    return MPI_Error_class(code, class);
}
int lower_tag_ub(void)
{
    int *v, flag;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &v, &flag);
    return flag ? *v : 32767;
}
int lower_clock_gettime(int clk, void *ts)
{
    return clock_gettime(clk, ts);
}
#define lower_agent_start            agent_start
#define lower_agent_end              agent_end
#define lower_agent_door             agent_door
#define lower_agent_request          agent_request
#define lower_agent_stop_begin       agent_stop_begin
#define lower_agent_stop_poll        agent_stop_poll
#define lower_agent_save             agent_save
#define lower_gpu_held               gpu_held
#define lower_gpu_resumed            gpu_resumed
#define lower_gpu_give_back          gpu_give_back
#define lower_bring_back_threads     bring_back_threads
#define lower_agent_stop_end         agent_stop_end
#define lower_agent_take_freed_cards agent_take_freed_cards

struct lower lower = {
#ifdef OPEN_MPI
    .name = "Open MPI",
#else
    .name = "MPICH",
#endif
#define SERVICE(type, name, ...) .name = lower_##name,
#include "table/services.def"
#undef SERVICE
#define X(ret, name, args) .name = lower_##name,
    LOWER_SERVICES_MORE(X)
#undef X
#define BELOW_ROW(Name, name, ...) .Name = lower_##Name,
#define FUNCTION                   BELOW
#include "table/functions.def"
#undef FUNCTION

};
