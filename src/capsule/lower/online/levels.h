/* online/levels.h - the levels besides the memory of the ranks: online/levels.c (local and erasure, by the
 * store; reads all levels), online/global.c (global). */
#ifndef CAPSULE_RECOVER_LEVELS_H
#define CAPSULE_RECOVER_LEVELS_H
#include <mend/types.h>

#include "online/online.h"

#define LEVELS_STORE  "images" /* name of the store */
#define LEVELS_REGION 1        /* its only region: an image with held-back output */

void levels_open(const char *dir);
int levels_partner_due(mend_version_t version); /* does the partner's memory keep a second copy? */
/* A meeting is over: this process plays `rank`, from `version`. Versions that were saved later belong to a
 * past that was given up: they are removed. */
void levels_remove_later(int rank, mend_version_t version);
void levels_begun(void); /* a meeting is over, also for a spare */
void levels_begin(int rank, int ranks, mend_version_t version, uint64_t id);
/* Local and erasure, if they are due (by order, round/due.h). Collective over comm. 0: a peer has failed. */
int levels_save(const struct held_image *image, uint64_t order, MPI_Comm comm, int ranks);
/* Fetches this rank's image of the newest version that every rank can get from these levels. *version 0:
 * there is none. Collective over comm. 0: a peer has failed. */
int levels_fetch(MPI_Comm comm, int rank, mend_version_t *version);
void levels_unbind(void); /* the communicator is gone */
void levels_done(void);   /* the job has ended well: remove node-local files */

void global_open(const char *dir, int versions);
void global_begin(int ranks, mend_version_t version, uint64_t id);
/* Is that version due while this rank still writes an older one? */
int global_is_busy(mend_version_t version, uint64_t order);
/* Writes it in the background, if it is due; or not, because some rank is busy. */
void global_offer(struct held_image *image, uint64_t order, int skip);
void global_flush(void);           /* wait for the background */
mend_version_t global_floor(void); /* files will not be put back beyond this version */
/* Now, also by a process that has never played, in a meeting with that id; 0: failed. */
int global_write(const struct held_image *image, int ranks, uint64_t id);
int global_save_now(
    const struct held_image *image); /* the same for a version that others write, too */
#endif
