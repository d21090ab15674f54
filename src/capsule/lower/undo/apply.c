/* undo/apply.c - putting files back as they were at a version, from the logs of undo.c.
 *
 * All ranks together, for each version from the newest down to the one that is gone back to:
 *   1. each undoes its own log backwards: bytes and names. Bytes go only into the file that they were
 *      noted of, not into another that has its name;
 *   2. (all) bytes whose file another rank has brought back in 1;
 *   3. (all) files that have grown are cut. Ranks that write to one file have seen it at different lengths; the
 *      shortest is right, and no byte of another's log may come after the cut. Of one rank's own notes of a
 *      length the first is right, and it is about the file, not about another that had the name for a
 *      while;
 *   4. (all) unless it is the version that is gone back to, the log is removed.
 * The log of that version is removed when the job is agreed to go on. A death before that: all of it happens
 * again, from the newest version that anybody still has a log of, with the same result: no log is removed
 * while anybody has a newer one to undo.
 */
#include "undo/undo.h"

#include <base/event.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

struct log {
    mend_version_t version;
    char *bytes;
    size_t size;
    size_t *record; /* where each begins */
    int count;
    int foreign; /* a record is of another job */
};

static struct {
    ino_t *brought_back; /* by this rank */
    int brought_count;
    int missed;          /* bytes whose file was not there */
    char lost[PATH_MAX]; /* a file of which nothing was kept */
    struct length {
        uint64_t inode, size;
        char *path;
    } *lengths;
    int length_count;
} back;

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
            break; /* a name without an end */
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
    if (log->foreign) { /* to leave it out would mean a wrong result */
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
            !fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) && st.st_size)
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

/* Names are put back by one rank at a time, and what another rank has brought back is not removed: it
 * has a second name in DIR/undo, unlike what was made since the version. */
static int names_lock(void)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/lock", undo_log.folder);
    int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0)
        flock(fd,
              LOCK_EX); /* where there are no locks, ranks that remove one file are rare enough */
    return fd;
}

/* What was brought back as a copy has no second name: it is in a list. */
struct copied {
    dev_t device;
    ino_t inode;
    uint64_t of; /* the inode that it was */
};

static int copies_open(int flags)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/copies", undo_log.folder);
    return open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* of: that inode, or 0: any */
static int is_copy(const struct stat *st, uint64_t of)
{
    struct copied c;
    int found = 0, fd = copies_open(O_RDONLY);
    while (fd >= 0 && !found && read(fd, &c, sizeof c) == sizeof c)
        found = c.device == st->st_dev && c.inode == st->st_ino && (!of || c.of == of);
    if (fd >= 0)
        close(fd);
    return found;
}

static void note_copy(int copy, const char *path, uint64_t of)
{
    struct stat st;
    int fd = copies_open(O_CREAT | O_WRONLY | O_APPEND);
    if (fd < 0 || fstat(copy, &st) ||
        write(fd, &(struct copied){st.st_dev, st.st_ino, of}, sizeof(struct copied)) !=
            sizeof(struct copied))
        die("cannot record that %s was restored: %s", path, strerror(errno));
    close(fd);
}

/* All ranks have put back all names. */
void undo_copies_done(void)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/copies", undo_log.folder);
    unlink(path);
}

static void remove_made(const char *path)
{
    struct stat st;
    if (lstat(path, &st))
        return;
    int own = st.st_nlink < 2 && !is_copy(&st, 0);
    for (int i = 0; i < back.brought_count; i++)
        own |= back.brought_back[i] == st.st_ino;
    if (own)
        unlink(path);
}

