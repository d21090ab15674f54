/* undo.c - records what the application changes in files, before it does so. See undo.h.
 *
 * undo_call runs in the trap handler with the upper half's thread pointer: raw system calls only.
 */
#include "undo/touched.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

/* The file, which is about to change. Other ranks may change the same bytes if MPI-IO has it open, or if the program locks
 * files: then each byte is recorded once, by the rank that changes it first (undo/shared.c). */
static struct touched *note_file(const struct stat *st)
{
    int several = outside_has(st) || undo_program_locks();
    return several ? touched_note_shared(st, since.one_path) : touched_note(st, since.one_path);
}

/* The application will write to the file at offset (-1: the current position). */
static void before_write(int fd, int64_t offset, uint64_t count)
{
    struct stat st;
    if (CALL(fstat, fd, &st, 0, 0) || !S_ISREG(st.st_mode) || !log_path_of(fd, since.one_path))
        return;
    struct touched *t = note_file(&st);
    if (CALL(fcntl, fd, F_GETFL, 0, 0) & O_APPEND)
        return;
    if (offset < 0)
        offset = CALL(lseek, fd, 0, SEEK_CUR, 0);
    touched_keep(fd, t, since.one_path, (uint64_t)offset, (uint64_t)offset + count);
}

static void before_cut(int fd, uint64_t size)
{
    struct stat st;
    if (CALL(fstat, fd, &st, 0, 0) || !S_ISREG(st.st_mode) || !log_path_of(fd, since.one_path))
        return;
    struct touched *t = note_file(&st);
    touched_keep(fd, t, since.one_path, size, UINT64_MAX);
}

