/* recover_disk.c - versions in DIR/images/VERSION.EPOCH/RANK, for a job that was torn down.
 *
 * Every n-th version is copied from memory to disk by a thread, without MPI. A file appears under
 * its name when it is whole (fsync, rename); a version is complete when the files of all ranks are
 * there. The epoch counts meetings: what was written before a rollback is never mixed with what is
 * written after it. A rank removes its file of an older version when two newer ones are complete.
 */
#include "recover_plan.h"

#ifdef OPEN_MPI
#include <base/event.h>
#include <base/fault.h>
#include <base/io.h>
#include <mend/error.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

struct disk_header {
    char magic[8];
    int version, rank, ranks, zero;
    uint64_t size, hash, header_hash;
};
#define DISK_MAGIC "MENDONL1"

static char folder[PATH_MAX - 64];
static int every; /* this many versions; 0: never */
static int ranks_known;
static int limit = INT_MAX; /* versions from here on were found damaged */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct held_image *job; /* being written, or to be */
static struct held_image job_copy;
int disk_epoch;

static int write_file(const struct held_image *image, int epoch)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%06d.%06d", folder, image->version, epoch);
    if (mend_io_make_folders(path))
        return 0;
    snprintf(path, sizeof path, "%s/%06d.%06d/%d", folder, image->version, epoch, image->rank);
    char *bytes = mmap(NULL, image->size, PROT_READ, MAP_SHARED, image->fd, 0);
    if (bytes == MAP_FAILED)
        return 0;
    struct disk_header h = {.magic = DISK_MAGIC,
                            .version = image->version,
                            .rank = image->rank,
                            .ranks = ranks_known,
                            .size = image->size,
                            .hash = XXH3_64bits(bytes, image->size)};
    h.header_hash = XXH3_64bits(&h, offsetof(struct disk_header, header_hash));
    mend_io_replacement r;
    int rc = mend_io_replace_begin(&r, path);
    if (!rc) {
        rc = mend_io_write(r.fd, &h, sizeof h, path);
        for (size_t at = 0, piece; !rc && at < image->size; at += piece) {
            piece = image->size - at < 8u << 20 ? image->size - at : 8u << 20;
            rc = mend_io_write(r.fd, bytes + at, piece, path);
        }
        if (!rc)
            rc = mend_io_replace_commit(&r);
        mend_io_replace_abort(&r);
    }
    munmap(bytes, image->size);
    if (rc)
        mend_event("checkpoint.failed", ev_int("version", image->version),
                   ev_str("level", "global"), ev_str("why", mend_error_text()));
    return rc == MEND_OK;
}

struct found {
    int version, epoch;
};

static int complete(const struct found *f)
{
    char path[PATH_MAX];
    for (int r = 0; r < ranks_known; r++) {
        snprintf(path, sizeof path, "%s/%06d.%06d/%d", folder, f->version, f->epoch, r);
        if (access(path, R_OK))
            return 0;
    }
    return ranks_known > 0;
}

static int newest_first(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    return x->version != y->version ? y->version - x->version : y->epoch - x->epoch;
}

/* All folders, newest first; the caller frees. */
static int look(struct found **list)
{
    int n = 0;
    *list = NULL;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        struct found f, *grown;
        if (sscanf(e->d_name, "%d.%d", &f.version, &f.epoch) != 2 ||
            !(grown = realloc(*list, (size_t)(n + 1) * sizeof **list)))
            continue;
        *list = grown;
        (*list)[n++] = f;
    }
    if (d)
        closedir(d);
    if (n)
        qsort(*list, (size_t)n, sizeof **list, newest_first);
    return n;
}

