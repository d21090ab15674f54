/* Opening and closing contexts; MPI_Init and MPI_Finalize of the short form; errors. */
#include <base/config.h>
#include <base/event.h>
#include <base/fail.h>
#include <base/fault.h>
#include <base/log.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

/* The one context of the short forms, where MPI's own interface leaves no place for a handle. */
static mend_flow the_flow = {.is_default = true, .comm = MPI_COMM_NULL, .version = -1, .tried = -1};
static mend_flow *catching;

mend_flow *flow_of(mend_flow *flow)
{
    return flow ? flow : &the_flow;
}

mend_flow *flow_catching(void)
{
    return catching;
}

/* ---- errors ---- */

int flow_fail(mend_flow *f, int code)
{
    f->quiet = false;
    if (f->options.on_error == MEND_ON_ERROR_ABORT) {
        mend_log(MEND_LOG_ERROR, "%s (%s)", mend_error_text(), mend_error_name(code));
        mend_event("flow.abort", ev_int("code", code), ev_str("text", mend_error_text()));
        flow_abort(f->comm);
    }
    if (!f->status) {
        f->status = code;
        snprintf(f->status_text, sizeof f->status_text, "%s", mend_error_text());
    }
    return code;
}

int flow_say(mend_flow *f, int code, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return flow_fail(f, mend_fail(code, "%s", text));
}

int mend_flow_checked(int code)
{
    return code < 0 ? flow_fail(&the_flow, code) : code;
}

int mend_flow_status(const mend_flow *flow)
{
    return flow_of((mend_flow *)flow)->status;
}

/* ---- options ---- */

static int parse_every(const char *text, mend_flow_options *o)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (strcmp(text, "auto") == 0) {
        o->automatic = 1;
        return 0;
    }
    if (strcmp(text, "never") == 0)
        return 0;
    if (end != text && *end == 0 && n >= 0) {
        o->every = n;
        return 0;
    }
    if (mend_parse_seconds(text, &o->seconds) || o->seconds <= 0)
        return mend_fail(MEND_ERR_CONFIG,
                         "flow.every is '%s': a number of points, a time, auto, or never", text);
    return 0;
}

static int read_options(const mend_config *c, mend_flow_options *o, bool contexts)
{
    const char *rollback = mend_config_string(c, MEND_KEY_FLOW_ROLLBACK);
    const char *on_error = mend_config_string(c, MEND_KEY_FLOW_ON_ERROR);
    *o = (mend_flow_options){.size = sizeof *o,
                             .mtbf = mend_config_seconds(c, MEND_KEY_FLOW_MTBF),
                             .learn = mend_config_boolean(c, MEND_KEY_FLOW_LEARN),
                             .on_error = contexts ? MEND_ON_ERROR_RETURN : MEND_ON_ERROR_ABORT};
    if (strcmp(rollback, "partial") == 0)
        o->rollback = MEND_ROLLBACK_PARTIAL;
    else if (strcmp(rollback, "full") != 0)
        return mend_fail(MEND_ERR_CONFIG, "flow.rollback is '%s': full or partial", rollback);
    if (strcmp(on_error, "return") == 0)
        o->on_error = MEND_ON_ERROR_RETURN;
    else if (strcmp(on_error, "abort") != 0)
        return mend_fail(MEND_ERR_CONFIG, "flow.on_error is '%s': abort or return", on_error);
    return parse_every(mend_config_string(c, MEND_KEY_FLOW_EVERY), o);
}

int mend_flow_defaults(mend_flow_options *options)
{
    mend_config c;
    if (!options)
        return mend_fail(MEND_ERR_ARGUMENT, "options are NULL");
    int rc = mend_config_load(&c, NULL);
    if (rc)
        return rc;
    rc = read_options(&c, options, true);
    mend_config_free(&c);
    return rc;
}

/* ---- opening ---- */

static int open_parts(mend_flow *f)
{
    int rc = 0;
    f->owner = pthread_self();
    f->next = 0;
    f->version = f->tried = -1;
    if (f->options.store)
        f->store = *f->options.store;
    else
        rc = backing_store(f);
    if (!rc)
        f->store_open = true;
    if (!rc && f->options.automatic)
        rc = plan_start(f);
    if (!rc && f->options.learn)
        rc = learn_start(f);
    if (!rc && f->options.learn)
        rc = constants_start(f);
    return rc;
}

/* After a meeting: is this process on its way to a version, or at a beginning? */
static void begin_setup(mend_flow *f)
{
    f->joining = !f->fresh && !f->finished;
    f->has_data = false;
    flow_forget_setup(f);
    if (!f->joining) {
        recover_end(f);
        point_schedule(f);
        backing_settled(f);
    }
}

void flow_forget_setup(mend_flow *f)
{
    views_free(&f->views);
    f->builder_count = 0;
    learn_drop(f);
    for (place *p = f->places; p; p = p->next) {
        p->has_buffer = p->repeated = p->reopened = false;
        p->arrivals = 0;
    }
    f->place = NULL;
    f->site = NULL;
    f->quiet = false;
}

static void close_parts(mend_flow *f)
{
    recover_end(f);
    constants_free(f);
    if (f->store_open)
        f->store.close(f->store.arg);
    plan_free(f);
    learn_free(f);
    origin_free(f);
    if (f->has_handler)
        MPI_Errhandler_free(&f->handler);
    views_free(&f->views);
    for (place *p = f->places, *next; p; p = next) {
        next = p->next;
        free(p);
    }
    free(f->builders);
    free(f->meta_buffer);
    free(f->parts);
    free(f->cards);
    free(f->name);
    free(f->report);
    if (catching == f)
        catching = NULL;
}

