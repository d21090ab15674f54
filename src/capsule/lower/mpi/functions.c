/* functions.c - with the other files of mpi/ compiled against the real mpi.h, once per MPI library. Wraps
 * each MPI function in the neutral calling convention of border/border.h, so that the same image can be
 * resumed on another MPI library. Most wrappers are generated from table/functions.def; the rest is below. */
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

#include "mpi/kept.h"
#include "mpi/services.h"
#include "mpi/values.h"
#include "mpi/watch.h"

#ifndef MPI_LOGICAL1 /* MPICH has none, see table/predefined.def */
#define MPI_LOGICAL1 MPI_INT8_T
#define MPI_LOGICAL2 MPI_INT16_T
#define MPI_LOGICAL4 MPI_INT32_T
#define MPI_LOGICAL8 MPI_INT64_T
#endif
#ifdef OPEN_MPI /* it has them still, its mpi.h does not */
extern struct ompi_predefined_datatype_t ompi_mpi_lb, ompi_mpi_ub;
#undef MPI_LB
#undef MPI_UB
#define MPI_LB (&ompi_mpi_lb)
#define MPI_UB (&ompi_mpi_ub)
#else
static MPI_Datatype two_of(MPI_Datatype type)
{
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, type, &pair);
    MPI_Type_commit(&pair);
    return pair;
}
#define MPI_2COMPLEX        two_of(MPI_COMPLEX)
#define MPI_2DOUBLE_COMPLEX two_of(MPI_DOUBLE_COMPLEX)
#endif
/* MPICH's MPI_Finalize prints a warning about types that are left. */
static void free_own_types(void)
{
#ifndef OPEN_MPI
    MPI_Datatype pair[] = {TYPE(lower.predef[PRE_MPI_2COMPLEX]),
                           TYPE(lower.predef[PRE_MPI_2DOUBLE_COMPLEX])};
    MPI_Type_free(&pair[0]);
    MPI_Type_free(&pair[1]);
#endif
}

#ifndef OPEN_MPI
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
#endif

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

/* Open MPI has a single request for all sends that need none; a send to MPI_PROC_NULL returns it. */
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

/* If the handles, special values and error classes of the border are this library's own, the busiest
 * functions need nothing between the halves. */
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
    if (begun) { /* restart.c did this, and then found no version */
        MPI_Query_thread(provided);
        return 0;
    }
    int rc = MPI_Init_thread(NULL, NULL, required, provided);
    ended_lend_pointer(); /* after the library has installed its handlers; so the next */
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
    watch_begin();
    return rc;
}

int lower_Finalize(void)
{
    if (ground.recovering) {
        recover_finalize();
        coordinator_end(); /* all ranks have been there, so nobody is still on the way to it */
    }
    free_own_types();
    watch_free();
    return online.creations_failed ? MPI_SUCCESS : MPI_Finalize();
}

/* The program's windows and requests are open: network libraries complain about that on standard output
 * (UCX), where only the program's own output belongs. */
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
    else {
        MPI_Barrier(MPI_COMM_WORLD); /* all have their locks of files again: upper/os/locks.c */
        undo_outside_resumed();
    }
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

static unsigned char unread;
struct lower lower = {
    .checks = &unread,
#ifdef OPEN_MPI
    .name = "Open MPI",
#else
    .name = "MPICH",
#endif
#define SERVICE(type, name, ...) .name = lower_##name,
#include "table/services.def"
#undef SERVICE
#define BELOW_ROW(Name, name, ...) .Name = lower_##Name,
#define FUNCTION                   BELOW
#include "table/functions.def"
#undef FUNCTION

};
