/* versions/copy_global.h - images that were written to the node's own folder go on to the job's, in the background. */
#ifndef CAPSULE_FLUSH_H
#define CAPSULE_FLUSH_H
#include <mend/types.h>
#include <stdint.h>

/* A thread for it; `done` is called by it for each version: code 0 or MEND_ERR_*. */
typedef void flush_done(mend_version_t version, uint64_t save_id, mend_version_t root, int code);
void flush_start(int rank, flush_done *done);
/* Copy this one; root is passed on to `done`. */
void flush_offer(mend_version_t version, uint64_t save_id, mend_version_t root);
void flush_prune(mend_version_t keep_from); /* remove this rank's older local files */
void flush_end(int all); /* all: only when everything is copied; else as soon as possible */
#endif
