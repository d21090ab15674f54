/* online/global.c - the global level: DIR/images/global-rRANK-vVERSION-ID.img, for a job that was torn down.
 *
 * A thread copies every n-th version from memory to disk, without MPI, and no rank waits for it. If the thread of any
 * rank still writes an older version, all ranks skip this one: each for itself would skip others, and many ranks with a
 * slow disk would hardly ever complete a version. The files
 * are those of a store named "images" (image/folder.h), so the store restores them like all others
 * (online/levels.c). A file appears under its name when it is whole; a version is complete when the files of
 * all ranks are there. The id is that of the meeting (the time it took place): files from before a rollback
 * are never mixed with those from after it.
 */
#include "online/levels.h"
#include "online/online.h"
#include "round/due.h"
#include "undo/undo.h"

#ifdef OPEN_MPI
#include <base/event.h>
#include <base/io.h>
#include <image/folder.h>
#include <mend/error.h>

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    char folder[PATH_MAX - 128];
    int every; /* this many versions; 0: never */
    int ranks;
    uint64_t id;
    mend_version_t soon; /* forgotten with the next */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct held_image *image; /* being written, or to be */
    struct held_image copy;   /* of that image */
} global = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

struct file_sink {
    int fd;
    const char *path;
};

static int sink_write(void *context, const void *bytes, size_t count)
{
    struct file_sink *f = context;
    return mend_io_write(f->fd, bytes, count, f->path);
}

static void path_of(char *path, size_t size, const mend_file *file)
{
    char name[MEND_FILE_NAME_MAX];
    mend_file_name(file, name);
    snprintf(path, size, "%s/%s", global.folder, name);
}

enum { BLOCK = 256 << 10 };
struct fetching {
    const struct held_image *image;
    uint8_t block[BLOCK];
};

static const uint8_t *fetch(void *context, uint64_t at, size_t count)
{
    struct fetching *f = context;
    return paged_read(&f->image->pages, at, f->block, count) ? NULL : f->block;
}

static int write_image(const struct held_image *image, const mend_file *file, int ranks, int fd,
                       const char *path, struct fetching *from)
{
    mend_image_region region = {.id = LEVELS_REGION, .bytes = image->size, .label = "capsule"};
    mend_image_head head = {.kind = MEND_IMAGE_DATA,
                            .name = LEVELS_STORE,
                            .version = file->version,
                            .save_id = file->save_id,
                            .rank = file->rank,
                            .ranks = ranks,
                            .base_version = -1,
                            .block = BLOCK,
                            .region_count = 1,
                            .stream_bytes = image->size,
                            .regions = &region};
    mend_image_write_options options = {.fetch = fetch, .fetch_context = from};
    struct file_sink sink = {fd, path};
    uint64_t written;
    return mend_image_write(&head, NULL, &options, (mend_sink){sink_write, &sink}, &written);
}

static int write_file(const struct held_image *image, int ranks, uint64_t save_id)
{
    char path[PATH_MAX];
    mend_file file = {MEND_FILE_GLOBAL, image->rank, image->version, save_id};
    mend_io_replacement r;
    path_of(path, sizeof path, &file);
    struct fetching *from = need(malloc(sizeof *from));
    from->image = image;
    int rc = mend_io_make_folders(global.folder);
    if (!rc)
        rc = mend_io_replace_begin(&r, path);
    if (!rc) {
        rc = write_image(image, &file, ranks, r.fd, path, from);
        if (!rc)
            rc = mend_io_replace_commit(&r);
        mend_io_replace_abort(&r);
    }
    free(from);
    if (rc)
        mend_event("checkpoint.failed", ev_int("version", image->version),
                   ev_str("level", "global"), ev_str("why", mend_error_text()));
    return rc == MEND_OK;
}

/* Not at once, but with the next version: ranks see one after the other that a version is complete, so by
 * then all have at least announced (global_floor) what this one forgets. A rank that dies cannot announce it
 * any more. */
static void forget_soon(int rank, mend_version_t version)
{
    if (version <= global.soon)
        return;
    if (global.soon)
        undo_forget(rank, global.soon);
    global.soon = version;
}

mend_version_t global_floor(void)
{
    return global.soon;
}

