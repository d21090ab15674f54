/* versions/retention.c - which versions are kept, and which files that takes.
 *
 * The newest `keep` complete versions are kept, and all that the oldest of them is based on: a file
 * is removed only when no version that is kept can need it.
 */
#include "versions/versions.h"

#include <base/io.h>
#include <errno.h>
#include <mend/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void path_of(const struct generations *g, const mend_file *file, char *path, size_t size)
{
    char name[MEND_FILE_NAME_MAX];
    mend_file_name(file, name);
    snprintf(path, size, "%s/%s", g->folder, name);
}

/* The first version of the chain of one file, or -1 if it cannot be read; *ranks of its job. */
static mend_version_t root_of(const struct generations *g, const mend_file *file, int *ranks)
{
    mend_image *image;
    if (mend_folder_open_chain(g->folder, file, &image))
        return -1;
    const mend_image *at = image;
    while (mend_image_base(at))
        at = mend_image_base(at);
    mend_version_t root = mend_image_info(at)->version;
    *ranks = mend_image_info(image)->ranks;
    mend_image_close(image);
    return root;
}

void generations_look(struct generations *g, const char *folder, enum mend_file_kind kind, int keep,
                      int only_rank)
{
    mend_file *files = NULL;
    int count = 0;
    *g = (struct generations){.kind = kind, .keep = keep};
    snprintf(g->folder, sizeof g->folder, "%s", folder);
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
            mend_version_t one = root_of(g, &files[end], &ranks);
            there += one >= 0;
            root = one >= 0 && one < root ? one : root;
        }
        if (there && there == (only_rank >= 0 ? 1 : ranks))
            generations_add(g, files[i].version, files[i].save_id, root);
    }
    free(files);
}

void generations_free(struct generations *g)
{
    free(g->kept);
    g->kept = NULL;
    g->count = 0;
}

mend_version_t generations_newest(const struct generations *g)
{
    mend_file *files = NULL;
    int count = 0;
    mend_version_t newest = 0;
    if (mend_folder_list(g->folder, &files, &count) == 0 && count)
        newest = files[count - 1].version;
    free(files);
    return newest;
}

mend_version_t generations_root(const struct generations *g, mend_version_t version,
                                mend_version_t base)
{
    for (int i = 0; i < g->count && base >= 0; i++)
        if (g->kept[i].version == base)
            return g->kept[i].root;
    return base >= 0 ? 0 : version;
}

mend_version_t generations_add(struct generations *g, mend_version_t version, uint64_t save_id,
                               mend_version_t root)
{
    mend_version_t below = INT64_MAX;
    if (g->count == g->keep)
        memmove(g->kept, g->kept + 1, (size_t)--g->count * sizeof *g->kept);
    else
        g->kept = need(realloc(g->kept, (size_t)(g->count + 1) * sizeof *g->kept));
    g->kept[g->count++] = (struct generation){version, save_id, root};
    for (int i = 0; i < g->count; i++)
        below = g->kept[i].root < below ? g->kept[i].root : below;
    return g->count == g->keep ? below : 0;
}

static void remove_files(const struct generations *g, mend_version_t below, mend_version_t version,
                         uint64_t id)
{
    mend_file *files = NULL;
    int count = 0;
    char path[4500];
    if (mend_folder_list(g->folder, &files, &count))
        return;
    for (int i = 0; i < count; i++)
        if (files[i].kind == g->kind &&
            (files[i].version < below || (files[i].version == version && files[i].save_id == id))) {
            path_of(g, &files[i], path, sizeof path);
            mend_io_remove(path);
        }
    free(files);
}

void generations_remove_below(const struct generations *g, mend_version_t version)
{
    if (version > 0)
        remove_files(g, version, -1, 0);
}

void generations_remove_one(const struct generations *g, mend_version_t version, uint64_t save_id)
{
    remove_files(g, -1, version, save_id);
}

void generations_remove_later(const char *folder, int rank, mend_version_t version)
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

void generations_put_aside(const char *folder, const char *aside, int rank, mend_version_t version,
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

void generations_refuse(const char *dir)
{
    fprintf(stderr,
            "mend: there are versions in %s, but none can be used (the reasons are above); Mend "
            "leaves them as they are. mend restart --from-start moves them to %s/damaged and "
            "starts the program from the beginning\n",
            dir, dir);
}
