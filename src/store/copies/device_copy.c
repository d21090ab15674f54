/* Copies between GPU memory and copies in host memory: see device.c. */
#include "copies/device_inside.h"

#include <stdlib.h>
#include <string.h>

#define READ_AT ((size_t)8 << 20) /* how much a restore from a file reads at a time */

/* ---- into the slot --------------------------------------------------------------------------- */

/* What one drain needs to know about the slot. */
struct into {
    mend_store *store;
    struct slot *slot;
    uint64_t moved;
};

void device_tell_once(mend_store *store, const char *why)
{
    if (!store->gpu->told)
        mend_event("store.device_slow", ev_str("store", store->name), ev_int("of", store->rank),
                   ev_str("why", why), ev_str("error", mend_error_text()));
    store->gpu->told = true;
}

/* True: the bus reaches the slot's memory. */
static bool pin(mend_store *store, const struct pool *pool, struct slot *slot)
{
    uint64_t seen;
    if (mend_device_pin(pool->device, slot->memory, slot->room, &seen) == 0) {
        slot->pinned = true;
        return true;
    }
    device_tell_once(store, "the copy in host memory cannot be pinned");
    return false;
}

static int fetch(struct into *into, const struct pool *pool, bool pinned, uint64_t from,
                 uint64_t offset, size_t bytes)
{
    uint8_t *to = into->slot->memory + offset;
    into->moved += bytes;
    if (!bytes)
        return 0;
    return pinned ? mend_device_fetch(pool->device, to, from, bytes)
                  : mend_device_fetch_slowly(pool->device, to, from, bytes);
}

/* Copy the listed pages, and the region's edges, which are not whole pages. */
static int gather(struct into *into, const struct pool *pool, const struct piece *p, bool pinned,
                  const uint64_t *list, uint64_t count)
{
    size_t before = (size_t)(p->first * PAGE - p->offset);
    size_t behind = (size_t)(p->offset + p->bytes - p->end * PAGE);
    int rc = fetch(into, pool, pinned, p->from, p->offset, before);
    if (rc == 0)
        rc = fetch(into, pool, pinned, p->from + p->bytes - behind, p->end * PAGE, behind);
    if (rc == 0)
        rc = mend_device_gather(pool->device, p->from + before, p->look.list, list, count,
                                into->slot->memory + p->first * PAGE);
    into->moved += count * PAGE;
    return rc;
}

static int move_piece(struct into *into, struct drain *d, const struct piece *p)
{
    struct pool *pool = &into->store->gpu->pools[p->pool];
    uint64_t count = 0, *list = NULL;

    bool pinned = pin(into->store, pool, into->slot);
    int rc = look_changes(into->store, d, p, into->slot, &list, &count, &into->moved);
    bool all = rc == 0 && !list;
    if (rc == MEND_ERR_NO_MEMORY &&
        list) { /* the slot's sums lack the new ones: no delta may use them */
        d->summed = false;
        all = true;
    } else if (rc == 0 && list) {
        rc = gather(into, pool, p, pinned, list, count);
        all = rc == MEND_ERR_NO_MEMORY; /* no room to gather in */
    }
    if (all)
        rc = fetch(into, pool, pinned, p->from, p->offset, p->bytes);
    rc = mend_device_end(pool->device, rc); /* in any case: nothing may arrive later */
    free(list);
    return device_within(rc, "copy to the host", p, into->store);
}

/* Move all pieces of the drain (or, direct, of the save itself). */
static int move_pieces(mend_store *store, struct drain *d, struct slot *slot, bool direct,
                       uint64_t *moved)
{
    struct into into = {.store = store, .slot = slot};
    int rc = 0;

    for (int i = 0; rc == 0 && i < d->count; i++)
        if ((d->pieces[i].from == d->pieces[i].region) == direct)
            rc = move_piece(&into, d, &d->pieces[i]);
    *moved = into.moved;
    return rc;
}

static bool any(const struct drain *d, bool direct)
{
    for (int i = 0; i < d->count; i++)
        if ((d->pieces[i].from == d->pieces[i].region) == direct)
            return true;
    return false;
}

static void count_moved(mend_store *store, uint64_t moved)
{
    pthread_mutex_lock(&store->lock);
    store->stats.device_moved += moved;
    pthread_mutex_unlock(&store->lock);
}

