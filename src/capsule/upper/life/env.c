/* env.c - environment: start and end, clock, versions, statuses, predefined attributes. */
#include "comm/comm.h"
#include "core/face.h"
#include "life/life.h"
#include "messages/messages.h"
#include "os/os.h"
#include "windows/windows.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static struct {
    int begun, ended; /* the lower half */
    int initialized, finalized, provided_level;
    int open_sessions, with_sessions;
    void *initializer; /* the thread that called MPI_Init: MPI's main thread */
    /* values of attributes, to which the program gets pointers */
    int tag_ub, global, last, universe, appnum;
    int library_length;
    char library[8200]; /* in its own words */
} life;

enum { SERIALIZED = NEUTRAL_THREAD_SERIALIZED, MULTIPLE = NEUTRAL_THREAD_MULTIPLE };

/* If one rank wants MPI_THREAD_MULTIPLE, all ranks use the mode that allows it (core/baton.h). */
static int let_several_in(int required, int *provided)
{
    int wanted = required >= MULTIPLE, some = 0;
    if (!OF_LOWER(threads))
        return 0;
    int rc =
        core_Allreduce(&wanted, &some, 1, predef[PRE_MPI_INT], predef[PRE_MPI_MAX], COMM_WORLD);
    upper.several = some;
    books_changed(); /* the fast functions check these */
    choose_short_way();
    if (!rc && wanted)
        *provided = MULTIPLE;
    return rc;
}

static int begin(int required, int *provided)
{
    int below = required < SERIALIZED ? required : SERIALIZED; /* it has one thread pointer */
    int rc = LOWER(Init_thread, below, provided);
    upper.thread_level = required;
    if (*provided > SERIALIZED)
        *provided = SERIALIZED;
    bind_predefined();
    know_comm(COMM_WORLD, WORLD_CARD_ID);
    know_comm(COMM_SELF, 0);
    upper.rank = COMM_WORLD->comm.rank;
    upper.size = COMM_WORLD->comm.size;
    upper.sent_to = need(calloc(upper.size, sizeof *upper.sent_to));
    upper.received_from = need(calloc(upper.size, sizeof *upper.received_from));
    life.tag_ub = LOWER(tag_ub);
    if (life.tag_ub > 0x7ffff)
        life.tag_ub = 0x7ffff; /* every other lower half allows that much, too */
    LOWER(Get_library_version, life.library, &life.library_length);
    life.begun = 1;
    if (!rc)
        rc = open_channels();
    if (!rc)
        rc = let_several_in(required, provided);
    life.provided_level = *provided;
    if (!rc)
        rc = info_env_fill(predef[PRE_MPI_INFO_ENV], core.argc, core.argv, required);
    if (!rc)
        rc = LOWER(agent_start, &upper);
    files_of_lower_half();
    return rc;
}

/* The lower half starts MPI at MPI_Init or at the first session, whichever comes first. All ranks meet there. */
static int begin_once(int required, int *provided)
{
    if (!life.begun)
        return begin(required, provided);
    *provided = life.provided_level;
    return 0;
}
int core_Init_thread(int required, int *provided)
{
    int rc = begin_once(required, provided);
    life.initializer = thread_pointer_get();
    life.initialized = 1;
    return rc;
}

/* The lower half cannot start MPI twice. A program with sessions may open another one at any time, even after
 * MPI_Finalize, so there the lower half ends MPI only when the process exits. */
static int end_below(void)
{
    int rc = pieces_all_sent();
    buffers_flush_all();
    commons_end();
    collective_enter(COMM_WORLD); /* past this point a rank takes no part in checkpoints */
    LOWER_VOID(agent_end);
    life.ended = 1;
    int ended = LOWER(Finalize);
    return rc ? rc : ended;
}
static void end_with_process(void)
{
    int in_use = life.open_sessions || (life.initialized && !life.finalized);
    if (life.begun && !life.ended && !in_use && !is_forked_child())
        (void)INSIDE(end_below());
}
int session_begins(int required, int *provided)
{
    if (life.ended)
        return refuse("MPI_Session_init", "the first session began after MPI_Finalize");
    int rc = begin_once(required, provided);
    if (!rc && !life.with_sessions++ && atexit(end_with_process))
        rc = NEUTRAL_MPI_ERR_NO_MEM;
    life.open_sessions += !rc;
    return rc;
}
void session_ends(void)
{
    life.open_sessions--;
}

int core_Initialized(int *flag)
{
    *flag = life.initialized;
    return 0;
}
int core_Finalized(int *flag)
{
    *flag = life.finalized;
    return 0;
}

