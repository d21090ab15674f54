/* MPI_Init and MPI_Finalize of the short form. */
#include <base/config.h>
#include <base/event.h>
#include <base/fail.h>
#include <base/fault.h>
#include <base/grow.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

static int configure(mend_flow *f, int *spares, const char **process_mode, mend_config *c)
{
    int rc = mend_config_load(c, NULL);
    if (!rc)
        rc = options_read(c, &f->options, false);
    if (rc)
        return rc;
    *spares = (int)mend_config_integer(c, MEND_KEY_FLOW_SPARES);
    *process_mode = mend_config_string(c, MEND_KEY_FLOW_PROCESS);
    f->name = strdup(mend_config_string(c, MEND_KEY_FLOW_NAME));
    f->report = strdup(mend_config_string(c, MEND_KEY_FLOW_REPORT));
    if (!f->name || !f->report)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the configuration");
    const char *events = mend_config_string(c, MEND_KEY_FLOW_EVENTS);
    return events[0] ? mend_event_open(events) : 0;
}

static int start_processes(mend_flow *f, int spares, const char *mode)
{
    bool released = false;
    int rc = 0;
    if (strcmp(mode, "off") == 0) {
        if (spares)
            rc = mend_fail(MEND_ERR_CONFIG, "flow.spares is %d, but flow.process is off", spares);
        f->comm = MPI_COMM_WORLD;
    } else if (strcmp(mode, "auto") == 0 || strcmp(mode, "on") == 0) {
        rc = backing_process(f, spares, mode[1] == 'n', &released);
    } else {
        rc = mend_fail(MEND_ERR_CONFIG, "flow.process is '%s': auto, on or off", mode);
    }
    if (released) { /* an unused spare has nothing to return to */
        MPI_Finalize();
        exit(0);
    }
    return rc;
}

