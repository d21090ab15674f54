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

/* The next entry; NULL: the end, or *error is set. */
static struct dirent *next_entry(DIR *d, int *error)
{
    errno = 0;
    struct dirent *e = readdir(d);
    if (!e)
        *error = errno;
    return e;
}

/* 0, or an errno. *newest: -1 if there is none. */
static int newest_below(int rank, mend_version_t limit, mend_version_t *newest)
{
    char folder[PATH_MAX + 32], rest;
    struct stat st;
    int error = 0;
    *newest = -1;
    if (!undo_log.folder[0])
        return 0;
    snprintf(folder, sizeof folder, "%s/%d", undo_log.folder, rank);
    DIR *d = opendir(folder);
    if (!d)
        return is_absent(errno) ? 0 : errno;
    for (struct dirent *e; !error && (e = next_entry(d, &error));) {
        long long v;
        if (sscanf(e->d_name, "%lld%c", &v, &rest) != 1 || v <= *newest || v >= limit)
            continue;
        if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW))
            error = is_absent(errno) ? 0 : errno;
        else if (st.st_size || st.st_mode & UNDO_MARKED_LOST)
            *newest = v;
    }
    closedir(d);
    return error;
}

mend_version_t undo_newest(int rank)
{
    mend_version_t newest;
    int error = newest_below(rank, INT64_MAX, &newest);
    if (error)
        die("cannot read the changes of files in %s/%d: %s", undo_log.folder, rank,
            strerror(error));
    return newest;
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
    if (!lstat(path, &st))
        return (st.st_mode & UNDO_MARKED_LOST) != 0;
    if (!is_absent(errno))
        die("cannot look at %s: %s", path, strerror(errno));
    return 0;
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

/* Remove the newest log of versions from..*to-1, which becomes *to; -1: there was none. 0, or an errno. */
static int remove_newest(DIR *d, mend_version_t from, mend_version_t *to)
{
    char name[32], rest;
    mend_version_t newest = -1;
    int error = 0;
    rewinddir(d);
    for (struct dirent *e; (e = next_entry(d, &error));) {
        long long v;
        if (sscanf(e->d_name, "%lld%c", &v, &rest) == 1 && v >= from && v < *to && v > newest)
            newest = v;
    }
    snprintf(name, sizeof name, "%lld", (long long)newest);
    if (!error && newest >= 0 && unlinkat(dirfd(d), name, 0) && !is_absent(errno))
        error = errno;
    *to = newest;
    return error;
}

/* Remove the logs of versions from..to-1, newest first, then the files that they kept. If this process dies
 * in between, the rest can still be undone once more: a log that remains has no newer one, and still has all
 * files that it kept. 0, or an errno: some log remains. */
static int remove_logs(int rank, mend_version_t from, mend_version_t to)
{
    char folder[PATH_MAX + 32];
    int error = 0, unread = 0;
    snprintf(folder, sizeof folder, "%s/%d", undo_log.folder, rank);
    DIR *d = opendir(folder);
    if (!d)
        return is_absent(errno) ? 0 : errno;
    for (mend_version_t below = to; !error && below >= 0;)
        error = remove_newest(d, from, &below);
    rewinddir(d);
    for (struct dirent *e; !error && (e = next_entry(d, &unread));) {
        long long v;
        if (sscanf(e->d_name, "%lld", &v) == 1 && v >= from && v < to)
            unlinkat(dirfd(d), e->d_name, 0);
    }
    closedir(d);
    return error;
}

/* A log that remains would be undone again by a later rollback, over what the program writes from now on. */
void undo_remove(int rank, mend_version_t version)
{
    int error = undo_log.folder[0] ? remove_logs(rank, version, INT64_MAX) : 0;
    if (error)
        die("cannot remove the changes of files in %s/%d: %s", undo_log.folder, rank,
            strerror(error));
}

/* If that fails, the logs take room, and nothing else. */
void undo_forget(int rank, mend_version_t version)
{
    mend_version_t newest;
    if (newest_below(rank, version, &newest))
        return;
    if (undo_log.folder[0] && (newest < 0 || raise_floor(rank, newest + 1)))
        remove_logs(rank, 0, version);
}
