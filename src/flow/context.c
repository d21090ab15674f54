/* Opening and closing contexts; errors; small queries. */
#include <base/event.h>
#include <base/grow.h>
#include <base/fail.h>
#include <base/log.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

/* The only context of the short forms, where MPI's own interface leaves no place for a handle. */
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

/* ---- opening ---- */

static int take_store(mend_flow *f)
{
    int rc = mend_options_take(&f->store, sizeof f->store, f->options.store,
                               f->options.store->struct_size, "mend_flow_store");
    return rc ? rc : mend_size_same("mend_flow_part", f->store.part_size, sizeof(mend_flow_part));
}

int context_open(mend_flow *f)
{
    int rc;
    f->owner = pthread_self();
    f->next = 0;
    f->version = f->tried = -1;
    if (f->has_repair)
        catching = f;
    rc = f->options.store ? take_store(f) : backing_store(f);
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
void context_begin(mend_flow *f)
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
    for (safe_point *p = f->safe_points; p; p = p->next) {
        p->has_buffer = p->repeated = p->reopened = false;
        p->arrivals = 0;
    }
    f->safe_point = NULL;
    f->site = NULL;
    f->quiet = false;
}

void context_close(mend_flow *f)
{
    recover_end(f);
    constants_free(f);
    int rc = f->store_open ? f->store.close(f->store.arg) : 0;
    if (rc && rc != MEND_ERR_PEER_FAILED)
        mend_log(MEND_LOG_WARNING, "%s: %s", f->name ? f->name : "flow", mend_error_text());
    plan_free(f);
    learn_free(f);
    origin_free(f);
    if (f->has_handler)
        MPI_Errhandler_free(&f->handler);
    views_free(&f->views);
    for (safe_point *p = f->safe_points, *next; p; p = next) {
        next = p->next;
        free(p);
    }
    free(f->builders);
    free(f->meta_buffer);
    free(f->parts);
    free(f->outcomes);
    free(f->name);
    free(f->report);
    if (catching == f)
        catching = NULL;
}

int mend_flow_open(MPI_Comm comm, const mend_flow_options *options, mend_flow **flow)
{
    mend_flow_options own;
    if (!flow || comm == MPI_COMM_NULL || (options && options->size < sizeof options->size))
        return mend_fail(MEND_ERR_ARGUMENT,
                         "mend_flow_open needs a communicator, a place for the handle, and options "
                         "from mend_flow_defaults()");
    int rc = options
                 ? mend_options_take(&own, sizeof own, options, options->size, "mend_flow_options")
                 : mend_flow_defaults(&own);
    if (rc)
        return rc;
    mend_flow *f = calloc(1, sizeof *f);
    if (!f)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a context");
    f->options = own;
    f->name = strdup(f->options.name ? f->options.name : "flow");
    f->comm = comm;
    f->open = true;
    if (f->options.repair) {
        rc = mend_options_take(&f->repair, sizeof f->repair, f->options.repair,
                               f->options.repair->struct_size, "mend_flow_repair");
        f->has_repair = rc == 0;
    }
    if (!rc)
        rc = f->name ? context_open(f) : mend_fail(MEND_ERR_NO_MEMORY, "no memory for a context");
    if (!rc)
        rc = recover_meet(f, false);
    if (rc) {
        context_close(f);
        free(f);
        return rc;
    }
    context_begin(f);
    *flow = f;
    return 0;
}

int mend_flow_close(mend_flow *flow)
{
    if (!flow)
        return mend_fail(MEND_ERR_ARGUMENT, "there is no context to close");
    int rc = flow->status || flow->joining ? 0 : save_version(flow, NULL, 0, 1);
    context_close(flow);
    free(flow);
    return rc;
}

/* ---- small questions ---- */

int mend_flow_first(mend_flow *flow)
{
    return !flow_of(flow)->joining;
}

mend_version_t mend_flow_version(const mend_flow *flow)
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
