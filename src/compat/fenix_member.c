/* Fenix data members: what is stored, its attributes, committing. */
#include "fenix_data.h"

#include <base/fail.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static size_t element_size(MPI_Datatype datatype)
{
    MPI_Aint lower, extent;
    MPI_Type_get_extent(datatype, &lower, &extent);
    return extent > 0 ? (size_t)extent : 0;
}

int Fenix_Data_member_create(int group_id, int member_id, void *buffer, int count,
                             MPI_Datatype datatype)
{
    struct fenix_group *group = mend_fenix_group(group_id);
    if (!group)
        return FENIX_ERROR_INVALID_GROUPID;
    if (member_id < 0)
        return FENIX_ERROR_INVALID_MEMBERID;
    if (count < 0 || datatype == MPI_DATATYPE_NULL)
        return FENIX_ERROR_MEMBER_CREATE;
    size_t element = element_size(datatype);
    struct fenix_member *member = mend_fenix_member(group, member_id);
    if (member && (member->buffer || member->count != count || member->element != element))
        return FENIX_ERROR_MEMBER_EXISTS;
    if (!member) {
        struct fenix_member **end = &group->members;
        while (*end)
            end = &(*end)->next;
        member = calloc(1, sizeof *member);
        if (!member)
            return FENIX_ERROR_MEMBER_CREATE;
        *end = member;
        group->member_count++;
    }
    member->id = member_id; /* a replacement knew it by its survivors, but not where it lies */
    member->buffer = buffer;
    member->count = count;
    member->datatype = datatype;
    member->element = element;
    return FENIX_SUCCESS;
}

static int find(int group_id, int member_id, struct fenix_group **group,
                struct fenix_member **member)
{
    *group = mend_fenix_group(group_id);
    if (!*group)
        return FENIX_ERROR_INVALID_GROUPID;
    *member = mend_fenix_member(*group, member_id);
    return *member ? FENIX_SUCCESS : FENIX_ERROR_INVALID_MEMBERID;
}

int Fenix_Data_member_created(int group_id, int member_id)
{
    struct fenix_group *group;
    struct fenix_member *member;
    return find(group_id, member_id, &group, &member) == FENIX_SUCCESS;
}

