/* snapshot.h - writes images: at once, or by a child process while the program continues. */
#ifndef CAPSULE_SNAPSHOT_H
#define CAPSULE_SNAPSHOT_H
#include <mend/types.h>

#include "ground/ground.h"

/* The coordinator's order (CONTROL_SAVE). */
struct control_save {
    mend_version_t version;
    uint64_t save_id;
    mend_version_t base_version; /* an incremental image may use this base; -1: none */
    uint64_t base_id;
    uint64_t background; /* 1: the program continues while it is written */
    uint64_t asked;      /* somebody requested it, not the timer: to disk at once */
    uint64_t full;       /* with all pages, see images/files.c */
    uint64_t levels;     /* where it is kept besides memory, see round/due.h */
};

struct snapshot_result {
    int code; /* 0 or MEND_ERR_* */
    uint64_t bytes;
    double seconds;         /* since it began */
    mend_version_t version; /* as the user knows it */
};
/* Writes this rank's part of a version into the job's folder, or into the node-local one. result->code is 0
 * when that is done, or when a child process does it (if save->background is set and this system can). */
void snapshot_begin(struct upper *upper, const struct control_save *save,
                    struct snapshot_result *result);
int snapshot_child(void); /* a descriptor: readable when the child has ended; -1: no child */
/* Completes what a child has begun, if the child has ended (wait: waits for that). 1: there is a result. */
int snapshot_end(int wait, struct snapshot_result *result);
/* 0, or MEND_ERR_UNSUPPORTED: no image can hold what this program uses. */
int snapshot_refused(void);
/* The path of this rank's file of a version once it is written. */
void snapshot_path(int rank, mend_version_t version, uint64_t save_id, char *path, size_t size);
#endif
