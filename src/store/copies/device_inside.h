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
    uint64_t lists; /* of the pages that changed, for one save */
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
    bool ahead; /* a restore may put its data onto the device before it is verified */
};

/* One region of a save. */
struct piece {
    int id, pool;
    char label[MEND_IMAGE_LABEL];
    uint64_t region, from; /* the application's, and where the drain reads */
    uint64_t offset;       /* in the stream, and so in the slot */
    size_t bytes;
    uint64_t first, end;    /* whole pages of the stream */
    bool summed;            /* by the device */
    mend_device_pages look; /* then: where on the device it leaves its results */
};

struct drain {
    struct piece *pieces;
    int count;
    uint64_t pools; /* that the save has to do with */
    bool held;      /* the snapshots */
    bool summed;    /* some piece is */
    bool known;     /* the tables and the slot's sums are those of what the slot holds */
    bool begun;     /* the slot's sums are being brought up to date */
};

int device_pool(mend_store *store, const mend_device_place *place, int *number);
void device_tell_once(mend_store *store, const char *why);
int device_within(int rc, const char *what, const struct piece *p, const mend_store *store);

/* The snapshots are taken for `d`; seconds: wait so long if a save still has them. */
int device_take(mend_store *store, struct drain *d, double seconds);
/* Where each region's snapshot will be; its own place if there is no room for all of the pool's. */
int device_place(mend_store *store, struct drain *d);
int device_add_piece(mend_store *store, struct drain *d, const mend_image_region *to,
                     const struct region *r, const mend_device_place *place);

/* device_look.c */
/* Room on the devices for the sums of what this save looks at. */
int look_prepare(mend_store *store, struct drain *d, struct slot *slot);
/* Begin to copy a piece into its snapshot and to sum it, or what of both is wanted. */
int look_begin(mend_store *store, struct drain *d, struct piece *p);
/* The pages of the piece that differ from what the slot holds: *count of them, in a list that the caller
 * frees, and on the device in the piece's. *list = NULL: too many, or nothing is known. The slot's sums
 * are brought up to date; *moved grows by what that took. */
int look_changes(mend_store *store, struct drain *d, const struct piece *p, struct slot *slot,
                 uint64_t **list, uint64_t *count, uint64_t *moved);
void look_free(mend_store *store, struct slot *slot);

#endif
