#include <stdlib.h>
#include <string.h>

#include "copies/cow.h"

struct region *region_find(mend_store *store, int id)
{
    int low = 0, high = store->region_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (store->regions[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < store->region_count && store->regions[low].id == id ? &store->regions[low] : NULL;
}

static int region_insert(mend_store *store, int id, struct region **out)
{
    if (store->region_count == store->region_room) {
        int room = store->region_room ? 2 * store->region_room : 16;
        struct region *bigger = realloc(store->regions, (size_t)room * sizeof *bigger);
        if (!bigger)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d regions", room);
        store->regions = bigger;
        store->region_room = room;
    }
    int at = 0;
    while (at < store->region_count && store->regions[at].id < id)
        at++;
    memmove(&store->regions[at + 1], &store->regions[at],
            (size_t)(store->region_count - at) * sizeof *store->regions);
    store->region_count++;
    store->regions[at] = (struct region){.id = id};
    *out = &store->regions[at];
    return 0;
}

static int region_set(mend_store *store, const struct region *wanted, const char *label)
{
    if (!store || (wanted->bytes && !wanted->address))
        return mend_fail(MEND_ERR_ARGUMENT, "region %d: no store, or no address", wanted->id);
    if (wanted->bytes > INT64_MAX / 4)
        return mend_fail(MEND_ERR_ARGUMENT, "region %d: %zu bytes are too many", wanted->id,
                         wanted->bytes);
    cow_wait(store); /* its old memory is still being copied */
    struct region *r = region_find(store, wanted->id);
    int rc = r ? 0 : region_insert(store, wanted->id, &r);
    if (rc)
        return rc;
    *r = *wanted;
    if (label)
        strncpy(r->label, label, sizeof r->label - 1);
    return 0;
}

int mend_store_region(mend_store *store, int id, const char *label, void *address, size_t bytes)
{
    struct region r = {.id = id, .address = address, .bytes = bytes};
    return region_set(store, &r, label);
}

int mend_store_region_global(mend_store *store, int id, const char *label, void *address,
                             size_t bytes, uint64_t offset, uint64_t total)
{
    struct region r = {.id = id,
                       .address = address,
                       .bytes = bytes,
                       .global = true,
                       .global_offset = offset,
                       .global_total = total};
    if (bytes > total || offset > total - bytes)
        return mend_fail(MEND_ERR_ARGUMENT, "region %d: %zu bytes at %llu exceed the total of %llu",
                         id, bytes, (unsigned long long)offset, (unsigned long long)total);
    return region_set(store, &r, label);
}

int mend_store_region_remove(mend_store *store, int id)
{
    struct region *r = store ? region_find(store, id) : NULL;
    if (!r)
        return mend_fail(MEND_ERR_REGION, "there is no region %d", id);
    cow_wait(store); /* the caller may free the memory after this call */
    store->region_count--;
    memmove(r, r + 1, (size_t)(store->regions + store->region_count - r) * sizeof *r);
    return 0;
}

int mend_store_region_count(const mend_store *store)
{
    return store ? store->region_count : 0;
}

int mend_store_region_info(const mend_store *store, int index, int *id, void **address,
                           size_t *bytes)
{
    if (!store || index < 0 || index >= store->region_count)
        return mend_fail(MEND_ERR_REGION, "there is no region number %d", index);
    const struct region *r = &store->regions[index];
    if (id)
        *id = r->id;
    if (address)
        *address = r->address;
    if (bytes)
        *bytes = r->bytes;
    return 0;
}

/* ---- layout ---------------------------------------------------------------------------------- */

/* A region keeps its offset within a page, so that one changed page is one changed block, and copies are aligned. */
static uint64_t place_after(uint64_t end, const void *address)
{
    return (end + PAGE - 1) / PAGE * PAGE + ((uintptr_t)address & (PAGE - 1));
}

static void add_region(mend_image_head *head, const struct region *r)
{
    mend_image_region *to = &head->regions[head->region_count++];
    *to = (mend_image_region){
        .id = r->id,
        .flags = r->global ? MEND_REGION_GLOBAL : 0,
        .offset = place_after(head->stream_bytes, r->address),
        .bytes = r->bytes,
        .global_offset = r->global_offset,
        .global_total = r->global_total,
    };
    memcpy(to->label, r->label, sizeof to->label);
    head->stream_bytes = to->offset + to->bytes;
}

static int add_stream(mend_store *store, mend_image_head *head, const mend_store_stream *s)
{
    struct region r = {.id = s->id, .bytes = s->bytes};
    if (region_find(store, s->id))
        return mend_fail(MEND_ERR_ARGUMENT, "stream %d has the id of a region", s->id);
    for (uint32_t i = 0; i < head->region_count; i++)
        if (head->regions[i].id == s->id)
            return mend_fail(MEND_ERR_ARGUMENT, "two streams have the id %d", s->id);
    if (!s->produce)
        return mend_fail(MEND_ERR_ARGUMENT, "stream %d has no producer", s->id);
    if (s->label)
        strncpy(r.label, s->label, sizeof r.label - 1);
    add_region(head, &r);
    return 0;
}

int layout_make(mend_store *store, const int *ids, int id_count, const mend_store_stream *streams,
                int stream_count, mend_image_head *head)
{
    int n = (ids ? id_count : store->region_count) + stream_count, rc = 0;

    *head = (mend_image_head){
        .kind = MEND_IMAGE_DATA,
        .rank = store->rank,
        .ranks = store->alone ? store->rank + 1 : store->size,
        .base_version = -1,
        .block = (uint32_t)store->options.block,
        .regions = calloc((size_t)(n > 0 ? n : 1), sizeof *head->regions),
    };
    memcpy(head->name, store->name, sizeof head->name);
    if (!head->regions)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d regions", n);
    for (int i = 0; rc == 0 && i < (ids ? id_count : store->region_count); i++) {
        const struct region *r = ids ? region_find(store, ids[i]) : &store->regions[i];
        if (ids && !r)
            rc = mend_fail(MEND_ERR_REGION, "there is no region %d", ids[i]);
        else
            add_region(head, r);
    }
    for (int i = 0; rc == 0 && i < stream_count; i++)
        rc = add_stream(store, head, &streams[i]);
    if (rc) {
        free(head->regions);
        head->regions = NULL;
    }
    return rc;
}

bool layout_same(const mend_image_head *a, const mend_image_head *b)
{
    if (a->region_count != b->region_count || a->stream_bytes != b->stream_bytes ||
        a->block != b->block || a->rank != b->rank || a->ranks != b->ranks || !a->regions ||
        !b->regions)
        return false;
    for (uint32_t i = 0; i < a->region_count; i++)
        if (a->regions[i].id != b->regions[i].id || a->regions[i].offset != b->regions[i].offset ||
            a->regions[i].bytes != b->regions[i].bytes)
            return false;
    return true;
}
