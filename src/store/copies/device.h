/* Regions in GPU memory: how they get into a copy, and back. */
#ifndef STORE_DEVICE_H
#define STORE_DEVICE_H

#include <device/device.h>

#include "internal.h"

/* Find which of the head's registered regions are on devices, mark them, and make room for their snapshot there.
 * *drain stays NULL if none is. Waits for the previous snapshot, at most max_stall seconds. */
int device_prepare(mend_store *store, mend_image_head *head, int registered, struct drain **drain);
/* Does the drain copy this region? */
bool device_has(const struct drain *drain, int id);
/* Start the snapshot, after the application's queued work; and wait until it is complete, so that the application may
 * change its data. rc: an earlier failure, which stays. Regions without room on the device are copied into the slot. */
int device_snapshot_begin(mend_store *store, struct drain *drain, struct slot *slot);
int device_snapshot_end(mend_store *store, struct drain *drain, struct slot *slot, int rc);
/* In the engine: copy from the snapshot into the slot, everything or what changed. */
int device_drain(mend_store *store, struct drain *drain, struct slot *slot, uint64_t serial,
                 mend_version_t version);
/* Release the snapshot for the next save. Call it with the lock held. */
void device_release(mend_store *store, struct drain *drain);

/* Read from a part into memory of either kind. */
int device_read(mend_store *store, struct part *part, uint64_t at, void *to, size_t count);
/* Copy from host memory to either kind. */
int device_write(mend_store *store, void *to, const void *from, size_t count);

/* A restore of all regions starts (or ends): a part in our own memory may go to the devices while we still verify it.
 */
void device_ahead(mend_store *store, bool on);
/* Start to put the slot's data of device regions into their snapshots' memory. *staged stays NULL if that is not
 * possible or not worthwhile. */
void device_stage(mend_store *store, struct slot *slot, struct drain **staged);
/* Where that is on the device; 0: nowhere. */
uint64_t device_staged(const struct drain *staged, const void *to, uint64_t at, size_t count);
void device_unstage(mend_store *store, struct drain *staged);

void device_unpin_slot(mend_store *store, struct slot *slot);
void device_free(mend_store *store);

#endif
