/* undo/touched.c - the files that the application has changed since the version, and what of them is recorded.
 *
 * Exactly the bytes that are overwritten are recorded, never a whole block: other ranks may be writing the bytes next
 * to them.
 */
#include "undo/touched.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

struct since since;

void touched_lose(struct touched *t, const char *path)
{
    uint64_t start = undo_log.at;
    if (t && t->lost++)
        return;
    if (!log_record(UNDO_LOST, path, 0, 0, 0)) {
        log_back_to(start);
        log_mark_lost();
    }
}

struct touched *touched_find(const struct stat *st)
{
    for (int i = 0; i < since.file_count; i++)
        if (since.files[i].device == st->st_dev && since.files[i].inode == st->st_ino)
            return &since.files[i];
    return NULL;
}

static void forget(struct touched *t)
{
    if (t->reader > 0)
        quiet_close(t->reader);
    t->reader = 0;
}

struct touched *touched_add(const struct stat *st)
{
    /* table full: the file is recorded again, which does no harm */
    struct touched *t = &since.files[since.file_count < FILES ? since.file_count++ : FILES - 1];
    forget(t);
    *t = (struct touched){.device = st->st_dev, .inode = st->st_ino, .size = (uint64_t)st->st_size};
    return t;
}

struct touched *touched_note(const struct stat *st, const char *path)
{
    struct touched *t = touched_find(st);
    uint64_t start = undo_log.at;
    if (t)
        return t;
    t = touched_add(st);
    if (!log_record(UNDO_SIZE, path, t->inode, t->size, 0)) {
        log_back_to(start);
        touched_lose(t, path);
    }
    return t;
}

/* The same for a file that other ranks change, too: they must know what this rank has recorded. */
struct touched *touched_note_shared(const struct stat *st, const char *path)
{
    struct touched *t = touched_find(st);
    uint64_t start = undo_log.at;
    if (t && t->shared)
        return t;
    if (!t)
        t = touched_add(st);
    t->shared = 1;
    t->key = shared_key(st, path);
    int ok = shared_lock() && shared_length(t->key, t->size, &t->size);
    for (int i = 0; ok && i < t->count; i++)
        ok = shared_note(t->key, t->range[i].from, t->range[i].to);
    shared_unlock();
    if (!ok || !log_record(UNDO_SIZE, path, t->inode, t->size, 0)) {
        log_back_to(start);
        touched_lose(t, path);
    }
    return t;
}

static int noted(const struct touched *t, uint64_t from, uint64_t to)
{
    for (int i = 0; i < t->count; i++)
        if (t->range[i].from <= from && to <= t->range[i].to)
            return 1;
    return 0;
}

static void remember(struct touched *t, uint64_t from, uint64_t to)
{
    for (int i = 0; i < t->count; i++)
        if (from <= t->range[i].to && t->range[i].from <= to) {
            t->range[i].from = from < t->range[i].from ? from : t->range[i].from;
            t->range[i].to = to > t->range[i].to ? to : t->range[i].to;
            return;
        }
    if (t->count < RANGES) {
        t->range[t->count].from = from;
        t->range[t->count++].to = to;
    }
}

/* The reader of a shared file stays open until the next version: see touched_keep(). */
static int reader_of(struct touched *t, const char *path)
{
    if (t->shared && t->reader > 0)
        return t->reader;
    int fd = (int)CALL(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (t->shared && fd > 0)
        t->reader = fd;
    return fd;
}

static int log_content(int fd, const struct touched *t, const char *path, uint64_t from,
                       uint64_t to)
{
    int ok = undo_log.at + (to - from) <= undo_log.limit &&
             log_record(UNDO_BYTES, path, t->inode, from, to - from);
    for (uint64_t at = from; ok && at < to;) {
        size_t want = to - at < sizeof since.piece ? to - at : sizeof since.piece;
        long n = CALL(pread64, fd, since.piece, want, at);
        if (n == -EINTR)
            continue;
        if (n == 0) { /* cut in the meantime: the missing part is restored as zeros */
            memset(since.piece, 0, want);
            n = (long)want;
        }
        ok = n > 0 && log_bytes(since.piece, (size_t)n);
        at += n > 0 ? (uint64_t)n : 0;
    }
    return ok;
}

/* See the list in undo/shared.c. */
static int keep_shared(int fd, const struct touched *t, const char *path, uint64_t from,
                       uint64_t to)
{
    uint64_t a = from, b = to;
    if (!shared_next(t->key, &a, &b))
        return 1;
    int ok = fd >= 0 && shared_lock();
    for (a = from; ok && (b = to, shared_next(t->key, &a, &b)); a = b) {
        uint64_t start = undo_log.at;
        ok = log_content(fd, t, path, a, b);
        if (!ok)
            log_back_to(start);
        ok = ok && shared_note(t->key, a, b);
    }
    shared_unlock();
    return ok;
}

/* Record the content of from..to-1, as far as the file reached when it was first changed. `own` is the
 * application's descriptor, or -1. */
void touched_keep(int own, struct touched *t, const char *path, uint64_t from, uint64_t to)
{
    uint64_t start = undo_log.at;
    to = to < t->size ? to : t->size;
    if (from >= to || t->lost || (!t->shared && noted(t, from, to)))
        return;
    long flags = own < 0 ? O_WRONLY : CALL(fcntl, own, F_GETFL, 0, 0);
    int mine = (flags & O_ACCMODE) == O_WRONLY || flags & O_DIRECT;
    int fd = mine ? reader_of(t, path) : own;
    if (t->shared ? keep_shared(fd, t, path, from, to)
                  : fd >= 0 && log_content(fd, t, path, from, to)) {
        if (!t->shared)
            remember(t, from, to);
    } else {
        if (!t->shared)
            log_back_to(start);
        touched_lose(t, path);
    }
    if (mine && fd >= 0 && !t->shared)
        quiet_close(fd);
}

void touched_forget_all(void)
{
    for (int i = 0; i < since.file_count; i++)
        forget(&since.files[i]);
    since.file_count = 0;
}
