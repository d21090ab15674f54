/* versions/retention.h - the complete versions of a folder, as far as they are kept. */
#ifndef CAPSULE_GENERATIONS_H
#define CAPSULE_GENERATIONS_H
#include <mend/types.h>
#include <image/folder.h>

enum { GENERATIONS = 64 };
struct generations {
    char folder[4300];
    enum mend_file_kind kind;
    int keep, count;
    struct generation {
        mend_version_t version;
        uint64_t save_id;
        mend_version_t root; /* the full image that its chain of incremental ones begins with */
    } kept[GENERATIONS];     /* oldest first */
};

/* What a former run has left. only_rank: the folder is a node's own, look at this rank's files; -1:
 * at those of all. */
void generations_look(struct generations *g, const char *folder, enum mend_file_kind kind, int keep,
                      int only_rank);
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
    mend_version_t version[16];
};
void generations_put_aside(const char *folder, const char *aside, int rank, mend_version_t version,
                           const struct damaged *damaged);
void damaged_add(struct damaged *damaged, mend_version_t version);
/* One sentence: there are versions, but none can be used, and what the user can do about it. */
void generations_refuse(const char *dir);
void generations_remove_one(const struct generations *g, mend_version_t version, uint64_t save_id);
#endif
