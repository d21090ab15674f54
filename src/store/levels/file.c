/* Images as files, written by the background engine: throttled, counted, and cancellable. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

#define PIECE ((size_t)1 << 20)

int file_path(const char *folder, const mend_file *file, char path[PATH_ROOM])
{
    char name[MEND_FILE_NAME_MAX];
    mend_file_name(file, name);
    if (snprintf(path, PATH_ROOM, "%s/%s", folder, name) >= PATH_ROOM)
        return mend_fail(MEND_ERR_ARGUMENT, "the path %s is too long", folder);
    return 0;
}

/* A bucket that fills at options.bandwidth: sleep for as long as the writer is ahead of it, in naps that a cancel can
 * end. */
int throttle(mend_store *store, size_t bytes)
{
    atomic_fetch_add(&store->bytes_done, bytes);
    if (atomic_load(&store->cancel))
        return mend_fail(MEND_ERR_CANCELLED, "the save was cancelled");
    if (!store->options.bandwidth)
        return 0;
    double now = mend_now(), rate = (double)store->options.bandwidth;
    if (store->budget_from == 0 ||
        now - store->budget_from > (double)store->budget_bytes / rate + 1.0) {
        store->budget_from = now;
        store->budget_bytes = 0;
    }
    store->budget_bytes += bytes;
    double end = store->budget_from + (double)store->budget_bytes / rate;
    while (mend_now() < end) {
        double left = end - mend_now();
        struct timespec nap = {.tv_nsec =
                                   left > 0.02 ? 20000000 : (long)(left > 0 ? left * 1e9 : 1)};
        nanosleep(&nap, NULL);
        if (atomic_load(&store->cancel))
            return mend_fail(MEND_ERR_CANCELLED, "the save was cancelled");
    }
    return 0;
}

int file_sink_write(void *context, const void *bytes, size_t count)
{
    struct file_sink *sink = context;
    const char *p = bytes;

    while (count) {
        size_t n = count < PIECE ? count : PIECE;
        int rc = throttle(sink->store, n);
        if (rc == 0)
            rc = mend_io_pwrite(sink->fd, p, n, (off_t)sink->at, sink->path);
        if (rc)
            return rc;
        sink->store->stats.bytes_written += n;
        sink->at += n;
        p += n;
        count -= n;
    }
    return 0;
}

static int faulty(enum mend_file_kind kind)
{
    enum mend_fault_effect effect = kind == MEND_FILE_GLOBAL ? MEND_FAULT_POINT(store_global_write)
                                                             : MEND_FAULT_POINT(store_local_write);
    if (effect == MEND_FAULT_EIO || effect == MEND_FAULT_ENOSPC) {
        errno = effect == MEND_FAULT_EIO ? EIO : ENOSPC;
        return mend_fail_errno("an injected fault");
    }
    return 0;
}

/* Write the job's slot as one image: whole, or what changed since the base. The file has a temporary name until it is
 * durable; then we rename it. So a death leaves nothing or all of it. */
int file_write_image(mend_store *store, struct job *job, const char *folder,
                     enum mend_file_kind kind, enum base_kind base, int compress)
{
    mend_image_head head = job->slot->head;
    mend_image_write_options options = {.compress = compress};
    mend_file file = {kind, head.rank, head.version, head.save_id};
    mend_io_replacement replacement;
    char path[PATH_ROOM];

    bool delta = delta_choose(store, job, base);
    *(base == BASE_OWN ? &job->own_delta : &job->global_delta) = delta;
    if (delta) {
        head.base_version = store->base[base].version;
        head.base_id = store->base[base].id;
        head.block = PAGE;
        options.blocks = store->base[base].changed;
    }
    atomic_store(&store->bytes_done, 0);
    atomic_store(&store->bytes_total, head.stream_bytes);
    int rc = file_path(folder, &file, path);
    if (rc == 0)
        rc = faulty(kind);
    if (rc == 0)
        rc = mend_io_replace_begin(&replacement, path);
    if (rc)
        return rc;
    struct file_sink sink = {.store = store, .fd = replacement.fd, .path = path};
    rc = mend_image_write(&head, job->slot->memory, &options, (mend_sink){file_sink_write, &sink},
                          NULL);
    if (rc) {
        mend_io_replace_abort(&replacement);
        return rc;
    }
    return mend_io_replace_commit(&replacement);
}

/* Write the own image, which the levels local, partner and erasure share, once for each save. A rebuild may find it
 * there, if it survived. If it is a delta, a whole image replaces it. */
int file_write_own(mend_store *store, struct job *job)
{
    if (job->own_done)
        return 0;
    if (job->rebuild) {
        mend_file file = {MEND_FILE_OWN, job->slot->head.rank, job->version, job->id};
        mend_image *image = NULL;
        char path[PATH_ROOM];
        int rc = file_path(store->local, &file, path);
        if (rc)
            return rc;
        if (mend_image_open_file(path, &image) == 0) {
            bool good = mend_image_info(image)->base_version < 0 && mend_image_verify(image) == 0;
            mend_image_close(image);
            if (good) {
                job->own_done = true;
                return 0;
            }
        }
        MEND_FAULT_POINT(store_merge);
    }
    int rc = file_write_image(store, job, store->local, MEND_FILE_OWN, BASE_OWN,
                              store->options.level[MEND_LEVEL_LOCAL].compress);
    job->own_done = rc == 0;
    return rc;
}

static int local_prepare(mend_store *store, struct job *job)
{
    return file_write_own(store, job);
}

const struct level_ops level_local = {.prepare = local_prepare};
