/* os/locks.c - locks that the program holds on files: flock(), lockf(), and fcntl() for a process or for an open file.
 *
 * The kernel lists the locks of an open file in /proc/self/fdinfo, whoever has taken, split, converted or dropped them, by
 * whatever call. So nothing is noted when the program locks and unlocks.
 *   1. At a checkpoint all threads are parked. Note which locks each open file has (after os/files.c has noted the files).
 *   2. Before an image is loaded, every process closes all of the program's files (lower/images/wipe.c). That drops all
 *      its locks, including those that it has taken since the image. The kernel drops the locks of a dead process.
 *   3. All ranks agree that all have loaded their images (lower/online/meeting.c, lower/versions/restart.c). So nobody
 *      takes a lock in 4 before everybody has dropped his.
 *   4. Open the files again and take their locks. This comes after everything else that opens files: when a process closes
 *      any descriptor of a file, the kernel drops all locks that fcntl() has given to the process.
 *   5. A barrier (lower_resumed): no program goes on before all ranks have their locks.
 * At the version no two ranks held locks that exclude each other. So a lock that cannot be taken in 4 belongs to somebody
 * else: to a process of the last launch that is still ending, or to a program outside the job. The rank tries again for a
 * while; then the job ends with a sentence (lower/undo/locked.c), because it would be wrong to go on without the lock.
 * A rank that dies between two steps drops what it holds. The others notice it in 4 or in the barrier, and begin again at 2.
 *
 * A thread that waits for a lock has none. It makes its call again, on the new file, after a checkpoint or a resume.
 */
#include "os/files.h"
#include "os/os.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

struct lock {
    int fd, take; /* SYS_flock's operation, or the command of fcntl() */
    enum { OF_FILE, BY_RANGE } kind;
    struct flock range;
};
static struct {
    struct lock *list;
    int count, room;
} locks;

static void add(const struct lock *l)
{
    if (locks.count == locks.room) {
        struct lock *more = keep_alloc((size_t)(2 * locks.room + 16) * sizeof *more);
        for (int i = 0; i < locks.count; i++)
            more[i] = locks.list[i];
        if (locks.list)
            keep_free(locks.list);
        locks.list = more;
        locks.room = 2 * locks.room + 16;
    }
    locks.list[locks.count++] = *l;
}

/* One line: lock:	1: POSIX  ADVISORY  WRITE 5103 fe:00:1234 0 EOF */
static void consider(int fd, const char *line)
{
    struct lock l = {.fd = fd};
    char kind[16], type[16], last[32];
    long from = 0, to = 0;
    if (scan(line, "lock: %*d: %15s %*s %15s %*d %*s %ld %31s", kind, type, &from, last) != 4)
        return;
    int write = strcmp(type, "WRITE") == 0, to_end = strcmp(last, "EOF") == 0;
    if (!write && strcmp(type, "READ") != 0)
        return;
    if (strcmp(kind, "FLOCK") == 0) {
        l.kind = OF_FILE;
        l.take = (write ? LOCK_EX : LOCK_SH) | LOCK_NB;
    } else if (strcmp(kind, "POSIX") == 0 || strcmp(kind, "OFDLCK") == 0) {
        l.kind = BY_RANGE;
        l.take = kind[0] == 'P' ? F_SETLK : F_OFD_SETLK;
        l.range.l_type = write ? F_WRLCK : F_RDLCK;
        l.range.l_start = from;
        if (!to_end && scan(last, "%ld", &to) != 1)
            return;
        l.range.l_len = to_end ? 0 : to - from + 1;
    } else {
        return; /* a lease */
    }
    add(&l);
}

void locks_note(int fd)
{
    char path[64], buffer[4096];
    size_t have = 0;
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
    long info = raw_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
    while (info >= 0) {
        long n = raw_syscall(SYS_read, info, (long)(buffer + have),
                             (long)(sizeof buffer - 1 - have), 0, 0, 0);
        if (n <= 0)
            break;
        have += (size_t)n;
        buffer[have] = 0;
        char *line = buffer;
        for (char *end; (end = strchr(line, '\n')); line = end + 1) {
            *end = 0;
            consider(fd, line);
        }
        have -= (size_t)(line - buffer);
        memmove(buffer, line, have);
        if (have == sizeof buffer - 1)
            have = 0; /* a line longer than any of a lock */
    }
    if (info >= 0)
        raw_syscall(SYS_close, info, 0, 0, 0, 0, 0);
    else
        file_say("cannot be read: the image leaves out locks of files", path);
}

void locks_forget(void)
{
    locks.count = 0;
}

/* 0, or -errno */
static long take(struct lock *l)
{
    return l->kind == OF_FILE ? raw_syscall(SYS_flock, l->fd, l->take, 0, 0, 0, 0)
                              : file_control(l->fd, l->take, (long)&l->range);
}

void locks_again(void)
{
    for (int i = 0; i < locks.count; i++) {
        struct lock_wait wait = {0};
        for (;;) {
            long rc = take(&locks.list[i]);
            if (rc >= 0 || rc == -EBADF) /* no such file: os/files.c has said so */
                break;
            LOWER_VOID(lock_awaited, locks.list[i].fd, &wait);
        }
    }
    locks_forget();
}

/* A program that locks files tells us that several processes change them: see lower/undo/undo.c. */
int lock_seen(int rc)
{
    if (rc == 0)
        upper.locks_files = 1;
    if (upper.low_used)
        close_low_files();
    return rc;
}

int flock(int fd, int operation)
{
    return lock_seen(NEXT(flock)(fd, operation));
}

int lockf(int fd, int what, off_t bytes)
{
    return lock_seen(NEXT(lockf)(fd, what, bytes));
}
int lockf64(int, int, off_t) __attribute__((alias("lockf")));
