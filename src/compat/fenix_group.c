/* Fenix data groups: a group is a store whose versions are the group's snapshots.
 *
 * Creating a group, for the first time or again after a failure, where some ranks have it
 * (survivors) and others do not (replacements):
 *   1. duplicate the communicator, with errors returned: a failure inside is cleaned up before the
 *      process layer hears of it;
 *   2. all tell whether they have the group; the lowest rank that does sends its description
 *      (policy, stamps, members) to all, and replacements take it over; if nobody has it, rank 0's
 *      arguments count;
 *   3. survivors rebind their store, replacements open theirs: one collective operation;
 *   4. ask the store which snapshots everybody can have: only those exist from now on.
 * A death in any step makes the store or MPI report it to all; the group is left without a store
 * (calls on it fail) until the next create, which every program issues after a repair.
 */
#include "fenix_data.h"

#include <base/event.h>
#include <base/fail.h>
#include <base/io.h>
#include <base/log.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct fenix_group *groups;

struct fenix_group *mend_fenix_group(int group_id)
{
    struct fenix_group *group = groups;
    while (group && group->id != group_id)
        group = group->next;
    return group;
}

struct fenix_member *mend_fenix_member(struct fenix_group *group, int member_id)
{
    struct fenix_member *member = group->members;
    while (member && member->id != member_id)
        member = member->next;
    return member;
}

int mend_fenix_all(struct fenix_group *group, bool yes, bool *all)
{
    int mine = yes, everyone = 0;
    if (MPI_Allreduce(&mine, &everyone, 1, MPI_INT, MPI_MIN, group->comm) != MPI_SUCCESS)
        return mend_fail(MEND_ERR_PEER_FAILED, "a rank of data group %d died", group->id);
    *all = everyone != 0;
    return MEND_OK;
}

