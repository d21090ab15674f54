/* After a failure, and at the start of a job: which version, and who restores what.
 *
 * Stage A, the meeting. Every process of the repaired world runs it at once: survivors where they
 * landed, replacements inside MPI_Init. A1. Repair the communicator (not at the start). A2. Bind
 * the store to it. A3. Agree on the highest version number that anybody has used. A4. Ask the store
 * for the newest version that all ranks can have; make this rank's part readable; read its
 *       description. If it is damaged, the next older one.
 *   A5. Agree that all have read it. No version at all: the program starts over, on all ranks.
 * A death inside A sends everybody back to A1; nothing of the program's data has been touched.
 *
 * Then survivors run their builders (derived communicators) and go to the version's place, while
 * replacements run the program's set-up, builders included, until they arrive there.
 *
 * Stage B, at the version's place.
 *   B1. Copy the views from the part made readable in A4. No communication.
 *   B2. Gather codes and progress: if anybody could not restore, all stop with the reason.
 *   B3. Partial rollback: control views come from the survivor that got furthest.
 * A death inside B: everybody comes to A1 again, and B1 is done again from the same or another
 * version. */
#include <base/event.h>
#include <base/fail.h>
#include <base/fault.h>
#include <base/log.h>
#include <limits.h>
#include <mend/store.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

void recover_end(mend_flow *f)
{
    if (f->reading)
        f->store.end(f->store.arg, f->target);
    f->reading = false;
    meta_free(f->meta);
    f->meta = NULL;
}

/* ---- stage A ---- */

static int agree(mend_flow *f, long *values, int count, MPI_Op op)
{
    long all[4];
    int rc = MPI_Allreduce(values, all, count, MPI_LONG, op, f->comm);
    if (rc != MPI_SUCCESS)
        return f->has_repair && f->repair.is_failure(f->repair.arg, rc)
                   ? MEND_ERR_PEER_FAILED
                   : mend_fail(MEND_ERR_MPI,
                               "MPI_Allreduce failed while versions were agreed upon");
    memcpy(values, all, (size_t)count * sizeof *values);
    return 0;
}

static int read_meta(mend_flow *f)
{
    size_t size = 0;
    int rc = f->store.size(f->store.arg, META_REGION, &size);
    if (rc)
        return mend_fail(MEND_ERR_PROGRAM,
                         "version %ld of '%s' was not saved by a program with safe points",
                         f->target, f->name);
    void *bytes = malloc(size + 1);
    if (!bytes)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a description of %zu bytes", size);
    rc = f->store.read(f->store.arg, META_REGION, 0, bytes, size);
    if (!rc)
        rc = meta_read(bytes, size, &f->meta);
    free(bytes);
    return rc;
}

static bool keeps_data(const mend_flow *f)
{
    return f->options.rollback == MEND_ROLLBACK_PARTIAL && f->has_data;
}

static bool other_ranks(const mend_flow *f)
{
    return f->meta && f->meta->ranks != f->size;
}

/* A4 for one candidate. MEND_ERR_DAMAGED: try an older one. */
static int open_version(mend_flow *f, long version)
{
    int rc = f->store.begin(f->store.arg, version, keeps_data(f) ? -2 : -1);
    if (rc == MEND_ERR_RANK_COUNT) /* more ranks than then: any part has the description */
        rc = f->store.begin(f->store.arg, version, 0);
    if (rc)
        return rc;
    f->reading = true;
    f->target = version;
    return keeps_data(f) ? 0 : read_meta(f);
}

