/* Regions in GPU memory.
 *
 * A save of them:
 *   1. Inside the call, before all agree, the driver says which regions are on a device. We allocate room for a
 *      snapshot of them there, or keep that of the previous save.
 *   2. We wait for the application's queued work, in all streams of the context or in the one that
 *      mend_store_device_stream() named.
 *   3. We copy the regions into the snapshot, inside the device, and the call returns.
 *   4. The engine copies the snapshot into the slot. It pins the slot at first use, so that the bus writes to it
 *      directly. From there on the slot is like any other: levels and files know nothing of devices.
 * Without room for a snapshot, 4 replaces 3, inside the call.
 *
 * With delta on, a kernel of ours does 3: it sums the pages as it copies them, and finds those that differ from what
 * the slot holds of an older version. Only these cross the bus in 4 (device_look.c). The sums also serve as hashes in
 * delta.c. They belong to the slot, and are valid for it alone: `device_serial` is 0 from the moment that anything
 * else writes to the slot until a drain has succeeded.
 *
 * A driver failure in 1 to 3 fails the save on all ranks. In 4 it fails the version: the engine agrees with the other
 * ranks before the first level (finish_copy in engine.c).
 */
#include "copies/device_inside.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <base/config.h>

#define HEADROOM 32 /* a snapshot leaves this fraction of the device's memory free */

/* ---- contexts and memory --------------------------------------------------------------------- */

int device_pool(mend_store *store, const mend_device_place *place, int *number)
{
    struct gpu *g = store->gpu;
    if (!g && !(g = store->gpu = calloc(1, sizeof *g)))
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a device");
    /* all at once: the engine may be using one of them */
    if (!g->pools && !(g->pools = calloc(POOLS, sizeof *g->pools)))
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a device");
    for (*number = 0; *number < g->count; ++*number)
        if (mend_device_is(g->pools[*number].device, place))
            return 0;
    if (g->count == POOLS)
        return mend_fail(MEND_ERR_UNSUPPORTED, "more than %d contexts of devices", POOLS);
    int rc = mend_device_open(place, &g->pools[g->count].device);
    if (rc == 0)
        g->count++;
    return rc;
}

int device_within(int rc, const char *what, const struct piece *p, const mend_store *store)
{
    return rc ? mend_fail_within(rc, "%s: region %d (%s) on rank %d", what, p->id, p->label,
                                 store->rank)
              : 0;
}

/* A snapshot keeps offsets within pages, so that pages of the stream are pages on the device. */
static size_t place_in(size_t end, uint64_t offset)
{
    return (end + PAGE - 1) / PAGE * PAGE + (size_t)(offset % PAGE);
}

static size_t snapshot_bytes(const struct drain *d, int pool)
{
    size_t end = 0;
    for (int i = 0; i < d->count; i++)
        if (d->pieces[i].pool == pool)
            end = place_in(end, d->pieces[i].offset) + d->pieces[i].bytes;
    return end + PAGE; /* the driver's memory need not start at a page */
}

/* Also 0 if there is no room: then pool->room is too small. */
static int reserve(struct pool *pool, size_t bytes)
{
    size_t left = 0, all = 0;
    if (bytes <= pool->room)
        return 0;
    mend_device_free(pool->device, pool->snapshot);
    pool->snapshot = pool->room = 0;
    int rc = mend_device_room(pool->device, &left, &all);
    if (rc || bytes > mend_setting_bytes(MEND_KEY_STORE_DEVICE_SNAPSHOT) || left < bytes ||
        left - bytes < all / HEADROOM)
        return rc;
    rc = mend_device_alloc(pool->device, bytes, &pool->snapshot);
    if (rc == 0)
        pool->room = bytes;
    return rc == MEND_ERR_NO_MEMORY ? 0 : rc;
}

int device_place(mend_store *store, struct drain *d)
{
    for (int n = 0; n < store->gpu->count; n++) {
        struct pool *pool = &store->gpu->pools[n];
        size_t need = snapshot_bytes(d, n), end = 0;
        if (need == PAGE) /* nothing on this one */
            continue;
        int rc = reserve(pool, need);
        if (rc)
            return mend_fail_within(rc, "a snapshot of %zu bytes on rank %d", need, store->rank);
        uint64_t base = (pool->snapshot + PAGE - 1) / PAGE * PAGE;
        for (int i = 0; i < d->count; i++) {
            struct piece *p = &d->pieces[i];
            if (p->pool != n)
                continue;
            end = place_in(end, p->offset);
            p->from = pool->room >= need ? base + end : p->region;
            end += p->bytes;
        }
    }
    return 0;
}

/* ---- in a save ------------------------------------------------------------------------------- */

