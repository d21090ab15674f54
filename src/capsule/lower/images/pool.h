/* images/pool.h - pages of images in memory: each is kept once, however many versions have it.
 *
 * A slot is the place of a page. Its content never changes while somebody has it. The pool belongs to the thread that
 * writes and restores images; other threads may read the pages of images that stay (pool_read).
 */
#ifndef CAPSULE_POOL_H
#define CAPSULE_POOL_H
#include <stddef.h>
#include <stdint.h>

/* `count` slots, to be filled by the caller, who has them. MEND_ERR_NO_MEMORY: none of them. */
int pool_get(uint32_t *slots, size_t count);
int pool_write(uint32_t slot, const void *pages, size_t count); /* slots that follow each other */
void *pool_page(uint32_t slot); /* to read, and to fill: stays there */
/* From any thread, for slots that follow each other. */
int pool_read(uint32_t slot, size_t from, void *to, size_t bytes);
void pool_share(const uint32_t *slots, size_t count); /* one more has them */
void pool_drop(const uint32_t *slots, size_t count);
/* Pages that nobody has go back to the system, in the background; a sixteenth is kept for the next version. */
void pool_trim(void);
/* Before they are needed: so many pages, part by part. 0: all are there. */
int pool_reserve(size_t pages);
/* The file of all slots, for others to open; -1: there is none yet. */
int pool_file(void);
/* How many of these slots follow each other, from the first on. */
size_t pool_in_order(const uint32_t *slots, size_t count);
#endif