/* A2 to A5. MEND_ERR_PEER_FAILED: again from A1. */
static int choose_version(mend_flow *f)
{
    int rc = f->store.bind(f->store.arg, f->comm, f->rank);
    MEND_FAULT_POINT(flow_recover_bound);
    long tried[2] = {f->tried, f->learner && !learn_active(f)}, limit = LONG_MAX, version;
    if (rc || (rc = agree(f, tried, 2, MPI_MAX)))
        return rc;
    f->tried = tried[0];
    learn_anew(f, tried[1] != 0);
    f->fresh = f->finished = false;
    while ((rc = f->store.newest(f->store.arg, limit, &version)) == 0) {
        recover_end(f);
        rc = open_version(f, version);
        if (rc != MEND_ERR_DAMAGED)
            break;
        limit = version - 1;
    }
    MEND_FAULT_POINT(flow_recover_chosen);
    if (rc == MEND_ERR_PEER_FAILED)
        return rc;
    if (rc == MEND_ERR_NO_VERSION) {
        f->fresh = true;
        return 0;
    }
    long codes[2] = {rc, f->meta && f->meta->finished ? -1 : 0};
    int agreed = agree(f, codes, 2, MPI_MIN);
    f->finished = codes[1] != 0;
    if (agreed || codes[0] == 0)
        return agreed;
    return rc ? rc : mend_fail((int)codes[0], "another rank could not read version %ld", f->target);
}

int recover_meet(mend_flow *f, bool repair)
{
    double begin = mend_now();
    for (;;) {
        recover_end(f);
        if (repair) {
            int rc = f->repair.repair(f->repair.arg, f->comm, &f->comm);
            if (rc)
                return rc;
            f->repairs++;
            plan_failed(f);
        }
        MEND_FAULT_POINT(flow_recover_repaired);
        MPI_Comm_rank(f->comm, &f->rank);
        MPI_Comm_size(f->comm, &f->size);
        mend_event_set_rank(f->rank);
        mend_log_set_rank(f->rank);
        jump_release(f, false);
        int rc = choose_version(f);
        jump_catch(f);
        if (rc == MEND_ERR_PEER_FAILED && f->has_repair) {
            repair = true;
            continue;
        }
        if (rc)
            return rc;
        break;
    }
    f->failed = false;
    if (f->fresh || f->finished) {
        f->points = 0;
        f->base = f->tried + 1;
        if (f->finished && f->target >= f->base)
            f->base = f->target + 1;
    }
    mend_event("flow.meet", ev_int("version", f->fresh ? -1 : f->target),
               ev_int("repaired", repair), ev_real("seconds", mend_now() - begin));
    return 0;
}

/* ---- stage B: the views ---- */

static int view_error(const meta_view *m, const char *why, size_t now)
{
    return mend_fail(MEND_ERR_VIEW, "view '%s': %s (%llu bytes in the version, %zu now)", m->label,
                     why, (unsigned long long)m->bytes, now);
}

/* Would a restore work on this process as it is? Survivors ask, and else run their set-up again. */
static bool can_restore(const mend_flow *f)
{
    for (int i = 0; i < f->meta->view_count; i++) {
        const meta_view *m = &f->meta->views[i];
        const view *v = views_find(&f->views, m->label);
        if (m->fate != FATE_SAVED && m->fate != FATE_PART && m->fate != FATE_DEAD)
            continue;
        if (!v || (!v->pointer && v->bytes < m->bytes))
            return false;
    }
    return true;
}

/* Dynamic views get the saved length. Several may share one count, so all are reallocated before
 * any count is set. */
static int resize_dynamic(mend_flow *f, bool set_counts)
{
    for (int i = 0; i < f->meta->view_count; i++) {
        const meta_view *m = &f->meta->views[i];
        view *v = views_find(&f->views, m->label);
        if (!v || !v->pointer)
            continue;
        if (m->bytes % v->element)
            return view_error(m, "its elements have another size", view_bytes(v));
        if (set_counts) {
            *v->count = m->bytes / v->element;
            continue;
        }
        if (view_bytes(v) == m->bytes && *v->pointer)
            continue;
        void *moved = realloc(*v->pointer, m->bytes ? m->bytes : 1);
        if (!moved)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory for view '%s' (%llu bytes)", m->label,
                             (unsigned long long)m->bytes);
        *v->pointer = moved;
    }
    return 0;
}

