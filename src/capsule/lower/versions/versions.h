/* versions/versions.h - the versions of a job on disk: which are kept, which can be resumed, and how a job goes on from
 * one. */
#ifndef CAPSULE_VERSIONS_H
#define CAPSULE_VERSIONS_H
#include "ground/ground.h"

#include <image/folder.h>
#include <mend/types.h>

/* --- retention.c: the complete versions of a folder, as far as they are kept --- */
struct generations {
    char folder[4300];
    enum mend_file_kind kind;
    int keep, count;
    struct generation {
        mend_version_t version;
        uint64_t save_id;
        mend_version_t root; /* the full image that its chain of incremental ones begins with */
    } *kept;                 /* oldest first */
};

/* What a former run has left; *g need not be initialised, and takes memory. only_rank: the folder is a node's own, look at this rank's files; -1:
 * at those of all. */
void generations_look(struct generations *g, const char *folder, enum mend_file_kind kind, int keep,
                      int only_rank);
void generations_free(struct generations *g);
mend_version_t generations_newest(const struct generations *g); /* of all files, complete or not */
mend_version_t generations_root(const struct generations *g, mend_version_t version,
                                mend_version_t base);
/* One more is complete. Files of versions below the result are needed no more. */
mend_version_t generations_add(struct generations *g, mend_version_t version, uint64_t save_id,
                               mend_version_t root);
void generations_remove_below(const struct generations *g, mend_version_t version);
/* Of this rank, all that are newer: the job goes on from that version. */
void generations_remove_later(const char *folder, int rank, mend_version_t version);
/* Before that: what cannot be read, is another job's, or is named here as damaged goes to the folder `aside`, newer than
 * `version` and of this rank. */
struct damaged {
    int all, count;
    mend_version_t *version;
};
void generations_put_aside(const char *folder, const char *aside, int rank, mend_version_t version,
                           const struct damaged *damaged);
void damaged_add(struct damaged *damaged, mend_version_t version);
/* One sentence: there are versions, but none can be used, and what the user can do about it. */
void generations_refuse(const char *dir);
void generations_remove_one(const struct generations *g, mend_version_t version, uint64_t save_id);

/* --- candidates.c: the versions from which a job could be resumed --- */
struct candidates {
    char folder[4300]; /* the job's */
    int count;
    struct candidate {
        mend_version_t version;
        uint64_t save_id, job;
    } *list; /* newest first, the same on all ranks */
};
/* Collective. The versions of which every rank has a file, in its node's folder or in the job's;
 * wanted >= 0: only that one. */
int candidates_find(struct candidates *c, const char *folder, mend_version_t wanted, int rank,
                    int size);
/* By their names, files of all ranks of some version are there. */
int candidates_listed(const char *folder, int size);
/* This rank's image of candidate i, with all that it is based on. */
int candidates_open(const struct candidates *c, int i, int rank, mend_image **image);

/* --- copy_global.c: images that were written to the node's own folder go on to the job's, in the background --- */
/* A thread for it; `done` is called by it for each version: code 0 or MEND_ERR_*. */
typedef void flush_done(mend_version_t version, uint64_t save_id, mend_version_t root, int code);
void flush_start(int rank, flush_done *done);
/* Copy this one; root is passed on to `done`. */
void flush_offer(mend_version_t version, uint64_t save_id, mend_version_t root);
void flush_prune(mend_version_t keep_from); /* remove this rank's older local files */
void flush_end(int all); /* all: only when everything is copied; else as soon as possible */

/* --- restart.c: a job goes on from a version on disk --- */
/* version -1: the newest complete one. If there is none, the program (if given) begins. */
void restart(const char *dir, mend_version_t version, int argc, char **argv)
    __attribute__((noreturn));

/* --- relaunch.c: jobs that mend run launches again --- */
void relaunch_open(void);
void relaunch_begin(void); /* the program starts from its beginning */
int relaunch_capture(struct upper *upper, mend_version_t version); /* 0 or MEND_ERR_* */
void relaunch_complete(mend_version_t version);
void relaunch_forget(mend_version_t below);
/* 0: to the beginning. damaged: newer versions that were found to be so, which are put aside. */
void relaunch_go_back(mend_version_t version, int capture, const struct damaged *damaged);
void input_take(int rank);
#endif
