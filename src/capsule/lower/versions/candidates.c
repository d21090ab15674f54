/* candidates.c - the versions from which a job could be resumed: those that all ranks can read.
 *
 * Files of one version but of different attempts (save ids) are never combined. A rank looks into the
 * node-local folder first: its images may be newer than those in the job's folder, and are close.
 */
#include "versions/versions.h"
#include "ground/settings.h"
#include "images/image.h"

#include <base/fail.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int newest_first(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->version != y->version)
        return x->version < y->version ? 1 : -1;
    if (x->save_id != y->save_id)
        return x->save_id < y->save_id ? 1 : -1;
    return (x->job < y->job) - (x->job > y->job);
}

/* Name every image of this rank that is not used, whatever the reason: the user may expect to resume from it.
 */
static void tell_unusable(const mend_file *file)
{
    fprintf(stderr, "mend: rank %d: version %lld is not used: %s\n", file->rank,
            (long long)file->version, mend_error_text());
}

/* Adds what one folder holds of this rank. *ranks: of the job that made it, if any file says. */
static int list_folder(struct candidates *c, const char *folder, enum mend_file_kind kind,
                       mend_version_t wanted, int rank, int *ranks)
{
    mend_file *files = NULL;
    int count = 0, rc = mend_folder_list(folder, &files, &count);
    for (int i = count; rc == 0 && i-- > 0;) {
        if (files[i].kind != kind || (wanted >= 0 && files[i].version != wanted))
            continue;
        mend_image *image;
        if (files[i].rank != rank && *ranks)
            continue;
        if (mend_folder_open_chain(folder, &files[i], &image)) {
            if (files[i].rank == rank)
                tell_unusable(&files[i]);
            continue;
        }
        uint64_t job = mend_image_job_sum(&mend_image_info(image)->job);
        if (!*ranks && !strcmp(mend_image_info(image)->name, IMAGE_NAME))
            *ranks = mend_image_info(image)->ranks;
        mend_image_close(image);
        if (files[i].rank != rank)
            continue;
        struct candidate *more = realloc(c->list, (size_t)(c->count + 1) * sizeof *more);
        if (!more) {
            rc = mend_fail(MEND_ERR_NO_MEMORY, "no memory for a list of versions");
            break;
        }
        c->list = more;
        c->list[c->count++] = (struct candidate){files[i].version, files[i].save_id, job};
    }
    free(files);
    return rc;
}

static int has(const struct candidate *list, int count, const struct candidate *x)
{
    for (int i = 0; i < count; i++)
        if (list[i].version == x->version && list[i].save_id == x->save_id && list[i].job == x->job)
            return 1;
    return 0;
}

/* Keeps the versions of rank 0 that all others have, too. */
static int intersect(struct candidates *c, int size)
{
    handle_t world = lower.predef[PRE_MPI_COMM_WORLD], type = lower.predef[PRE_MPI_BYTE];
    handle_t integer = lower.predef[PRE_MPI_INT];
    int most = 0, n = 0;
    lower.Allreduce(&c->count, &most, 1, integer, lower.predef[PRE_MPI_MAX], world);
    size_t bytes = sizeof(struct candidate) * (size_t)(most + 1);
    struct candidate *mine = calloc(1, bytes), *all = calloc((size_t)size, bytes);
    if (!mine || !all)
        die("no memory for the versions of %d ranks", size);
    if (c->count)
        memcpy(mine, c->list, (size_t)c->count * sizeof *mine);
    mine[most].version = c->count;
    lower.Allgather(mine, (int)bytes, type, all, (int)bytes, type, world);
    free(c->list);
    c->list = mine;
    for (int i = 0; i < all[most].version; i++) {
        int everywhere = !has(c->list, n, &all[i]);
        for (int r = 1; r < size && everywhere; r++) {
            const struct candidate *theirs = all + (size_t)r * (size_t)(most + 1);
            everywhere = has(theirs, (int)theirs[most].version, &all[i]);
        }
        if (everywhere)
            c->list[n++] = all[i];
    }
    free(all);
    c->count = n;
    if (n)
        qsort(c->list, (size_t)n, sizeof *c->list, newest_first);
    return n;
}

int candidates_find(struct candidates *c, const char *folder, mend_version_t wanted, int rank,
                    int size)
{
    int ranks = 0, rc = 0;
    snprintf(c->folder, sizeof c->folder, "%s", folder);
    if (settings.local[0])
        rc = list_folder(c, settings.local, MEND_FILE_OWN, wanted, rank, &ranks);
    if (rc == 0)
        rc = list_folder(c, folder, MEND_FILE_GLOBAL, wanted, rank, &ranks);
    if (rc)
        c->count = 0;
    int found = intersect(c, size); /* collective: every rank comes here */
    if (rc)
        return rc;
    if (ranks && ranks != size)
        return mend_fail(MEND_ERR_RANK_COUNT, "%s has images of %d ranks, but %d were started",
                         folder, ranks, size);
    if (!found && rank == 0)
        return mend_fail(MEND_ERR_NO_VERSION, "%s holds no complete version", folder);
    return found ? 0 : mend_fail(MEND_ERR_NO_VERSION, "there is no version that all ranks have");
}

int candidates_open(const struct candidates *c, int i, int rank, mend_image **image)
{
    mend_file file = {MEND_FILE_OWN, rank, c->list[i].version, c->list[i].save_id};
    if (settings.local[0] && mend_folder_open_chain(settings.local, &file, image) == 0)
        return 0;
    file.kind = MEND_FILE_GLOBAL;
    return mend_folder_open_chain(c->folder, &file, image);
}

int candidates_listed(const char *folder, int size)
{
    mend_file *files = NULL;
    int count = 0, most = 0;
    if (mend_folder_list(folder, &files, &count))
        return 1; /* unknown */
    for (int i = 0; i < count; i++) {
        int there = 0;
        for (int k = 0; k < count; k++)
            there += files[k].kind == MEND_FILE_GLOBAL && files[k].version == files[i].version &&
                     files[k].save_id == files[i].save_id;
        most = there > most ? there : most;
    }
    free(files);
    return most >= size;
}