static int check_view(const mend_flow *f, const meta_view *m, view *v)
{
    if (!v)
        return m->fate == FATE_SAVED || m->fate == FATE_PART || m->fate == FATE_DEAD
                   ? mend_fail(MEND_ERR_PROGRAM,
                               "the version has a view '%s' that this program does not name before "
                               "the safe point: was it changed?",
                               m->label)
                   : 0;
    if (m->fate == FATE_CONSTANT) {
        if (view_bytes(v) != m->bytes)
            return view_error(m, "a constant view has another length", view_bytes(v));
        return view_hash(v) == m->hash
                   ? 0
                   : view_error(m, "a constant view has other content than when it was saved",
                                view_bytes(v));
    }
    if (m->fate != FATE_SAVED && m->fate != FATE_PART && m->fate != FATE_DEAD)
        return 0;
    if (!v->pointer && (f->has_data ? view_bytes(v) < m->bytes : view_bytes(v) != m->bytes))
        return view_error(m, "its length differs; a view that grows has to be dynamic",
                          view_bytes(v));
    return 0;
}

/* The overlaps must be those of the process that saved, or bytes would go to the wrong place. */
static int check_overlap(const mend_flow *f, const meta_view *m, const view *v)
{
    if (m->fate == FATE_PART) {
        const view *leader = views_find(&f->views, f->meta->views[m->leader].label);
        if (!leader || (char *)view_address(v) != (char *)view_address(leader) + m->inside)
            return view_error(m, "it overlapped another view in another way", view_bytes(v));
    }
    return 0;
}

static int copy_view(mend_flow *f, const meta_view *m, view *v)
{
    size_t saved = 0;
    int rc = f->store.size(f->store.arg, v->id, &saved);
    if (rc)
        return rc;
    if (saved != m->span_bytes)
        return view_error(m, "its saved length is not the described one", view_bytes(v));
    if (saved)
        rc = f->store.read(f->store.arg, v->id, 0, view_address(v), saved);
    if (!rc && !v->pointer)
        v->bytes = m->bytes;
    return rc;
}

static int check_new_views(const mend_flow *f)
{
    for (int i = 0; i < f->views.count && !f->has_data; i++) {
        const view *v = f->views.all[i];
        bool known = false;
        for (int k = 0; k < f->meta->view_count && !known; k++)
            known = strcmp(f->meta->views[k].label, v->label) == 0;
        if (!known && !(v->flags & MEND_SCRATCH))
            return mend_fail(MEND_ERR_PROGRAM,
                             "view '%s' is not in version %ld: was the program changed?", v->label,
                             f->target);
    }
    return 0;
}

/* Another number of ranks than saved the version: arrays over all ranks are distributed as they are named now, control views are
 * the same everywhere, and anything else belongs to a rank that may not exist any more. Collective. */
static int recover_control(mend_flow *f, const meta_view *m, view *v)
{
    if (view_bytes(v) != m->bytes)
        return view_error(m, "its length differs", view_bytes(v));
    return m->fate == FATE_SAVED ? copy_view(f, m, v) : 0;
}

static int recover_redistributed(mend_flow *f)
{
    int rc = views_arrange(&f->views), count = 0;
    if (!rc)
        rc = views_parts(f, &count); /* for its room; filled anew below */
    count = 0;
    for (int i = 0; i < f->meta->view_count && !rc; i++) {
        const meta_view *m = &f->meta->views[i];
        view *v = views_find(&f->views, m->label);
        if (m->fate != FATE_SAVED && m->fate != FATE_PART)
            continue;
        if (v && v->total)
            f->parts[count++] =
                (mend_flow_part){v->id, v->label, v->address, v->bytes, v->offset, v->total};
        else if (v && (v->flags & MEND_CONTROL))
            rc = recover_control(f, m, v);
        else
            rc = mend_fail(
                MEND_ERR_RANK_COUNT,
                "version %ld has %d ranks, this job %d, and view '%s' has no layout over all ranks "
                "(mend_view_global)",
                f->target, f->meta->ranks, f->size, m->label);
    }
    if (!rc && count && !f->store.redistribute)
        rc = mend_fail(MEND_ERR_UNSUPPORTED,
                       "this store cannot distribute views over another number of ranks");
    long agreed[1] = {rc};
    if (MPI_Allreduce(MPI_IN_PLACE, agreed, 1, MPI_LONG, MPI_MIN, f->comm) != MPI_SUCCESS)
        return mend_fail(MEND_ERR_MPI, "MPI_Allreduce failed in a restore");
    if (rc || agreed[0])
        return rc ? rc
                  : mend_fail((int)agreed[0], "another rank could not restore version %ld",
                              f->target);
    if (!count)
        return 0;
    f->store.end(f->store.arg, f->target);
    f->reading = false;
    rc = f->store.redistribute(f->store.arg, f->target, f->parts, count);
    if (rc == MEND_ERR_PEER_FAILED)
        jump_away(f);
    return rc;
}

