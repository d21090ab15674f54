/* The names of a store's files and what a folder holds. A store has one flat folder per place,
 * DIR/NAME:
 *
 *   own-r3-v120-<save id>.img      rank 3's image, by rank 3 (levels local, partner, erasure)
 *   copy-r3-v120-<save id>.img     the same bytes, held by its partner
 *   parity-r3-v120-<save id>.img   rank 3's share of its group's parity
 *   global-r3-v120-<save id>.img   rank 3's image on the shared file system
 *   bundle-r0-v120-<save id>.img   several ranks' images; the number is the bundle's
 */
#ifndef IMAGE_FOLDER_H
#define IMAGE_FOLDER_H

#include <mend/types.h>
#include <image/image.h>

enum mend_file_kind {
    MEND_FILE_OWN,
    MEND_FILE_COPY,
    MEND_FILE_PARITY,
    MEND_FILE_GLOBAL,
    MEND_FILE_BUNDLE,
    MEND_FILE_KINDS
};

typedef struct mend_file {
    enum mend_file_kind kind;
    int rank;
    mend_version_t version;
    uint64_t save_id;
} mend_file;

#define MEND_FILE_NAME_MAX 96

const char *mend_file_kind_name(enum mend_file_kind kind);
void mend_file_name(const mend_file *file, char name[MEND_FILE_NAME_MAX]);
/* Is `name` such a name? Accepts only the exact spelling of mend_file_name(). */
bool mend_file_parse(const char *name, mend_file *file);

/* Every file of a store's folder, sorted by version, save id, kind, rank; malloc'ed. A folder that
 * does not exist has none. Errors: MEND_ERR_IO, MEND_ERR_NO_MEMORY, MEND_ERR_PERMISSION (the
 * folder belongs to another user or is a link). */
int mend_folder_list(const char *path, mend_file **files, int *count);

/* Remove temporary files that dead writers of rank `rank` left behind. Returns how many. */
int mend_folder_sweep(const char *path, int rank);

/* Open the whole chain of the rank's image, from files of this kind in the folder. */
int mend_folder_open_chain(const char *path, const mend_file *file, mend_image **image);

/* The image of `rank` in a bundle. */
int mend_folder_open_bundled(const char *path, const mend_file *bundle, int rank,
                             mend_image **image);

#endif