/* The kept file is in the folder of the job, which may be another file system than the path's. */
static void copy_back(const char *kept, const char *path, const struct undo_record *r)
{
    struct stat st;
    mode_t mode = (mode_t)r->bytes;
    int in = open(kept, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int out = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
    if (in < 0 || out < 0 || fstat(in, &st))
        die("cannot restore %s: %s", path, strerror(errno));
    note_copy(out, path, r->inode);
    for (off_t left = st.st_size; left > 0;) {
        ssize_t n = sendfile(out, in, NULL, (size_t)left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            die("cannot restore %s: %s", path, n ? strerror(errno) : "its copy is too short");
        left -= n;
    }
    if (fchmod(out, mode))
        die("cannot restore %s: %s", path, strerror(errno));
    close(in);
    close(out);
}

static void bring_back(const char *kept, const char *path, const struct undo_record *r)
{
    struct stat st;
    if (access(kept, F_OK))
        return;
    unlink(path);
    if (link(kept, path))
        copy_back(kept, path, r);
    back.brought_back =
        realloc(back.brought_back, (size_t)(back.brought_count + 1) * sizeof *back.brought_back);
    if (!back.brought_back)
        die("no memory to undo changes of files");
    if (!lstat(path, &st))
        back.brought_back[back.brought_count++] = st.st_ino;
}

static void put_bytes(const char *path, const char *bytes, const struct undo_record *r)
{
    struct stat st;
    uint64_t count = r->bytes, at = r->offset;
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || fstat(fd, &st) || (st.st_ino != r->inode && !is_copy(&st, r->inode))) {
        /* it was removed, and was not there before, or another record brings it back */
        back.missed++;
        count = 0;
    }
    while (count) {
        ssize_t n = pwrite(fd, bytes, count, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            die("cannot restore the content of %s: %s", path, strerror(errno));
        bytes += n;
        at += (uint64_t)n;
        count -= (uint64_t)n;
    }
    if (fd >= 0)
        close(fd);
}

static void undo_one(const struct log *log, int rank, const struct undo_record *r, const char *path)
{
    char kept[PATH_MAX + 64];
    const char *bytes = path + r->path_bytes;
    int names = r->kind == UNDO_CREATED || r->kind == UNDO_KEPT ? names_lock() : -1;
    switch (r->kind) {
    case UNDO_BYTES: put_bytes(path, bytes, r); break;
    case UNDO_CREATED: remove_made(path); break;
    case UNDO_KEPT:
        snprintf(kept, sizeof kept, "%s/%d/%lld.%llu", undo_log.folder, rank,
                 (long long)log->version, (unsigned long long)r->offset);
        bring_back(kept, path, r);
        break;
    case UNDO_MOVED:
        if (access(path, F_OK) && rename(bytes, path) && errno != ENOENT)
            die("cannot rename %s to %s: %s", bytes, path, strerror(errno));
        break;
    }
    if (names >= 0)
        close(names);
}

typedef void undo_visit(const struct log *log, int rank, const struct undo_record *r,
                        const char *path);

static void backwards(int rank, mend_version_t version, undo_visit *visit)
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
        snprintf(back.lost, sizeof back.lost, "%s", path);
}

/* What is visited last was noted first. */
static void note_length(const struct log *log, int rank, const struct undo_record *r,
                        const char *path)
{
    int i = 0;
    (void)log;
    (void)rank;
    if (r->kind != UNDO_SIZE)
        return;
    while (i < back.length_count &&
           (back.lengths[i].inode != r->inode || strcmp(back.lengths[i].path, path) != 0))
        i++;
    if (i == back.length_count) {
        back.lengths =
            realloc(back.lengths, (size_t)(back.length_count + 1) * sizeof *back.lengths);
        char *copy = strdup(path);
        if (!back.lengths || !copy)
            die("no memory to undo changes of files");
        back.lengths[back.length_count++] = (struct length){.inode = r->inode, .path = copy};
    }
    back.lengths[i].size = r->offset;
}

static void cut_to_lengths(void)
{
    struct stat st;
    for (int i = 0; i < back.length_count; i++) {
        const struct length *l = &back.lengths[i];
        if (!stat(l->path, &st) && S_ISREG(st.st_mode) && st.st_ino == l->inode &&
            (uint64_t)st.st_size > l->size && truncate(l->path, (off_t)l->size))
            die("cannot truncate %s: %s", l->path, strerror(errno));
        free(l->path);
    }
    back.length_count = 0;
}

/* Logs of older versions than this one are forgotten, and something was in them; 0: none. */
static int floor_open(int rank, int flags)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%d/floor", undo_log.folder, rank);
    return open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
}

mend_version_t undo_floor(int rank)
{
    int32_t version = 0; /* the file's width */
    int fd = undo_log.folder[0] ? floor_open(rank, O_RDONLY) : -1;
    if (fd >= 0 && pread(fd, &version, sizeof version, 0) != sizeof version)
        version = 0;
    if (fd >= 0)
        close(fd);
    return version;
}

/* 0: it could not; then no log is forgotten. */
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

/* Which file cannot be put back as it was at the version; NULL: all can. */
const char *undo_impossible(int rank, mend_version_t version)
{
    back.lost[0] = 0;
    if (version < undo_floor(rank)) {
        snprintf(back.lost, sizeof back.lost, "a file");
        return back.lost;
    }
    for (mend_version_t v = undo_newest(rank); v >= version; v--)
        backwards(rank, v, look_for_lost);
    return back.lost[0] ? back.lost : NULL;
}

void undo_contents(int rank, mend_version_t version)
{
    back.brought_count = back.missed = 0;
    backwards(rank, version, undo_one);
}

/* What is there already is put there once more: the same bytes. */
static void undo_rest(const struct log *log, int rank, const struct undo_record *r,
                      const char *path)
{
    if (r->kind == UNDO_BYTES)
        undo_one(log, rank, r, path);
}

void undo_others(int rank, mend_version_t version)
{
    if (back.missed)
        backwards(rank, version, undo_rest);
}

void undo_lengths(int rank, mend_version_t version)
{
    backwards(rank, version, note_length);
    cut_to_lengths();
}

/* Remove the logs of versions from..to-1, newest first, then what they kept. If this process dies in
 * between, what is left can still be undone once more: a log without a newer one, and with all that it
 * kept. */
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
