/* images/changes.h - an image as far as it differs from an older one of the same rank, by addresses of pages. */
#ifndef CAPSULE_CHANGES_H
#define CAPSULE_CHANGES_H
#include <stddef.h>
#include <stdint.h>

/* The new image is pieces of the old one, and bytes of its own, in this order. */
struct change {
    uint64_t from;  /* in the old image; CHANGE_NEW: the next ones that are told */
    uint64_t bytes; /* more than 0 */
};
#define CHANGE_NEW UINT64_MAX

struct changes {
    struct change *list;
    size_t count, room;
    uint64_t told; /* bytes that are new */
};

/* 0: *c lists them (its list is kept for the next time). 1: most of it is new, or these are no images. */
int changes_find(struct changes *c, const char *new, size_t bytes, const char *old,
                 size_t old_bytes);
/* The new bytes, one after the other. */
void changes_collect(const struct changes *c, const char *new, char *to);
/* The new image, from what the last two have told, in memory for `bytes`. MEND_ERR_DAMAGED if they do not fit. */
int changes_apply(const struct changes *c, const char *told, const char *old, size_t old_bytes,
                  char *to, size_t bytes);
#endif
