/* Write tracking by the kernel (userfaultfd write-protect, asynchronous, with PAGEMAP_SCAN). */
#ifndef STORE_PAGES_H
#define STORE_PAGES_H

#include "internal.h"

/* Inside a save: the pages of the stream that changed since the last save, as a bitmap that the caller frees; NULL:
 * not known. Marks them as stale in every slot. */
uint64_t *pages_take(mend_store *store, const mend_image_head *head);
/* Copy only the stale pages of this region. False: not tracked, so copy all. */
bool pages_copy(mend_store *store, struct slot *slot, const mend_image_region *to,
                const struct region *from);
/* The slot now equals the application's data. */
void pages_copied(mend_store *store, struct slot *slot, const mend_image_head *head);
/* The result of pages_take() did not lead to a version: everything is unknown again. */
void pages_lost(mend_store *store);
void pages_free(mend_store *store);

#endif
