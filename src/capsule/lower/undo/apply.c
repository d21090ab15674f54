/* undo/apply.c - puts files back as they were at a version, from the logs that undo.c wrote.
 *
 * All ranks work together. For each version from the newest down to the one we go back to:
 *   1. each rank undoes its own log backwards: bytes and names. Bytes go only into the file that they were
 *      recorded for, not into another file of the same name;
 *   2. (all) each rank writes the bytes whose file another rank brought back in step 1. If a file is still not there,
 *      and nobody has made it since the version, the user is told (undo/missed.c);
 *   3. (all) each rank cuts files that have grown. Ranks that write to one file have seen it at different
 *      lengths: the shortest is right, and no byte from another rank's log may come after the cut. Of one rank's
 *      own records of a length the first is right. A length applies to the file with that inode, not to another
 *      file that had the name for a while;
 *   4. (all) each rank removes its log, unless it is the log of the version that we go back to.
 * The ranks remove that last log when they agree to continue. If a rank dies before that, everything happens
 * again, from the newest version that anybody still has a log of, with the same result: no log is removed
 * while anybody has a newer one to undo.
 */
#include "undo/stored.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    ino_t *brought_back; /* inodes that this rank brought back */
    int brought_count;
    int missed; /* bytes whose file did not exist */
    struct length {
        uint64_t inode, size;
        char *path;
    } *lengths;
    int length_count;
} back;

/* One rank at a time puts names back. A rank does not remove a file that another rank has brought back: such
 * a file has a second name in DIR/undo, unlike a file that was made since the version. */
static int names_lock(void)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/lock", undo_log.folder);
    int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0)
        flock(fd, LOCK_EX); /* without locks: two ranks rarely remove the same file */
    return fd;
}

/* A file that was brought back as a copy has no second name, so it goes into a list. */
struct copied {
    dev_t device;
    ino_t inode;
    uint64_t of; /* the inode of the original */
};

static int copies_open(int flags)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/copies", undo_log.folder);
    return open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* of: the original's inode; 0: any */
static int is_copy(const struct stat *st, uint64_t of)
{
    struct copied c;
    ssize_t n = 0;
    int found = 0, fd = copies_open(O_RDONLY);
    if (fd < 0 && is_absent(errno))
        return 0;
    while (fd >= 0 && !found && (n = read(fd, &c, sizeof c)) == sizeof c)
        found = c.device == st->st_dev && c.inode == st->st_ino && (!of || c.of == of);
    if (fd < 0 || n < 0)
        die("cannot read %s/copies: %s", undo_log.folder, strerror(errno));
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
    if (lstat(path, &st)) {
        if (!is_absent(errno))
            die("cannot look at %s: %s", path, strerror(errno));
        return;
    }
    int own = st.st_nlink < 2 && !is_copy(&st, 0);
    for (int i = 0; i < back.brought_count; i++)
        own |= back.brought_back[i] == st.st_ino;
    if (own)
        unlink(path);
}

/* The kept file is in the job's folder, which may be on another file system than the path. */
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
    if (lstat(kept, &st)) {
        if (!is_absent(errno))
            die("cannot restore %s from %s: %s", path, kept, strerror(errno));
        return;
    }
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

/* A directory, a symbolic link or a pipe has the name. */
static int is_another_kind(int error)
{
    return error == EISDIR || error == ELOOP || error == ENXIO;
}

/* The file that the record is of. -1: it was made and removed since the version, or another record brings it back. */
static int open_recorded(const char *path, const struct undo_record *r)
{
    struct stat st;
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW), error = errno;
    if (fd < 0 && (is_absent(error) || is_another_kind(error)))
        return -1;
    if (fd < 0 ? lstat(path, &st) : fstat(fd, &st))
        die("cannot restore the content of %s: %s", path, strerror(fd < 0 ? error : errno));
    int another = st.st_ino != r->inode && !is_copy(&st, r->inode);
    if (fd < 0 && !another)
        die("cannot restore the content of %s: %s", path, strerror(error));
    if (fd >= 0 && another)
        close(fd);
    return another ? -1 : fd;
}

/* 0: the file is not there */
static int put_bytes(const char *path, const char *bytes, const struct undo_record *r)
{
    uint64_t count = r->bytes, at = r->offset;
    int fd = open_recorded(path, r);
    if (fd < 0)
        return 0;
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
    close(fd);
    return 1;
}

static void undo_one(const struct log *log, int rank, const struct undo_record *r, const char *path)
{
    char kept[PATH_MAX + 64];
    const char *bytes = path + r->path_bytes;
    int names = r->kind == UNDO_CREATED || r->kind == UNDO_KEPT ? names_lock() : -1;
    switch (r->kind) {
    case UNDO_BYTES: back.missed += !put_bytes(path, bytes, r); break;
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

/* Records are visited backwards, so the first one recorded comes last and wins. */
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
        int there = !stat(l->path, &st);
        if (!there && !is_absent(errno) && errno != ELOOP)
            die("cannot look at %s: %s", l->path, strerror(errno));
        if (there && S_ISREG(st.st_mode) && st.st_ino == l->inode &&
            (uint64_t)st.st_size > l->size && truncate(l->path, (off_t)l->size))
            die("cannot truncate %s: %s", l->path, strerror(errno));
        free(l->path);
    }
    back.length_count = 0;
}

void undo_contents(int rank, mend_version_t version)
{
    back.brought_count = back.missed = 0;
    log_backwards(rank, version, undo_one);
}

/* Bytes that are there already are written once more; they are the same. */
static void undo_rest(const struct log *log, int rank, const struct undo_record *r,
                      const char *path)
{
    if (r->kind != UNDO_BYTES || put_bytes(path, path + r->path_bytes, r))
        return;
    const char *other = missed_name(log->version, path);
    if (!other || !put_bytes(other, path + r->path_bytes, r))
        missed_tell(rank, log->version, path);
}

void undo_others(int rank, mend_version_t version)
{
    if (back.missed)
        log_backwards(rank, version, undo_rest);
}

void undo_lengths(int rank, mend_version_t version)
{
    log_backwards(rank, version, note_length);
    cut_to_lengths();
}