int core_Query_thread(int *provided)
{
    *provided = life.provided_level;
    return 0;
}

int core_Is_thread_main(int *flag)
{
    void *main_one = life.initialized ? life.initializer : upper.threads[0].thread_pointer;
    *flag = thread_pointer_get() == main_one;
    return 0;
}

/* The standard asks for those of MPI_COMM_SELF only. */
static void delete_attributes(void)
{
    attributes_delete_all(COMM_SELF);
#ifdef MPICH_ABI
    attributes_delete_all(COMM_WORLD);
    for (int i = 0; i < N_PREDEFINED; i++)
        if (predef[i]->kind == KIND_TYPE)
            attributes_delete_all(predef[i]);
#endif
}
int core_Finalize(void)
{
    delete_attributes();
    life.finalized = 1;
    return life.with_sessions ? pieces_all_sent() : end_below();
}

/* Does not ask the lower half, because several threads may call it at once, and in many programs do. An image taken
 * between reading the clock and reading the shift would add the next process's shift to this process's time. */
double core_Wtime(void)
{
    struct timespec t;
    double shift;
    do {
        shift = core.wtime_shift;
        clock_gettime(CLOCK_MONOTONIC, &t);
    } while (shift != core.wtime_shift);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec + shift;
}

int core_Get_version(int *v, int *s)
{
    face_version(v, s);
    return 0;
}
/* Of the library that the program began with. Any thread may ask at any time, so this crosses the border only before MPI
 * begins, when nobody else does. */
int core_Get_library_version(char *s, int *len)
{
    if (!life.begun)
        return INSIDE(LOWER(Get_library_version, s, len));
    strcpy(s, life.library);
    *len = life.library_length;
    return 0;
}
int core_Get_processor_name(char *s, int *len)
{
    return LOWER(Get_processor_name, s, len);
}
int core_Get_address(const void *p, long *a)
{
    *a = (long)p;
    return 0;
}
int core_Get_count(const struct status *s, object *t, int *count)
{
    long size;
    int rc = core_Type_size_x(t, &size);
#ifdef MPICH_ABI /* a message of some bytes, counted in elements of size 0 */
    if (!size && s->bytes) {
        *count = NEUTRAL_UNDEFINED;
        return rc;
    }
#endif
    *count = !size                                          ? 0
             : s->bytes % size || s->bytes / size > INT_MAX ? NEUTRAL_UNDEFINED
                                                            : (int)(s->bytes / size);
    return rc;
}
int core_Test_cancelled(const struct status *s, int *flag)
{
    *flag = s->cancelled;
    return 0;
}
/* *value: as C sees it, a pointer to the value (for MPI_WIN_BASE, the window's address itself) */
int predefined_attribute(object *o, int which, void **value, int *flag)
{
#ifdef STANDARD_ABI /* MPI_PROC_NULL and MPI_ANY_SOURCE differ between the ABIs */
    static int host = -3, io = -1;
#elif defined(MPICH_ABI)
    static int host = -1, io = -2;
#else
    static int host = NEUTRAL_PROC_NULL, io = NEUTRAL_ANY_SOURCE;
#endif
    struct window *w = o->kind == KIND_WIN ? o->win.w : NULL;
    *flag = 1;
    if ((which >= ATTR_WIN_BASE) != (w != NULL)) {
        *flag = 0;
        return 0;
    }
    switch (which) {
    case ATTR_TAG_UB: *value = &life.tag_ub; break;
    case ATTR_HOST: *value = &host; break;
    case ATTR_IO: *value = &io; break;
    case ATTR_WTIME_IS_GLOBAL: *value = &life.global; break;
    case ATTR_UNIVERSE_SIZE: life.universe = upper.size; *value = &life.universe;
#ifdef MPICH_ABI /* MPICH does not set it */
        *flag = 0;
#endif
        break;
    case ATTR_LASTUSEDCODE:
        life.last = last_user_error();
        *value = &life.last;
        break;
    case ATTR_WIN_BASE: *value = w->base; break;
    case ATTR_WIN_SIZE: *value = &w->size; break;
    case ATTR_WIN_DISP_UNIT: *value = &w->unit; break;
    case ATTR_WIN_FLAVOR: *value = &w->flavor_out; break;
    case ATTR_WIN_MODEL: *value = &w->model; break;
    case ATTR_APPNUM: *value = &life.appnum; break; /* 0: a job has one program */
    default: *flag = 0;
    }
    return 0;
}
