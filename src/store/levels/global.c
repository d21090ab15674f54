/* Level global: files on the shared file system, one for each rank, or bundles of many ranks' images. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <image/bundle.h>

#include "internal.h"

static int global_prepare(mend_store *store, struct job *job)
{
    if (store->options.global_files && !store->alone)
        return 0;
    int rc = file_write_image(store, job, store->global, MEND_FILE_GLOBAL, BASE_GLOBAL,
                              store->options.level[MEND_LEVEL_GLOBAL].compress);
    return rc;
}

/* A bundle under construction. */
struct bundle {
    mend_store *store;
    int number, first, last; /* ranks first..last-1 */
    uint64_t *room;          /* by rank: what it may need */
    uint64_t *used;          /* by rank: what it wrote; 0: failed */
    char path[PATH_ROOM], temporary[PATH_ROOM];
    int fd;
};

static int plan_bundle(struct bundle *b, struct job *job)
{
    mend_store *store = b->store;
    int n = store->size, files = store->options.global_files < n ? store->options.global_files : n;

    b->number = (int)((int64_t)store->rank * files / n);
    while (b->first < n && (int64_t)b->first * files / n < b->number)
        b->first++;
    b->last = b->first;
    while (b->last < n && (int64_t)b->last * files / n == b->number)
        b->last++;
    mend_file file = {MEND_FILE_BUNDLE, b->number, job->version, job->id};
    int rc = file_path(store->global, &file, b->path);
    if (rc == 0 && snprintf(b->temporary, sizeof b->temporary, "%s.tmp-0-0", b->path) >=
                       (int)sizeof b->temporary)
        rc = mend_fail(MEND_ERR_ARGUMENT, "the path %s is too long", b->path);
    b->room = calloc((size_t)n, sizeof *b->room);
    b->used = calloc((size_t)n, sizeof *b->used);
    if (rc == 0 && (!b->room || !b->used))
        rc = mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d lengths", n);
    return rc;
}

static uint64_t place_of(const struct bundle *b, int rank)
{
    uint64_t at = 0;
    for (int r = b->first; r < rank; r++)
        at += (b->room[r] + PAGE - 1) / PAGE * PAGE;
    return at;
}

static int write_my_image(struct bundle *b, struct job *job)
{
    mend_store *store = b->store;
    mend_image_write_options options = {.compress =
                                            store->options.level[MEND_LEVEL_GLOBAL].compress};
    uint64_t written = 0;

    b->fd = mend_io_open_write(b->temporary);
    if (b->fd < 0)
        return b->fd;
    struct file_sink sink = {
        .store = store, .fd = b->fd, .at = place_of(b, store->rank), .path = b->path};
    atomic_store(&store->bytes_done, 0);
    atomic_store(&store->bytes_total, job->slot->head.stream_bytes);
    MEND_FAULT_POINT(store_global_write);
    int rc = mend_image_write(&job->slot->head, job->slot->memory, &options,
                              (mend_sink){file_sink_write, &sink}, &written);
    if (rc == 0)
        rc = mend_io_fsync(b->fd, b->temporary);
    b->used[store->rank] = rc ? 0 : written;
    return rc;
}

/* The first rank of a bundle adds the index and renames the file. */
static int finish_bundle(struct bundle *b, struct job *job)
{
    int n = b->last - b->first;
    mend_bundle_entry *entries = calloc((size_t)n, sizeof *entries);
    uint8_t *tail = NULL;
    size_t length = 0;

    if (!entries)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a bundle of %d", n);
    for (int i = 0; i < n; i++)
        entries[i] =
            (mend_bundle_entry){b->first + i, place_of(b, b->first + i), b->used[b->first + i]};
    uint64_t end = entries[n - 1].offset + entries[n - 1].bytes;
    int rc = mend_bundle_tail(entries, (uint64_t)n, end, job->version, job->id, &tail, &length);
    if (rc == 0)
        rc = mend_io_pwrite(b->fd, tail, length, (off_t)end, b->temporary);
    if (rc == 0)
        rc = mend_io_fsync(b->fd, b->temporary);
    if (rc == 0)
        rc = mend_io_rename(b->temporary, b->path);
    if (rc == 0)
        rc = mend_io_sync_directory(b->store->global);
    free(tail);
    free(entries);
    return rc;
}

static int create_bundle(struct bundle *b)
{
    int rc = mend_io_remove(b->temporary);
    int fd = rc ? rc : mend_io_create(b->temporary);
    return fd < 0 ? fd : mend_io_close(fd, b->temporary);
}

/* Agree on all codes, and gather one number from each rank. 0 only if all succeeded. */
static int all_fine(mend_store *store, int rc, uint64_t mine, uint64_t *all)
{
    int64_t worst = rc;
    int broken = net_all_min(store->net, WORK, &worst, 1);
    if (broken == 0 && worst == 0 && all)
        broken = net_gather(store->net, WORK, &mine, sizeof mine, all);
    return broken ? broken : rc ? rc : (int)worst;
}

/* Protocol:
 *   1. Gather lengths, so that every rank knows its place.
 *   2. The first rank creates the file under a temporary name.
 *   3. All write their images and make them durable.
 *   4. Gather lengths again: all are there.
 *   5. The first rank writes the index, syncs, renames.
 * A death before the rename leaves only a temporary file. */
static int global_exchange(mend_store *store, struct job *job)
{
    struct bundle b = {.store = store, .fd = -1};

    if (!store->options.global_files || store->alone)
        return 0;
    int rc = plan_bundle(&b, job);
    rc = all_fine(store, rc, mend_image_bound(&job->slot->head), b.room);
    if (rc == 0)
        rc = all_fine(store, store->rank == b.first ? create_bundle(&b) : 0, 0, NULL);
    if (rc == 0) {
        int mine = write_my_image(&b, job);
        rc = all_fine(store, mine, b.used[store->rank], b.used);
        if (rc == 0 && store->rank == b.first)
            rc = finish_bundle(&b, job);
        else if (rc && store->rank == b.first)
            mend_io_remove(b.temporary);
    }
    if (b.fd >= 0)
        close(b.fd);
    free(b.room);
    free(b.used);
    return rc;
}

const struct level_ops level_global = {.prepare = global_prepare, .exchange = global_exchange};
