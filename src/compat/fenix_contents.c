/* Fenix data groups: what a group holds. */
#include "fenix_data.h"

#include <string.h>

int Fenix_Data_group_get_number_of_members(int group_id, int *number_of_members)
{
    struct fenix_group *group = mend_fenix_group(group_id);
    if (!group)
        return FENIX_ERROR_INVALID_GROUPID;
    if (!number_of_members)
        return FENIX_ERROR_INVALID_LOGIC_CALL;
    *number_of_members = group->member_count;
    return FENIX_SUCCESS;
}

int Fenix_Data_group_get_member_at_position(int group_id, int *member_id, int position)
{
    struct fenix_group *group = mend_fenix_group(group_id);
    if (!group)
        return FENIX_ERROR_INVALID_GROUPID;
    if (!member_id || position < 0 || position >= group->member_count)
        return FENIX_ERROR_INVALID_POSITION;
    struct fenix_member *member = group->members;
    while (position-- > 0)
        member = member->next;
    *member_id = member->id;
    return FENIX_SUCCESS;
}

int Fenix_Data_group_get_number_of_snapshots(int group_id, int *number_of_snapshots)
{
    struct fenix_group *group = mend_fenix_group(group_id);
    if (!group)
        return FENIX_ERROR_INVALID_GROUPID;
    if (!number_of_snapshots)
        return FENIX_ERROR_INVALID_LOGIC_CALL;
    *number_of_snapshots = group->stamp_count;
    return FENIX_SUCCESS;
}

int Fenix_Data_group_get_snapshot_at_position(int group_id, int position, int *time_stamp)
{
    struct fenix_group *group = mend_fenix_group(group_id);
    if (!group)
        return FENIX_ERROR_INVALID_GROUPID;
    if (!time_stamp || position < 0 || position >= group->stamp_count)
        return FENIX_ERROR_INVALID_POSITION;
    *time_stamp = group->stamps[group->stamp_count - 1 - position];
    return FENIX_SUCCESS;
}

int Fenix_Data_snapshot_delete(int group_id, int time_stamp)
{
    struct fenix_group *group = mend_fenix_group(group_id);
    if (!group)
        return FENIX_ERROR_INVALID_GROUPID;
    int i = 0;
    while (i < group->stamp_count && group->stamps[i] != time_stamp)
        i++;
    if (i == group->stamp_count)
        return FENIX_ERROR_INVALID_TIMESTAMP;
    if (group->open_stamp == time_stamp)
        mend_fenix_close_part(group);
    memmove(group->stamps + i, group->stamps + i + 1,
            (size_t)(group->stamp_count - i - 1) * sizeof *group->stamps);
    group->stamp_count--;
    return FENIX_SUCCESS;
}
