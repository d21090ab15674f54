/* A bundle: images of many ranks in one file, for file systems that hate many files.
 *
 *   images   each at a place of its own; gaps are allowed
 *   index    rank, place and length of each
 *   footer   where the index is, and sums
 *
 * The writers put their images where the plan says; one of them adds index and footer when all are
 * there.
 */
#ifndef IMAGE_BUNDLE_H
#define IMAGE_BUNDLE_H

#include <mend/types.h>
#include <image/image.h>

typedef struct mend_bundle_entry {
    int64_t rank;
    uint64_t offset, bytes;
} mend_bundle_entry;

/* The bytes that end a bundle whose images end at or before `end`; malloc'ed. */
int mend_bundle_tail(const mend_bundle_entry *entries, uint64_t count, uint64_t end,
                     mend_version_t version, uint64_t save_id, uint8_t **bytes, size_t *length);

/* Read and check index and footer. entries is malloc'ed. Errors as mend_image_open(). */
int mend_bundle_open(mend_source source, mend_bundle_entry **entries, uint64_t *count,
                     mend_version_t *version, uint64_t *save_id);

#endif
