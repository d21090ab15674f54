/* What device.c and device_copy.c share. */
#ifndef STORE_DEVICE_INSIDE_H
#define STORE_DEVICE_INSIDE_H

#include "copies/device.h"

#define POOLS 64

/* What the store has in one context. */
struct pool {
    mend_device *device;
    uint64_t snapshot; /* 0: none */
    size_t room;
    uint64_t sums; /* of the pages of one region, and the list of those that changed */
    uint64_t sums_room;
    bool no_sums;
};

struct gpu {
    struct pool *pools;
    int count;
    void *stream; /* the application's; NULL: all */
    bool in_use;  /* a save holds the snapshots; guarded by the store's lock */
    bool told;
};

/* One region of a save. */
struct piece {
    int id, pool;
    char label[MEND_IMAGE_LABEL];
    uint64_t region, from; /* the application's, and where the drain reads */
    uint64_t offset;       /* in the stream, and so in the slot */
    size_t bytes;
};

struct drain {
    struct piece *pieces;
    int count;
    uint64_t pools; /* that the save has to do with */
    bool held;      /* the snapshots */
};

int device_pool(mend_store *store, const mend_device_place *place, int *number);
int device_within(int rc, const char *what, const struct piece *p, const mend_store *store);

#endif
