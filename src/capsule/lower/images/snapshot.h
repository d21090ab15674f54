/* snapshot.h - writing images: at once, or by a child process while the program goes on. */
#ifndef CAPSULE_SNAPSHOT_H
#define CAPSULE_SNAPSHOT_H
#include "control.h"
#include "lower.h"

struct snapshot_result {
    int code; /* 0 or MEND_ERR_* */
    uint64_t bytes;
    double seconds;  /* from its beginning */
    int64_t version; /* as the user knows it */
};
/* This rank's part of a version into the job's folder, or into its node's local one. 0: done, or
 * under way in a child process if save->background says so and this system can. */
void snapshot_begin(struct upper *upper, const struct control_save *save,
                    struct snapshot_result *result);
int snapshot_child(void); /* a descriptor that can be read when the child has ended; -1: no child */
/* Ends what a child has begun, if it is over (wait: waits for it). 1: there is a result. */
int snapshot_end(int wait, struct snapshot_result *result);
/* Where this rank's file of a version lies when it is written. */
void snapshot_path(int rank, int64_t version, uint64_t save_id, char *path, size_t size);
#endif
