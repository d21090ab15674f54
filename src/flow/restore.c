/* Stage B, at the version's place.
 *   B1. Copy the views from the part made readable in A4. No communication.
 *   B2. Gather codes and progress. If any rank could not restore, all stop with the reason.
 *   B3. Partial rollback: control views come from the survivor that got furthest.
 * A death inside B sends all back to A1, and B1 runs again from the same or another version. */
#include <base/event.h>
#include <base/fail.h>
#include <base/fault.h>
#include <limits.h>
#include <mend/store.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

/* ---- stage B: the views ---- */

static int view_error(const meta_view *m, const char *why, size_t now)
{
    return mend_fail(MEND_ERR_VIEW, "view '%s': %s (%llu bytes in the version, %zu now)", m->label,
                     why, (unsigned long long)m->bytes, now);
}

static bool has_content(const meta_view *m)
{
    return m->fate == FATE_SAVED || m->fate == FATE_PART || m->fate == FATE_DEAD ||
           m->fate == FATE_FOUND;
}

/* Would a restore work on this process as it is? Survivors ask this; if not, they run their set-up again. */
bool restore_possible(const mend_flow *f)
{
    for (int i = 0; i < f->meta->view_count; i++) {
        const meta_view *m = &f->meta->views[i];
        const view *v = views_find(&f->views, m->label);
        if (!has_content(m))
            continue;
        if (!v || (!v->pointer && v->bytes < m->bytes))
            return false;
    }
    return true;
}

/* Give dynamic views their saved length. Several may share one count, so reallocate all before setting any count. */
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
        int rc = view_resize(v, (size_t)m->bytes);
        if (rc)
            return rc;
    }
    return 0;
}

static int check_view(const mend_flow *f, const meta_view *m, view *v)
{
    if (!v)
        return has_content(m)
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
    if (!has_content(m))
        return 0;
    if (!v->pointer && (f->has_data ? view_bytes(v) < m->bytes : view_bytes(v) != m->bytes))
        return view_error(m, "its length differs; a view that grows must be dynamic",
                          view_bytes(v));
    return 0;
}

/* The overlaps must match those of the process that saved; otherwise bytes would go to the wrong place. */
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

/* Restore on another number of ranks: global arrays are distributed according to their current layout, control views
 * are the same everywhere, and anything else belongs to a rank that may no longer exist. Collective. */
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
        rc = views_parts(f, &count); /* for its room; filled again below */
    count = 0;
    for (int i = 0; i < f->meta->view_count && !rc; i++) {
        const meta_view *m = &f->meta->views[i];
        view *v = views_find(&f->views, m->label);
        if (m->fate != FATE_SAVED && m->fate != FATE_PART && m->fate != FATE_FOUND)
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

/* B1. `all` is false for survivors: they keep the views flagged MEND_KEEP. */
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
        else if (!rc && m->fate == FATE_FOUND)
            rc = constants_read(f, v, m->bytes);
        else if (!rc && m->fate == FATE_DEAD && view_bytes(v))
            rc = view_clear(v); /* as in the trial, see learn.c */
    }
    return rc;
}

/* ---- stage B: together ---- */

struct outcome {
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

static int copy_control(mend_flow *f, char *buffer, bool out)
{
    int rc = 0;
    for (int i = 0; i < f->views.count && !rc; i++) {
        view *v = f->views.all[i];
        size_t bytes = view_bytes(v);
        if (!(v->flags & MEND_CONTROL))
            continue;
        rc = out ? view_get(v, buffer) : view_set(v, buffer);
        buffer += bytes;
    }
    return rc;
}

/* B3. All processes name views in the same order, so concatenating them is enough. */
static int share_control(mend_flow *f, int source)
{
    size_t bytes = control_bytes(f);
    char *buffer = malloc(bytes + 1);
    if (!buffer || bytes > INT_MAX) {
        free(buffer);
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %zu bytes of control views", bytes);
    }
    int copied = copy_control(f, buffer, true);
    int rc = MPI_Bcast(buffer, (int)bytes, MPI_BYTE, source, f->comm);
    if (rc == MPI_SUCCESS && !copied)
        copied = copy_control(f, buffer, false);
    free(buffer);
    return rc == MPI_SUCCESS
               ? copied
               : mend_fail(MEND_ERR_MPI,
                           "MPI_Bcast failed while the ranks agreed on control views");
}

/* B2: gather every rank's result. */
static int gather_outcomes(mend_flow *f, long code, struct outcome *outcomes)
{
    struct outcome mine = {code, recover_keeps(f), f->points, (long)control_bytes(f)};
    int rc = MPI_Allgather(&mine, 4, MPI_LONG, outcomes, 4, MPI_LONG, f->comm);
    return rc == MPI_SUCCESS ? 0 : mend_fail(MEND_ERR_MPI, "MPI_Allgather failed after a restore");
}

static int judge_outcomes(mend_flow *f, long code, const struct outcome *outcomes, int *source)
{
    *source = -1;
    for (int r = 0; r < f->size; r++) {
        if (outcomes[r].code)
            return code ? (int)code
                        : mend_fail((int)outcomes[r].code, "rank %d could not restore version %ld",
                                    r, f->target);
        if (outcomes[r].live && (*source < 0 || outcomes[r].points > outcomes[*source].points))
            *source = r;
    }
    for (int r = 0; r < f->size && *source >= 0; r++)
        if (outcomes[r].control_bytes != outcomes[*source].control_bytes)
            return mend_fail(
                MEND_ERR_VIEW, "control views have %ld bytes on rank %d, %ld on rank %d",
                outcomes[r].control_bytes, r, outcomes[*source].control_bytes, *source);
    return 0;
}

static void resumed(mend_flow *f, const struct outcome *outcomes, int source, double begin)
{
    bool kept = recover_keeps(f);
    if (source >= 0) {
        f->points = outcomes[source].points;
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

/* B2, B3: the last steps of every path to a version. */
int recover_together(mend_flow *f, long code, double begin)
{
    int source = -1;
    struct outcome *outcomes = calloc((size_t)f->size, sizeof *outcomes);
    if (!outcomes)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d ranks", f->size);
    free(f->outcomes); /* left over from a jump out of the gathering */
    f->outcomes = outcomes;
    int rc = gather_outcomes(f, code, outcomes);
    if (!rc)
        rc = judge_outcomes(f, code, outcomes, &source);
    if (!rc && source >= 0)
        rc = share_control(f, source);
    if (!rc)
        resumed(f, outcomes, source, begin);
    return rc;
}

int recover_here(mend_flow *f, safe_point *at)
{
    double begin = mend_now();
    f->safe_point = at;
    long code = recover_keeps(f)         ? 0
                : recover_other_ranks(f) ? recover_redistributed(f)
                                         : recover_views(f, !f->has_data);
    MEND_FAULT_POINT(flow_restored);
    int rc = recover_together(f, code, begin);
    return rc ? flow_fail(f, rc) : 1;
}