static void prune(int rank)
{
    struct found *list;
    int n = look(&list), whole = 0;
    for (int i = 0; i < n; i++) {
        char path[PATH_MAX];
        if (whole < 2) {
            whole += complete(&list[i]);
            if (whole == 2)
                undo_forget(rank, list[i].version);
            continue;
        }
        snprintf(path, sizeof path, "%s/%06d.%06d/%d", folder, list[i].version, list[i].epoch,
                 rank);
        mend_io_remove(path);
        *strrchr(path, '/') = 0;
        rmdir(path); /* fails until the last rank has gone */
    }
    free(list);
}

int disk_newest(int ranks)
{
    struct found *list;
    int n, best = 0;
    ranks_known = ranks;
    n = look(&list);
    for (int i = 0; i < n && !best; i++)
        if (list[i].version < limit && complete(&list[i]))
            best = list[i].version;
    for (int i = 0; i < n; i++)
        if (list[i].epoch >= disk_epoch)
            disk_epoch = list[i].epoch + 1;
    free(list);
    return best;
}

int disk_read(struct held_image *image, int rank, int version)
{
    struct found *list, f = {0, 0};
    int n = look(&list);
    for (int i = 0; i < n && !f.version; i++)
        if (list[i].version == version && complete(&list[i]))
            f = list[i];
    free(list);
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%06d.%06d/%d", folder, version, f.epoch, rank);
    struct disk_header h;
    int fd = f.version ? mend_io_open_read(path) : -1, ok = 0;
    if (fd >= 0 && !mend_io_read(fd, &h, sizeof h, path) &&
        h.header_hash == XXH3_64bits(&h, offsetof(struct disk_header, header_hash)) &&
        !memcmp(h.magic, DISK_MAGIC, 8) && h.version == version && h.rank == rank &&
        h.ranks == ranks_known && !ftruncate(image->fd, (off_t)h.size)) {
        char *bytes = mmap(NULL, h.size, PROT_READ | PROT_WRITE, MAP_SHARED, image->fd, 0);
        if (bytes != MAP_FAILED) {
            ok = !mend_io_read(fd, bytes, h.size, path) && XXH3_64bits(bytes, h.size) == h.hash;
            munmap(bytes, h.size);
        }
    }
    if (fd >= 0)
        close(fd);
    if (!ok) {
        limit = version; /* this one is not complete any more: an older one */
        mend_event("recover.damaged", ev_int("version", version), ev_str("path", path));
        return 0;
    }
    image->rank = rank;
    image->version = version;
    image->size = h.size;
    return 1;
}

int disk_write(const struct held_image *image)
{
    return image && write_file(image, disk_epoch);
}

static void *background(void *none)
{
    (void)none;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!job)
            pthread_cond_wait(&changed, &lock);
        struct held_image copy = job_copy;
        int epoch = disk_epoch;
        pthread_mutex_unlock(&lock);
        double begun = mend_now();
        if (write_file(&copy, epoch)) {
            mend_event("checkpoint.commit", ev_int("version", copy.version),
                       ev_str("level", "global"), ev_int("bytes", (long long)copy.size),
                       ev_real("seconds", mend_now() - begun));
            prune(copy.rank);
        }
        pthread_mutex_lock(&lock);
        job->busy = 0;
        job = NULL;
        pthread_cond_broadcast(&changed);
    }
    return NULL;
}

void disk_open(const char *dir)
{
    pthread_t thread;
    const char *text = getenv("MEND_ONLINE_DISK_EVERY");
    snprintf(folder, sizeof folder, "%s/images", dir);
    every = text ? atoi(text) : 5;
    if (every > 0 && pthread_create(&thread, NULL, background, NULL))
        die("cannot start a thread");
}

void disk_offer(struct held_image *image)
{
    if (every <= 0 || image->version % every)
        return;
    pthread_mutex_lock(&lock);
    if (job) { /* the disk is slower than the versions come: leave this one out */
        mend_event("checkpoint.skipped", ev_int("version", image->version),
                   ev_str("level", "global"));
    } else {
        image->busy = 1;
        job_copy = *image;
        job = image;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
}

void disk_flush(void)
{
    pthread_mutex_lock(&lock);
    while (job)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}
#endif