/* MPI over TCP writes to connections of dead processes. A handler of the program's own stays. */
static void ignore_broken_pipes(void)
{
    struct sigaction old;
    if (sigaction(SIGPIPE, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        signal(SIGPIPE, SIG_IGN);
}

/* The variables that MEND_STATE names. Each carries its own length, because files of a program may be compiled with
 * different headers. */
static int check_states(const mend_state *first, const mend_state *last)
{
    int rc = 0;
    for (const mend_state *s = first; !rc && s && s < last; s++)
        rc = mend_size_same("mend_state", s->size, sizeof *s);
    return rc;
}

static int first_init(mend_flow *f, int *argc, char ***argv, const mend_state *first,
                      const mend_state *last, void *frame)
{
    int provided, started = 0, spares = 0;
    const char *mode = "auto";
    mend_config c = {0};
    double begin = mend_now();
    MPI_Initialized(&started);
    if (started || f->open)
        return mend_fail(MEND_ERR_STATE, "MPI_Init was called before");
    int rc = configure(f, &spares, &mode, &c);
    ignore_broken_pipes();
    int mpi = MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    if (!rc && mpi != MPI_SUCCESS)
        rc = mend_fail(MEND_ERR_MPI, "MPI_Init_thread failed");
    if (!rc)
        rc = check_states(first, last);
    if (!rc)
        rc = start_processes(f, spares, mode);
    mend_config_free(&c);
    if (rc)
        return rc;
    f->open = true;
    f->start_frame = frame;
    f->start_function = jump_function_of(frame, NULL);
    memcpy(f->start, f->now, sizeof f->start);
    f->landing = LANDING_INIT;
    rc = context_open(f);
    mend_event("flow.init", ev_real("seconds", mend_now() - begin));
    return rc;
}

/* If all others have finished, a replacement has nothing to do. */
static void leave_if_finished(mend_flow *f, bool repaired)
{
    if (!f->finished || !repaired)
        return;
    if (backing_process_end(f) == MEND_ERR_PEER_FAILED)
        return;
    context_close(f);
    MPI_Finalize();
    exit(0);
}

int mend_flow_init(int *argc, char ***argv, mend_state *first, mend_state *last, void *frame,
                   int jumped)
{
    mend_flow *f = flow_of(NULL);
    int rc = jumped ? 0 : first_init(f, argc, argv, first, last, frame);
    if (!rc && !jumped && auto_on(f))
        rc = auto_start(f);
    if (!rc && !f->origin)
        rc = origin_take(f, __builtin_dwarf_cfa());
    bool replacement = f->process && backing_is_replacement(f);
    if (!rc && jumped != 2)
        rc = recover_meet(f, jumped == 1);
    if (rc) {
        flow_fail(f, rc);
        return MPI_ERR_OTHER;
    }
    leave_if_finished(f, replacement);
    if (auto_on(f) && !f->fresh && !f->finished) {
        f->joining = true;
        auto_resume(f);
    }
    context_begin(f);
    for (mend_state *s = first; s && s < last; s++)
        mend_flow_checked(mend_flow_view(f, s->label, s->address, s->bytes, MPI_BYTE, s->flags));
    return MPI_SUCCESS;
}

/* ---- MPI_Finalize ---- */

/* The end.
 *   1. Save the mark that the job is finished. It is complete only when every rank has come here.
 *   2. The process layer agrees that all have come, and releases the spares.
 *   3. Close the store; finalize MPI.
 * If a process dies before 1 is complete, there is work to do again, starting from MPI_Init, because the program may
 * have freed its memory. If it dies between 1 and 2, the replacement finds the mark and leaves. A death after 2 is
 * ignored. */
static int finish(mend_flow *f)
{
    if (learn_running(f)) {
        int rc = learn_left(f);
        if (rc)
            return rc;
    }
    if (f->joining)
        return mend_fail(
            MEND_ERR_PROGRAM,
            "version %ld was saved at %s, which this program never reached: was it changed?",
            f->target, f->meta->place_text);
    if (f->status)
        return 0;
    int rc = f->finished ? 0 : save_version(f, NULL, 0, 1);
    MEND_FAULT_POINT(flow_finalize);
    return rc ? rc : backing_process_end(f);
}

static void back_to_work(mend_flow *f, bool repair)
{
    int rc = recover_meet(f, repair);
    if (!rc && f->finished)
        return;
    if (!rc && auto_on(f)) {
        if (f->fresh)
            auto_start_over(f);
        auto_resume(f);
    }
    if (!rc && !jump_can_start(f))
        rc = mend_fail(
            MEND_ERR_STATE,
            "a process died while others were in MPI_Finalize, and the function that called "
            "MPI_Init has returned");
    if (rc)
        flow_fail(f, rc);
    else
        jump_to_start(f);
}

int mend_flow_finalize(int jumped)
{
    mend_flow *f = flow_of(NULL);
    if (!f->open) {
        mend_flow_checked(mend_fail(MEND_ERR_STATE, "MPI_Finalize before MPI_Init, or twice"));
        return MPI_ERR_OTHER;
    }
    f->landing = LANDING_FINALIZE;
    f->quiet = false;
    if (jumped)
        back_to_work(f, true);
    for (int rc; (rc = finish(f)) != 0;) {
        if (rc != MEND_ERR_PEER_FAILED) {
            flow_fail(f, rc);
            break;
        }
        back_to_work(f, !f->settled_by_end);
        f->settled_by_end = false;
    }
    if (f->report && f->report[0] && f->rank == 0)
        report_to_file(f);
    mend_event("flow.end", ev_int("saves", f->saves), ev_int("restores", f->restores),
               ev_int("repairs", f->repairs), ev_real("saving", f->seconds_saving),
               ev_real("restoring", f->seconds_restoring));
    context_close(f);
    *f = (mend_flow){.is_default = true, .comm = MPI_COMM_NULL, .version = -1, .tried = -1};
    return MPI_Finalize();
}
