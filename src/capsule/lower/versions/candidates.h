/* candidates.h - the versions from which a job could be resumed. */
#ifndef CAPSULE_CANDIDATES_H
#define CAPSULE_CANDIDATES_H
#include <mend/types.h>
#include <image/folder.h>

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
#endif
