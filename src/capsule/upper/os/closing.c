/* os/closing.c - closing files, and which number the next file gets.
 *
 * 1. A program may close its standard input, output or error. The next file that it opens gets the free number. But the
 *    lower half opens files in the same process, at any time. So a placeholder takes the number in the same step: to the
 *    program it looks closed (EBADF), and close() of it fails; the program's next file replaces it.
 * 2. When a process closes any descriptor of a file, the kernel drops all locks on the file that fcntl() has given to the
 *    process. We close a descriptor whenever we move a new file (files.c), but the program has closed nothing. So on a
 *    file on which anybody has such a lock, the first number stays open until nobody has (upper.low_files).
 */
#include "os/files.h"
#include "os/os.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PLACEHOLDER "mend-closed"

/* --- 1. placeholders --- */
static struct {
    int used; /* there has been one */
} closing;

int is_placeholder(int fd)
{
    static const char name[] = "/memfd:" PLACEHOLDER " (deleted)";
    char link[64], target[sizeof name + 1];
    if (!closing.used || fd < 0 || fd >= STANDARD_FILES)
        return 0;
    file_link(fd, link, sizeof link);
    long n = raw_syscall(SYS_readlinkat, AT_FDCWD, (long)link, (long)target, sizeof target, 0, 0);
    return n == sizeof name - 1 && memcmp(target, name, sizeof name - 1) == 0;
}

/* A file that can be neither read nor written; it does not survive exec(). */
int place_placeholder(int fd)
{
    char link[64];
    long memory = raw_syscall(SYS_memfd_create, (long)PLACEHOLDER, O_CLOEXEC ? 1 : 0, 0, 0, 0, 0);
    if (memory < 0)
        return 0;
    file_link((int)memory, link, sizeof link);
    long path = raw_syscall(SYS_openat, AT_FDCWD, (long)link, O_PATH | O_CLOEXEC, 0, 0, 0);
    raw_syscall(SYS_close, memory, 0, 0, 0, 0, 0);
    if (path < 0)
        return 0;
    int ok = path == fd || raw_syscall(SYS_dup3, path, fd, O_CLOEXEC, 0, 0, 0) == fd;
    if (path != fd)
        raw_syscall(SYS_close, path, 0, 0, 0, 0, 0);
    closing.used |= ok;
    return ok;
}

/* The number that a file of the program gets if it may be `least`; -1: none below the upper half's. */
int lowest_closed(int least)
{
    for (int fd = least; closing.used && fd < STANDARD_FILES; fd++)
        if (is_placeholder(fd))
            return fd;
    return -1;
}

static int close_standard(int fd)
{
    if (is_placeholder(fd)) {
        errno = EBADF;
        return -1;
    }
    in_library++;
    int placed = file_control(fd, F_GETFD, 0) >= 0 && place_placeholder(fd);
    in_library--;
    return placed ? 0 : NEXT(close)(fd);
}

/* --- 2. locks --- */
/* An open file asks what would keep it from locking everything: the locks of all processes, this one included. */
static int is_locked(int fd)
{
    struct flock all = {.l_type = F_WRLCK};
    return file_control(fd, F_OFD_GETLK, (long)&all) == 0 && all.l_type != F_UNLCK;
}

void close_low_files(void)
{
    for (int i = 0; upper.low_used && i < LOW_FILES; i++) {
        int one = __atomic_exchange_n(&upper.low_files[i], 0, __ATOMIC_SEQ_CST);
        if (one && is_locked(one - 1))
            __atomic_store_n(&upper.low_files[i], one, __ATOMIC_SEQ_CST);
        else if (one)
            raw_syscall(SYS_close, one - 1, 0, 0, 0, 0, 0);
    }
}

/* Called with in_library set: the file is the program's under another number. */
void close_low_file(int fd)
{
    close_low_files();
    if (upper.locks_files && is_locked(fd)) {
        file_control(fd, F_SETFD, FD_CLOEXEC);
        for (int i = 0; i < LOW_FILES; i++) {
            int none = 0;
            upper.low_used = 1;
            if (__atomic_compare_exchange_n(&upper.low_files[i], &none, fd + 1, 0, __ATOMIC_SEQ_CST,
                                            __ATOMIC_SEQ_CST)) {
                file_stays(fd);
                return;
            }
        }
    }
    raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

/* --- the calls --- */
int close(int fd)
{
    if (fd >= 0 && fd < STANDARD_FILES)
        return close_standard(fd);
    int rc = NEXT(close)(fd);
    if (upper.low_used)
        close_low_files();
    return rc;
}

/* libc closes the number of a stream without asking us: give the stream another one first. */
int fclose(FILE *f)
{
    int fd = f->_fileno;
    if (fd >= 0 && fd < STANDARD_FILES && !is_placeholder(fd)) {
        in_library++;
        int high = file_control(fd, F_DUPFD_CLOEXEC, file_numbers());
        if (high >= 0 && place_placeholder(fd))
            f->_fileno = high;
        else if (high >= 0)
            raw_syscall(SYS_close, high, 0, 0, 0, 0, 0);
        in_library--;
    }
    int rc = NEXT(fclose)(f);
    if (upper.low_used)
        close_low_files();
    return rc;
}

static int no_such_file(void)
{
    errno = EBADF;
    return -1;
}

int dup2(int from, int to)
{
    return is_placeholder(from) ? no_such_file() : NEXT(dup2)(from, to);
}

int dup3(int from, int to, int flags)
{
    return is_placeholder(from) ? no_such_file() : NEXT(dup3)(from, to, flags);
}

/* Not libc's: programs know it by different names, and older libraries have not all of them. */
int fstat(int fd, struct stat *st)
{
    long rc = is_placeholder(fd) ? -EBADF : raw_syscall(SYS_fstat, fd, (long)st, 0, 0, 0, 0);
    if (rc < 0)
        errno = (int)-rc;
    return rc < 0 ? -1 : 0;
}
int fstat64(int, struct stat64 *) __attribute__((alias("fstat")));
int __fxstat(int, int, struct stat *);
int __fxstat(int version, int fd, struct stat *st)
{
    (void)version;
    return fstat(fd, st);
}
int __fxstat64(int, int, struct stat64 *) __attribute__((alias("__fxstat")));

void closing_init(void)
{
    close(-1); /* call dlsym() now rather than later, inside something else */
}

/* In a new process. */
void closing_resumed(void)
{
    upper.low_used = 0;
    memset(upper.low_files, 0, sizeof upper.low_files);
}
