/* images/track.h - which pages of the upper half were written since an image was taken or loaded, according
 * to the kernel (base/track.h). */
#ifndef CAPSULE_TRACK_H
#define CAPSULE_TRACK_H
#include "images/image.h"

/* A survey begins. 0: nothing is known; every page must be compared. */
int track_start(void);
/* The pages of [from, to), one private mapping. Calls `touched` as pagemap_pages() does, and `written` for
 * pages that were written since the last time, or may have been. From now on writes are recorded anew.
 * Nonzero: this mapping is not tracked, and the pages that were reported do not count. */
int track_pages(int pagemap, uint64_t from, uint64_t to, enum pages which, pagemap_take *touched,
                pagemap_take *written, void *context);
void track_end(void); /* the survey ends; mappings that it has not seen are forgotten */

/* The image that memory is like, or was like when the pages were last looked at. */
uint64_t track_new_serial(void);       /* for an image; never 0 */
void track_memory_is(uint64_t serial); /* 0: like no image */
uint64_t track_image(void);

/* Reports pages of [from, to) that are present and were not written since. Nonzero: nothing is known,
 * whatever was reported. */
int track_clean(int pagemap, uint64_t from, uint64_t to, pagemap_take *take, void *context);

/* For tests: compare every page anyway, even if it counts as unchanged. */
int track_is_checked(void);
void track_wrong(uint64_t address, const char *when) __attribute__((noreturn));
#endif
