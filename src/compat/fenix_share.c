/* Step 2 of creating a data group (fenix_group.c): its ranks have the same description of it, replacements too. */
#include "fenix_data.h"

#include <base/fail.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* What replacements must know. */
struct description {
    int first_stamp, next_stamp, depth, policy[3], member_count;
    char folder[64];
};

struct member_record {
    int id, count, type_index;
    unsigned long element;
};

static int take_member(struct fenix_group *group, const struct member_record *record)
{
    struct fenix_member **end = &group->members;
    while (*end)
        end = &(*end)->next;
    struct fenix_member *member = calloc(1, sizeof *member);
    if (!member)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for member %d", record->id);
    member->id = record->id;
    member->count = record->count;
    member->element = record->element;
    member->datatype = record->type_index ? MPI_Type_f2c(record->type_index) : MPI_BYTE;
    *end = member;
    group->member_count++;
    return MEND_OK;
}

/* Only predefined types have the same number everywhere. */
static int portable_type_index(MPI_Datatype type)
{
    int ints, addresses, types, combiner;
    MPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED ? (int)MPI_Type_c2f(type) : 0;
}

static struct member_record record_of(const struct fenix_member *member)
{
    return (struct member_record){.id = member->id,
                                  .count = member->count,
                                  .type_index = portable_type_index(member->datatype),
                                  .element = member->element};
}

/* One broadcast for each member: a rank that lacks memory for one still takes part in the others. */
static int share_members(struct fenix_group *group, bool existed, int owner, int count)
{
    const struct fenix_member *member = group->members;
    int code = MEND_OK;
    for (int i = 0; i < count; i++) {
        struct member_record record = {0};
        if (group->rank == owner && member) {
            record = record_of(member);
            member = member->next;
        }
        if (MPI_Bcast(&record, sizeof record, MPI_BYTE, owner, group->comm) != MPI_SUCCESS)
            return mend_fail(MEND_ERR_PEER_FAILED, "a rank of data group %d died", group->id);
        if (!existed && !code)
            code = take_member(group, &record);
    }
    return code;
}

int mend_fenix_share_description(struct fenix_group *group, bool existed)
{
    int mine = existed ? group->rank : INT_MAX, owner;
    if (MPI_Allreduce(&mine, &owner, 1, MPI_INT, MPI_MIN, group->comm) != MPI_SUCCESS)
        return mend_fail(MEND_ERR_PEER_FAILED, "a rank of data group %d died", group->id);
    bool nobody = owner == INT_MAX;
    struct description d = {.first_stamp = group->first_stamp,
                            .next_stamp = group->next_stamp,
                            .depth = group->depth,
                            .member_count = group->member_count};
    memcpy(d.policy, group->policy, sizeof d.policy);
    memcpy(d.folder, group->folder, sizeof d.folder);
    if (nobody)
        owner = 0;
    if (MPI_Bcast(&d, sizeof d, MPI_BYTE, owner, group->comm) != MPI_SUCCESS)
        return mend_fail(MEND_ERR_PEER_FAILED, "a rank of data group %d died", group->id);
    memcpy(group->folder, d.folder, sizeof d.folder);
    if (nobody)
        return MEND_OK;
    if (!existed) {
        group->first_stamp = d.first_stamp;
        group->depth = d.depth;
        memcpy(group->policy, d.policy, sizeof d.policy);
    }
    return share_members(group, existed, owner, d.member_count);
}