/* Keep two complete versions. */
static void prune(int rank)
{
    mend_file *list;
    int n, whole = 0, there = 0;
    char path[PATH_MAX];
    if (mend_folder_list(global.folder, &list, &n))
        return;
    for (int i = n - 1; i >= 0; i--) { /* newest last: by version, then by id */
        if (list[i].kind != MEND_FILE_GLOBAL)
            continue;
        int same = i + 1 < n && list[i + 1].version == list[i].version &&
                   list[i + 1].save_id == list[i].save_id;
        there = same ? there + 1 : 1;
        if (whole == 2 && list[i].rank == rank) {
            path_of(path, sizeof path, &list[i]);
            mend_io_remove(path);
        }
        if (there == global.ranks && whole < 2 && ++whole == 2)
            forget_soon(rank, list[i].version);
    }
    free(list);
}

static void committed(const struct held_image *image, double seconds)
{
    mend_event("checkpoint.commit", ev_int("version", image->version), ev_str("level", "global"),
               ev_int("bytes", (long long)image->size), ev_real("seconds", seconds));
    prune(image->rank);
}

static void *background(void *none)
{
    (void)none;
    pthread_mutex_lock(&global.lock);
    for (;;) {
        while (!global.image)
            pthread_cond_wait(&global.changed, &global.lock);
        struct held_image copy = global.copy;
        uint64_t begun_in = global.id;
        int ranks = global.ranks;
        pthread_mutex_unlock(&global.lock);
        double begun = mend_now();
        int ok = write_file(&copy, ranks, begun_in);
        double seconds = mend_now() - begun;
        pthread_mutex_lock(&global.lock);
        if (ok && begun_in != global.id) { /* it belongs to a past that was given up meanwhile */
            char path[PATH_MAX];
            mend_file file = {MEND_FILE_GLOBAL, copy.rank, copy.version, begun_in};
            path_of(path, sizeof path, &file);
            mend_io_remove(path);
        } else if (ok) {
            committed(&copy, seconds);
        }
        __atomic_store_n(&global.image->busy, 0, __ATOMIC_RELEASE);
        global.image = NULL;
        pthread_cond_broadcast(&global.changed);
    }
    return NULL;
}

void global_open(const char *dir, int versions)
{
    pthread_t thread;
    sigset_t all, before; /* the application's handlers must not run in this thread */
    if (snprintf(global.folder, sizeof global.folder, "%s/" LEVELS_STORE, dir) >=
        (int)sizeof global.folder)
        die("the path of the job's folder %s is too long", dir);
    global.every = versions;
    if (global.every <= 0)
        return;
    sigfillset(&all);
    sigdelset(&all, SIGNAL_LEAVE);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, background, NULL))
        die("cannot start a thread");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void global_begin(int ranks, mend_version_t version, uint64_t new_id)
{
    pthread_mutex_lock(&global.lock);
    if (version < global.soon) /* from its beginning */
        global.soon = 0;
    global.ranks = ranks;
    global.id = new_id;
    pthread_mutex_unlock(&global.lock);
}

static int is_due(mend_version_t version, uint64_t order)
{
    int planned = due_at(order, DUE_GLOBAL);
    return global.every > 0 && planned && (planned > 0 || version % global.every == 0);
}

int global_is_busy(mend_version_t version, uint64_t order)
{
    if (!is_due(version, order))
        return 0;
    pthread_mutex_lock(&global.lock);
    int busy = global.image != NULL;
    pthread_mutex_unlock(&global.lock);
    return busy;
}

void global_offer(struct held_image *image, uint64_t order, int skip)
{
    if (!is_due(image->version, order))
        return;
    pthread_mutex_lock(&global.lock);
    if (skip || global.image) { /* versions come faster than the disk can take them */
        mend_event("checkpoint.skipped", ev_int("version", image->version),
                   ev_str("level", "global"));
    } else {
        image->busy = 1;
        global.copy = *image;
        global.image = image;
        pthread_cond_broadcast(&global.changed);
    }
    pthread_mutex_unlock(&global.lock);
}

int global_save_now(const struct held_image *image)
{
    double begun = mend_now();
    global_flush();
    int ok = write_file(image, global.ranks, global.id);
    if (ok)
        committed(image, mend_now() - begun);
    return ok;
}

int global_write(const struct held_image *image, int ranks, uint64_t id)
{
    return image && write_file(image, ranks, id);
}

void global_flush(void)
{
    pthread_mutex_lock(&global.lock);
    while (global.image)
        pthread_cond_wait(&global.changed, &global.lock);
    pthread_mutex_unlock(&global.lock);
}
#endif