/* B1. `all` is false for survivors, which keep what is flagged so. */
int recover_views(mend_flow *f, bool all)
{
    int rc = 0;
    for (int i = 0; i < f->meta->view_count && !rc; i++)
        rc = check_view(f, &f->meta->views[i], views_find(&f->views, f->meta->views[i].label));
    if (!rc)
        rc = check_new_views(f);
    if (!rc)
        rc = resize_dynamic(f, false);
    if (!rc)
        rc = resize_dynamic(f, true);
    for (int i = 0; i < f->meta->view_count && !rc; i++) {
        const meta_view *m = &f->meta->views[i];
        view *v = views_find(&f->views, m->label);
        if (!v || (!all && (m->flags & MEND_KEEP)))
            continue;
        rc = check_overlap(f, m, v);
        if (!rc && m->fate == FATE_SAVED)
            rc = copy_view(f, m, v);
        else if (!rc && m->fate == FATE_DEAD && view_bytes(v))
            memset(view_address(v), 0, view_bytes(v)); /* as it was tried, see learn.c */
    }
    return rc;
}

/* ---- stage B: together ---- */

struct card {
    long code, live, points, control_bytes;
};

static size_t control_bytes(const mend_flow *f)
{
    size_t sum = 0;
    for (int i = 0; i < f->views.count; i++)
        if (f->views.all[i]->flags & MEND_CONTROL)
            sum += view_bytes(f->views.all[i]);
    return sum;
}

static void copy_control(mend_flow *f, char *buffer, bool out)
{
    for (int i = 0; i < f->views.count; i++) {
        view *v = f->views.all[i];
        size_t bytes = view_bytes(v);
        if (!(v->flags & MEND_CONTROL))
            continue;
        if (out)
            memcpy(buffer, view_address(v), bytes);
        else
            memcpy(view_address(v), buffer, bytes);
        buffer += bytes;
    }
}

/* B3. Views are named in the same order everywhere, so a plain concatenation will do. */
static int share_control(mend_flow *f, int source)
{
    size_t bytes = control_bytes(f);
    char *buffer = malloc(bytes + 1);
    if (!buffer || bytes > INT_MAX) {
        free(buffer);
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %zu bytes of control views", bytes);
    }
    copy_control(f, buffer, true);
    int rc = MPI_Bcast(buffer, (int)bytes, MPI_BYTE, source, f->comm);
    if (rc == MPI_SUCCESS)
        copy_control(f, buffer, false);
    free(buffer);
    return rc == MPI_SUCCESS
               ? 0
               : mend_fail(MEND_ERR_MPI, "MPI_Bcast failed while control views were agreed upon");
}

/* B2: what all ranks have to say. */
static int gather_cards(mend_flow *f, long code, struct card *cards)
{
    struct card mine = {code, keeps_data(f), f->points, (long)control_bytes(f)};
    int rc = MPI_Allgather(&mine, 4, MPI_LONG, cards, 4, MPI_LONG, f->comm);
    return rc == MPI_SUCCESS ? 0 : mend_fail(MEND_ERR_MPI, "MPI_Allgather failed after a restore");
}

static int judge_cards(mend_flow *f, long code, const struct card *cards, int *source)
{
    *source = -1;
    for (int r = 0; r < f->size; r++) {
        if (cards[r].code)
            return code ? (int)code
                        : mend_fail((int)cards[r].code, "rank %d could not restore version %ld", r,
                                    f->target);
        if (cards[r].live && (*source < 0 || cards[r].points > cards[*source].points))
            *source = r;
    }
    for (int r = 0; r < f->size && *source >= 0; r++)
        if (cards[r].control_bytes != cards[*source].control_bytes)
            return mend_fail(MEND_ERR_VIEW,
                             "control views have %ld bytes on rank %d, %ld on rank %d",
                             cards[r].control_bytes, r, cards[*source].control_bytes, *source);
    return 0;
}

