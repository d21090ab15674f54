/* Finds the changed pages of regions on devices.
 *
 * In one pass over a region, a kernel copies it into the snapshot, sums its pages and compares the sums with those of
 * what the slot holds. These are in a table on the device (16 bytes for each page). The kernel leaves the new sums in
 * the table, and a list of the pages that differ. The drain reads the list, so its cost, on the device, on the bus
 * and on the host, is in proportion to what changed.
 *
 * The kernel writes the table before the drain writes the slot. The table counts for nothing unless the drain
 * succeeds (slot->device_serial), and then all of it counts. */
#include "copies/device_inside.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define SMALL ((size_t)16 * PAGE) /* no sums below this size: just copy */

/* ---- room ------------------------------------------------------------------------------------ */

/* If more than half of the pages differ, we list none and copy everything. */
static uint64_t most_of(const struct piece *p)
{
    return (p->end - p->first) / 2;
}

static struct pool *pool_of(const mend_store *store, const struct piece *p)
{
    return &store->gpu->pools[p->pool];
}

static void choose(const mend_store *store, struct drain *d)
{
    for (int i = 0; i < d->count; i++) {
        struct piece *p = &d->pieces[i];
        p->first = (p->offset + PAGE - 1) / PAGE;
        p->end = (p->offset + p->bytes) / PAGE;
        p->summed = store->options.delta != MEND_DELTA_OFF && !pool_of(store, p)->no_sums &&
                    p->bytes >= SMALL && p->first < p->end;
    }
}

static int table_reserve(struct pool *pool, struct table *t, uint64_t pages)
{
    if (t->at && t->pages == pages)
        return 0;
    mend_device_free(pool->device, t->at);
    *t = (struct table){0};
    int rc = mend_device_alloc(pool->device, pages * sizeof(mend_device_sum), &t->at);
    t->pages = rc ? 0 : pages;
    return rc;
}

static int lists_reserve(struct pool *pool, size_t bytes)
{
    if (bytes <= pool->lists_room)
        return 0;
    mend_device_free(pool->device, pool->lists);
    pool->lists = pool->lists_room = 0;
    int rc = mend_device_alloc(pool->device, bytes, &pool->lists);
    pool->lists_room = rc ? 0 : bytes;
    return rc;
}

/* Lay out the memory for lists: the new sums of all pieces, the numbers of the pages, the counts. */
static int place_in_pool(mend_store *store, struct drain *d, struct slot *slot, int number)
{
    struct pool *pool = &store->gpu->pools[number];
    uint64_t pages = 0, listed = 0, count = 0;
    for (int i = 0; i < d->count; i++) {
        const struct piece *p = &d->pieces[i];
        if (p->pool == number && p->summed) {
            pages += p->end - p->first;
            listed += most_of(p);
            count++;
        }
    }
    if (!count)
        return 0;
    struct table *table = &slot->device_tables[number];
    int rc = table_reserve(pool, table, pages);
    if (rc == 0)
        rc = lists_reserve(pool, listed * (sizeof(mend_device_sum) + 8) + count * 8);
    uint64_t sums = table->at, news = pool->lists, list = news + listed * sizeof(mend_device_sum);
    uint64_t found = list + listed * 8;
    for (int i = 0; rc == 0 && i < d->count; i++) {
        struct piece *p = &d->pieces[i];
        if (p->pool != number || !p->summed)
            continue;
        uint64_t before = p->first * PAGE - p->offset;
        p->look = (mend_device_pages){.pages = p->region + before,
                                      .count = p->end - p->first,
                                      .copy = p->from == p->region ? 0 : p->from + before,
                                      .sums = sums,
                                      .found = found,
                                      .most = most_of(p),
                                      .list = list,
                                      .news = news};
        sums += p->look.count * sizeof(mend_device_sum);
        news += p->look.most * sizeof(mend_device_sum);
        list += p->look.most * 8;
        found += 8;
    }
    return rc ? rc : mend_device_zero(pool->device, found - count * 8, count * 8);
}

/* No sums on this device, this time or ever. */
static void do_without(mend_store *store, struct drain *d, int number, const char *why)
{
    device_tell_once(store, why);
    for (int i = 0; i < d->count; i++)
        if (d->pieces[i].pool == number)
            d->pieces[i].summed = false;
}

static int tables_reserve(struct slot *slot, int count)
{
    if (count <= slot->device_table_count)
        return 0;
    struct table *more = realloc(slot->device_tables, (size_t)count * sizeof *more);
    if (!more)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d tables", count);
    memset(more + slot->device_table_count, 0,
           (size_t)(count - slot->device_table_count) * sizeof *more);
    slot->device_tables = more;
    slot->device_table_count = count;
    return 0;
}

/* A number for what is summed and where. If it differs, the tables belong to something else. */
static uint64_t key_of(const struct drain *d)
{
    uint64_t key = 1;
    for (int i = 0; i < d->count; i++) {
        const struct piece *p = &d->pieces[i];
        const uint64_t facts[] = {(uint64_t)p->id, (uint64_t)p->pool, p->first, p->end,
                                  p->summed ? p->look.sums : 0};
        key = XXH3_64bits_withSeed(facts, sizeof facts, key);
    }
    return key;
}

