/* undo_apply.c - putting files back as they were at a version, from the logs of undo.c.
 *
 * In two steps, with all ranks in between: first everybody puts back bytes and names, then everybody
 * cuts what has grown. (Ranks that write to one file have seen it at different lengths; the shortest
 * is right, and no byte of another's log may come after the cut.) Until the logs are removed, after
 * both, all of it may happen again.
 */
#include "undo.h"

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

static void undo_one(const struct log *log, int rank, const struct undo_record *r, const char *path)
{
    char kept[PATH_MAX + 64];
    const char *bytes = path + r->path_bytes;
    switch (r->kind) {
    case UNDO_BYTES: put_bytes(path, bytes, r->bytes, r->offset); break;
    case UNDO_CREATED: unlink(path); break;
    case UNDO_KEPT:
        snprintf(kept, sizeof kept, "%s/%d/%d.%llu", undo_folder, rank, log->version,
                 (unsigned long long)r->offset);
        if (access(kept, F_OK))
            break;
        unlink(path);
        if (link(kept, path))
            die("cannot bring back %s: %s", path, strerror(errno));
        break;
    case UNDO_MOVED:
        if (access(path, F_OK) && rename(bytes, path) && errno != ENOENT)
            die("cannot rename %s to %s: %s", bytes, path, strerror(errno));
        break;
    }
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

static void cut_one(const struct log *log, int rank, const struct undo_record *r, const char *path)
{
    struct stat st;
    (void)log;
    (void)rank;
    if (r->kind == UNDO_SIZE && !stat(path, &st) && S_ISREG(st.st_mode) &&
        (uint64_t)st.st_size > r->offset && truncate(path, (off_t)r->offset))
        die("cannot cut %s: %s", path, strerror(errno));
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
    if (undo_folder[0])
        backwards(rank, version, undo_one);
}

/* Logs of versions from..to-1, and what they kept. */
static void remove_logs(int rank, int from, int to)
{
    char folder[PATH_MAX + 32], path[PATH_MAX + 300];
    snprintf(folder, sizeof folder, "%s/%d", undo_folder, rank);
    DIR *d = opendir(folder);
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
    backwards(rank, version, cut_one);
    remove_logs(rank, version, INT_MAX);
}

void undo_forget(int rank, int version)
{
    if (undo_folder[0])
        remove_logs(rank, 0, version);
}
