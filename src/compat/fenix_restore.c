/* Fenix data: restoring members from snapshots.
 *
 * A time stamp, or FENIX_DATA_SNAPSHOT_LATEST, means what was stored in that snapshot and nothing
 * else. FENIX_DATA_SNAPSHOT_ALL, or FENIX_TIME_STAMP_MAX in older programs, means every element as
 * it was stored last, in whichever snapshot that was:
 *   1. all agree on the newest snapshot that every rank has;
 *   2. each rank takes from it what it has not found yet;
 *   3. the same with the next older one, until every rank has all that it asked for, or there is no
 *      older one.
 */
#include "fenix_data.h"

#include <base/fail.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool means_all(int time_stamp)
{
    return time_stamp == FENIX_DATA_SNAPSHOT_ALL || time_stamp == FENIX_TIME_STAMP_MAX;
}

/* The newest snapshot here that is older than `bound`, or -1. */
static int older_than(const struct fenix_group *group, int bound)
{
    int i = group->stamp_count - 1;
    while (i >= 0 && group->stamps[i] >= bound)
        i--;
    return i < 0 ? -1 : group->stamps[i];
}

/* The stamp that is meant, or -1 if there is no such snapshot here. */
static int resolve(const struct fenix_group *group, int time_stamp)
{
    if (time_stamp == FENIX_DATA_SNAPSHOT_LATEST)
        return group->stamp_count ? group->stamps[group->stamp_count - 1] : -1;
    for (int i = 0; i < group->stamp_count; i++)
        if (group->stamps[i] == time_stamp)
            return time_stamp;
    return -1;
}

/* Open this rank's (or another's) part of a snapshot, on all ranks:
 *   1. all compare which stamp they mean: a snapshot that one rank has deleted exists for nobody;
 *   2. if every rank has just that part open already (several members in a row), it stays open;
 *   3. otherwise the store fetches, rebuilds and verifies it. */
static int open_part(struct fenix_group *group, int stamp, int rank)
{
    int mine[3] = {stamp, -stamp, group->open_stamp != stamp || group->open_rank != rank};
    int all[3];
    if (MPI_Allreduce(mine, all, 3, MPI_INT, MPI_MAX, group->comm) != MPI_SUCCESS)
        return mend_fail(MEND_ERR_PEER_FAILED, "a rank of data group %d died", group->id);
    if (stamp < 0 || all[0] != stamp || -all[1] != stamp)
        return mend_fail(MEND_ERR_NO_VERSION, "data group %d: not every rank has the snapshot",
                         group->id);
    if (!all[2])
        return MEND_OK;
    mend_fenix_close_part(group);
    int code = mend_store_begin_look(group->store, stamp, rank);
    if (code)
        return code;
    group->open_stamp = stamp;
    group->open_rank = rank;
    return MEND_OK;
}

/* Where the blocks of a member lie in the open part. */
static int read_blocks(struct fenix_group *group, int member_id, struct fenix_blocks *blocks,
                       size_t *data_offset)
{
    uint64_t count;
    size_t bytes;
    int code = mend_store_saved_size(group->store, member_id, &bytes);
    if (!code)
        code = mend_store_read(group->store, member_id, 0, &count, sizeof count);
    if (!code && count > bytes / (2 * sizeof count))
        code = mend_fail(MEND_ERR_DAMAGED, "member %d claims %llu blocks in %zu bytes", member_id,
                         (unsigned long long)count, bytes);
    for (uint64_t i = 0; !code && i < count; i++) {
        uint64_t ends[2];
        code = mend_store_read(group->store, member_id, sizeof count + i * sizeof ends, ends,
                               sizeof ends);
        if (!code && (ends[1] < ends[0] || ends[1] > INT_MAX))
            code = mend_fail(MEND_ERR_DAMAGED, "member %d has a block that ends before it begins",
                             member_id);
        if (!code)
            code = mend_fenix_blocks_add(blocks, (long)ends[0], (long)ends[1]);
    }
    *data_offset = sizeof count * (1 + 2 * (size_t)(code ? 0 : count));
    return code;
}

/* What a restore asks for, and what it has so far. */
struct wanted {
    const struct fenix_member *member;
    char *target;
    long count;
    struct fenix_blocks found;
};

static bool complete(const struct wanted *w)
{
    return w->count == 0 || (w->found.count == 1 && w->found.block[0].first == 0 &&
                             w->found.block[0].last >= w->count - 1);
}

/* Read elements first … last of a block whose bytes begin at `offset`, but for those that were found
 * in a newer snapshot. */
static int read_missing(struct fenix_group *group, const struct wanted *w, long first, long last,
                        size_t offset)
{
    size_t element = w->member->element;
    int code = MEND_OK;
    for (long i = 0, from = first; from <= last && !code; i++) {
        bool more = i < w->found.count;
        long until = more && w->found.block[i].first <= last ? w->found.block[i].first - 1 : last;
        if (until >= from)
            code = mend_store_read(
                group->store, w->member->id, offset + (size_t)(from - first) * element,
                w->target + (size_t)from * element, (size_t)(until - from + 1) * element);
        if (!more)
            break;
        if (w->found.block[i].last + 1 > from)
            from = w->found.block[i].last + 1;
    }
    return code;
}

/* Take from the open part what is missing and fits. */
static int read_part(struct fenix_group *group, struct wanted *w)
{
    struct fenix_blocks saved = {0};
    size_t offset;
    int code = read_blocks(group, w->member->id, &saved, &offset);
    for (long i = 0; i < saved.count && !code; i++) {
        long first = saved.block[i].first, last = saved.block[i].last;
        code = read_missing(group, w, first, last < w->count ? last : w->count - 1, offset);
        offset += (size_t)(last - first + 1) * w->member->element;
    }
    for (long i = 0; i < saved.count && !code; i++) {
        long last = saved.block[i].last < w->count ? saved.block[i].last : w->count - 1;
        if (last >= saved.block[i].first)
            code = mend_fenix_blocks_add(&w->found, saved.block[i].first, last);
    }
    mend_fenix_blocks_free(&saved);
    return code;
}

