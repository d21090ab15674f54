/* versions/versions.h - the versions of a job on disk: which ones are kept, which ones can be resumed, and
 * how a job resumes from one. */
#ifndef CAPSULE_VERSIONS_H
#define CAPSULE_VERSIONS_H
#include "ground/ground.h"

#include <image/folder.h>
#include <mend/types.h>

/* --- retention.c: the complete versions of a folder that are kept --- */
struct retention {
    char folder[4300];
    enum mend_file_kind kind;
    int keep, count;
    struct kept_version {
        mend_version_t version;
        uint64_t save_id;
        mend_version_t root; /* the full image at the start of its chain of incremental ones */
    } *kept;                 /* oldest first */
};

/* Looks at what a previous run has left; *r need not be initialised, and allocates memory. only_rank: the
 * folder is node-local, look at this rank's files; -1: at those of all ranks. */
void retention_look(struct retention *r, const char *folder, enum mend_file_kind kind, int keep,
                    int only_rank);
void retention_free(struct retention *r);
/* Of all files, complete or not; 0: there are none; -1: the folder cannot be read. */
mend_version_t retention_newest(const struct retention *r);
mend_version_t retention_root(const struct retention *r, mend_version_t version,
                              mend_version_t base);
/* Adds a complete version. Files of versions below the result are not needed any more. */
mend_version_t retention_add(struct retention *r, mend_version_t version, uint64_t save_id,
                             mend_version_t root);
void retention_remove_below(const struct retention *r, mend_version_t version);
/* Removes all newer files of this rank: the job continues from that version. */
void retention_remove_later(const char *folder, int rank, mend_version_t version);
/* Call this first: moves files of this rank that are newer than `version` to the folder `aside` if they
 * cannot be read, belong to another job, or are named here as damaged. */
struct damaged {
    int all, count;
    mend_version_t *version;
};
void retention_put_aside(const char *folder, const char *aside, int rank, mend_version_t version,
                         const struct damaged *damaged);
void damaged_add(struct damaged *damaged, mend_version_t version);
/* Tells the user that there are versions, but none can be used, and what to do about it. */
void retention_refuse(const char *dir);
void retention_remove_one(const struct retention *r, mend_version_t version, uint64_t save_id);

/* --- candidates.c: the versions from which a job could be resumed --- */
struct candidates {
    char folder[4300]; /* the job's */
    int count;
    struct candidate {
        mend_version_t version;
        uint64_t save_id, job;
    } *list; /* newest first, the same on all ranks */
};
/* Collective. Finds the versions of which every rank has a file, in its node-local folder or in the job's;
 * wanted >= 0: only that one. */
int candidates_find(struct candidates *c, const char *folder, mend_version_t wanted, int rank,
                    int size);
/* Judging by file names, some version has files of all ranks. */
int candidates_listed(const char *folder, int size);
/* This rank's image of candidate i, with all that it is based on. */
int candidates_open(const struct candidates *c, int i, int rank, mend_image **image);

/* --- copy_global.c: copies images from the node-local folder to the job's, in the background --- */
/* Starts a thread for it, which calls `done` for each version: code 0 or MEND_ERR_*. */
typedef void flush_done(mend_version_t version, uint64_t save_id, mend_version_t root, int code);
void flush_start(int rank, flush_done *done);
/* Copy this one; `done` gets root back. */
void flush_offer(mend_version_t version, uint64_t save_id, mend_version_t root);
void flush_prune(mend_version_t keep_from); /* remove this rank's older local files */
void flush_end(int all); /* all: only when everything is copied; else as soon as possible */

/* --- restart.c: a job resumes from a version on disk --- */
/* version -1: the newest complete one. If there is none, the program (if given) begins. */
void restart(const char *dir, mend_version_t version, int argc, char **argv)
    __attribute__((noreturn));

/* --- relaunch.c: jobs that `mend run` launches again --- */
void relaunch_open(void);
void relaunch_begin(void); /* the program starts from its beginning */
int relaunch_capture(struct upper *upper, mend_version_t version); /* 0 or MEND_ERR_* */
void relaunch_complete(mend_version_t version);
void relaunch_forget(mend_version_t below);
/* version 0: to the beginning. damaged: newer versions that were found damaged; they are put aside. */
void relaunch_go_back(mend_version_t version, int capture, const struct damaged *damaged);
void input_take(int rank);
#endif