int look_prepare(mend_store *store, struct drain *d, struct slot *slot)
{
    uint64_t serial = slot->device_serial;
    int rc = d->count ? tables_reserve(slot, store->gpu->count) : 0;

    slot->device_serial = 0;
    choose(store, d);
    for (int n = 0; rc == 0 && d->count && n < store->gpu->count; n++) {
        rc = place_in_pool(store, d, slot, n);
        if (rc == MEND_ERR_NO_MEMORY) {
            do_without(store, d, n, "the device has no room for sums of pages");
            rc = 0;
        }
    }
    uint64_t key = key_of(d);
    d->known = rc == 0 && serial == store->serial && key == slot->device_key && slot->device_sums;
    slot->device_key = key;
    return rc;
}

void look_free(mend_store *store, struct slot *slot)
{
    for (int n = 0; store->gpu && n < slot->device_table_count; n++)
        mend_device_free(store->gpu->pools[n].device, slot->device_tables[n].at);
    free(slot->device_tables);
    slot->device_tables = NULL;
    slot->device_table_count = 0;
    slot->device_serial = 0;
}

/* ---- the pass -------------------------------------------------------------------------------- */

static int copy_edges(mend_device *device, const struct piece *p)
{
    size_t before = (size_t)(p->first * PAGE - p->offset);
    size_t behind = (size_t)(p->offset + p->bytes - p->end * PAGE);
    int rc = before ? mend_device_copy_inside(device, p->from, p->region, before) : 0;
    if (rc == 0 && behind)
        rc = mend_device_copy_inside(device, p->from + p->bytes - behind,
                                     p->region + p->bytes - behind, behind);
    return rc;
}

int look_begin(mend_store *store, struct drain *d, struct piece *p)
{
    struct pool *pool = pool_of(store, p);
    bool snapshot = p->from != p->region;
    int rc = p->summed ? mend_device_look(pool->device, &p->look) : 0;
    if (rc == MEND_ERR_UNSUPPORTED) {
        pool->no_sums = true;
        do_without(store, d, p->pool, "the device makes no sums of pages");
        rc = 0;
    }
    d->summed = d->summed || p->summed;
    if (rc || !snapshot)
        return rc;
    return p->summed ? copy_edges(pool->device, p)
                     : mend_device_copy_inside(pool->device, p->from, p->region, p->bytes);
}

/* ---- what it found --------------------------------------------------------------------------- */

static int fetch_all(mend_device *device, const struct piece *p, struct slot *slot, uint64_t *moved)
{
    size_t bytes = (size_t)p->look.count * sizeof(mend_device_sum);
    *moved += bytes;
    return mend_device_fetch_slowly(device, slot->device_sums + p->first, p->look.sums, bytes);
}

static int fetch_listed(mend_device *device, const struct piece *p, struct slot *slot,
                        uint64_t count, uint64_t *list, uint64_t *moved)
{
    size_t bytes = (size_t)count * sizeof(mend_device_sum);
    mend_device_sum *news = malloc(bytes + 1);
    int rc = news ? 0 : mend_fail(MEND_ERR_NO_MEMORY, "no memory for sums of pages");
    if (rc == 0)
        rc = mend_device_fetch_slowly(device, news, p->look.news, bytes);
    if (rc == 0)
        rc = mend_device_fetch_slowly(device, list, p->look.list, (size_t)count * sizeof *list);
    for (uint64_t i = 0; rc == 0 && i < count; i++)
        slot->device_sums[p->first + list[i]] = news[i];
    *moved += bytes + count * sizeof *list;
    free(news);
    return rc;
}

/* The host's sums of all pages, 0 where the device makes none. If they are to be updated, they start as those of the
 * slot's last version. NULL: no memory. */
static mend_device_sum *host_sums(struct drain *d, struct slot *slot)
{
    if (!d->known && !d->begun) {
        free(slot->device_sums);
        slot->device_sums =
            calloc(page_count(slot->head.stream_bytes) + 1, sizeof *slot->device_sums);
    }
    d->begun = true;
    return slot->device_sums;
}

int look_changes(mend_store *store, struct drain *d, const struct piece *p, struct slot *slot,
                 uint64_t **list, uint64_t *count, uint64_t *moved)
{
    mend_device *device = pool_of(store, p)->device;
    uint64_t found = 0;

    *list = NULL;
    if (!d->summed || !host_sums(d, slot))
        return 0;
    if (!p->summed) {
        if (p->first < p->end)
            memset(slot->device_sums + p->first, 0,
                   (size_t)(p->end - p->first) * sizeof *slot->device_sums);
        return 0;
    }
    int rc = mend_device_fetch_slowly(device, &found, p->look.found, sizeof found);
    if (rc)
        return rc;
    if (!d->known || found > p->look.most)
        return fetch_all(device, p, slot, moved);
    *count = found;
    *list = malloc((size_t)found * sizeof **list + 1);
    return *list ? fetch_listed(device, p, slot, found, *list, moved)
                 : mend_fail(MEND_ERR_NO_MEMORY, "no memory for a list of pages");
}
