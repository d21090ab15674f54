/* undo.c - noting what the application changes in files, before it does. See undo.h.
 *
 * undo_call runs in the trap handler with the upper half's thread pointer: raw system calls only.
 * Bytes are noted exactly as far as they are overwritten, never a whole block: other ranks may be
 * writing the bytes beside them.
 */
#include "undo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

char undo_folder[PATH_MAX];
static int log_fd = -1, log_rank, log_version;
static uint64_t log_at, copied, limit = 1ull << 30; /* bytes of one log and of its copies */
static unsigned kept_files;
static volatile int lock;
static int owner; /* the process whose log it is */

/* A file that was changed since the version, and what of it has been noted. */
enum { RANGES = 16, FILES = 256 };
static struct touched {
    dev_t device;
    ino_t inode;
    uint64_t size; /* when it was first changed */
    int count, lost;
    int created; /* it was not there at the version: nothing of it has to come back */
    struct {
        uint64_t from, to;
    } range[RANGES];
} files[FILES];
static int file_count;

#define CALL(name, a, b, c, d) \
    raw_syscall(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

static size_t length_of(const char *s)
{
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}

static int log_bytes(const void *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        long n = CALL(pwrite64, log_fd, (const char *)bytes + done, count - done, log_at + done);
        if (n == -EINTR)
            continue;
        if (n <= 0)
            return 0;
        done += (size_t)n;
    }
    log_at += count;
    return 1;
}

static int log_record(enum undo_kind kind, const char *path, uint64_t offset, uint64_t bytes)
{
    struct undo_record r = {UNDO_MAGIC, kind, (uint32_t)length_of(path) + 1, offset, bytes};
    return log_bytes(&r, sizeof r) && log_bytes(path, r.path_bytes);
}

/* A record is whole or not there: what follows an incomplete one would be lost with it. */
static void log_back_to(uint64_t at)
{
    CALL(ftruncate, log_fd, at, 0, 0);
    log_at = at;
}

static void lose(struct touched *t, const char *path)
{
    uint64_t start = log_at;
    if (t && t->lost++)
        return;
    if (!log_record(UNDO_LOST, path, 0, 0))
        log_back_to(start);
}

static char *number_to(char *end, long n)
{
    *--end = 0;
    do
        *--end = (char)('0' + n % 10);
    while (n /= 10);
    return end;
}

/* dir/name into path[PATH_MAX]; 0: too long. */
static int join(char *path, const char *dir, const char *name)
{
    size_t a = length_of(dir), b = length_of(name);
    if (a + b + 2 > PATH_MAX)
        return 0;
    memmove(path, dir, a);
    path[a] = '/';
    memcpy(path + a + 1, name, b + 1);
    return 1;
}