int Fenix_Data_member_delete(int group_id, int member_id)
{
    struct fenix_group *group;
    struct fenix_member *member;
    int result = find(group_id, member_id, &group, &member);
    if (result != FENIX_SUCCESS)
        return result;
    struct fenix_member **link = &group->members;
    while (*link != member)
        link = &(*link)->next;
    *link = member->next;
    mend_fenix_forget_member(member);
    free(member);
    group->member_count--;
    return FENIX_SUCCESS;
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* Elements up to the last one stored, in this rank's newest snapshot; -1: cannot be told here. */
static long saved_elements(struct fenix_group *group, int member_id)
{
    uint64_t count, last[2];
    if (group->stamp_count == 0)
        return -1;
    bool own = group->open_stamp < 0;
    if (own && mend_store_begin_restore_own(group->store, group->stamps[group->stamp_count - 1]))
        return -1;
    long elements = -1;
    if (!mend_store_read(group->store, member_id, 0, &count, sizeof count)) {
        elements = 0;
        if (count > 0 &&
            !mend_store_read(group->store, member_id, sizeof count + (count - 1) * sizeof last,
                             last, sizeof last))
            elements = (long)last[1] + 1;
    }
    if (own)
        mend_store_end_restore(group->store);
    return elements;
}

static long current_count(struct fenix_group *group, const struct fenix_member *member)
{
    if (member->count != FENIX_RESIZEABLE)
        return member->count;
    if (member->present.count)
        return member->present.block[member->present.count - 1].last + 1;
    return saved_elements(group, member->id);
}

int Fenix_Data_member_attr_get(int group_id, int member_id, int attributename, void *attributevalue,
                               int *flag, int source_rank)
{
    struct fenix_group *group;
    struct fenix_member *member;
    (void)source_rank; /* all attributes but the buffer are those of every rank; that one is ours */
    int result = find(group_id, member_id, &group, &member);
    if (result != FENIX_SUCCESS)
        return result;
    if (!attributevalue)
        return FENIX_ERROR_INVALID_ATTRIBUTE_VALUE;
    long count;
    if (flag)
        *flag = 1;
    switch (attributename) {
    case FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER: *(void **)attributevalue = member->buffer; break;
    case FENIX_DATA_MEMBER_ATTRIBUTE_COUNT:
        count = current_count(group, member);
        if (count >= 0)
            *(int *)attributevalue = (int)count;
        else if (flag)
            *flag = 0;
        break;
    case FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE:
        *(MPI_Datatype *)attributevalue = member->datatype;
        break;
    case FENIX_DATA_MEMBER_ATTRIBUTE_SIZE: *(int *)attributevalue = (int)member->element; break;
    default:
        if (flag)
            *flag = 0;
        return FENIX_ERROR_INVALID_ATTRIBUTE_NAME;
    }
    return FENIX_SUCCESS;
}

int Fenix_Data_member_attr_set(int group_id, int member_id, int attribute_name,
                               void *attribute_value, int *flag)
{
    struct fenix_group *group;
    struct fenix_member *member;
    int result = find(group_id, member_id, &group, &member);
    if (result != FENIX_SUCCESS)
        return result;
    if (flag)
        *flag = 0;
    if (!attribute_value)
        return FENIX_ERROR_INVALID_ATTRIBUTE_VALUE;
    if (attribute_name != FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER && member->stored)
        return FENIX_ERROR_INVALID_ATTRIBUTE_NAME; /* fixed by the first store */
    switch (attribute_name) {
    case FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER: member->buffer = attribute_value; break;
    case FENIX_DATA_MEMBER_ATTRIBUTE_COUNT:
        if (*(int *)attribute_value < 0)
            return FENIX_ERROR_INVALID_ATTRIBUTE_VALUE;
        member->count = *(int *)attribute_value;
        break;
    case FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE:
        member->datatype = *(MPI_Datatype *)attribute_value;
        member->element = element_size(member->datatype);
        break;
    default: return FENIX_ERROR_INVALID_ATTRIBUTE_NAME;
    }
    if (flag)
        *flag = 1;
    return FENIX_SUCCESS;
}

/* ---- storing --------------------------------------------------------------------------------- */

int Fenix_Data_member_stage(int group_id, int member_id, const Fenix_Data_subset subset_specifier)
{
    struct fenix_group *group = mend_fenix_group(group_id);
    return group ? mend_fenix_stage(group, member_id, &subset_specifier, false)
                 : FENIX_ERROR_INVALID_GROUPID;
}

int Fenix_Data_member_store(int group_id, int member_id, const Fenix_Data_subset subset_specifier)
{
    struct fenix_group *group = mend_fenix_group(group_id);
    return group ? mend_fenix_stage(group, member_id, &subset_specifier, true)
                 : FENIX_ERROR_INVALID_GROUPID;
}

/* Each rank's subset is its own business here: storev is store. */
int Fenix_Data_member_storev(int group_id, int member_id, const Fenix_Data_subset subset_specifier)
{
    return Fenix_Data_member_store(group_id, member_id, subset_specifier);
}

/* The copy is taken at once and redundancy is made by the commit: there is nothing to wait for. */
int Fenix_Data_member_istore(int group_id, int member_id, const Fenix_Data_subset subset_specifier,
                             Fenix_Request *request)
{
    if (!request)
        return FENIX_ERROR_INVALID_LOGIC_CALL;
    request->mpi_send_req = request->mpi_recv_req = MPI_REQUEST_NULL;
    return Fenix_Data_member_store(group_id, member_id, subset_specifier);
}

int Fenix_Data_member_istorev(int group_id, int member_id, const Fenix_Data_subset subset_specifier,
                              Fenix_Request *request)
{
    return Fenix_Data_member_istore(group_id, member_id, subset_specifier, request);
}

int Fenix_Data_wait(Fenix_Request request)
{
    return request.mpi_send_req == MPI_REQUEST_NULL && request.mpi_recv_req == MPI_REQUEST_NULL
               ? FENIX_SUCCESS
               : FENIX_ERROR_DATA_WAIT;
}

int Fenix_Data_test(Fenix_Request request, int *flag)
{
    int result = Fenix_Data_wait(request);
    if (flag)
        *flag = result == FENIX_SUCCESS;
    return result;
}

/* ---- committing ------------------------------------------------------------------------------ */

/* The store's save is agreed: it is on all ranks, or on none. */
static int commit(int group_id, int *time_stamp, int failure)
{
    struct fenix_group *group = mend_fenix_group(group_id);
    if (!group)
        return FENIX_ERROR_INVALID_GROUPID;
    if (!group->store)
        return FENIX_ERROR_INVALID_LOGIC_CALL;
    int *more = realloc(group->stamps, ((size_t)group->stamp_count + 1) * sizeof *more);
    int code = more ? MEND_OK : mend_fail(MEND_ERR_NO_MEMORY, "no memory for a time stamp");
    if (more)
        group->stamps = more;
    bool all, whole = mend_fenix_is_whole(group);
    int agreed = mend_fenix_all(group, code == MEND_OK, &all);
    if (!agreed)
        agreed = mend_fenix_all(group, whole, &whole);
    if (agreed || !all)
        code = agreed ? agreed : MEND_ERR_NO_MEMORY;
    if (code)
        return mend_fenix_data_result(code, failure);
    int stamp = group->next_stamp;
    code = mend_fenix_save(group);
    group->next_stamp++; /* the store takes the number even if it then keeps nothing of it */
    if (code)
        return mend_fenix_data_result(code, failure);
    group->newest_is_whole = whole;
    group->stamps[group->stamp_count++] = stamp;
    int keep = group->depth < 0 ? INT_MAX : group->depth + 1;
    if (group->stamp_count > keep) {
        int gone = group->stamp_count - keep;
        memmove(group->stamps, group->stamps + gone, (size_t)keep * sizeof *group->stamps);
        group->stamp_count = keep;
    }
    mend_fenix_unstage(group);
    if (time_stamp)
        *time_stamp = stamp;
    return FENIX_SUCCESS;
}

int Fenix_Data_commit(int group_id, int *time_stamp)
{
    return commit(group_id, time_stamp, FENIX_ERROR_INTERN);
}

int Fenix_Data_commit_barrier(int group_id, int *time_stamp)
{
    return commit(group_id, time_stamp, FENIX_ERROR_COMMIT_BARRIER);
}
