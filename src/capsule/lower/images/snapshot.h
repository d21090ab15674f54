/* snapshot.h - writing images: at once, or by a child process while the program goes on. */
#ifndef CAPSULE_SNAPSHOT_H
#define CAPSULE_SNAPSHOT_H
#include <mend/types.h>

#include "ground/ground.h"

/* What the coordinator orders (CONTROL_SAVE). */
struct control_save {
    mend_version_t version;
    uint64_t save_id;
    mend_version_t base_version; /* an incremental image may be based on this one; -1: on none */
    uint64_t base_id;
    uint64_t background; /* 1: the program goes on while it is written */
    uint64_t asked;      /* by somebody, not by time: to disk at once */
    uint64_t full;       /* with all pages, see images/files.c */
    uint64_t levels;     /* where it is kept besides memory, see round/due.h */
};

struct snapshot_result {
    int code; /* 0 or MEND_ERR_* */
    uint64_t bytes;
    double seconds;         /* from its beginning */
    mend_version_t version; /* as the user knows it */
};
/* This rank's part of a version into the job's folder, or into its node's local one. 0: done, or
 * under way in a child process if save->background says so and this system can. */
void snapshot_begin(struct upper *upper, const struct control_save *save,
                    struct snapshot_result *result);
int snapshot_child(void); /* a descriptor that can be read when the child has ended; -1: no child */
/* Ends what a child has begun, if it is over (wait: waits for it). 1: there is a result. */
int snapshot_end(int wait, struct snapshot_result *result);
/* 0, or MEND_ERR_UNSUPPORTED: no image can hold what this program uses (refuse.c). */
int snapshot_refused(void);
/* Where this rank's file of a version lies when it is written. */
void snapshot_path(int rank, mend_version_t version, uint64_t save_id, char *path, size_t size);
#endif
