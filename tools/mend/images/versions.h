/* The stores and versions in a folder tree, for `mend ls` and `mend verify`. */
#ifndef MEND_TOOL_VERSIONS_H
#define MEND_TOOL_VERSIONS_H

#include <mend/types.h>
#include <stdbool.h>

#include <image/folder.h>
#include <image/parity.h>
#include <mend/error.h>

struct version_view {
    mend_version_t version;
    uint64_t save_id;
    int ranks;
    uint64_t bytes; /* of all files */
    int parts
        [MEND_FILE_KINDS]; /* ranks whose part is there in this form; bundles: ranks inside them */
    int deltas, damaged;
    bool complete;      /* by their headers, the files hold every rank's data */
    mend_image_job job; /* of the first image read; no id: none was */
    char on_gpu[160];   /* labels of regions that were in GPU memory */
    bool jobs_differ;   /* images of several jobs have this version and save id */
    int rebuildable;    /* ranks without data that their group's parity can rebuild */
    /* while counting */
    unsigned char *have; /* by rank: bit per kind */
    mend_parity_group *groups;
    int group_count;
};

struct store_view {
    char name[MEND_IMAGE_NAME];
    struct version_view *versions; /* newest first */
    int count;
};

/* One file of a store. */
typedef int visit_file(const char *folder, const mend_file *file, void *context);

/* Call for every file of every store at or below `dir` (three levels deep: node folders, store folders). */
int versions_walk(const char *dir, visit_file *visit, void *context);

int versions_read(const char *dir, struct store_view **stores, int *count);
void versions_free(struct store_view *stores, int count);

#endif
