/* After a failure, and at the start of a job: which version, and who restores what.
 *
 * Stage A, the meeting. Every process of the repaired world runs it at the same time: survivors where they landed,
 * replacements inside MPI_Init.
 *   A1. Repair the communicator (not at the start).
 *   A2. Bind the store to it.
 *   A3. Agree on the highest version number that any rank has used.
 *   A4. Ask the store for the newest version that all ranks can restore; make this rank's part readable; read its
 *   description. If it is damaged, take the next older one.
 *   A5. Agree that all have read it. If there is no version at all, the program starts over on all ranks.
 * A death inside A sends all back to A1; no data of the program has changed yet.
 *
 * Then survivors run their builders (derived communicators) and go to the version's place, while replacements run the
 * program's set-up, including builders, until they arrive there.
 *
 * Stage B, at the version's place, is in restore.c. A program with MEND_STATE_ALL takes another path (auto.c). */
#include <base/event.h>
#include <base/fail.h>
#include <base/fault.h>
#include <base/log.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

void recover_end(mend_flow *f)
{
    if (f->reading)
        f->store.end(f->store.arg, f->target);
    f->reading = false;
    constants_end(f);
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
                               "MPI_Allreduce failed while the ranks agreed on a version");
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

bool recover_keeps(const mend_flow *f)
{
    return f->options.rollback == MEND_ROLLBACK_PARTIAL && f->has_data;
}

bool recover_other_ranks(const mend_flow *f)
{
    return f->meta && f->meta->ranks != f->size;
}

/* A4 for one candidate. MEND_ERR_DAMAGED: try an older one. */
static int open_version(mend_flow *f, mend_version_t version)
{
    int rc = f->store.begin(f->store.arg, version, recover_keeps(f) ? -2 : -1);
    if (rc == MEND_ERR_RANK_COUNT) /* more ranks than then: any part has the description */
        rc = f->store.begin(f->store.arg, version, 0);
    if (rc)
        return rc;
    f->reading = true;
    f->target = version;
    rc = recover_keeps(f) ? 0 : read_meta(f);
    long code = rc;
    if (!f->constants)
        return rc;                        /* if a version needs them, restoring its views fails */
    int agreed = recover_agree(f, &code); /* the next call is collective */
    if (agreed || code)
        return agreed ? agreed : (int)code;
    return constants_open(f, f->meta ? f->meta->constants : -1);
}

/* A2 to A5. MEND_ERR_PEER_FAILED: again from A1. */
static int choose_version(mend_flow *f)
{
    int rc = f->store.bind(f->store.arg, f->comm, f->rank);
    mend_version_t constants = -1;
    if (!rc)
        rc = constants_bind(f);
    if (!rc)
        rc = constants_newest(f, &constants);
    MEND_FAULT_POINT(flow_recover_bound);
    long tried[3] = {f->tried, f->learner && !learn_active(f), constants};
    mend_version_t limit = INT64_MAX, version;
    if (rc || (rc = agree(f, tried, 3, MPI_MAX)))
        return rc;
    f->tried = tried[0];
    constants_set_newest(f, tried[2]);
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

int recover_agree(mend_flow *f, long *code)
{
    return agree(f, code, 1, MPI_MIN);
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
    if (repair)
        plan_failed(f);
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

static safe_point *safe_point_by_hash(const mend_flow *f, uint64_t hash)
{
    for (safe_point *p = f->safe_points; p; p = p->next)
        if (p->hash == hash)
            return p;
    return NULL;
}

/* Go to the version's place: here, elsewhere in a function that is still running, or through MPI_Init. */
static int go_to_safe_point(mend_flow *f, safe_point *here)
{
    safe_point *there = recover_keeps(f) ? here : safe_point_by_hash(f, f->meta->place);
    bool ready = there && (recover_keeps(f) || (!recover_other_ranks(f) && restore_possible(f)));
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
        jump_to_safe_point(f, there);
    return 0;
}

/* A survivor has landed at a safe point after a failure. */
int recover_after_failure(mend_flow *f, mend_site *site)
{
    safe_point *here = safe_point_of(f, site);
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
    rc = go_to_safe_point(f, here);
    if (rc)
        return flow_fail(f, rc);
    return recover_here(f, here);
}
