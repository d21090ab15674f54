/* A restore from our own memory into GPU memory.
 *
 * None of the application's data may change before every block is verified, on all ranks. Verifying on the host takes
 * as long as copying over the bus, so we do both at once:
 *   1. Start copying the data into the snapshots' memory, which is ours.
 *   2. Verify it on the host, with several threads.
 *   3. When all ranks agree, copy the data into place, inside the device.
 * Without room for a snapshot, the data crosses the bus after 2. */
#include "copies/device_inside.h"

#include <stdlib.h>

#define WORTH ((size_t)1 << 20) /* bytes; less is fast either way */

void device_ahead(mend_store *store, bool on)
{
    if (store->gpu)
        store->gpu->ahead = on;
}

/* Add the registered device regions that the slot has. */
static int add_pieces(mend_store *store, const struct slot *slot, struct drain *d)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < slot->head.region_count; i++) {
        const mend_image_region *saved = &slot->head.regions[i];
        const struct region *r = region_find(store, saved->id);
        mend_device_place place;
        if (!r || r->bytes != saved->bytes || r->bytes < WORTH)
            continue;
        rc = mend_device_where(r->address, r->bytes, &place);
        if (rc == 0 && mend_device_holds(&place) && place.device >= 0)
            rc = device_add_piece(store, d, saved, r, &place);
    }
    return rc;
}

static int begin(mend_store *store, const struct slot *slot, const struct drain *d)
{
    int rc = 0;
    for (int i = 0; rc == 0 && i < d->count; i++) {
        const struct piece *p = &d->pieces[i];
        if (p->from != p->region)
            rc = mend_device_put(store->gpu->pools[p->pool].device, p->from,
                                 slot->memory + p->offset, p->bytes);
    }
    return rc;
}

/* 0 and pieces: they are in transit. */
static int stage(mend_store *store, const struct slot *slot, struct drain *d)
{
    d->pieces = calloc(slot->head.region_count + 1, sizeof *d->pieces);
    int rc = d->pieces ? add_pieces(store, slot, d) : MEND_ERR_NO_MEMORY;
    if (rc || !d->count)
        return rc;
    rc = device_take(store, d, 0);
    if (rc == 0)
        rc = device_place(store, d);
    return rc ? rc : begin(store, slot, d);
}

/* A failure here is no error: the usual path will fail, too, and report it. */
void device_stage(mend_store *store, struct slot *slot, struct drain **staged)
{
    if (!store->gpu || !store->gpu->ahead || !slot->pinned || slot->head.rank != store->rank)
        return;
    struct drain *d = calloc(1, sizeof *d);
    if (!d)
        return;
    if (stage(store, slot, d) == 0 && d->count)
        *staged = d;
    else
        device_unstage(store, d);
}

uint64_t device_staged(const struct drain *d, const void *to, uint64_t at, size_t count)
{
    for (int i = 0; d && i < d->count; i++) {
        const struct piece *p = &d->pieces[i];
        if (p->region == (uint64_t)(uintptr_t)to && p->offset == at && p->bytes == count &&
            p->from != p->region)
            return p->from;
    }
    return 0;
}

void device_unstage(mend_store *store, struct drain *d)
{
    if (!d)
        return;
    for (int n = 0; n < POOLS; n++)
        if (d->pools >> n & 1)
            mend_device_end(store->gpu->pools[n].device, MEND_ERR_STATE); /* only to wait */
    pthread_mutex_lock(&store->lock);
    device_release(store, d);
    pthread_mutex_unlock(&store->lock);
}
