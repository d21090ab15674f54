/* A save that copies later: it write-protects the regions, the application continues, and a thread copies them. If
 * the application writes to a page before its turn, the thread copies that page first (userfaultfd). */
#ifndef STORE_COW_H
#define STORE_COW_H

#include "internal.h"

/* Protect the whole pages of the head's regions, except those of the drain. True: call cow_start() next; the bytes
 * that cow_inner() names need not be copied now. False: copy as usual. */
bool cow_protect(mend_store *store, struct slot *slot, const mend_image_head *head, int registered,
                 const struct drain *drain);
/* The bytes of a region, from..to, that are copied later. */
bool cow_inner(const struct region *region, size_t *from, size_t *to);
void cow_start(mend_store *store);
/* Wait until nothing is protected any more. 0, or MEND_ERR_STATE: memory of a region was given back before it was
 * copied. The result is that of the last copy, until the next begins. */
int cow_wait(mend_store *store);
void cow_free(mend_store *store);

#endif
