/* What device.c and device_copy.c share. */
#ifndef STORE_DEVICE_INSIDE_H
#define STORE_DEVICE_INSIDE_H

#include "copies/device.h"

#define POOLS 64

/* The store's resources in one context. */
struct pool {
    mend_device *device;
    uint64_t snapshot; /* 0: none */
    size_t room;
    uint64_t lists; /* of the changed pages, for one save */
    size_t lists_room;
    bool no_sums;
};

/* Sums of the pages that one slot holds, in the memory of one device. */
struct table {
    uint64_t at, pages;
};

struct gpu {
    struct pool *pools;
    int count;
    void *stream; /* the application's; NULL: all */
    bool in_use;  /* a save holds the snapshots; guarded by the store's lock */
    bool told;
    bool ahead; /* a restore may put its data on the device before it is verified */
};

/* One region of a save. */
struct piece {
    int id, pool;
    char label[MEND_IMAGE_LABEL];
    uint64_t region, from; /* the application's address; where the drain reads */
    uint64_t offset;       /* in the stream, and so in the slot */
    size_t bytes;
    uint64_t first, end;    /* whole pages of the stream */
    bool summed;            /* by the device */
    mend_device_pages look; /* then: where on the device the kernel leaves its results */
};

struct drain {
    struct piece *pieces;
    int count;
    uint64_t pools; /* the ones that the save uses */
    bool held;      /* it holds the snapshots */
    bool summed;    /* some piece is summed */
    bool known;     /* the tables and the slot's sums describe what the slot holds */
    bool begun;     /* the slot's sums are being updated */
};

int device_pool(mend_store *store, const mend_device_place *place, int *number);
void device_tell_once(mend_store *store, const char *why);
int device_within(int rc, const char *what, const struct piece *p, const mend_store *store);

/* Take the snapshots for `d`; seconds: how long to wait if a save still has them. */
int device_take(mend_store *store, struct drain *d, double seconds);
/* Choose where each region's snapshot goes; its own place if there is no room for all of the pool's. */
int device_place(mend_store *store, struct drain *d);
int device_add_piece(mend_store *store, struct drain *d, const mend_image_region *to,
                     const struct region *r, const mend_device_place *place);

/* device_look.c */
/* Make room on the devices for the sums of what this save checks. */
int look_prepare(mend_store *store, struct drain *d, struct slot *slot);
/* Start to copy a piece into its snapshot, to sum it, or both. */
int look_begin(mend_store *store, struct drain *d, struct piece *p);
/* The pages of the piece that differ from what the slot holds: *count of them, in a list that the caller frees, and
 * on the device in the piece's own. *list = NULL: too many, or nothing is known. Updates the slot's sums, and adds
 * what that took to *moved. */
int look_changes(mend_store *store, struct drain *d, const struct piece *p, struct slot *slot,
                 uint64_t **list, uint64_t *count, uint64_t *moved);
void look_free(mend_store *store, struct slot *slot);

#endif
