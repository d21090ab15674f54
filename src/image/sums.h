/* Checksums of blocks, by a second thread while the first one writes the blocks. */
#ifndef IMAGE_SUMS_H
#define IMAGE_SUMS_H

#include "format.h"

struct sums;

/* For up to `most` entries of `index`. NULL if there can be no second thread. */
struct sums *sums_begin(uint64_t save_id, struct disk_entry *index, uint64_t most);
/* The bytes of that entry, which stay as they are until sums_end(); the entry lacks nothing but its sum. */
void sums_add(struct sums *s, uint64_t entry, const void *bytes);
/* All sums are in their entries. Frees `s`, which may be NULL. */
void sums_end(struct sums *s);

#endif