/* The end of every restore: tell what was found. */
static int tell(struct wanted *w, int code, Fenix_Data_subset *found_data)
{
    if (!code && w->found.count == 0)
        code = mend_fail(MEND_ERR_NO_VERSION, "member %d was not stored in the snapshot",
                         w->member->id);
    if (!code && found_data)
        code = mend_fenix_subset_from(&w->found, found_data);
    bool partial = !complete(w);
    mend_fenix_blocks_free(&w->found);
    if (code)
        return mend_fenix_data_result(code, FENIX_ERROR_NODATA_FOUND);
    return partial ? FENIX_WARNING_PARTIAL_RESTORE : FENIX_SUCCESS;
}

static int check(int group_id, int member_id, const void *target, int max_count,
                 struct fenix_group **group, struct fenix_member **member)
{
    *group = mend_fenix_group(group_id);
    if (!*group)
        return FENIX_ERROR_INVALID_GROUPID;
    *member = mend_fenix_member(*group, member_id);
    if (!*member)
        return FENIX_ERROR_INVALID_MEMBERID;
    if (!target || max_count < 0 || !(*group)->store)
        return FENIX_ERROR_INVALID_LOGIC_CALL;
    return FENIX_SUCCESS;
}

/* Step 1: the newest snapshot below `bound` that every rank has; -1: there is none. */
static int agree_older(struct fenix_group *group, int bound, int *stamp)
{
    for (;;) {
        int newest = older_than(group, bound), mine[2] = {newest, -newest}, all[2];
        if (MPI_Allreduce(mine, all, 2, MPI_INT, MPI_MAX, group->comm) != MPI_SUCCESS)
            return mend_fail(MEND_ERR_PEER_FAILED, "a rank of data group %d died", group->id);
        *stamp = -all[1];
        if (all[0] == *stamp || *stamp < 0)
            return MEND_OK;
        bound = *stamp + 1; /* somebody lacks the newer ones */
    }
}

static int restore_all(struct fenix_group *group, struct wanted *w, int rank)
{
    int bound = INT_MAX, stamp = -1, failed = MEND_OK;
    bool all = false;
    while (!all) {
        int code = agree_older(group, bound, &stamp);
        if (!code && stamp < 0)
            break;
        if (!code)
            code = open_part(group, stamp, rank);
        if (code)
            return code;
        if (!failed && !complete(w))
            failed = read_part(group, w);
        code = mend_fenix_all(group, failed || complete(w), &all);
        if (code)
            return code;
        bound = stamp;
    }
    return failed;
}

static int restore(int group_id, int member_id, void *target, int max_count, int time_stamp,
                   Fenix_Data_subset *found_data, int rank)
{
    struct fenix_group *group;
    struct fenix_member *member;
    int result = check(group_id, member_id, target, max_count, &group, &member);
    if (result != FENIX_SUCCESS)
        return result;
    if (rank >= group->size)
        return FENIX_ERROR_INVALID_LOGIC_CALL;
    struct wanted w = {.member = member, .target = target, .count = max_count};
    int code;
    if (means_all(time_stamp)) {
        code = restore_all(group, &w, rank);
    } else {
        code = open_part(group, resolve(group, time_stamp), rank);
        if (!code)
            code = read_part(group, &w);
    }
    return tell(&w, code, found_data);
}

int Fenix_Data_member_restore(int group_id, int member_id, void *target_buffer, int max_count,
                              int time_stamp, Fenix_Data_subset *found_data)
{
    return restore(group_id, member_id, target_buffer, max_count, time_stamp, found_data, -1);
}

int Fenix_Data_member_restore_from_rank(int group_id, int member_id, void *data, int max_count,
                                        int time_stamp, Fenix_Data_subset *found_data,
                                        int source_rank)
{
    if (source_rank < 0)
        return FENIX_ERROR_INVALID_LOGIC_CALL;
    return restore(group_id, member_id, data, max_count, time_stamp, found_data, source_rank);
}

/* One snapshot, from what this rank has by itself. */
static int read_own(struct fenix_group *group, struct wanted *w, int stamp)
{
    if (group->open_stamp == stamp && group->open_rank == -1)
        return read_part(group, w);
    mend_fenix_close_part(group);
    int code = mend_store_begin_restore_own(group->store, stamp);
    if (code)
        return code;
    code = read_part(group, w);
    mend_store_end_restore(group->store);
    return code;
}

int Fenix_Data_member_lrestore(int group_id, int member_id, void *target_buffer, int max_count,
                               int time_stamp, Fenix_Data_subset *found_data)
{
    struct fenix_group *group;
    struct fenix_member *member;
    int result = check(group_id, member_id, target_buffer, max_count, &group, &member);
    if (result != FENIX_SUCCESS)
        return result;
    struct wanted w = {.member = member, .target = target_buffer, .count = max_count};
    int stamp = means_all(time_stamp) ? older_than(group, INT_MAX) : resolve(group, time_stamp);
    int code = stamp < 0 ? mend_fail(MEND_ERR_NO_VERSION, "no such snapshot") : MEND_OK;
    while (!code && stamp >= 0) {
        code = read_own(group, &w, stamp);
        stamp = means_all(time_stamp) && !complete(&w) ? older_than(group, stamp) : -1;
    }
    return tell(&w, code, found_data);
}
