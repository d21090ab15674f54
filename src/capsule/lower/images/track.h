/* images/track.h - which pages of the upper half were written since an image was taken or loaded, as the kernel tells it
 * (base/track.h). */
#ifndef CAPSULE_TRACK_H
#define CAPSULE_TRACK_H
#include "images/image.h"

/* A survey begins. 0: nothing is known, every page must be compared. */
int track_start(void);
/* The pages of [from, to), one private mapping: `touched` is called as by pagemap_pages(), `written` for those that were
 * written since the last time, or may have been; from now on writes are noted anew. Not 0: this mapping is not tracked,
 * and what was taken of it counts for nothing. */
int track_pages(int pagemap, uint64_t from, uint64_t to, enum pages which, pagemap_take *touched,
                pagemap_take *written, void *context);
void track_end(void); /* of the survey: what mappings it has not seen are forgotten */

/* Memory is as this image has it, or was when the pages were looked at last. */
uint64_t track_new_serial(void);       /* for an image; never 0 */
void track_memory_is(uint64_t serial); /* 0: like none */
uint64_t track_image(void);

/* Pages of [from, to) that are there and were not written since. Not 0: nothing is known, whatever was taken. */
int track_clean(int pagemap, uint64_t from, uint64_t to, pagemap_take *take, void *context);

/* For tests: every page that was taken for unchanged is compared all the same. */
int track_is_checked(void);
void track_wrong(uint64_t address, const char *when) __attribute__((noreturn));
#endif