static void resumed(mend_flow *f, const struct card *cards, int source, double begin)
{
    bool kept = keeps_data(f);
    if (source >= 0) {
        f->points = cards[source].points;
        f->base = f->tried + 1 - f->points;
    } else {
        f->points = f->meta->points;
        f->base = f->target - f->points;
    }
    f->version = f->target;
    f->restores++;
    f->seconds_restoring += mend_now() - begin;
    mend_event("flow.restore", ev_int("version", f->target), ev_int("point", f->points),
               ev_int("kept", kept), ev_int("joined", f->joining),
               ev_real("seconds", mend_now() - begin));
    f->joining = false;
    f->has_data = true;
    recover_end(f);
    point_schedule(f);
    plan_recovered(f, mend_now() - f->failed_at);
    backing_settled(f);
}

int recover_here(mend_flow *f, place *at)
{
    double begin = mend_now();
    int source = -1;
    f->place = at;
    long code = keeps_data(f)    ? 0
                : other_ranks(f) ? recover_redistributed(f)
                                 : recover_views(f, !f->has_data);
    MEND_FAULT_POINT(flow_restored);
    struct card *cards = calloc((size_t)f->size, sizeof *cards);
    if (!cards)
        return flow_fail(f, mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d ranks", f->size));
    free(f->cards); /* a jump out of the gathering left it */
    f->cards = cards;
    int rc = gather_cards(f, code, cards);
    if (!rc)
        rc = judge_cards(f, code, cards, &source);
    if (!rc && source >= 0)
        rc = share_control(f, source);
    if (!rc)
        resumed(f, cards, source, begin);
    return rc ? flow_fail(f, rc) : 1;
}

/* ---- survivors ---- */

int run_builders(mend_flow *f)
{
    for (int i = 0; i < f->builder_count; i++) {
        int rc = f->builders[i].build(f->builders[i].arg);
        if (rc)
            return mend_fail(MEND_ERR_MPI, "a builder returned %d", rc);
    }
    return 0;
}

static place *place_by_hash(const mend_flow *f, uint64_t hash)
{
    for (place *p = f->places; p; p = p->next)
        if (p->hash == hash)
            return p;
    return NULL;
}

/* To the version's place: here, elsewhere in a function that still runs, or by way of MPI_Init. */
static int go_to_place(mend_flow *f, place *here)
{
    place *there = keeps_data(f) ? here : place_by_hash(f, f->meta->place);
    bool ready = there && (keeps_data(f) || (!other_ranks(f) && can_restore(f)));
    bool same = ready && there == here;
    if (!same && !(ready && there->has_buffer && jump_frame_alive(there->frame, there->function))) {
        if (!jump_can_start(f))
            return mend_fail(
                MEND_ERR_STATE,
                "version %ld was saved at %s, which has returned, and so has the function "
                "that called MPI_Init",
                f->target, f->meta->place_text);
        f->joining = true;
        jump_to_start(f);
    }
    int rc = run_builders(f);
    if (rc)
        return rc;
    if (!same)
        jump_to_place(f, there);
    return 0;
}

/* A survivor has landed at a safe point after a failure. */
int recover_after_failure(mend_flow *f, mend_site *site)
{
    place *here = place_of(f, site);
    mend_event("flow.failure", ev_int("point", f->points),
               ev_real("since", mend_now() - f->failed_at));
    learn_reset(f);
    int rc = recover_meet(f, true);
    if (rc)
        return flow_fail(f, rc);
    if (f->fresh || f->finished) {
        if (!jump_can_start(f))
            return flow_fail(f, mend_fail(MEND_ERR_NO_VERSION,
                                          "a process died before the first version was saved, and "
                                          "the function that called MPI_Init has returned"));
        f->joining = false;
        jump_to_start(f);
    }
    rc = go_to_place(f, here);
    if (rc)
        return flow_fail(f, rc);
    return recover_here(f, here);
}