int device_snapshot_end(mend_store *store, struct drain *d, struct slot *slot, int rc)
{
    uint64_t moved = 0;
    int begun = rc;
    for (int n = 0; n < POOLS; n++) /* all of them, so that nothing is in progress */
        if (d->pools >> n & 1)
            rc = mend_device_end(store->gpu->pools[n].device, rc);
    if (rc && !begun)
        mend_fail_within(rc, "snapshot on rank %d", store->rank);
    if (rc == 0 && any(d, true)) {
        rc = move_pieces(store, d, slot, true, &moved);
        count_moved(store, moved);
    }
    return rc;
}

int device_drain(mend_store *store, struct drain *d, struct slot *slot, uint64_t serial,
                 mend_version_t version)
{
    uint64_t moved = 0, bytes = 0;
    double start = mend_now();
    int rc = 0;
    if (any(d, false))
        rc = move_pieces(store, d, slot, false, &moved);
    if (rc == 0 && d->summed && slot->device_sums)
        slot->device_serial = serial;
    for (int i = 0; i < d->count; i++)
        bytes += d->pieces[i].bytes;
    count_moved(store, moved);
    pthread_mutex_lock(&store->lock);
    store->stats.device_bytes += bytes;
    store->stats.device_seconds = mend_now() - start;
    pthread_mutex_unlock(&store->lock);
    mend_event("store.device", ev_str("store", store->name), ev_int("version", version),
               ev_int("bytes", (long long)bytes), ev_int("moved", (long long)moved),
               ev_int("snapshot", any(d, false)), ev_real("seconds", mend_now() - start));
    return rc;
}

/* ---- back ------------------------------------------------------------------------------------ */

int device_write(mend_store *store, void *to, const void *from, size_t count)
{
    mend_device_place place;
    int number = 0, rc = mend_device_where(to, count, &place);
    if (rc == 0 && !mend_device_holds(&place)) {
        memcpy(to, from, count);
        return 0;
    }
    if (rc == 0)
        rc = device_pool(store, &place, &number);
    if (rc == 0)
        rc = mend_device_settle(store->gpu->pools[number].device, NULL);
    return rc ? rc
              : mend_device_put_slowly(store->gpu->pools[number].device, (uint64_t)(uintptr_t)to,
                                       from, count);
}

/* From a file or a message, piece by piece. */
static int put_image(mend_device *device, struct part *part, uint64_t at, uint64_t to, size_t count)
{
    size_t room = count < READ_AT ? count : READ_AT;
    uint8_t *buffer = malloc(room ? room : 1);
    int rc = buffer ? 0 : mend_fail(MEND_ERR_NO_MEMORY, "no memory to read %zu bytes", room);
    for (size_t done = 0; rc == 0 && done < count; done += room) {
        size_t n = count - done < room ? count - done : room;
        rc = part_read(part, at + done, buffer, n);
        if (rc == 0)
            rc = mend_device_put_slowly(device, to + done, buffer, n);
    }
    free(buffer);
    return rc;
}

int device_read(mend_store *store, struct part *part, uint64_t at, void *to, size_t count)
{
    mend_device_place place;
    int number = 0, rc = mend_device_where(to, count, &place);
    if (rc == 0 && !mend_device_holds(&place))
        return part_read(part, at, to, count);
    if (rc == 0)
        rc = device_pool(store, &place, &number);
    mend_device *device = rc ? NULL : store->gpu->pools[number].device;
    if (rc == 0)
        rc = mend_device_settle(device, NULL);
    if (rc)
        return rc;
    uint64_t ahead = device_staged(part->staged, to, at, count);
    if (ahead)
        return mend_device_end(
            device, mend_device_copy_inside(device, (uint64_t)(uintptr_t)to, ahead, count));
    if (!part->slot || count > part->head->stream_bytes || at > part->head->stream_bytes - count)
        return put_image(device, part, at, (uint64_t)(uintptr_t)to, count);
    if (!part->slot->pinned)
        return mend_device_put_slowly(device, (uint64_t)(uintptr_t)to, part->slot->memory + at,
                                      count);
    rc = mend_device_put(device, (uint64_t)(uintptr_t)to, part->slot->memory + at, count);
    return mend_device_end(device, rc);
}
