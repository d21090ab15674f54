#include <image/folder.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/fail.h>
#include <base/io.h>
#include <image/bundle.h>

static const char *const kind_names[MEND_FILE_KINDS] = {"own", "copy", "parity", "global",
                                                        "bundle"};

const char *mend_file_kind_name(enum mend_file_kind kind)
{
    return kind < MEND_FILE_KINDS ? kind_names[kind] : "?";
}

void mend_file_name(const mend_file *f, char name[MEND_FILE_NAME_MAX])
{
    snprintf(name, MEND_FILE_NAME_MAX, "%s-r%d-v%" PRId64 "-%016" PRIx64 ".img",
             kind_names[f->kind], f->rank, f->version, f->save_id);
}

bool mend_file_parse(const char *name, mend_file *f)
{
    char kind[8], again[MEND_FILE_NAME_MAX];

    if (strlen(name) >= MEND_FILE_NAME_MAX ||
        sscanf(name, "%7[a-z]-r%9d-v%19" SCNd64 "-%16" SCNx64 ".img", kind, &f->rank, &f->version,
               &f->save_id) != 4)
        return false;
    for (int k = 0; k < MEND_FILE_KINDS; k++) {
        if (strcmp(kind, kind_names[k]) != 0)
            continue;
        f->kind = (enum mend_file_kind)k;
        mend_file_name(f, again);
        return f->rank >= 0 && f->version >= 0 && strcmp(name, again) == 0;
    }
    return false;
}

static int compare_files(const void *a, const void *b)
{
    const mend_file *x = a, *y = b;
    if (x->version != y->version)
        return x->version < y->version ? -1 : 1;
    if (x->save_id != y->save_id)
        return x->save_id < y->save_id ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Do not read a folder that another user could have filled. */
static int open_folder(const char *path, DIR **out)
{
    int fd = -1, rc = mend_io_open_folder(path, &fd);
    *out = NULL;
    if (rc || fd < 0)
        return rc;
    *out = fdopendir(fd);
    if (*out)
        return 0;
    close(fd);
    return mend_fail_errno("cannot read the folder %s", path);
}

int mend_folder_list(const char *path, mend_file **files, int *count)
{
    mend_file *list = NULL;
    int n = 0, room = 0;
    DIR *dir = NULL;
    struct dirent *entry;

    *files = NULL;
    *count = 0;
    int rc = open_folder(path, &dir);
    if (rc || !dir)
        return rc;
    while (errno = 0, (entry = readdir(dir))) {
        mend_file f;
        if (!mend_file_parse(entry->d_name, &f))
            continue;
        if (n == room) {
            room = room ? 2 * room : 64;
            mend_file *bigger = realloc(list, (size_t)room * sizeof *list);
            if (!bigger) {
                free(list);
                closedir(dir);
                return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d file names", room);
            }
            list = bigger;
        }
        list[n++] = f;
    }
    if (errno) { /* half a list is worse than none */
        rc = mend_fail_errno("cannot read the folder %s", path);
        free(list);
        closedir(dir);
        return rc;
    }
    closedir(dir);
    if (n)
        qsort(list, (size_t)n, sizeof *list, compare_files);
    *files = list;
    *count = n;
    return 0;
}

int mend_folder_sweep(const char *path, int rank)
{
    DIR *dir = NULL;
    struct dirent *entry;
    char mark[32], full[4096];
    int removed = 0;

    if (open_folder(path, &dir) || !dir)
        return 0;
    snprintf(mark, sizeof mark, "-r%d-v", rank);
    while ((entry = readdir(dir))) {
        if (!mend_io_is_temporary(entry->d_name) || !strstr(entry->d_name, mark))
            continue;
        if (snprintf(full, sizeof full, "%s/%s", path, entry->d_name) < (int)sizeof full)
            removed += mend_io_remove(full) == 0;
    }
    closedir(dir);
    return removed;
}

static int open_one(const char *path, const mend_file *file, mend_image **image)
{
    char name[MEND_FILE_NAME_MAX], full[4096];

    mend_file_name(file, name);
    if (snprintf(full, sizeof full, "%s/%s", path, name) >= (int)sizeof full)
        return mend_fail(MEND_ERR_ARGUMENT, "the path %s is too long", path);
    int rc = mend_image_open_file(full, image);
    if (rc)
        return rc;
    const mend_image_head *head = mend_image_info(*image);
    if (head->version != file->version || head->save_id != file->save_id ||
        head->rank != file->rank ||
        (head->kind == MEND_IMAGE_PARITY) != (file->kind == MEND_FILE_PARITY)) {
        mend_image_close(*image);
        return mend_fail(MEND_ERR_DAMAGED, "the content of %s does not match its name", full);
    }
    return 0;
}

int mend_folder_open_chain(const char *path, const mend_file *file, mend_image **image)
{
    int rc = open_one(path, file, image);
    mend_image *last = rc ? NULL : *image;

    while (rc == 0 && mend_image_info(last)->base_version >= 0) {
        mend_file below = *file;
        mend_image *base = NULL;
        below.version = mend_image_info(last)->base_version;
        below.save_id = mend_image_info(last)->base_id;
        rc = open_one(path, &below, &base);
        if (rc == 0) {
            rc = mend_image_set_base(last, base);
            if (rc)
                mend_image_close(base);
            last = base;
        }
    }
    if (rc) {
        if (last)
            mend_image_close(*image);
        *image = NULL;
    }
    return rc;
}

int mend_folder_open_bundled(const char *path, const mend_file *bundle, int rank,
                             mend_image **image)
{
    char name[MEND_FILE_NAME_MAX], full[4096];
    mend_source source;
    mend_bundle_entry *entries = NULL;
    uint64_t count = 0, save_id = 0;
    mend_version_t version = 0;

    mend_file_name(bundle, name);
    if (snprintf(full, sizeof full, "%s/%s", path, name) >= (int)sizeof full)
        return mend_fail(MEND_ERR_ARGUMENT, "the path %s is too long", path);
    int rc = mend_source_file(full, 0, UINT64_MAX, &source);
    if (rc == 0)
        rc = mend_bundle_open(source, &entries, &count, &version, &save_id);
    if (rc == 0 && (version != bundle->version || save_id != bundle->save_id))
        rc = mend_fail(MEND_ERR_DAMAGED, "the content of %s does not match its name", full);
    uint64_t i = 0;
    while (rc == 0 && i < count && entries[i].rank != rank)
        i++;
    if (rc == 0 && i == count)
        rc = mend_fail(MEND_ERR_NOT_FOUND, "rank %d is not in %s", rank, full);
    if (rc == 0)
        rc = mend_source_file(full, entries[i].offset, entries[i].bytes, &source);
    if (rc == 0)
        rc = mend_image_open(source, image);
    free(entries);
    if (rc)
        return mend_fail_within(rc, "%s", full);
    const mend_image_head *head = mend_image_info(*image);
    if (head->version != version || head->save_id != save_id || head->rank != rank ||
        head->kind != MEND_IMAGE_DATA || head->base_version >= 0) {
        mend_image_close(*image);
        return mend_fail(MEND_ERR_DAMAGED, "the content of %s for rank %d does not match its index",
                         full, rank);
    }
    return 0;
}
