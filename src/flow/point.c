/* Arriving at a safe point: places, and when to save. */
#include <base/event.h>
#include <base/fail.h>
#include <base/fault.h>
#include <base/grow.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "flow.h"

/* ---- places ---- */

static uint64_t hash_site(const mend_site *site)
{
    char text[512];
    const char *name = strrchr(site->file, '/');
    int n = snprintf(text, sizeof text, "%s:%s:%d", name ? name + 1 : site->file, site->function,
                     site->line);
    return XXH3_64bits(text, (size_t)(n < (int)sizeof text ? n : (int)sizeof text - 1)) | 1;
}

safe_point *safe_point_of(mend_flow *f, mend_site *site)
{
    for (safe_point *p = f->safe_points; p; p = p->next)
        if (p->site == site)
            return p;
    safe_point *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->site = site;
    p->hash = hash_site(site);
    p->next = f->safe_points;
    f->safe_points = p;
    return p;
}

/* The loops that may still be open around `at`: see SEVERAL LOOPS in the public header. */
int safe_point_open(const mend_flow *f, const safe_point *at, uint64_t *open, int room)
{
    int n = 0;
    for (safe_point *p = f->safe_points; p; p = p->next)
        if (p != at && p->arrivals && (p->reopened || !p->repeated)) {
            if (n < room)
                open[n] = p->hash;
            n++;
        }
    return n;
}

/* Note the order in which the program meets places. A place that the quick path has passed since is repeated. */
static void note_arrival(mend_flow *f, safe_point *p)
{
    if (f->safe_point && f->safe_point != p && f->points - f->safe_point->last_arrival > 1)
        f->safe_point->repeated = true;
    if (p->arrivals && f->safe_point == p)
        p->repeated = true;
    else if (p->arrivals)
        p->reopened = true;
    p->arrivals++;
    p->last_arrival = f->points;
    f->safe_point = p;
    f->site = p->site;
    f->landing = LANDING_POINT;
}

/* ---- when ---- */

enum { FIRST_LOOK = 1 };

void point_schedule(mend_flow *f)
{
    const mend_flow_options *o = &f->options;
    if (o->every > 0)
        f->next = (f->points / o->every + 1) * o->every;
    else if (o->seconds > 0 || o->automatic)
        f->next = f->points + FIRST_LOOK;
    else
        f->next = LONG_MAX;
    f->last_look = f->points;
    f->last_save = f->last_points_time = mend_now();
}

/* Rank 0's answer for all: is a save due (and at which level of the planner), and at which point to ask again? */
struct answer {
    long due, level, next;
};

/* Ask again when the next save will be due, but never look further ahead than twice the time seen so far. */
static struct answer judge(mend_flow *f)
{
    struct answer a = {0, 0, 0};
    double now = mend_now(), elapsed = now - f->last_save, interval = f->options.seconds;
    long seen = f->points - f->last_look > 0 ? f->points - f->last_look : 1;
    double each = (now - f->last_points_time) / (double)seen;
    if (f->planner) {
        a.level = plan_due(f, &interval);
        a.due = a.level > 0;
    } else {
        a.due = elapsed >= interval;
    }
    double left = a.due ? interval : interval - elapsed;
    double ahead = left / (each > 1e-9 ? each : 1e-9);
    long furthest = 2 * seen + 1, step = ahead > (double)furthest ? furthest : (long)ahead;
    a.next = f->points + (step < 1 ? 1 : step);
    f->last_points_time = now;
    return a;
}

/* When saves go by time, rank 0 decides for all. With a save it sends a copy of what its planner knows. */
static int look(mend_flow *f, bool *due, int *level)
{
    struct answer a = {0, 0, 0};
    size_t bytes;
    void *state = plan_state(f, &bytes);
    if (f->rank == 0)
        a = judge(f);
    int rc = MPI_Bcast(&a, 3, MPI_LONG, 0, f->comm);
    if (rc == MPI_SUCCESS && a.due && state)
        rc = MPI_Bcast(state, (int)bytes, MPI_BYTE, 0, f->comm);
    if (rc != MPI_SUCCESS)
        return mend_fail(MEND_ERR_MPI, "MPI_Bcast failed at a safe point");
    f->last_look = f->points;
    f->next = a.next;
    *due = a.due != 0;
    *level = (int)a.level;
    return 0;
}

static int decide(mend_flow *f, bool *due, int *level)
{
    *due = false;
    *level = 0;
    if (f->save_asked) {
        *due = true;
        f->save_asked = false;
    }
    if (f->points < f->next)
        return 0;
    if (f->options.every > 0) {
        f->next = (f->points / f->options.every + 1) * f->options.every;
        *due = true;
        return 0;
    }
    bool timed = false;
    int rc = look(f, &timed, level);
    *due |= timed;
    return rc;
}

