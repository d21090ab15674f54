/* images/pool.h - pages of images in memory: the pool keeps each page once, however many versions share it.
 *
 * A slot is the place of a page. Its content never changes while anybody holds it. The pool belongs to the
 * thread that writes and restores images; other threads may read pages of images that stay (pool_read).
 */
#ifndef CAPSULE_POOL_H
#define CAPSULE_POOL_H
#include <stddef.h>
#include <stdint.h>

/* Gives the caller `count` slots to hold and fill. MEND_ERR_NO_MEMORY: none of them. */
int pool_get(uint32_t *slots, size_t count);
/* Fills consecutive slots with these pages. */
int pool_write(uint32_t slot, const void *const *pages, size_t count);
void *pool_page(uint32_t slot); /* to read, and to fill; never moves */
/* From any thread, for consecutive slots. */
int pool_read(uint32_t slot, size_t from, void *to, size_t bytes);
void pool_share(const uint32_t *slots, size_t count); /* one more holder */
void pool_drop(const uint32_t *slots, size_t count);
/* Returns pages that nobody holds to the system, in the background; keeps a sixteenth for the next version.
 */
void pool_trim(void);
/* Makes this many pages ready before they are needed, part by part. 0: all are ready. */
int pool_reserve(size_t pages);
/* The file of all slots, for other processes to open; -1: none yet. */
int pool_file(void);
/* How many of these slots are consecutive, from the first on. */
size_t pool_in_order(const uint32_t *slots, size_t count);
#endif