int mend_flow_open(MPI_Comm comm, const mend_flow_options *options, mend_flow **flow)
{
    mend_flow_options defaults;
    if (!flow || comm == MPI_COMM_NULL || (options && options->size != sizeof *options))
        return mend_fail(MEND_ERR_ARGUMENT,
                         "mend_flow_open needs a communicator, a place for the handle, and options "
                         "from mend_flow_defaults()");
    int rc = options ? 0 : mend_flow_defaults(&defaults);
    if (rc)
        return rc;
    mend_flow *f = calloc(1, sizeof *f);
    if (!f)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a context");
    f->options = options ? *options : defaults;
    f->name = strdup(f->options.name ? f->options.name : "flow");
    f->comm = comm;
    f->open = true;
    if (f->options.repair) {
        f->repair = *f->options.repair;
        f->has_repair = true;
        catching = f;
    }
    rc = f->name ? open_parts(f) : mend_fail(MEND_ERR_NO_MEMORY, "no memory for a context");
    if (!rc)
        rc = recover_meet(f, false);
    if (rc) {
        close_parts(f);
        free(f);
        return rc;
    }
    begin_setup(f);
    *flow = f;
    return 0;
}

int mend_flow_close(mend_flow *flow)
{
    if (!flow)
        return mend_fail(MEND_ERR_ARGUMENT, "there is no context to close");
    int rc = flow->status || flow->joining ? 0 : save_version(flow, NULL, 0, 1);
    close_parts(flow);
    free(flow);
    return rc;
}

/* ---- MPI_Init ---- */

static int configure(mend_flow *f, int *spares, const char **process_mode, mend_config *c)
{
    int rc = mend_config_load(c, NULL);
    if (!rc)
        rc = read_options(c, &f->options, false);
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
    if (released) { /* a spare that was not needed has nothing to return to */
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

static int first_init(mend_flow *f, int *argc, char ***argv, void *frame)
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
        rc = start_processes(f, spares, mode);
    mend_config_free(&c);
    if (rc)
        return rc;
    catching = f->has_repair ? f : catching;
    f->open = true;
    f->start_frame = frame;
    f->start_function = jump_function_of(frame, NULL);
    memcpy(f->start, f->now, sizeof f->start);
    f->landing = LANDING_INIT;
    rc = open_parts(f);
    mend_event("flow.init", ev_real("seconds", mend_now() - begin));
    return rc;
}

/* A replacement that comes when all the others have finished has nothing to do. */
static void leave_if_finished(mend_flow *f, bool repaired)
{
    if (!f->finished || !repaired)
        return;
    if (backing_process_end(f) == MEND_ERR_PEER_FAILED)
        return;
    close_parts(f);
    MPI_Finalize();
    exit(0);
}

int mend_flow_init(int *argc, char ***argv, mend_state *first, mend_state *last, void *frame,
                   int jumped)
{
    mend_flow *f = &the_flow;
    int rc = jumped ? 0 : first_init(f, argc, argv, frame);
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
    begin_setup(f);
    for (mend_state *s = first; s && s < last; s++)
        mend_flow_checked(mend_flow_view(f, s->label, s->address, s->bytes, MPI_BYTE, s->flags));
    return MPI_SUCCESS;
}

/* ---- MPI_Finalize ---- */

/* The end.
 *   1. Save the mark that the job is finished. It is complete only when every rank has come here.
 *   2. The process layer agrees that all have come, and lets the spares go.
 *   3. Close the store; finalize MPI.
 * A death before 1 is complete: there is work to do again, by way of MPI_Init, for the program may
 * have freed its memory. Between 1 and 2: the replacement finds the mark and leaves. After 2:
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
            "version %ld was saved at %s, where this program never came: was it changed?",
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
    mend_flow *f = &the_flow;
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
    close_parts(f);
    *f = (mend_flow){.is_default = true, .comm = MPI_COMM_NULL, .version = -1, .tried = -1};
    return MPI_Finalize();
}

/* ---- small questions ---- */

int mend_flow_first(mend_flow *flow)
{
    return !flow_of(flow)->joining;
}

long mend_flow_version(const mend_flow *flow)
{
    return flow_of((mend_flow *)flow)->version;
}

int mend_flow_repairs(const mend_flow *flow)
{
    return flow_of((mend_flow *)flow)->repairs;
}

MPI_Comm mend_flow_world(const mend_flow *flow)
{
    const mend_flow *f = flow_of((mend_flow *)flow);
    return f->comm == MPI_COMM_NULL ? MPI_COMM_WORLD : f->comm;
}

int mend_flow_rehearsal(const mend_flow *flow)
{
    return learn_rehearsal(flow_of((mend_flow *)flow));
}

int flow_add_builder(mend_flow *f, mend_flow_builder *build, void *arg)
{
    int known = 0;
    while (known < f->builder_count &&
           (f->builders[known].build != build || f->builders[known].arg != arg))
        known++;
    if (known == f->builder_count) {
        builder *all = realloc(f->builders, (size_t)(known + 1) * sizeof *all);
        if (!all)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a builder");
        f->builders = all;
        f->builders[f->builder_count++] = (builder){build, arg};
    }
    return 0;
}

int mend_flow_rebuild(mend_flow *flow, mend_flow_builder *build, void *arg)
{
    mend_flow *f = flow_of(flow);
    if (!build)
        return mend_fail(MEND_ERR_ARGUMENT, "there is no builder");
    int rc = flow_add_builder(f, build, arg);
    if (rc)
        return rc;
    rc = build(arg);
    return rc ? mend_fail(MEND_ERR_MPI, "a builder returned %d", rc) : 0;
}
