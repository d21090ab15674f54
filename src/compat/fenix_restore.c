/* Fenix data: restoring members from snapshots. */
#include "fenix_data.h"

#include <base/fail.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

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
    int code = mend_store_begin_restore(group->store, stamp, rank);
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

/* Copy what was saved and fits; `found` gets it, *partial tells whether something is missing. */
static int read_data(struct fenix_group *group, const struct fenix_member *member, char *target,
                     long max_count, struct fenix_blocks *found, bool *partial)
{
    struct fenix_blocks saved = {0};
    size_t offset;
    int code = read_blocks(group, member->id, &saved, &offset);
    for (long i = 0; i < saved.count && !code; i++) {
        long first = saved.block[i].first, last = saved.block[i].last;
        long until = last < max_count ? last : max_count - 1;
        if (until >= first)
            code = mend_store_read(group->store, member->id, offset,
                                   target + (size_t)first * member->element,
                                   (size_t)(until - first + 1) * member->element);
        if (!code && until >= first)
            code = mend_fenix_blocks_add(found, first, until);
        offset += (size_t)(last - first + 1) * member->element;
    }
    long whole =
        member->count != FENIX_RESIZEABLE ? member->count : mend_fenix_blocks_elements(&saved);
    *partial = !code && mend_fenix_blocks_elements(found) < whole;
    if (!code && saved.count == 0)
        code =
            mend_fail(MEND_ERR_NO_VERSION, "member %d was not stored in the snapshot", member->id);
    mend_fenix_blocks_free(&saved);
    return code;
}

static int deliver(struct fenix_group *group, const struct fenix_member *member, void *target,
                   int max_count, Fenix_Data_subset *found_data)
{
    struct fenix_blocks found = {0};
    bool partial;
    int code = read_data(group, member, target, max_count, &found, &partial);
    if (!code && found_data)
        code = mend_fenix_subset_from(&found, found_data);
    mend_fenix_blocks_free(&found);
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
    int code = open_part(group, resolve(group, time_stamp), rank);
    if (code)
        return mend_fenix_data_result(code, FENIX_ERROR_NODATA_FOUND);
    return deliver(group, member, target, max_count, found_data);
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

int Fenix_Data_member_lrestore(int group_id, int member_id, void *target_buffer, int max_count,
                               int time_stamp, Fenix_Data_subset *found_data)
{
    struct fenix_group *group;
    struct fenix_member *member;
    int result = check(group_id, member_id, target_buffer, max_count, &group, &member);
    if (result != FENIX_SUCCESS)
        return result;
    int stamp = resolve(group, time_stamp);
    if (stamp < 0)
        return FENIX_ERROR_NODATA_FOUND;
    bool own_is_open = group->open_stamp == stamp && group->open_rank == -1;
    if (own_is_open)
        return deliver(group, member, target_buffer, max_count, found_data);
    mend_fenix_close_part(group);
    if (mend_store_begin_restore_own(group->store, stamp))
        return FENIX_ERROR_NODATA_FOUND;
    result = deliver(group, member, target_buffer, max_count, found_data);
    mend_store_end_restore(group->store);
    return result;
}
