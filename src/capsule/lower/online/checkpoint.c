/* online/checkpoint.c - one version, in the memory of its rank and of a partner. All messages are drained, the other
 * threads stand still.
 *   1. Write the own image: changed pages into slots of their own, all others shared with the last version.
 *   2. Send the changes to the partner, whose copy shares the rest with the copy that it has. A partner on the same
 *      machine only learns where they are, and copies them when the program runs again (online/lend.c).
 *   3. A barrier: all images of this version are complete, twice. It is committed.
 *   4. Drop the older version, and with it the pages that only it had.
 * Nobody writes to a slot that an image holds, so until 4 the last version is whole at its rank and at its partner,
 * whatever happens to the new one. A death
 *   before 3: some rank has no whole image of the new version, or only one; the next meeting finds the newest version
 *      that is whole for every rank: the last one, or the new one if nothing of it is missing;
 *   in 3, with only some ranks that notice: all have entered the barrier, so all have the new one, twice. Those that
 *      have left it may have dropped the last one, but nobody needs that: the meeting finds the new one;
 *   after 3: the same. A rank in 4 makes no MPI call, so it completes the step or dies.
 */
#include "online/meeting.h"
#include "output/output.h"
#include "round/agent.h"
#include "undo/undo.h"

#ifdef OPEN_MPI
#include "images/snapshot.h"
#include "online/levels.h"

#include <base/event.h>
#include <base/fault.h>
#include <mend/error.h>
#include <ulfm/ulfm.h>

#include <stdio.h>

enum { CANNOT, DISK_IS_BUSY, QUESTIONS };

/* If one rank cannot be saved, none is: returns 1, and says so once. */
static int refused(struct upper *upper, uint64_t levels, int any[QUESTIONS],
                   struct snapshot_result *result)
{
    static int told;
    int mine[QUESTIONS] = {snapshot_refused() != 0, global_is_busy(job.version + 1, levels)};
    GUARD("checkpoint", MPI_Allreduce(mine, any, QUESTIONS, MPI_INT, MPI_MAX, job.control));
    if (mine[CANNOT] && !told)
        fprintf(stderr, "mend: rank %d: no checkpoint: %s\n", upper->rank, mend_error_text());
    told |= mine[CANNOT];
    result->code = any[CANNOT] ? MEND_ERR_UNSUPPORTED : 0;
    result->version = job.version;
    return any[CANNOT];
}

/* A death is the usual reason. If there is none, a rollback to this version would only fail here again, forever. */
static void copy_failed(int partner)
{
    if (mend_ulfm_is_revoked(job.control))
        recover_error(mend_ulfm_revoked_code(), "checkpoint");
    recover_error(MPI_ERR_OTHER, "checkpoint"); /* returns if nobody has died */
    die("rank %d: no copy of version %lld for rank %d or from another, though nobody has died",
        job.rank, (long long)job.version + 1, partner);
}

void recover_checkpoint(struct upper *upper, const struct control_save *order,
                        struct snapshot_result *result)
{
    int any[QUESTIONS] = {0};
    if (refused(upper, order->levels, any, result))
        return;
    int previous = plan_partner_of(&job.plan, job.rank),
        partner = plan_partner(&job.plan, job.rank);
    int copied = job.world_size > 1 && levels_partner_due(job.version + 1);
    size_t sent = 0, changed = 0;
    double t0 = seconds_now();
    lend_end();
    held_keep(job.version, job.copied_version, job.rank, previous);
    struct held_image *own = held_new();
    held_write(own, upper, held_find(job.rank, job.version));
    own->rank = job.rank;
    own->version = job.version + 1;
    MEND_FAULT_POINT(recover_save_write);
    double t1 = seconds_now();
    if (copied) {
        struct held_image *copy = held_new();
        struct held_side out = {own, held_find(job.rank, job.copied_version), partner,
                                plan_is_near(&job.plan, partner)};
        struct held_side in = {copy, held_find(previous, job.copied_version), previous,
                               plan_is_near(&job.plan, previous)};
        if (!held_copy(&out, &in, job.control, &sent, &changed))
            copy_failed(partner);
        copy->rank = previous;
        copy->version = job.version + 1;
    }
    MEND_FAULT_POINT(recover_save_copy);
    double t2 = seconds_now();
    GUARD("checkpoint", MPI_Barrier(job.control));
    job.version++;
    if (copied)
        job.copied_version = job.version;
    MEND_FAULT_POINT(recover_save_agreed);
    lend_all_back();
    held_keep(job.version, job.copied_version, job.rank,
              previous); /* all have all of it: drop the old one */
    MEND_FAULT_POINT(recover_save_commit);
    output_commit();
    undo_begin(job.rank, job.version);
    spares_tell(&job.plan, job.base, own->size);
    if (!order->asked)
        global_offer(own, order->levels, any[DISK_IS_BUSY]);
    mend_event("checkpoint.commit", ev_int("version", job.version), ev_str("level", "memory"),
               ev_int("bytes", (long long)own->size), ev_real("seconds", seconds_now() - t0),
               ev_real("image", t1 - t0), ev_real("copy", t2 - t1));
    if (copied) /* the partner's copy is part of the same commit */
        mend_event("checkpoint.commit", ev_int("version", job.version), ev_str("level", "partner"),
                   ev_int("bytes", (long long)own->size), ev_int("sent", (long long)sent),
                   ev_int("changed", (long long)changed), ev_real("seconds", t2 - t1));
    if (!levels_save(own, order->levels, job.control, job.world_size))
        recover_error(mend_ulfm_revoked_code(), "checkpoint");
    lend_begin();
    result->version = job.version;
    if (order->asked && !global_save_now(own)) /* it stays in memory */
        result->code = MEND_ERR_IO;
    if (!order->asked)
        join_refill(job.base, job.control, &job.plan, job.version);
}
#endif
