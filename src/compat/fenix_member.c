/* Fenix data members: what is stored, its attributes, staging and committing. */
#include "fenix_data.h"

#include <device/device.h>
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
    mend_fenix_blocks_free(&member->present);
    free(member->staged);
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

static int reserve(struct fenix_member *member, long elements)
{
    size_t bytes;
    if (__builtin_mul_overflow((size_t)elements, member->element, &bytes))
        return mend_fail(MEND_ERR_ARGUMENT, "%ld elements of %zu bytes", elements, member->element);
    if (bytes <= member->staged_room)
        return MEND_OK;
    char *more = realloc(member->staged, bytes);
    if (!more)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for member %d (%zu bytes)", member->id,
                         bytes);
    member->staged = more;
    member->staged_room = bytes;
    return MEND_OK;
}

static int stage_range(struct fenix_member *member, long first, long last)
{
    if (member->count != FENIX_RESIZEABLE && last >= member->count)
        return mend_fail(MEND_ERR_ARGUMENT, "member %d has %d elements, not %ld", member->id,
                         member->count, last + 1);
    int code = reserve(member, last + 1);
    if (!code)
        code = mend_device_copy(member->staged + (size_t)first * member->element,
                                (char *)member->buffer + (size_t)first * member->element,
                                (size_t)(last - first + 1) * member->element);
    if (!code)
        code = mend_fenix_blocks_add(&member->present, first, last);
    return code;
}

static int stage_subset(struct fenix_member *member, const Fenix_Data_subset *subset)
{
    if (!member->buffer)
        return mend_fail(MEND_ERR_ARGUMENT, "member %d has no buffer", member->id);
    if (mend_fenix_subset_kind(subset) == SUBSET_FULL) {
        if (member->count == FENIX_RESIZEABLE)
            return mend_fail(MEND_ERR_ARGUMENT, "member %d is resizeable: its full size is unknown",
                             member->id);
        return stage_range(member, 0, member->count - 1);
    }
    const struct fenix_blocks *blocks = mend_fenix_subset_blocks(subset);
    int code = MEND_OK;
    for (long i = 0; i < blocks->count && !code; i++)
        code = stage_range(member, blocks->block[i].first, blocks->block[i].last);
    return code;
}

static int stage(struct fenix_group *group, int member_id, const Fenix_Data_subset *subset,
                 bool prestaged_allowed)
{
    enum fenix_subset_kind kind = mend_fenix_subset_kind(subset);
    int found = 0, code = MEND_OK;
    if (kind == SUBSET_PRESTAGED && !prestaged_allowed)
        return FENIX_ERROR_INVALID_LOGIC_CALL;
    for (struct fenix_member *m = group->members; m && !code; m = m->next) {
        if (member_id != FENIX_DATA_MEMBER_ALL && m->id != member_id)
            continue;
        found++;
        m->stored = true;
        if (kind == SUBSET_FULL || kind == SUBSET_BLOCKS)
            code = stage_subset(m, subset);
    }
    if (!found)
        return FENIX_ERROR_INVALID_MEMBERID;
    return mend_fenix_data_result(code, FENIX_ERROR_SUBSET_END_OFFSET);
}

int Fenix_Data_member_stage(int group_id, int member_id, const Fenix_Data_subset subset_specifier)
{
    struct fenix_group *group = mend_fenix_group(group_id);
    return group ? stage(group, member_id, &subset_specifier, false) : FENIX_ERROR_INVALID_GROUPID;
}

int Fenix_Data_member_store(int group_id, int member_id, const Fenix_Data_subset subset_specifier)
{
    struct fenix_group *group = mend_fenix_group(group_id);
    return group ? stage(group, member_id, &subset_specifier, true) : FENIX_ERROR_INVALID_GROUPID;
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

/* A member in a snapshot: the number of blocks, their ends, then the bytes of each. */
static size_t packed_size(const struct fenix_member *member)
{
    return sizeof(uint64_t) * (size_t)(1 + 2 * member->present.count) +
           (size_t)mend_fenix_blocks_elements(&member->present) * member->element;
}

static int produce(mend_store_sink *sink, void *arg)
{
    const struct fenix_member *member = arg;
    uint64_t count = (uint64_t)member->present.count;
    int code = mend_store_put(sink, &count, sizeof count);
    for (long i = 0; i < member->present.count && !code; i++) {
        const struct fenix_block *block = &member->present.block[i];
        uint64_t ends[2] = {(uint64_t)block->first, (uint64_t)block->last};
        code = mend_store_put(sink, ends, sizeof ends);
    }
    for (long i = 0; i < member->present.count && !code; i++) {
        const struct fenix_block *block = &member->present.block[i];
        code = mend_store_put(sink, member->staged + (size_t)block->first * member->element,
                              (size_t)(block->last - block->first + 1) * member->element);
    }
    return code;
}

static int save(struct fenix_group *group)
{
    mend_store_stream *streams = calloc((size_t)group->member_count + 1, sizeof *streams);
    if (!streams)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d members", group->member_count);
    int n = 0;
    for (struct fenix_member *m = group->members; m; m = m->next)
        streams[n++] =
            (mend_store_stream){.id = m->id, .bytes = packed_size(m), .produce = produce, .arg = m};
    mend_save_options options = {
        .sync = 1, .full = 1, .ids = (const int[]){0}, .streams = streams, .stream_count = n};
    mend_fenix_close_part(group);
    int code = mend_store_save_with(group->store, group->next_stamp, &options);
    free(streams);
    return code;
}

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
    bool all;
    int agreed = mend_fenix_all(group, code == MEND_OK, &all);
    if (agreed || !all)
        code = agreed ? agreed : MEND_ERR_NO_MEMORY;
    if (!code)
        code = save(group);
    if (code)
        return mend_fenix_data_result(code, failure);
    group->stamps[group->stamp_count++] = group->next_stamp;
    int keep = group->depth < 0 ? INT_MAX : group->depth + 1;
    if (group->stamp_count > keep) {
        int gone = group->stamp_count - keep;
        memmove(group->stamps, group->stamps + gone, (size_t)keep * sizeof *group->stamps);
        group->stamp_count = keep;
    }
    for (struct fenix_member *m = group->members; m; m = m->next)
        mend_fenix_blocks_clear(&m->present);
    if (time_stamp)
        *time_stamp = group->next_stamp;
    group->next_stamp++;
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