static void before_cut_by_name(int dir, const char *name, uint64_t size)
{
    long fd = CALL(openat, dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    if (fd < 0) { /* it cannot be read, but perhaps written */
        if (fd != -ENXIO && CALL(faccessat, dir, name, W_OK, 0) == 0 &&
            log_absolute(dir, name, since.one_path))
            touched_lose(NULL, since.one_path);
        return;
    }
    before_cut((int)fd, size);
    quiet_close((int)fd);
}

/* 1: the call will make a new file. */
static int before_open(int dir, const char *name, long flags)
{
    struct stat st;
    uint64_t start = undo_log.at;
    long rc = CALL(newfstatat, dir, name, &st, 0);
    if (rc == 0 && S_ISREG(st.st_mode) && flags & O_TRUNC)
        before_cut_by_name(dir, name, 0);
    else if (rc == -ENOENT && flags & O_CREAT && log_absolute(dir, name, since.one_path)) {
        if (log_record(UNDO_CREATED, since.one_path, 0, 0, 0))
            return 1;
        log_back_to(start);
        touched_lose(NULL, since.one_path);
    }
    return 0;
}

static void after_creation(int fd)
{
    struct stat st;
    /* not empty: another rank has meanwhile given this name to an older file */
    if (CALL(fstat, fd, &st, 0, 0) == 0 && S_ISREG(st.st_mode) && st.st_size == 0 &&
        !touched_find(&st))
        touched_add(&st)->created = 1;
}

/* For when a second name is impossible: on another file system, or on one without links. */
static int copy(int dir, const char *name, uint64_t size, const char *to)
{
    if (size > undo_log.limit || undo_log.at + since.copied > undo_log.limit - size)
        return 0;
    long in = CALL(openat, dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0), n = -1;
    long out = CALL(openat, AT_FDCWD, to, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    for (uint64_t at = 0; in >= 0 && out >= 0; at += (uint64_t)n) {
        n = CALL(pread64, in, since.piece, sizeof since.piece, at);
        if (n <= 0 || CALL(pwrite64, out, since.piece, n, at) != n)
            break;
        since.copied += (uint64_t)n;
    }
    if (in >= 0)
        quiet_close((int)in);
    if (out >= 0)
        CALL(close, out, 0, 0, 0);
    return n == 0;
}

/* The file was made since the version: by this rank or, through MPI-IO, by any rank. */
static int is_younger(const struct stat *st, const char *path)
{
    const struct touched *t = touched_find(st);
    int yes = t && t->created;
    if (!yes && shared_lock())
        yes = shared_created(shared_key(st, path));
    shared_unlock();
    return yes;
}

/* The name will disappear or stand for another file. Keep the file itself by a second name, unless it is
 * younger than the version. */
static void before_gone(int dir, const char *name)
{
    struct stat st;
    char digits[32], rank_digits[16];
    uint64_t start = undo_log.at;
    if (CALL(newfstatat, dir, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
        !log_absolute(dir, name, since.one_path))
        return;
    if (is_younger(&st, since.one_path))
        return;
    char *at = log_number(digits + sizeof digits, since.kept_files);
    *--at = '.';
    char *tail = at;
    for (mend_version_t v = undo_log.version; tail == at || v; v /= 10)
        *--at = (char)('0' + v % 10);
    if (!log_join(since.other_path, undo_log.folder,
                  log_number(rank_digits + sizeof rank_digits, undo_log.rank)) ||
        !log_join(since.other_path, since.other_path, at))
        return;
    long linked = raw_syscall(SYS_linkat, dir, (long)name, AT_FDCWD, (long)since.other_path, 0, 0);
    if (linked == -ENOENT) /* another rank was faster and has recorded it */
        return;
    int ok =
        (linked == 0 || copy(dir, name, (uint64_t)st.st_size, since.other_path)) &&
        log_record(UNDO_KEPT, since.one_path, st.st_ino, since.kept_files++, st.st_mode & 07777);
    if (!ok) {
        log_back_to(start);
        touched_lose(NULL, since.one_path);
    }
}

static void before_rename(int dir, const char *name, int to_dir, const char *to)
{
    struct stat st;
    uint64_t start = undo_log.at;
    if (CALL(newfstatat, dir, name, &st, AT_SYMLINK_NOFOLLOW))
        return; /* the rename will fail */
    before_gone(to_dir, to);
    if (log_absolute(dir, name, since.one_path) && log_absolute(to_dir, to, since.other_path) &&
        (!log_record(UNDO_MOVED, since.one_path, 0, 0, log_length(since.other_path) + 1) ||
         !log_bytes(since.other_path, log_length(since.other_path) + 1))) {
        log_back_to(start);
        touched_lose(NULL, since.one_path);
    }
}

static uint64_t all_of(const struct iovec *part, unsigned long count)
{
    uint64_t sum = 0;
    for (unsigned long i = 0; i < count && i < IOV_MAX; i++)
        sum += part[i].iov_len;
    return sum;
}

/* 1: the call will make a new file. */
static int note(long number, const unsigned long a[6])
{
    switch (number) {
    case SYS_write: before_write((int)a[0], -1, a[2]); break;
    case SYS_writev: before_write((int)a[0], -1, all_of((void *)a[1], a[2])); break;
    case SYS_pwrite64: before_write((int)a[0], (int64_t)a[3], a[2]); break;
    case SYS_pwritev:
    case SYS_pwritev2: before_write((int)a[0], (int64_t)a[3], all_of((void *)a[1], a[2])); break;
    case SYS_fallocate:
        before_write((int)a[0], (int64_t)a[2], a[1] & ~1ul ? UINT64_MAX / 2 : 0);
        break;
    case SYS_ftruncate: before_cut((int)a[0], a[1]); break;
    case SYS_truncate: before_cut_by_name(AT_FDCWD, (char *)a[0], a[1]); break;
    case SYS_openat: return before_open((int)a[0], (char *)a[1], (long)a[2]);
    case SYS_unlinkat:
        if (!(a[2] & AT_REMOVEDIR))
            before_gone((int)a[0], (char *)a[1]);
        break;
    case SYS_renameat2:
        if (a[4] & RENAME_EXCHANGE) {
            before_gone((int)a[0], (char *)a[1]);
            before_gone((int)a[2], (char *)a[3]);
            break;
        }
        before_rename((int)a[0], (char *)a[1], (int)a[2], (char *)a[3]);
        break;
    case SYS_renameat: before_rename((int)a[0], (char *)a[1], (int)a[2], (char *)a[3]); break;
#ifdef SYS_open
    case SYS_open: return before_open(AT_FDCWD, (char *)a[0], (long)a[1]);
    case SYS_creat: return before_open(AT_FDCWD, (char *)a[0], O_CREAT | O_TRUNC);
    case SYS_unlink: before_gone(AT_FDCWD, (char *)a[0]); break;
    case SYS_rename: before_rename(AT_FDCWD, (char *)a[0], AT_FDCWD, (char *)a[1]); break;
#endif
    }
    return 0;
}

void undo_note_again(void)
{
    since.copied = since.kept_files = 0;
    touched_forget_all();
}

int undo_note_length(const char *path)
{
    struct stat st;
    if (!undo_take())
        return 0;
    uint64_t start = undo_log.at;
    long rc = CALL(newfstatat, AT_FDCWD, path, &st, 0);
    if (rc == 0 && S_ISREG(st.st_mode))
        touched_note_shared(&st, path);
    else if (rc == -ENOENT && !log_record(UNDO_CREATED, path, 0, 0, 0)) {
        log_back_to(start);
        touched_lose(NULL, path);
    }
    undo_give();
    return rc == -ENOENT;
}

void undo_note_created(const char *path)
{
    struct stat st;
    if (!undo_take())
        return;
    if (!CALL(newfstatat, AT_FDCWD, path, &st, 0) && S_ISREG(st.st_mode)) {
        touched_note_shared(&st, path)->created = 1;
        if (shared_lock())
            shared_note_created(shared_key(&st, path));
        shared_unlock();
    }
    undo_give();
}

void undo_note_gone(const char *path)
{
    if (!undo_take())
        return;
    before_gone(AT_FDCWD, path);
    undo_give();
}

void undo_note_map(int fd, uint64_t from, uint64_t length)
{
    struct stat st;
    if (!undo_take())
        return;
    /* shared memory is no file to the user: the image holds what is mapped of it */
    if (!CALL(fstat, fd, &st, 0, 0) && S_ISREG(st.st_mode) && st.st_nlink &&
        log_path_of(fd, since.one_path) && memcmp(since.one_path, "/dev/shm/", 9) != 0)
        touched_keep(-1, note_file(&st), since.one_path, from, from + length);
    undo_give();
}

void undo_note_write(int fd, int64_t offset, uint64_t bytes)
{
    if (!undo_take())
        return;
    before_write(fd, offset, bytes);
    undo_give();
}

void undo_note_cut(int fd, uint64_t size)
{
    if (!undo_take())
        return;
    before_cut(fd, size);
    undo_give();
}

static int renames(long number)
{
#ifdef SYS_rename
    if (number == SYS_rename)
        return 1;
#endif
    return number == SYS_renameat || number == SYS_renameat2;
}

long undo_call(long number, const unsigned long a[6])
{
    int creates = 0;
    if (undo_take()) {
        uint64_t start = undo_log.at;
        creates = note(number, a);
        if (renames(number)) { /* a failed rename moved nothing: undoing it would */
            long rc = raw_syscall(number, (long)a[0], (long)a[1], (long)a[2], (long)a[3],
                                  (long)a[4], (long)a[5]);
            if (rc < 0)
                log_back_to(start);
            undo_give();
            return rc;
        }
        undo_give();
    }
    long rc =
        raw_syscall(number, (long)a[0], (long)a[1], (long)a[2], (long)a[3], (long)a[4], (long)a[5]);
    if (creates && rc >= 0 && undo_take()) {
        after_creation((int)rc);
        undo_give();
    }
    return rc;
}