int device_take(mend_store *store, struct drain *d, double seconds)
{
    struct timespec end;
    int rc = 0;
    clock_gettime(CLOCK_REALTIME, &end);
    double until = (double)end.tv_sec + (double)end.tv_nsec * 1e-9 + seconds;
    end.tv_sec = (time_t)until;
    end.tv_nsec = (long)((until - (double)end.tv_sec) * 1e9);
    pthread_mutex_lock(&store->lock);
    while (store->gpu->in_use && rc == 0)
        if (pthread_cond_timedwait(&store->changed, &store->lock, &end))
            rc = mend_fail(MEND_ERR_BUSY, "the snapshot on the device was not drained within %g s",
                           seconds);
    if (rc == 0)
        store->gpu->in_use = d->held = true;
    pthread_mutex_unlock(&store->lock);
    return rc;
}

int device_add_piece(mend_store *store, struct drain *d, const mend_image_region *to,
                     const struct region *r, const mend_device_place *place)
{
    struct piece *p = &d->pieces[d->count];
    *p = (struct piece){.id = r->id,
                        .region = (uint64_t)(uintptr_t)r->address,
                        .offset = to->offset,
                        .bytes = r->bytes};
    memcpy(p->label, r->label, sizeof p->label);
    int rc = device_pool(store, place, &p->pool);
    if (rc == 0)
        d->pools |= (uint64_t)1 << p->pool;
    if (rc == 0 && mend_device_holds(place)) /* pinned memory is copied normally, after the wait */
        d->count++;
    return device_within(rc, "device", p, store);
}

int device_prepare(mend_store *store, mend_image_head *head, int registered, struct drain **out)
{
    struct drain *d = NULL;
    int rc = 0;

    for (int i = 0; rc == 0 && i < registered; i++) {
        mend_image_region *to = &head->regions[i];
        const struct region *r = region_find(store, to->id);
        mend_device_place place;
        rc = r->bytes ? mend_device_where(r->address, r->bytes, &place) : 0;
        if (rc)
            rc = mend_fail_within(rc, "region %d (%s) on rank %d", r->id, r->label, store->rank);
        if (rc || !r->bytes || place.kind == MEND_DEVICE_HOST)
            continue;
        if (mend_device_holds(&place))
            to->flags |= MEND_REGION_DEVICE;
        if (!d) {
            d = calloc(1, sizeof *d);
            if (d)
                d->pieces = calloc((size_t)registered, sizeof *d->pieces);
            if (!d || !d->pieces)
                rc = mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d regions", registered);
        }
        if (rc == 0 && place.device >= 0)
            rc = device_add_piece(store, d, to, r, &place);
    }
    if (rc == 0 && d && d->count)
        rc = device_take(store, d, store->options.max_stall);
    if (rc == 0 && d && d->count)
        rc = device_place(store, d);
    *out = d;
    return rc;
}

bool device_has(const struct drain *d, int id)
{
    for (int i = 0; d && i < d->count; i++)
        if (d->pieces[i].id == id)
            return true;
    return false;
}

int device_snapshot_begin(mend_store *store, struct drain *d, struct slot *slot)
{
    int rc = look_prepare(store, d, slot);
    if (rc)
        return mend_fail_within(rc, "sums of pages on rank %d", store->rank);
    for (int n = 0; rc == 0 && n < POOLS; n++)
        if (d->pools >> n & 1)
            rc = mend_device_settle(store->gpu->pools[n].device, store->gpu->stream);
    if (rc)
        return mend_fail_within(rc, "waiting for the device's work on rank %d", store->rank);
    for (int i = 0; rc == 0 && i < d->count; i++)
        rc = device_within(look_begin(store, d, &d->pieces[i]), "snapshot", &d->pieces[i], store);
    return rc;
}

void device_release(mend_store *store, struct drain *d)
{
    if (!d)
        return;
    if (d->held) {
        store->gpu->in_use = false;
        pthread_cond_broadcast(&store->changed);
    }
    free(d->pieces);
    free(d);
}

/* ---- the end --------------------------------------------------------------------------------- */

void device_unpin_slot(mend_store *store, struct slot *slot)
{
    if (slot->pinned && store->gpu && store->gpu->count)
        mend_device_unpin(store->gpu->pools[0].device, slot->memory);
    slot->pinned = false;
    look_free(store, slot);
}

void device_free(mend_store *store)
{
    struct gpu *g = store->gpu;
    for (int n = 0; g && n < g->count; n++) {
        mend_device_free(g->pools[n].device, g->pools[n].snapshot);
        mend_device_free(g->pools[n].device, g->pools[n].lists);
        mend_device_close(g->pools[n].device);
    }
    if (g)
        free(g->pools);
    free(g);
    store->gpu = NULL;
}

int mend_store_device_stream(mend_store *store, void *stream)
{
    if (!store)
        return mend_fail(MEND_ERR_ARGUMENT, "no store");
    if (!store->gpu && !(store->gpu = calloc(1, sizeof *store->gpu)))
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a device");
    store->gpu->stream = stream;
    return 0;
}
