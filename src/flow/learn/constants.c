/* Learn mode: views that are never written.
 *
 * They need not be in every version, but they must be somewhere: a replacement's set-up may not make them (it does
 * not run what only the first process did). So we save them once, in a side store of their own, and versions name the
 * number under which they are there.
 *
 *   1. At every save, hash all views. A view that has not changed over STEADY saves in a row, on any rank, is
 *      constant. The others are saved as usual.
 *   2. If the set of constant views has grown, save all of them in the side store, and wait until they are complete
 *      at every level. If that fails, they are saved as usual from then on.
 *   3. Versions leave them out and name the side store's number.
 *   4. A restore takes a version only if the side store still has that number; otherwise an older one.
 * If a view changes after all, 1 notices it before the next version is made. It is saved with that version, and never
 * considered constant again. After a failure all ranks start counting again, so the side store gets new copies where
 * processes were replaced.
 *
 * If a process dies inside 2, no version names that number yet. */
#include <base/event.h>
#include <base/fail.h>
#include <base/log.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

enum { STEADY = 3, VIEWS_MAX = 64, SMALL_BYTES = 4096 };

struct constants {
    mend_flow_store store;
    mend_version_t version, tried; /* in use, -1: none; the highest number used */
    uint64_t set;                  /* a bit for each view in it */
    bool off, reading;
};

int constants_start(mend_flow *f)
{
    if (!f->own_store || f->options.rollback == MEND_ROLLBACK_PARTIAL)
        return 0;
    struct constants *c = calloc(1, sizeof *c);
    if (!c)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for learn mode");
    c->version = c->tried = -1;
    int rc = backing_side_store(f, &c->store);
    if (rc) {
        free(c);
        return rc;
    }
    f->constants = c;
    return 0;
}

void constants_free(mend_flow *f)
{
    if (!f->constants)
        return;
    constants_end(f);
    f->constants->store.close(f->constants->store.arg);
    free(f->constants);
    f->constants = NULL;
}

int constants_bind(mend_flow *f)
{
    struct constants *c = f->constants;
    if (!c)
        return 0;
    c->version = -1;
    c->set = 0;
    return c->store.bind(c->store.arg, f->comm, f->rank);
}

void constants_anew(mend_flow *f)
{
    for (int i = 0; i < f->views.count; i++) {
        view *v = f->views.all[i];
        v->constant = v->changes = false;
        v->steady = 0;
    }
}

mend_version_t constants_version(const mend_flow *f)
{
    return f->constants && f->constants->set ? f->constants->version : -1;
}

/* ---- saving ---- */

static bool eligible(const view *v)
{
    return !v->changes && (v->fate == FATE_SAVED || v->fate == FATE_FOUND) &&
           v->span_bytes == view_bytes(v) && !v->total &&
           !(v->flags & (MEND_CONTROL | MEND_KEEP)) && view_bytes(v) >= SMALL_BYTES;
}

/* Step 1: what this rank considers constant. */
static uint64_t steady_views(mend_flow *f)
{
    uint64_t steady = 0;
    for (int i = 0; i < f->views.count && i < VIEWS_MAX; i++) {
        view *v = f->views.all[i];
        if (!eligible(v))
            continue;
        uint64_t hash = view_hash(v) ^ view_bytes(v);
        if (v->steady && v->steady_hash != hash) {
            v->changes = v->constant; /* it was considered constant */
            v->steady = 0;
        }
        v->steady_hash = hash;
        if (++v->steady > STEADY && !v->changes)
            steady |= (uint64_t)1 << i;
    }
    return steady;
}

/* Step 2. */
static int save_set(mend_flow *f, uint64_t set)
{
    struct constants *c = f->constants;
    mend_flow_part *parts = calloc(VIEWS_MAX, sizeof *parts);
    int n = 0;
    if (!parts)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for learn mode");
    for (int i = 0; i < f->views.count && i < VIEWS_MAX; i++) {
        const view *v = f->views.all[i];
        if ((set >> i) & 1)
            parts[n++] = (mend_flow_part){
                .id = v->id, .label = v->label, .address = view_address(v), .bytes = view_bytes(v)};
    }
    int rc = c->store.save(c->store.arg, ++c->tried, parts, n, 0);
    free(parts);
    if (rc == MEND_ERR_PEER_FAILED)
        return rc;
    if (rc) {
        mend_log(MEND_LOG_WARNING, "constant views are saved with every version: %s",
                 mend_error_text());
        c->off = true;
        return 0;
    }
    c->version = c->tried;
    c->set = set;
    mend_event("flow.constants", ev_int("version", c->version), ev_int("views", n));
    return 0;
}

int constants_judge(mend_flow *f)
{
    struct constants *c = f->constants;
    if (!c || c->off)
        return 0;
    int rc = views_arrange(&f->views);
    if (rc)
        return rc;
    uint64_t mine = steady_views(f), all = 0;
    if (MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_BAND, f->comm) != MPI_SUCCESS)
        return mend_fail(MEND_ERR_MPI, "MPI_Allreduce failed in learn mode");
    if (all & ~c->set)
        rc = save_set(f, all);
    c->set = rc || c->off ? 0 : all;
    for (int i = 0; i < f->views.count && i < VIEWS_MAX; i++)
        f->views.all[i]->constant = (c->set >> i) & 1;
    return rc;
}

/* ---- restoring ---- */

/* Step 4. MEND_ERR_DAMAGED: use an older version. The result is agreed, because all ranks ask for the same one. */
int constants_open(mend_flow *f, mend_version_t version)
{
    struct constants *c = f->constants;
    mend_version_t found = -1;
    if (version < 0)
        return 0;
    if (!c)
        return mend_fail(MEND_ERR_CONFIG,
                         "version %ld was saved with learn mode; restore it with learn mode",
                         f->target);
    int rc = c->store.newest(c->store.arg, version, &found);
    if (rc == MEND_ERR_PEER_FAILED)
        return rc;
    if (rc || found != version)
        return mend_fail(MEND_ERR_DAMAGED, "the constant views of version %ld are lost", f->target);
    rc = c->store.begin(c->store.arg, version, -1);
    c->reading = rc == 0;
    return rc;
}

int constants_read(mend_flow *f, const view *v, size_t bytes)
{
    struct constants *c = f->constants;
    size_t saved = 0;
    int rc = c && c->reading ? c->store.size(c->store.arg, v->id, &saved)
                             : mend_fail(MEND_ERR_STATE, "no constant views are open");
    if (!rc && saved != bytes)
        rc = mend_fail(MEND_ERR_VIEW, "view '%s': %zu bytes were saved, not %zu", v->label, saved,
                       bytes);
    return rc ? rc : c->store.read(c->store.arg, v->id, 0, view_address(v), bytes);
}

void constants_end(mend_flow *f)
{
    struct constants *c = f->constants;
    if (c && c->reading)
        c->store.end(c->store.arg, c->version);
    if (c)
        c->reading = false;
}

/* The highest number in use, so that all ranks continue from the same one. Collective. */
int constants_newest(mend_flow *f, mend_version_t *version)
{
    struct constants *c = f->constants;
    *version = -1;
    if (!c)
        return 0;
    int rc = c->store.newest(c->store.arg, INT64_MAX, version);
    if (rc == MEND_ERR_NO_VERSION) {
        *version = -1;
        rc = 0;
    }
    if (*version < c->tried)
        *version = c->tried;
    return rc;
}

void constants_set_newest(mend_flow *f, mend_version_t version)
{
    if (f->constants)
        f->constants->tried = version;
}