static int path_of(int fd, char *path)
{
    char digits[16], link[32] = "/proc/self/fd/";
    const char *number = number_to(digits + sizeof digits, fd);
    memcpy(link + 14, number, length_of(number) + 1);
    long n = CALL(readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    if (n <= 0)
        return 0;
    path[n] = 0;
    return path[0] == '/';
}

/* What the application means by (dir, name), as an absolute path. */
static int absolute(int dir, const char *name, char *path)
{
    if (name[0] == '/')
        return length_of(name) < PATH_MAX && memcpy(path, name, length_of(name) + 1);
    if (dir != AT_FDCWD)
        return path_of(dir, path) && join(path, path, name);
    return CALL(getcwd, path, PATH_MAX, 0, 0) > 0 && join(path, path, name);
}

static struct touched *known(const struct stat *st)
{
    for (int i = 0; i < file_count; i++)
        if (files[i].device == st->st_dev && files[i].inode == st->st_ino)
            return &files[i];
    return NULL;
}

static struct touched *add(const struct stat *st)
{
    /* no room: the file is noted again, which does no harm */
    struct touched *t = &files[file_count < FILES ? file_count++ : FILES - 1];
    *t = (struct touched){.device = st->st_dev, .inode = st->st_ino, .size = (uint64_t)st->st_size};
    return t;
}

static struct touched *touch(const struct stat *st, const char *path)
{
    struct touched *t = known(st);
    uint64_t start = log_at;
    if (t)
        return t;
    t = add(st);
    if (!log_record(UNDO_SIZE, path, t->size, st->st_ino)) {
        log_back_to(start);
        lose(t, path);
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

static char piece[1 << 16]; /* under the lock */

/* Note what is in the file from..to-1, of what it had when it was first changed. */
static void keep(struct touched *t, const char *path, uint64_t from, uint64_t to)
{
    uint64_t start = log_at;
    to = to < t->size ? to : t->size;
    if (from >= to || t->lost || noted(t, from, to))
        return;
    long fd = CALL(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    int ok =
        fd >= 0 && log_at + (to - from) <= limit && log_record(UNDO_BYTES, path, from, to - from);
    for (uint64_t at = from; ok && at < to;) {
        size_t want = to - at < sizeof piece ? to - at : sizeof piece;
        long n = CALL(pread64, fd, piece, want, at);
        if (n == -EINTR)
            continue;
        if (n == 0) { /* it has been cut in between: what is not there is put back as zeros */
            memset(piece, 0, want);
            n = (long)want;
        }
        ok = n > 0 && log_bytes(piece, (size_t)n);
        at += n > 0 ? (uint64_t)n : 0;
    }
    if (fd >= 0)
        CALL(close, fd, 0, 0, 0);
    if (ok) {
        remember(t, from, to);
    } else {
        log_back_to(start);
        lose(t, path);
    }
}

static char one_path[PATH_MAX], other_path[PATH_MAX]; /* under the lock */

/* The file will be written at offset (-1: where it stands). */
static void before_write(int fd, int64_t offset, uint64_t count)
{
    struct stat st;
    if (CALL(fstat, fd, &st, 0, 0) || !S_ISREG(st.st_mode) || !path_of(fd, one_path))
        return;
    struct touched *t = touch(&st, one_path);
    if (CALL(fcntl, fd, F_GETFL, 0, 0) & O_APPEND)
        return;
    if (offset < 0)
        offset = CALL(lseek, fd, 0, SEEK_CUR, 0);
    keep(t, one_path, (uint64_t)offset, (uint64_t)offset + count);
}

static void before_cut(int fd, uint64_t size)
{
    struct stat st;
    if (CALL(fstat, fd, &st, 0, 0) || !S_ISREG(st.st_mode) || !path_of(fd, one_path))
        return;
    keep(touch(&st, one_path), one_path, size, UINT64_MAX);
}

static void before_cut_by_name(int dir, const char *name, uint64_t size)
{
    long fd = CALL(openat, dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    if (fd < 0)
        return;
    before_cut((int)fd, size);
    CALL(close, fd, 0, 0, 0);
}

/* 1: the call will make a new file. */
static int before_open(int dir, const char *name, long flags)
{
    struct stat st;
    uint64_t start = log_at;
    long rc = CALL(newfstatat, dir, name, &st, 0);
    if (rc == 0 && S_ISREG(st.st_mode) && flags & O_TRUNC)
        before_cut_by_name(dir, name, 0);
    else if (rc == -ENOENT && flags & O_CREAT && absolute(dir, name, one_path)) {
        if (log_record(UNDO_CREATED, one_path, 0, 0))
            return 1;
        log_back_to(start);
    }
    return 0;
}

static void after_creation(int fd)
{
    struct stat st;
    /* not empty: another rank has given an older file this name meanwhile */
    if (CALL(fstat, fd, &st, 0, 0) == 0 && S_ISREG(st.st_mode) && st.st_size == 0 && !known(&st))
        add(&st)->created = 1;
}

/* Where a second name cannot be given: another file system, or one without links. */
static int copy(int dir, const char *name, uint64_t size, const char *to)
{
    if (size > limit || log_at + copied > limit - size)
        return 0;
    long in = CALL(openat, dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0), n = -1;
    long out = CALL(openat, AT_FDCWD, to, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    for (uint64_t at = 0; in >= 0 && out >= 0; at += (uint64_t)n) {
        n = CALL(pread64, in, piece, sizeof piece, at);
        if (n <= 0 || CALL(pwrite64, out, piece, n, at) != n)
            break;
        copied += (uint64_t)n;
    }
    if (in >= 0)
        CALL(close, in, 0, 0, 0);
    if (out >= 0)
        CALL(close, out, 0, 0, 0);
    return n == 0;
}

/* The name will stand for nothing, or for another file: the file itself is kept by a second name,
 * unless it is younger than the version. */
static void before_gone(int dir, const char *name)
{
    struct stat st;
    char digits[32], rank_digits[16];
    uint64_t start = log_at;
    if (CALL(newfstatat, dir, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
        !absolute(dir, name, one_path))
        return;
    const struct touched *t = known(&st);
    if (t && t->created)
        return;
    char *at = number_to(digits + sizeof digits, kept_files);
    *--at = '.';
    char *tail = at;
    for (long v = log_version; tail == at || v; v /= 10)
        *--at = (char)('0' + v % 10);
    if (!join(other_path, undo_folder, number_to(rank_digits + sizeof rank_digits, log_rank)) ||
        !join(other_path, other_path, at))
        return;
    int ok = (raw_syscall(SYS_linkat, dir, (long)name, AT_FDCWD, (long)other_path, 0, 0) == 0 ||
              copy(dir, name, (uint64_t)st.st_size, other_path)) &&
             log_record(UNDO_KEPT, one_path, kept_files++, st.st_mode & 07777);
    if (!ok) {
        log_back_to(start);
        lose(NULL, one_path);
    }
}

static void before_rename(int dir, const char *name, int to_dir, const char *to)
{
    uint64_t start = log_at;
    before_gone(to_dir, to);
    if (absolute(dir, name, one_path) && absolute(to_dir, to, other_path) &&
        (!log_record(UNDO_MOVED, one_path, 0, length_of(other_path) + 1) ||
         !log_bytes(other_path, length_of(other_path) + 1)))
        log_back_to(start);
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
    case SYS_renameat:
    case SYS_renameat2: before_rename((int)a[0], (char *)a[1], (int)a[2], (char *)a[3]); break;
#ifdef SYS_open
    case SYS_open: return before_open(AT_FDCWD, (char *)a[0], (long)a[1]);
    case SYS_creat: return before_open(AT_FDCWD, (char *)a[0], O_CREAT | O_TRUNC);
    case SYS_unlink: before_gone(AT_FDCWD, (char *)a[0]); break;
    case SYS_rename: before_rename(AT_FDCWD, (char *)a[0], AT_FDCWD, (char *)a[1]); break;
#endif
    }
    return 0;
}

/* 0: nothing is noted now, or not here: a forked child has no log. */
static int take_log(void)
{
    if (log_fd < 0 || CALL(getpid, 0, 0, 0, 0) != owner)
        return 0;
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
        raw_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
    return 1;
}

static void give_log_back(void)
{
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

void undo_note_length(const char *path)
{
    struct stat st;
    uint64_t start = log_at;
    if (!take_log())
        return;
    long rc = CALL(newfstatat, AT_FDCWD, path, &st, 0);
    if (rc == 0 && S_ISREG(st.st_mode))
        touch(&st, path);
    else if (rc == -ENOENT && !log_record(UNDO_CREATED, path, 0, 0))
        log_back_to(start);
    give_log_back();
}

void undo_note_gone(const char *path)
{
    if (!take_log())
        return;
    before_gone(AT_FDCWD, path);
    give_log_back();
}

void undo_note_map(int fd, uint64_t from, uint64_t length)
{
    struct stat st;
    if (!take_log())
        return;
    /* shared memory is no file to the user: what is mapped of it is in the image */
    if (!CALL(fstat, fd, &st, 0, 0) && S_ISREG(st.st_mode) && st.st_nlink &&
        path_of(fd, one_path) && memcmp(one_path, "/dev/shm/", 9) != 0)
        keep(touch(&st, one_path), one_path, from, from + length);
    give_log_back();
}

long undo_call(long number, const unsigned long a[6])
{
    int creates = 0;
    if (take_log()) {
        creates = note(number, a);
        give_log_back();
    }
    long rc =
        raw_syscall(number, (long)a[0], (long)a[1], (long)a[2], (long)a[3], (long)a[4], (long)a[5]);
    if (creates && rc >= 0 && take_log()) {
        after_creation((int)rc);
        give_log_back();
    }
    return rc;
}

void undo_open(const char *dir)
{
    const char *text = getenv("MEND_ONLINE_UNDO");
    if (text && (limit = strtoull(text, NULL, 10)) == 0)
        return;
    snprintf(undo_folder, sizeof undo_folder, "%.4000s/undo", dir);
    if (mkdir(undo_folder, 0700) && errno != EEXIST)
        die("cannot make %s: %s", undo_folder, strerror(errno));
}

void undo_begin(int rank, int version)
{
    char path[PATH_MAX + 64];
    if (!undo_folder[0])
        return;
    if (log_fd >= 0)
        CALL(close, log_fd, 0, 0, 0);
    if (log_fd >= 0 && !log_at && version != log_version) { /* nothing was changed */
        snprintf(path, sizeof path, "%s/%d/%d", undo_folder, log_rank, log_version);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/%d", undo_folder, rank);
    if (mkdir(path, 0700) && errno != EEXIST)
        die("cannot make %s: %s", path, strerror(errno));
    snprintf(path, sizeof path, "%s/%d/%d", undo_folder, rank, version);
    log_fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (log_fd < 0)
        die("cannot open %s: %s", path, strerror(errno));
    log_rank = rank;
    log_version = version;
    log_at = copied = kept_files = 0;
    file_count = lock = 0;
    if (rank == 0)
        undo_copies_done();
    owner = getpid();
    undo_outside_begin();
}