/* The store has told of a death; the process layer may hear of it a moment later. */
static void repair_now(void)
{
    enum { ATTEMPTS = 3000 };
    for (int i = 0; i < ATTEMPTS && mend_process_check(mend_fenix_process(), 1) == MEND_OK; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

int mend_fenix_data_result(int code, int fenix_code)
{
    if (code == MEND_OK)
        return FENIX_SUCCESS;
    mend_log(MEND_LOG_INFO, "Fenix data: %s", mend_error_text());
    if (code == MEND_ERR_PEER_FAILED) {
        repair_now();
        return FENIX_ERROR_CANCELLED;
    }
    return fenix_code;
}

void mend_fenix_close_part(struct fenix_group *group)
{
    if (group->open_stamp >= 0 && group->store)
        mend_store_end_restore(group->store);
    group->open_stamp = -1;
}

static void free_member(struct fenix_member *member)
{
    mend_fenix_forget_member(member);
    free(member);
}

/* ---- creating -------------------------------------------------------------------------------- */

static int check_policy(const int *policy, int size)
{
    if (policy[0] != 1 && policy[0] != 5)
        return mend_fail(MEND_ERR_ARGUMENT, "in-memory RAID %d is not known (1 or 5)", policy[0]);
    if (policy[1] < 1 || (size > 1 && policy[1] >= size))
        return mend_fail(MEND_ERR_ARGUMENT, "the separation %d is not within 1 and %d", policy[1],
                         size - 1);
    if (policy[0] == 5 && (policy[2] < 3 || policy[2] > size))
        return mend_fail(MEND_ERR_ARGUMENT, "a parity group of %d ranks is not within 3 and %d",
                         policy[2], size);
    return MEND_OK;
}

static int new_group(int group_id, int start, int depth, const int *policy,
                     struct fenix_group **made)
{
    struct fenix_group *group = calloc(1, sizeof *group);
    if (!group)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for data group %d", group_id);
    *group = (struct fenix_group){.id = group_id,
                                  .comm = MPI_COMM_NULL,
                                  .depth = depth,
                                  .first_stamp = start,
                                  .next_stamp = start,
                                  .open_stamp = -1,
                                  .policy = {1, 1, 0},
                                  .next = groups};
    if (policy) {
        memcpy(group->policy, policy, 2 * sizeof *policy);
        group->policy[2] = policy[0] == 5 ? policy[2] : 0;
    }
    snprintf(group->folder, sizeof group->folder, "/dev/shm/mend-fenix-%d-%ld-%d", (int)getpid(),
             (long)time(NULL), group_id);
    groups = group;
    *made = group;
    return MEND_OK;
}

static int fill_options(const struct fenix_group *group, mend_store_options *options)
{
    int code = mend_store_defaults(options);
    for (int level = 0; level < MEND_LEVEL_COUNT; level++)
        options->level[level].every = 0;
    bool parity = group->policy[0] == 5;
    mend_level level = parity ? MEND_LEVEL_ERASURE : MEND_LEVEL_MEMORY;
    options->level[level].every = 1;
    options->level[level].keep = group->depth < 0 ? INT_MAX : group->depth + 1;
    options->level[level].compress = 0;
    options->delta = MEND_DELTA_OFF;
    options->sync = 1;
    options->local_dir = parity ? group->folder : NULL;
    options->global_dir = NULL;
    if (parity) {
        options->erasure_k = group->policy[2] - 1;
        options->erasure_m = 1;
    }
    return code;
}

/* Steps 3 and 4. */
static int bind_store(struct fenix_group *group, MPI_Comm comm)
{
    mend_store_options options;
    char name[64];
    snprintf(name, sizeof name, "fenix-group-%d", group->id);
    int code = fill_options(group, &options);
    if (!code && options.local_dir)
        code = mend_io_make_folders(group->folder);
    if (code)
        return code;
    code = group->store ? mend_store_rebind(group->store, comm, group->rank)
                        : mend_store_open(comm, group->rank, name, &options, &group->store);
    if (code)
        return code;
    int count = 0, room = 0;
    mend_version_t *versions = NULL;
    do { /* all ranks get the same count, so they ask equally often */
        room = count > room ? count : 64;
        mend_version_t *bigger = realloc(versions, (size_t)room * sizeof *versions);
        if (!bigger)
            code = mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d time stamps", room);
        else {
            versions = bigger;
            code = mend_store_versions(group->store, versions, room, &count);
        }
    } while (!code && count > room);
    if (code == MEND_ERR_NO_VERSION) {
        count = 0;
        code = MEND_OK;
    }
    int *stamps = code ? NULL : realloc(group->stamps, ((size_t)count + 1) * sizeof *stamps);
    if (!code && !stamps)
        code = mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d time stamps", count);
    if (code) {
        free(versions);
        return code;
    }
    group->stamps = stamps;
    group->stamp_count = count;
    for (int i = 0; i < count; i++)
        stamps[i] = (int)versions[count - 1 - i];
    free(versions);
    group->next_stamp = count ? stamps[count - 1] + 1 : group->first_stamp;
    return MEND_OK;
}

static int create(struct fenix_group *group, MPI_Comm comm, bool existed)
{
    mend_fenix_close_part(group);
    group->newest_is_whole = false; /* a replacement cannot know */
    /* what was stored before a failure and not committed belongs to a past that is given up */
    mend_fenix_unstage(group);
    if (group->comm != MPI_COMM_NULL)
        MPI_Comm_free(&group->comm);
    group->comm = MPI_COMM_NULL;
    MPI_Comm made;
    if (MPI_Comm_dup(comm, &made) != MPI_SUCCESS) /* a failed dup leaves no handle to free */
        return mend_fail(MEND_ERR_PEER_FAILED, "the communicator of data group %d failed",
                         group->id);
    group->comm = made;
    MPI_Comm_set_errhandler(group->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(group->comm, &group->rank);
    MPI_Comm_size(group->comm, &group->size);
    int code = mend_fenix_share_description(group, existed);
    return code ? code : bind_store(group, comm);
}

/* Snapshots end with their group. Parity lives in files (in memory): they go, and the last rank of a
 * node takes the folders along. */
static void close_store(struct fenix_group *group)
{
    bool files = group->store && group->policy[0] == 5;
    if (files && mend_store_discard(group->store))
        mend_log(MEND_LOG_WARNING, "Fenix data: %s", mend_error_text());
    mend_store_close(group->store);
    group->store = NULL;
    char path[sizeof group->folder + 32];
    snprintf(path, sizeof path, "%s/fenix-group-%d", group->folder, group->id);
    if (files && rmdir(path) == 0)
        rmdir(group->folder);
}

static void remove_group(struct fenix_group *group)
{
    struct fenix_group **link = &groups;
    while (*link != group)
        link = &(*link)->next;
    *link = group->next;
    mend_fenix_close_part(group);
    mend_fenix_unstage(group);
    close_store(group);
    if (group->comm != MPI_COMM_NULL)
        MPI_Comm_free(&group->comm);
    for (struct fenix_member *m = group->members, *next; m; m = next) {
        next = m->next;
        free_member(m);
    }
    free(group->stamps);
    free(group);
}

int Fenix_Data_group_create(int group_id, MPI_Comm comm, int start_time_stamp, int depth,
                            int policy_name, void *policy_value, int *flag)
{
    if (!mend_fenix_process())
        return FENIX_ERROR_UNINITIALIZED;
    if (comm == MPI_COMM_NULL)
        return FENIX_ERROR_GROUP_CREATE;
    if (group_id < 0)
        return FENIX_ERROR_INVALID_GROUPID;
    if (start_time_stamp < 0)
        return FENIX_ERROR_INVALID_TIMESTART;
    if (depth < -1)
        return FENIX_ERROR_INVALID_DEPTH;
    if (policy_name != FENIX_DATA_POLICY_IN_MEMORY_RAID)
        return FENIX_ERROR_INVALID_POLICY_NAME;
    int size;
    MPI_Comm_size(comm, &size);
    struct fenix_group *group = mend_fenix_group(group_id);
    bool existed = group != NULL;
    if (!existed && policy_value && check_policy(policy_value, size))
        return mend_fenix_data_result(MEND_ERR_ARGUMENT, FENIX_ERROR_INVALID_POLICY_NAME);
    int code =
        existed ? MEND_OK : new_group(group_id, start_time_stamp, depth, policy_value, &group);
    if (!code)
        code = create(group, comm, existed);
    if (code && !existed && group && code != MEND_ERR_PEER_FAILED)
        remove_group(group);
    if (flag)
        *flag = code ? FENIX_ERROR_GROUP_CREATE : FENIX_SUCCESS;
    return mend_fenix_data_result(code, FENIX_ERROR_GROUP_CREATE);
}

int Fenix_Data_group_created(int group_id)
{
    return mend_fenix_group(group_id) != NULL;
}

int Fenix_Data_group_delete(int group_id)
{
    struct fenix_group *group = mend_fenix_group(group_id);
    if (!group)
        return FENIX_ERROR_INVALID_GROUPID;
    remove_group(group);
    return FENIX_SUCCESS;
}

void mend_fenix_data_end(void)
{
    while (groups)
        remove_group(groups);
}

/* After a repair: what was open for reading came over a communicator that is gone. The program
 * creates its groups again, which binds their stores to the new one. */
void mend_fenix_data_rebind(const mend_repair *now)
{
    (void)now;
    for (struct fenix_group *group = groups; group; group = group->next)
        mend_fenix_close_part(group);
}

int Fenix_Data_group_get_redundancy_policy(int group_id, int *policy_name, void *policy_value,
                                           int *flag)
{
    struct fenix_group *group = mend_fenix_group(group_id);
    if (!group)
        return FENIX_ERROR_INVALID_GROUPID;
    if (policy_name)
        *policy_name = FENIX_DATA_POLICY_IN_MEMORY_RAID;
    if (policy_value)
        memcpy(policy_value, group->policy, sizeof(int) * (group->policy[0] == 5 ? 3 : 2));
    if (flag)
        *flag = policy_value != NULL;
    return FENIX_SUCCESS;
}

int Fenix_Data_barrier(int group_id)
{
    struct fenix_group *group = mend_fenix_group(group_id);
    if (!group)
        return FENIX_ERROR_INVALID_GROUPID;
    bool all;
    return mend_fenix_data_result(mend_fenix_all(group, true, &all), FENIX_ERROR_INTERN);
}
