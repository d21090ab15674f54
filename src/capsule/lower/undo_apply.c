/* undo_apply.c - putting files back as they were at a version, from the logs of undo.c.
 *
 * In two steps, with all ranks in between: first everybody puts back bytes and names, then everybody
 * cuts what has grown. (Ranks that write to one file have seen it at different lengths; the shortest
 * is right, and no byte of another's log may come after the cut.) Of one rank's own notes of a length,
 * the first since the version is right, and it is about the file, not about another that had the
 * name for a while. Until the logs are removed, after both steps, all of it may happen again.
 */
#include "undo.h"

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
    int version;
    char *bytes;
    size_t size;
    size_t *record; /* where each begins */
    int count;
};

static void free_logs(struct log *list, int n)
{
    for (int i = 0; i < n; i++) {
        if (list[i].size)
            munmap(list[i].bytes, list[i].size);
        free(list[i].record);
    }
    free(list);
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
        log->record = realloc(log->record, (size_t)(log->count + 1) * sizeof *log->record);
        if (!log->record)
            die("no memory to undo changes of files");
        log->record[log->count++] = at;
        at += sizeof r + r.path_bytes + bytes;
    }
}

static int newest_first(const void *a, const void *b)
{
    return ((const struct log *)b)->version - ((const struct log *)a)->version;
}

/* The logs of this version and later ones, newest first. */
static int read_logs(int rank, int version, struct log **list)
{
    char folder[PATH_MAX + 32], path[PATH_MAX + 300], rest;
    int n = 0;
    *list = NULL;
    snprintf(folder, sizeof folder, "%s/%d", undo_folder, rank);
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        struct log log = {0};
        struct stat st;
        if (sscanf(e->d_name, "%d%c", &log.version, &rest) != 1 || log.version < version)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0 || fstat(fd, &st))
            die("cannot read %s: %s", path, strerror(errno));
        log.size = (size_t)st.st_size;
        if (log.size)
            log.bytes = mmap(NULL, log.size, PROT_READ, MAP_PRIVATE, fd, 0);
        close(fd);
        *list = realloc(*list, (size_t)(n + 1) * sizeof **list);
        if (log.bytes == MAP_FAILED || !*list)
            die("no memory to undo changes of files");
        index_log(&log);
        (*list)[n++] = log;
    }
    if (d)
        closedir(d);
    if (n)
        qsort(*list, (size_t)n, sizeof **list, newest_first);
    return n;
}

static void put_bytes(const char *path, const char *bytes, uint64_t count, uint64_t at)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) /* it was removed, and was not there before, or another record brings it back */
        return;
    while (count) {
        ssize_t n = pwrite(fd, bytes, count, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            die("cannot put back the content of %s: %s", path, strerror(errno));
        bytes += n;
        at += (uint64_t)n;
        count -= (uint64_t)n;
    }
    close(fd);
}

/* Names are put back by one rank at a time, and what another rank has brought back is not removed: it
 * has a second name in DIR/undo, unlike what was made since the version. */
static int names_lock(void)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/lock", undo_folder);
    int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0)
        flock(fd,
              LOCK_EX); /* where there are no locks, ranks that remove one file are rare enough */
    return fd;
}

static ino_t *brought_back; /* by this rank */
static int brought_count;

/* What was brought back as a copy has no second name: it is in a list. */
struct copied {
    dev_t device;
    ino_t inode;
};

static int copies_open(int flags)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/copies", undo_folder);
    return open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static int is_copy(const struct stat *st)
{
    struct copied c;
    int found = 0, fd = copies_open(O_RDONLY);
    while (fd >= 0 && !found && read(fd, &c, sizeof c) == sizeof c)
        found = c.device == st->st_dev && c.inode == st->st_ino;
    if (fd >= 0)
        close(fd);
    return found;
}

static void note_copy(int copy, const char *path)
{
    struct stat st;
    int fd = copies_open(O_CREAT | O_WRONLY | O_APPEND);
    if (fd < 0 || fstat(copy, &st) ||
        write(fd, &(struct copied){st.st_dev, st.st_ino}, sizeof(struct copied)) !=
            sizeof(struct copied))
        die("cannot note that %s is back: %s", path, strerror(errno));
    close(fd);
}

/* All ranks have put back all names. */
void undo_copies_done(void)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/copies", undo_folder);
    unlink(path);
}

static void remove_made(const char *path)
{
    struct stat st;
    if (lstat(path, &st))
        return;
    int own = st.st_nlink < 2 && !is_copy(&st);
    for (int i = 0; i < brought_count; i++)
        own |= brought_back[i] == st.st_ino;
    if (own)
        unlink(path);
}

