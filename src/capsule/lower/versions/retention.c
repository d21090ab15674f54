/* versions/retention.c - which versions are kept, and which files that takes.
 *
 * We keep the newest `keep` complete versions, and everything that the oldest of them is based on: a file is
 * removed only when no kept version can need it.
 */
#include "versions/versions.h"

#include <base/io.h>
#include <errno.h>
#include <mend/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void path_of(const struct retention *r, const mend_file *file, char *path, size_t size)
{
    char name[MEND_FILE_NAME_MAX];
    mend_file_name(file, name);
    snprintf(path, size, "%s/%s", r->folder, name);
}

/* The first version of the chain of one file; -1: it cannot be read. *ranks: of its job. */
static mend_version_t root_of(const struct retention *r, const mend_file *file, int *ranks)
{
    mend_image *image;
    if (mend_folder_open_chain(r->folder, file, &image))
        return -1;
    const mend_image *at = image;
    while (mend_image_base(at))
        at = mend_image_base(at);
    mend_version_t root = mend_image_info(at)->version;
    *ranks = mend_image_info(image)->ranks;
    mend_image_close(image);
    return root;
}

void retention_look(struct retention *r, const char *folder, enum mend_file_kind kind, int keep,
                    int only_rank)
{
    mend_file *files = NULL;
    int count = 0;
    *r = (struct retention){.kind = kind, .keep = keep};
    snprintf(r->folder, sizeof r->folder, "%s", folder);
    if (mend_folder_list(folder, &files, &count))
        return;
    for (int i = 0, end; i < count; i = end) { /* sorted by version, save id, kind, rank */
        int there = 0, ranks = 1;
        mend_version_t root = INT64_MAX;
        for (end = i; end < count && files[end].version == files[i].version &&
                      files[end].save_id == files[i].save_id;
             end++) {
            if (files[end].kind != kind || (only_rank >= 0 && files[end].rank != only_rank))
                continue;
            mend_version_t one = root_of(r, &files[end], &ranks);
            there += one >= 0;
            root = one >= 0 && one < root ? one : root;
        }
        if (there && there == (only_rank >= 0 ? 1 : ranks))
            retention_add(r, files[i].version, files[i].save_id, root);
    }
    free(files);
}

void retention_free(struct retention *r)
{
    free(r->kept);
    r->kept = NULL;
    r->count = 0;
}

mend_version_t retention_newest(const struct retention *r)
{
    mend_file *files = NULL;
    int count = 0;
    mend_version_t newest = 0;
    if (mend_folder_list(r->folder, &files, &count))
        return -1;
    if (count)
        newest = files[count - 1].version;
    free(files);
    return newest;
}

mend_version_t retention_root(const struct retention *r, mend_version_t version,
                              mend_version_t base)
{
    for (int i = 0; i < r->count && base >= 0; i++)
        if (r->kept[i].version == base)
            return r->kept[i].root;
    return base >= 0 ? 0 : version;
}

mend_version_t retention_add(struct retention *r, mend_version_t version, uint64_t save_id,
                             mend_version_t root)
{
    mend_version_t below = INT64_MAX;
    if (r->count == r->keep)
        memmove(r->kept, r->kept + 1, (size_t)--r->count * sizeof *r->kept);
    else
        r->kept = need(realloc(r->kept, (size_t)(r->count + 1) * sizeof *r->kept));
    r->kept[r->count++] = (struct kept_version){version, save_id, root};
    for (int i = 0; i < r->count; i++)
        below = r->kept[i].root < below ? r->kept[i].root : below;
    return r->count == r->keep ? below : 0;
}

static void remove_files(const struct retention *r, mend_version_t below, mend_version_t version,
                         uint64_t id)
{
    mend_file *files = NULL;
    int count = 0;
    char path[4500];
    if (mend_folder_list(r->folder, &files, &count))
        return;
    for (int i = 0; i < count; i++)
        if (files[i].kind == r->kind &&
            (files[i].version < below || (files[i].version == version && files[i].save_id == id))) {
            path_of(r, &files[i], path, sizeof path);
            mend_io_remove(path);
        }
    free(files);
}

void retention_remove_below(const struct retention *r, mend_version_t version)
{
    if (version > 0)
        remove_files(r, version, -1, 0);
}

void retention_remove_one(const struct retention *r, mend_version_t version, uint64_t save_id)
{
    remove_files(r, -1, version, save_id);
}

void retention_remove_later(const char *folder, int rank, mend_version_t version)
{
    mend_file *list = NULL;
    int n = 0;
    char path[4500], name[MEND_FILE_NAME_MAX];
    if (mend_folder_list(folder, &list, &n))
        return;
    for (int i = 0; i < n; i++)
        if (list[i].rank == rank && list[i].version > version) {
            mend_file_name(&list[i], name);
            snprintf(path, sizeof path, "%s/%s", folder, name);
            mend_io_remove(path);
        }
    free(list);
}

void damaged_add(struct damaged *d, mend_version_t version)
{
    d->version = need(realloc(d->version, (size_t)(d->count + 1) * sizeof version));
    d->version[d->count++] = version;
}

static int is_unusable(const char *folder, const mend_file *file, const struct damaged *d)
{
    mend_image *image;
    for (int i = 0; i < d->count; i++)
        if (d->version[i] == file->version)
            return 1;
    if (d->all || mend_folder_open_chain(folder, file, &image))
        return 1;
    mend_image_close(image);
    return 0;
}

void retention_put_aside(const char *folder, const char *aside, int rank, mend_version_t version,
                         const struct damaged *damaged)
{
    mend_file *list = NULL;
    int n = 0, ready = 0;
    char from[4500], to[4500], name[MEND_FILE_NAME_MAX];
    if (mend_folder_list(folder, &list, &n))
        return;
    for (int i = 0; i < n; i++) {
        if (list[i].rank != rank || list[i].version <= version ||
            !is_unusable(folder, &list[i], damaged))
            continue;
        mend_file_name(&list[i], name);
        snprintf(from, sizeof from, "%s/%s", folder, name);
        snprintf(to, sizeof to, "%s/%s", aside, name);
        if (!ready++ && mend_io_make_folders(aside))
            fprintf(stderr, "mend: rank %d: %s\n", rank, mend_error_text());
        if (rename(from, to))
            fprintf(stderr, "mend: rank %d: %s cannot be moved aside: %s\n", rank, from,
                    strerror(errno));
        else
            fprintf(stderr, "mend: rank %d: %s, which cannot be used, was moved to %s\n", rank,
                    name, aside);
    }
    free(list);
}

void retention_refuse(const char *dir)
{
    fprintf(stderr,
            "mend: there are versions in %s, but none can be used (the reasons are above); Mend "
            "leaves them as they are. mend restart --from-start moves them to %s/damaged and "
            "starts the program from the beginning\n",
            dir, dir);
}