/* ---- arriving ---- */

static int usable(mend_flow *f, mend_site *site)
{
    if (f->status)
        return f->status;
    if (mend_size_same("mend_site", site->size, sizeof *site))
        return flow_fail(f, MEND_ERR_UNSUPPORTED);
    if (!f->open)
        return flow_say(f, MEND_ERR_STATE,
                        "mend_point() at %s:%d before MPI_Init or after MPI_Finalize", site->file,
                        site->line);
    if (!pthread_equal(pthread_self(), f->owner))
        return flow_say(f, MEND_ERR_THREAD,
                        "mend_point() at %s:%d in a thread other than that of MPI_Init", site->file,
                        site->line);
    if (f->inside)
        return flow_say(f, MEND_ERR_THREAD,
                        "mend_point() at %s:%d inside a call of this library (from a callback "
                        "or a signal handler)",
                        site->file, site->line);
    return 0;
}

/* The first arrival at a place looks at the whole stack, later ones only at a new frame. */
static int enter(mend_flow *f, mend_site *site, void *frame, safe_point **at)
{
    safe_point *p = safe_point_of(f, site);
    if (!p)
        return flow_say(f, MEND_ERR_NO_MEMORY, "no memory for a safe point");
    if (!p->function) {
        bool in_signal = false;
        p->function = jump_function_of(frame, &in_signal);
        if (in_signal)
            return flow_say(f, MEND_ERR_THREAD, "mend_point() at %s:%d in a signal handler",
                            site->file, site->line);
    }
    p->frame = f->frame = frame;
    note_arrival(f, p);
    *at = p;
    return 0;
}

/* This process is on its way to the version's place. */
static int join(mend_flow *f, safe_point *at)
{
    if (f->meta->place == at->hash)
        return recover_here(f, at);
    for (int i = 0; i < f->meta->open_count; i++)
        if (f->meta->open[i] == at->hash) {
            int rc = recover_views(f, true);
            return rc ? flow_fail(f, rc) : 1;
        }
    return 0;
}

static int work(mend_flow *f, safe_point *at)
{
    bool due = false;
    int level = 0, rc = learn_running(f) ? 0 : decide(f, &due, &level);
    if (rc)
        return flow_fail(f, rc);
    if (learn_active(f)) {
        bool save;
        int run = learn_arrive(f, due, &save);
        if (run == MEND_ERR_PEER_FAILED)
            jump_away(f);
        if (run)
            return run < 0 ? flow_fail(f, run) : 1;
        due = save;
    }
    if (due)
        rc = save_version(f, at, level, 0);
    if (rc == MEND_ERR_PEER_FAILED)
        jump_away(f); /* the store saw it first */
    if (rc)
        return flow_fail(f, rc);
    f->quiet = !f->save_asked && !learn_running(f);
    return 1;
}

static int arrive(mend_flow *f, mend_site *site, void *frame)
{
    safe_point *at = NULL;
    if (usable(f, site) || enter(f, site, frame, &at))
        return 0;
    MEND_FAULT_POINT(flow_point);
    f->inside = true;
    if (!f->joining) {
        f->points++;
        f->has_data = true;
    }
    int answer = f->joining ? join(f, at) : work(f, at);
    f->inside = false;
    return answer > 0;
}

int mend_flow_arrive(mend_flow *flow, mend_site *site, void *frame, int jumped)
{
    mend_flow *f = flow_of(flow);
    if (__builtin_expect(!jumped && f->quiet && site == f->site && frame == f->frame &&
                             f->points + 1 < f->next && pthread_equal(pthread_self(), f->owner),
                         1)) {
        f->points++;
        return 1;
    }
    if (!jumped)
        return arrive(f, site, frame);
    f->inside = true;
    int answer =
        jumped == 1 ? recover_after_failure(f, site) : recover_here(f, safe_point_of(f, site));
    f->inside = false;
    return answer > 0;
}

jmp_buf *mend_flow_buffer(mend_flow *flow)
{
    return &flow_of(flow)->now;
}

int mend_flow_save_now(mend_flow *flow)
{
    mend_flow *f = flow_of(flow);
    if (!f->open)
        return mend_fail(MEND_ERR_STATE, "nothing can be saved before MPI_Init");
    f->save_asked = true;
    f->quiet = false;
    return 0;
}

int mend_flow_leave(mend_flow *flow)
{
    mend_flow *f = flow_of(flow);
    f->landing = f->is_default ? LANDING_INIT : LANDING_NONE;
    if (f->is_default)
        memcpy(f->now, f->start, sizeof f->now);
    f->quiet = false;
    return 0;
}
