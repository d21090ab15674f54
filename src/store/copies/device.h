/* Regions in the memory of GPUs: how they come into a copy, and back. */
#ifndef STORE_DEVICE_H
#define STORE_DEVICE_H

#include <device/device.h>

#include "internal.h"

/* Which of the registered regions of `head` are on devices (they are marked so), and room for their snapshot there.
 * *drain stays NULL if none is. Waits for the snapshot before, at most max_stall seconds. */
int device_prepare(mend_store *store, mend_image_head *head, int registered, struct drain **drain);
/* Is this region copied by the drain? */
bool device_has(const struct drain *drain, int id);
/* Begin the snapshot, after what the application has queued; and wait until it is complete: the
 * application may change its data. rc: what failed before, and stays so. What has no room on the device is copied into the slot. */
int device_snapshot_begin(mend_store *store, struct drain *drain, struct slot *slot);
int device_snapshot_end(mend_store *store, struct drain *drain, struct slot *slot, int rc);
/* In the engine: from the snapshot into the slot, all or what changed. */
int device_drain(mend_store *store, struct drain *drain, struct slot *slot, uint64_t serial,
                 mend_version_t version);
/* Release the snapshot for the next save. Called with the lock held. */
void device_release(mend_store *store, struct drain *drain);

/* Read from a part into memory of either kind. */
int device_read(mend_store *store, struct part *part, uint64_t at, void *to, size_t count);
/* From host memory to either. */
int device_write(mend_store *store, void *to, const void *from, size_t count);

/* A restore of all regions is under way (or over): a part in our own memory may be put onto the
 * devices while it is still verified. */
void device_ahead(mend_store *store, bool on);
/* Begin to put the slot's data of regions on devices into the memory of their snapshots. *staged stays
 * NULL where that is not possible or not worth it. */
void device_stage(mend_store *store, struct slot *slot, struct drain **staged);
/* Where that is on the device; 0: it is not. */
uint64_t device_staged(const struct drain *staged, const void *to, uint64_t at, size_t count);
void device_unstage(mend_store *store, struct drain *staged);

void device_unpin_slot(mend_store *store, struct slot *slot);
void device_free(mend_store *store);

#endif
