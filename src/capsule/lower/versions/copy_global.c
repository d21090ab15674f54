/* versions/copy_global.c - the second level of images: copies LOCAL/own-r… to DIR/versions/global-r….
 *
 * One thread per process takes orders in turn: copy a version, remove old ones. So it removes no file that an
 * earlier order needs. It copies an incremental image after the images that it is based on, unless these are
 * already there: so the next version makes up for an error at this one (disk full). A copy gets its name when
 * it is whole; the version is complete when all ranks have theirs.
 */
#include "versions/versions.h"
#include "ground/settings.h"

#include <base/event.h>
#include <base/fail.h>
#include <base/fault.h>
#include <base/io.h>
#include <fcntl.h>
#include <image/folder.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct order {
    mend_version_t version; /* to copy; or keep_from */
    uint64_t save_id;
    mend_version_t root;
    int prune;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    int running, rank, end, abandon;
    struct order *order; /* a ring */
    unsigned first, count, room;
    flush_done *done;
} flush = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void name_of(enum mend_file_kind kind, mend_version_t version, uint64_t save_id, char *path,
                    size_t size)
{
    char name[MEND_FILE_NAME_MAX];
    mend_file file = {kind, flush.rank, version, save_id};
    mend_file_name(&file, name);
    if (kind == MEND_FILE_OWN)
        snprintf(path, size, "%s/%s", settings.local, name);
    else
        snprintf(path, size, "%s/versions/%s", settings.dir, name);
}

static int copy_bytes(int from, int to, const char *path)
{
    enum { PIECE = 1 << 20 };
    char *buffer = malloc(PIECE);
    ssize_t n = buffer ? 1 : -1;
    int rc = buffer ? 0 : mend_fail(MEND_ERR_NO_MEMORY, "no memory to copy an image");
    while (rc == 0 && n > 0) {
        if (__atomic_load_n(&flush.abandon, __ATOMIC_RELAXED))
            rc = mend_fail(MEND_ERR_CANCELLED, "the job is ending");
        else if ((n = read(from, buffer, PIECE)) < 0)
            rc = mend_fail_errno("cannot read the local image");
        else if (n > 0)
            rc = mend_io_write(to, buffer, (size_t)n, path);
    }
    free(buffer);
    return rc;
}

static int copy_one(mend_version_t version, uint64_t save_id)
{
    char source[4500], target[4500];
    mend_io_replacement file;
    name_of(MEND_FILE_OWN, version, save_id, source, sizeof source);
    name_of(MEND_FILE_GLOBAL, version, save_id, target, sizeof target);
    if (access(target, F_OK) == 0)
        return 0; /* files get their names when they are whole */
    int from = mend_io_open_read(source);
    if (from < 0)
        return from;
    int rc = mend_io_replace_begin(&file, target);
    if (rc == 0) {
        rc = copy_bytes(from, file.fd, target);
        if (rc == 0)
            rc = mend_io_replace_commit(&file);
        mend_io_replace_abort(&file);
    }
    close(from);
    return rc;
}

/* The image and those it is based on, the oldest first. */
static int copy_chain(mend_version_t version, uint64_t save_id, int depth)
{
    char source[4500], target[4500];
    mend_image *image;
    name_of(MEND_FILE_GLOBAL, version, save_id, target, sizeof target);
    if (access(target, F_OK) == 0)
        return 0;
    if (depth > settings.chain + 1)
        return mend_fail(MEND_ERR_DAMAGED, "a chain of more than %d images", settings.chain + 1);
    name_of(MEND_FILE_OWN, version, save_id, source, sizeof source);
    int rc = mend_image_open_file(source, &image);
    if (rc)
        return rc;
    mend_version_t base = mend_image_info(image)->base_version;
    uint64_t base_id = mend_image_info(image)->base_id;
    mend_image_close(image);
    if (base >= 0)
        rc = copy_chain(base, base_id, depth + 1);
    return rc ? rc : copy_one(version, save_id);
}

static void prune(mend_version_t keep_from)
{
    mend_file *files = NULL;
    int count = 0;
    char path[4500];
    if (mend_folder_list(settings.local, &files, &count))
        return;
    for (int i = 0; i < count; i++)
        if (files[i].kind == MEND_FILE_OWN && files[i].rank == flush.rank &&
            files[i].version < keep_from) {
            name_of(MEND_FILE_OWN, files[i].version, files[i].save_id, path, sizeof path);
            mend_io_remove(path);
        }
    free(files);
}

static void *work(void *none)
{
    (void)none;
    pthread_mutex_lock(&flush.lock);
    for (;;) {
        while (!flush.count && !flush.end)
            pthread_cond_wait(&flush.changed, &flush.lock);
        if (!flush.count || flush.abandon)
            break;
        struct order o = flush.order[flush.first];
        pthread_mutex_unlock(&flush.lock);
        if (o.prune) {
            prune(o.version);
        } else {
            int rc = copy_chain(o.version, o.save_id, 0);
            if (rc && !flush.abandon)
                fprintf(stderr, "mend: rank %d: version %lld stays local: %s\n", flush.rank,
                        (long long)o.version, mend_error_text());
            flush.done(o.version, o.save_id, o.root, rc);
        }
        pthread_mutex_lock(&flush.lock);
        flush.first = (flush.first + 1) % flush.room;
        flush.count--;
        pthread_cond_broadcast(&flush.changed);
    }
    pthread_mutex_unlock(&flush.lock);
    return NULL;
}

static void make_room(void)
{
    unsigned more = 2 * flush.room + 16;
    struct order *list = need(malloc(more * sizeof *list));
    for (unsigned i = 0; i < flush.count; i++)
        list[i] = flush.order[(flush.first + i) % flush.room];
    free(flush.order);
    flush.order = list;
    flush.room = more;
    flush.first = 0;
}

static void put(struct order o)
{
    pthread_mutex_lock(&flush.lock);
    if (flush.running) { /* else it stays local, see flush_start */
        if (flush.count == flush.room)
            make_room();
        flush.order[(flush.first + flush.count) % flush.room] = o;
        flush.count++;
        pthread_cond_broadcast(&flush.changed);
    }
    pthread_mutex_unlock(&flush.lock);
}

void flush_offer(mend_version_t version, uint64_t save_id, mend_version_t root)
{
    put((struct order){version, save_id, root, 0});
}

void flush_prune(mend_version_t keep_from)
{
    put((struct order){keep_from, 0, 0, 1});
}

void flush_start(int rank, flush_done *done)
{
    sigset_t all, old;
    flush.rank = rank;
    flush.done = done;
    flush.end = flush.abandon = 0;
    flush.count = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    flush.running = !pthread_create(&flush.thread, NULL, work, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!flush.running)
        fprintf(stderr, "mend: rank %d: cannot start a thread: versions stay local\n", rank);
}

void flush_end(int all)
{
    if (!flush.running)
        return;
    pthread_mutex_lock(&flush.lock);
    flush.end = 1;
    flush.abandon = !all;
    pthread_cond_broadcast(&flush.changed);
    pthread_mutex_unlock(&flush.lock);
    pthread_join(flush.thread, NULL);
    flush.running = 0;
}