/* The kept file is in the folder of the job, which may be another file system than the path's. */
static void copy_back(const char *kept, const char *path, mode_t mode)
{
    struct stat st;
    int in = open(kept, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int out = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
    if (in < 0 || out < 0 || fstat(in, &st))
        die("cannot bring back %s: %s", path, strerror(errno));
    note_copy(out, path);
    for (off_t left = st.st_size; left > 0;) {
        ssize_t n = sendfile(out, in, NULL, (size_t)left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            die("cannot bring back %s: %s", path, n ? strerror(errno) : "its copy is too short");
        left -= n;
    }
    if (fchmod(out, mode))
        die("cannot bring back %s: %s", path, strerror(errno));
    close(in);
    close(out);
}

static void bring_back(const char *kept, const char *path, mode_t mode)
{
    struct stat st;
    if (access(kept, F_OK))
        return;
    unlink(path);
    if (link(kept, path))
        copy_back(kept, path, mode);
    brought_back = realloc(brought_back, (size_t)(brought_count + 1) * sizeof *brought_back);
    if (!brought_back)
        die("no memory to undo changes of files");
    if (!lstat(path, &st))
        brought_back[brought_count++] = st.st_ino;
}

static void undo_one(const struct log *log, int rank, const struct undo_record *r, const char *path)
{
    char kept[PATH_MAX + 64];
    const char *bytes = path + r->path_bytes;
    int names = r->kind == UNDO_CREATED || r->kind == UNDO_KEPT ? names_lock() : -1;
    switch (r->kind) {
    case UNDO_BYTES: put_bytes(path, bytes, r->bytes, r->offset); break;
    case UNDO_CREATED: remove_made(path); break;
    case UNDO_KEPT:
        snprintf(kept, sizeof kept, "%s/%d/%d.%llu", undo_folder, rank, log->version,
                 (unsigned long long)r->offset);
        bring_back(kept, path, (mode_t)r->bytes);
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

static void backwards(int rank, int version, undo_visit *visit)
{
    struct log *list;
    int n = read_logs(rank, version, &list);
    for (int i = 0; i < n; i++)
        for (int k = list[i].count - 1; k >= 0; k--) {
            struct undo_record r;
            memcpy(&r, list[i].bytes + list[i].record[k], sizeof r);
            visit(&list[i], rank, &r, list[i].bytes + list[i].record[k] + sizeof r);
        }
    free_logs(list, n);
}

static char lost[PATH_MAX];
static void look_for_lost(const struct log *log, int rank, const struct undo_record *r,
                          const char *path)
{
    (void)log;
    (void)rank;
    if (r->kind == UNDO_LOST)
        snprintf(lost, sizeof lost, "%s", path);
}

/* What is visited last was noted first. */
static struct length {
    uint64_t inode, size;
    char *path;
} * lengths;
static int length_count;

static void note_length(const struct log *log, int rank, const struct undo_record *r,
                        const char *path)
{
    int i = 0;
    (void)log;
    (void)rank;
    if (r->kind != UNDO_SIZE)
        return;
    while (i < length_count && (lengths[i].inode != r->bytes || strcmp(lengths[i].path, path) != 0))
        i++;
    if (i == length_count) {
        lengths = realloc(lengths, (size_t)(length_count + 1) * sizeof *lengths);
        char *copy = strdup(path);
        if (!lengths || !copy)
            die("no memory to undo changes of files");
        lengths[length_count++] = (struct length){.inode = r->bytes, .path = copy};
    }
    lengths[i].size = r->offset;
}

static void cut_to_lengths(void)
{
    struct stat st;
    for (int i = 0; i < length_count; i++) {
        const struct length *l = &lengths[i];
        if (!stat(l->path, &st) && S_ISREG(st.st_mode) && st.st_ino == l->inode &&
            (uint64_t)st.st_size > l->size && truncate(l->path, (off_t)l->size))
            die("cannot cut %s: %s", l->path, strerror(errno));
        free(l->path);
    }
    length_count = 0;
}

/* Which file cannot be put back as it was at the version; NULL: all can. */
const char *undo_impossible(int rank, int version)
{
    lost[0] = 0;
    if (!undo_folder[0])
        return NULL;
    backwards(rank, version, look_for_lost);
    return lost[0] ? lost : NULL;
}

void undo_contents(int rank, int version)
{
    brought_count = 0;
    if (undo_folder[0])
        backwards(rank, version, undo_one);
}

/* Remove the logs of versions from..to-1, newest first, then what they kept. If this process dies in
 * between, what is left can still be undone once more: a log without a newer one, and with all that it
 * kept. */
static void remove_logs(int rank, int from, int to)
{
    char folder[PATH_MAX + 32], path[PATH_MAX + 300], rest;
    snprintf(folder, sizeof folder, "%s/%d", undo_folder, rank);
    DIR *d = opendir(folder);
    for (int newest = 0; d && newest >= 0;) {
        newest = -1;
        for (struct dirent *e; (e = readdir(d));) {
            int v;
            if (sscanf(e->d_name, "%d%c", &v, &rest) == 1 && v >= from && v < to && v > newest)
                newest = v;
        }
        snprintf(path, sizeof path, "%s/%d", folder, newest);
        if (newest >= 0 && unlink(path))
            break;
        rewinddir(d);
    }
    for (struct dirent *e; d && (e = readdir(d));) {
        int v;
        if (sscanf(e->d_name, "%d", &v) != 1 || v < from || v >= to)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        unlink(path);
    }
    if (d)
        closedir(d);
}

void undo_lengths(int rank, int version)
{
    if (!undo_folder[0])
        return;
    backwards(rank, version, note_length);
    cut_to_lengths();
    remove_logs(rank, version, INT_MAX);
    undo_outside_forget(version > 0);
}

void undo_forget(int rank, int version)
{
    if (undo_folder[0])
        remove_logs(rank, 0, version);
}
