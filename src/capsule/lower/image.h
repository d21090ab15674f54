/* image.h - what an image of the upper half holds, inside the format of the image layer:
 *
 *   region 1 "capsule"  struct image_meta, then its mappings and its runs
 *   region 2 "memory"   the bytes of all runs, one after the other
 *
 * A mapping is a piece of the upper half's address space; a run is a stretch of it with content.
 * What lies in a mapping but in no run is zero.
 */
#ifndef CAPSULE_IMAGE_H
#define CAPSULE_IMAGE_H
#include "lower.h"

#include <image/image.h>

/* Before an image that has no file of its own: other things may follow it there. */
struct image_prefix {
    uint64_t magic, bytes;
};
#define IMAGE_PREFIX 0x65676d6964656e6dull

enum { IMAGE_META = 1, IMAGE_MEMORY = 2 };
enum { IMAGE_BLOCK = 256 << 10 };
#define IMAGE_NAME "capsule"

struct image_meta {
    uint32_t border_version, mappings, rank, size;
    uint64_t runs, bytes;
    char arch[16];
    uint64_t machine[MACHINE_WORDS]; /* see machine_describe */
    uint64_t page_size;
    struct upper *upper;
    struct steering steering;
    int *tid_address;
    void *robust_list;
    uint64_t robust_length;
    int32_t thread_level, padding;
};
struct mapping {
    uint64_t from, to;
    int32_t prot, shared;
};
struct run {
    uint64_t from, to;
};

/* A message in mend_error_text() and MEND_ERR_DAMAGED if the three do not fit together. */
int image_meta_check(const struct image_meta *meta, const struct mapping *mappings,
                     const struct run *runs);
#endif
