/* Staging: what Fenix_Data_member_store() has copied, until the commit.
 *
 * A member that is stored whole goes straight to where the commit needs it: into the copy that the store will keep (a
 * draft, see store/draft.h). So there is no second buffer, and the commit copies nothing. A draft has room for all members
 * of the group, whole. If at the commit one is missing, or stored in part, or was added meanwhile, then the snapshot has
 * another layout: it is copied together, from the draft and from the buffers of the other members.
 */
#include "fenix_data.h"

#include <base/fail.h>
#include <device/device.h>
#include <store/draft.h>

#include <stdlib.h>
#include <string.h>

/* A member in a snapshot: the number of blocks, their ends, then the bytes of each. */
static size_t head_size(long blocks)
{
    return sizeof(uint64_t) * (size_t)(1 + 2 * blocks);
}

static size_t packed_size(const struct fenix_member *member)
{
    return head_size(member->present.count) +
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
        const char *from = member->staged + (size_t)block->first * member->element;
        size_t bytes = (size_t)(block->last - block->first + 1) * member->element;
        char *to = mend_store_put_room(sink, bytes);
        code = !to ? MEND_ERR_ARGUMENT : to == from ? MEND_OK : mend_device_copy(to, from, bytes);
    }
    return code;
}

/* ---- the draft ------------------------------------------------------------------------------- */

static bool is_drafted(const struct fenix_member *member)
{
    return member->staged && member->staged == member->place;
}

static bool whole_bytes(const struct fenix_member *member, size_t *bytes)
{
    return member->count != FENIX_RESIZEABLE &&
           !__builtin_mul_overflow((size_t)member->count, member->element, bytes) && *bytes > 0 &&
           *bytes < SIZE_MAX / 2;
}

/* Without one, members have buffers of their own: nothing that is reported. */
static void open_draft(struct fenix_group *group)
{
    size_t n = (size_t)group->member_count, i = 0, bytes = 0;
    mend_store_stream *streams = calloc(n, sizeof *streams);
    void **place = calloc(n, sizeof *place);
    bool all = streams && place && group->store;
    for (struct fenix_member *m = group->members; m && all; m = m->next) {
        all = whole_bytes(m, &bytes);
        streams[i++] = (mend_store_stream){
            .id = m->id, .bytes = head_size(1) + bytes, .produce = produce, .arg = m};
    }
    group->drafted = all && store_draft_begin(group->store, streams, (int)n, place) == MEND_OK;
    i = 0;
    for (struct fenix_member *m = group->members; m && group->drafted; m = m->next) {
        m->place = (char *)place[i] + head_size(1);
        m->place_bytes = streams[i++].bytes - head_size(1);
    }
    free(streams);
    free(place);
}

/* All of the member is about to be staged: into the draft, if it has a place there. */
static void use_draft(struct fenix_group *group, struct fenix_member *member)
{
    size_t bytes;
    if (!group->drafted)
        open_draft(group);
    if (is_drafted(member) || !member->place || !whole_bytes(member, &bytes) ||
        bytes != member->place_bytes)
        return;
    free(member->staged);
    member->staged = member->place;
    member->staged_room = bytes;
}

void mend_fenix_forget_member(struct fenix_member *member)
{
    if (!is_drafted(member))
        free(member->staged);
    member->staged = member->place = NULL;
    member->staged_room = 0;
    mend_fenix_blocks_free(&member->present);
}

void mend_fenix_unstage(struct fenix_group *group)
{
    for (struct fenix_member *m = group->members; m; m = m->next) {
        mend_fenix_blocks_clear(&m->present);
        if (is_drafted(m)) {
            m->staged = NULL;
            m->staged_room = 0;
        }
        m->place = NULL;
    }
    if (group->drafted)
        store_draft_end(group->store);
    group->drafted = false;
}

/* ---- staging --------------------------------------------------------------------------------- */

static int reserve(struct fenix_member *member, long elements)
{
    size_t bytes;
    if (__builtin_mul_overflow((size_t)elements, member->element, &bytes))
        return mend_fail(MEND_ERR_ARGUMENT, "%ld elements of %zu bytes", elements, member->element);
    if (bytes <= member->staged_room)
        return MEND_OK;
    bool drafted = is_drafted(member);
    char *more = drafted ? malloc(bytes) : realloc(member->staged, bytes);
    if (!more)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for member %d (%zu bytes)", member->id,
                         bytes);
    if (drafted)
        memcpy(more, member->staged, member->staged_room);
    member->staged = more;
    member->staged_room = bytes;
    return MEND_OK;
}

static int stage_range(struct fenix_group *group, struct fenix_member *member, long first,
                       long last)
{
    if (member->count != FENIX_RESIZEABLE && last >= member->count)
        return mend_fail(MEND_ERR_ARGUMENT, "member %d has %d elements, not %ld", member->id,
                         member->count, last + 1);
    if (first == 0 && last == (long)member->count - 1)
        use_draft(group, member);
    int code = reserve(member, last + 1);
    if (!code)
        code = mend_device_copy(member->staged + (size_t)first * member->element,
                                (char *)member->buffer + (size_t)first * member->element,
                                (size_t)(last - first + 1) * member->element);
    if (!code)
        code = mend_fenix_blocks_add(&member->present, first, last);
    return code;
}

static int stage_subset(struct fenix_group *group, struct fenix_member *member,
                        const Fenix_Data_subset *subset)
{
    if (!member->buffer)
        return mend_fail(MEND_ERR_ARGUMENT, "member %d has no buffer", member->id);
    if (mend_fenix_subset_kind(subset) == SUBSET_FULL) {
        if (member->count == FENIX_RESIZEABLE)
            return mend_fail(MEND_ERR_ARGUMENT, "member %d is resizeable: its full size is unknown",
                             member->id);
        return stage_range(group, member, 0, member->count - 1);
    }
    const struct fenix_blocks *blocks = mend_fenix_subset_blocks(subset);
    int code = MEND_OK;
    for (long i = 0; i < blocks->count && !code; i++)
        code = stage_range(group, member, blocks->block[i].first, blocks->block[i].last);
    return code;
}

int mend_fenix_stage(struct fenix_group *group, int member_id, const Fenix_Data_subset *subset,
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
            code = stage_subset(group, m, subset);
    }
    if (!found)
        return FENIX_ERROR_INVALID_MEMBERID;
    return mend_fenix_data_result(code, FENIX_ERROR_SUBSET_END_OFFSET);
}

bool mend_fenix_is_whole(const struct fenix_group *group)
{
    bool whole = true;
    for (const struct fenix_member *m = group->members; m && whole; m = m->next)
        whole = m->count != FENIX_RESIZEABLE &&
                mend_fenix_blocks_elements(&m->present) == (long)m->count;
    return whole;
}

/* A restore may put a member together from all snapshots that are kept. When the newest has all of it, the oldest is
 * not needed for that: then it goes when this save begins, even if the save fails. */
int mend_fenix_save(struct fenix_group *group)
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
    store_let_oldest_go(group->store, group->newest_is_whole);
    int code = mend_store_save_with(group->store, group->next_stamp, &options);
    store_let_oldest_go(group->store, false);
    free(streams);
    return code;
}
