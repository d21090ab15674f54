/* undo/stored.c - the logs of a rank as they lie in DIR/undo/RANK: reads them, tells how far back they reach, and
 * removes them.
 */
#include "undo/stored.h"

#include <base/event.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    char path[PATH_MAX]; /* a file of which nothing was kept */
} lost;

static void free_log(struct log *log)
{
    if (log->size)
        munmap(log->bytes, log->size);
    free(log->record);
}

static void index_log(struct log *log)
{
    struct undo_record r;
    for (size_t at = 0; at + sizeof r <= log->size;) {
        memcpy(&r, log->bytes + at, sizeof r);
        size_t left = log->size - at - sizeof r;
        if (r.magic != UNDO_MAGIC || r.path_bytes > left || r.path_bytes == 0 ||
            log->bytes[at + sizeof r + r.path_bytes - 1] != 0)
            break;
        uint64_t bytes = r.kind == UNDO_BYTES || r.kind == UNDO_MOVED ? r.bytes : 0;
        if (bytes > left - r.path_bytes)
            break; /* cut short by a kill */
        if (r.kind == UNDO_MOVED &&
            (!bytes || log->bytes[at + sizeof r + r.path_bytes + bytes - 1] != 0))
            break; /* a name without its terminating 0 */
        if (r.job != ground.job_sum) {
            log->foreign = 1;
            break;
        }
        log->record = realloc(log->record, (size_t)(log->count + 1) * sizeof *log->record);
        if (!log->record)
            die("no memory to undo changes of files");
        log->record[log->count++] = at;
        at += sizeof r + r.path_bytes + bytes;
    }
}

static int read_log(int rank, mend_version_t version, struct log *log)
{
    char path[PATH_MAX + 64];
    struct stat st;
    *log = (struct log){.version = version};
    snprintf(path, sizeof path, "%s/%d/%lld", undo_log.folder, rank, (long long)version);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0 || fstat(fd, &st))
        die("cannot read %s: %s", path, strerror(errno));
    log->size = (size_t)st.st_size;
    if (log->size)
        log->bytes = mmap(NULL, log->size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (log->bytes == MAP_FAILED)
        die("no memory to undo changes of files");
    index_log(log);
    if (log->foreign) { /* skipping it would mean a wrong result */
        mend_event("recover.refused", ev_int("version", version), ev_str("file", path));
        die("rank %d cannot go back to version %lld: the log %s belongs to another job", rank,
            (long long)version, path);
    }
    return 1;
}

static mend_version_t newest_below(int rank, mend_version_t limit)
{
    char folder[PATH_MAX + 32], rest;
    struct stat st;
    mend_version_t newest = -1;
    snprintf(folder, sizeof folder, "%s/%d", undo_log.folder, rank);
    DIR *d = undo_log.folder[0] ? opendir(folder) : NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        long long v;
        if (sscanf(e->d_name, "%lld%c", &v, &rest) == 1 && v > newest && v < limit &&
            !fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
            (st.st_size || st.st_mode & UNDO_MARKED_LOST))
            newest = v;
    }
    if (d)
        closedir(d);
    return newest;
}

mend_version_t undo_newest(int rank)
{
    return newest_below(rank, INT64_MAX);
}

void log_backwards(int rank, mend_version_t version, undo_visit *visit)
{
    struct log log;
    if (!undo_log.folder[0] || !read_log(rank, version, &log))
        return;
    for (int k = log.count - 1; k >= 0; k--) {
        struct undo_record r;
        memcpy(&r, log.bytes + log.record[k], sizeof r);
        visit(&log, rank, &r, log.bytes + log.record[k] + sizeof r);
    }
    free_log(&log);
}

static void look_for_lost(const struct log *log, int rank, const struct undo_record *r,
                          const char *path)
{
    (void)log;
    (void)rank;
    if (r->kind == UNDO_LOST)
        snprintf(lost.path, sizeof lost.path, "%s", path);
}

/* The floor: logs of versions below it were forgotten, and some were not empty; 0: none. */
static int floor_open(int rank, int flags)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%d/floor", undo_log.folder, rank);
    return open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
}

mend_version_t undo_floor(int rank)
{
    int32_t version = 0; /* the width in the file */
    int fd = undo_log.folder[0] ? floor_open(rank, O_RDONLY) : -1;
    if (fd >= 0 && pread(fd, &version, sizeof version, 0) != sizeof version)
        version = 0;
    if (fd >= 0)
        close(fd);
    return version;
}

/* 0: failed, so no log may be forgotten. */
static int raise_floor(int rank, mend_version_t to)
{
    int32_t version = (int32_t)to;
    int fd = to <= INT32_MAX ? floor_open(rank, O_CREAT | O_WRONLY) : -1;
    int ok = fd >= 0 && pwrite(fd, &version, sizeof version, 0) == sizeof version;
    if (fd >= 0)
        close(fd);
    return ok;
}

void undo_remove_floor(int rank)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%d/floor", undo_log.folder, rank);
    if (undo_log.folder[0])
        unlink(path);
}

static int is_marked_lost(int rank, mend_version_t version)
{
    char path[PATH_MAX + 64];
    struct stat st;
    snprintf(path, sizeof path, "%s/%d/%lld", undo_log.folder, rank, (long long)version);
    return !lstat(path, &st) && st.st_mode & UNDO_MARKED_LOST;
}

/* The file that cannot be put back as it was at the version; NULL: all can. */
const char *undo_impossible(int rank, mend_version_t version)
{
    lost.path[0] = 0;
    if (version < undo_floor(rank)) {
        snprintf(lost.path, sizeof lost.path, "a file");
        return lost.path;
    }
    for (mend_version_t v = undo_newest(rank); v >= version; v--) {
        if (is_marked_lost(rank, v))
            snprintf(lost.path, sizeof lost.path, "a file");
        log_backwards(rank, v, look_for_lost);
    }
    return lost.path[0] ? lost.path : NULL;
}

/* Remove the logs of versions from..to-1, newest first, then the files that they kept. If this process dies
 * in between, the rest can still be undone once more: a log that remains has no newer one, and still has all
 * files that it kept. */
static void remove_logs(int rank, mend_version_t from, mend_version_t to)
{
    char folder[PATH_MAX + 32], path[PATH_MAX + 300], rest;
    snprintf(folder, sizeof folder, "%s/%d", undo_log.folder, rank);
    DIR *d = opendir(folder);
    for (mend_version_t newest = 0; d && newest >= 0;) {
        newest = -1;
        for (struct dirent *e; (e = readdir(d));) {
            long long v;
            if (sscanf(e->d_name, "%lld%c", &v, &rest) == 1 && v >= from && v < to && v > newest)
                newest = v;
        }
        snprintf(path, sizeof path, "%s/%lld", folder, (long long)newest);
        if (newest >= 0 && unlink(path))
            break;
        rewinddir(d);
    }
    for (struct dirent *e; d && (e = readdir(d));) {
        long long v;
        if (sscanf(e->d_name, "%lld", &v) != 1 || v < from || v >= to)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        unlink(path);
    }
    if (d)
        closedir(d);
}

void undo_remove(int rank, mend_version_t version)
{
    if (undo_log.folder[0])
        remove_logs(rank, version, INT64_MAX);
}

void undo_forget(int rank, mend_version_t version)
{
    mend_version_t newest = newest_below(rank, version);
    if (undo_log.folder[0] && (newest < 0 || raise_floor(rank, newest + 1)))
        remove_logs(rank, 0, version);
}
