/* os/descriptors.c - the other calls that return a file descriptor. It must also be one of the upper
 * half's (os/files.c): in the next process a low number would belong to the lower half.
 */
#include "os/files.h"
#include "os/os.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int moved(int fd)
{
    return fd < 0 ? fd : file_moved(fd, fcntl(fd, F_GETFD) & FD_CLOEXEC);
}
/* in_library keeps images out between opening a file and moving it. Such an image would not know the
 * file, and a process resumed from it would move a file of its own lower half instead. */
#define MOVED(opening)            \
    ({                            \
        in_library++;             \
        int fd_ = moved(opening); \
        in_library--;             \
        fd_;                      \
    })
#define BOTH_MOVED(opening, fd)       \
    ({                                \
        in_library++;                 \
        int rc_ = opening;            \
        if (rc_ == 0) {               \
            (fd)[0] = moved((fd)[0]); \
            (fd)[1] = moved((fd)[1]); \
        }                             \
        in_library--;                 \
        rc_;                          \
    })

int pipe2(int fd[2], int flags)
{
    return BOTH_MOVED(NEXT(pipe2)(fd, flags), fd);
}
int pipe(int fd[2])
{
    return pipe2(fd, 0);
}
int socketpair(int domain, int type, int protocol, int fd[2])
{
    return BOTH_MOVED(NEXT(socketpair)(domain, type, protocol, fd), fd);
}
int socket(int domain, int type, int protocol)
{
    return MOVED(NEXT(socket)(domain, type, protocol));
}
int accept4(int fd, struct sockaddr *restrict address, socklen_t *restrict length, int flags)
{
    int before = files_resumed(), n = NEXT(accept4)(fd, address, length, flags);
    in_library++; /* not earlier: accept may wait */
    if (n >= 0 && files_resumed() != before) {
        errno = ECONNABORTED; /* the connection was to a process that is gone */
        n = -1;
    }
    n = moved(n);
    in_library--;
    return n;
}
int accept(int fd, struct sockaddr *restrict address, socklen_t *restrict length)
{
    return accept4(fd, address, length, 0);
}
int eventfd(unsigned count, int flags)
{
    return MOVED(NEXT(eventfd)(count, flags));
}
int epoll_create1(int flags)
{
    return MOVED(NEXT(epoll_create1)(flags));
}
int epoll_create(int size)
{
    return size > 0 ? epoll_create1(0) : NEXT(epoll_create)(size);
}
int timerfd_create(int clock, int flags)
{
    return MOVED(NEXT(timerfd_create)(clock, flags));
}
int signalfd(int fd, const sigset_t *mask, int flags)
{
    sigset_t theirs = *mask; /* see sigtimedwait() in os/waits.c */
    sigdelset(&theirs, SIGSYS);
    sigdelset(&theirs, SIGNAL_PARK);
    sigdelset(&theirs, SIGNAL_LEAVE);
    return fd == -1 ? MOVED(NEXT(signalfd)(fd, &theirs, flags))
                    : NEXT(signalfd)(fd, &theirs, flags);
}
int inotify_init1(int flags)
{
    return MOVED(NEXT(inotify_init1)(flags));
}
int inotify_init(void)
{
    return inotify_init1(0);
}
int memfd_create(const char *name, unsigned flags)
{
    return MOVED(NEXT(memfd_create)(name, flags));
}
int shm_open(const char *name, int flags, mode_t mode)
{
    return MOVED(NEXT(shm_open)(name, flags, mode));
}
int mkostemps(char *pattern, int suffix, int flags)
{
    return MOVED(NEXT(mkostemps)(pattern, suffix, flags));
}
int mkostemp(char *pattern, int flags)
{
    return mkostemps(pattern, 0, flags);
}
int mkstemps(char *pattern, int suffix)
{
    return mkostemps(pattern, suffix, 0);
}
int mkstemp(char *pattern)
{
    return mkostemps(pattern, 0, 0);
}
int mkstemp64(char *) __attribute__((alias("mkstemp")));
int mkostemp64(char *, int) __attribute__((alias("mkostemp")));
int mkstemps64(char *, int) __attribute__((alias("mkstemps")));
int mkostemps64(char *, int, int) __attribute__((alias("mkostemps")));
FILE *tmpfile(void)
{
    in_library++;
    FILE *f = NEXT(tmpfile)();
    if (f)
        f->_fileno = moved(f->_fileno);
    in_library--;
    return f;
}
FILE *tmpfile64(void) __attribute__((alias("tmpfile")));
/* For popen(): pclose() closes whatever number the stream has. */
void stream_moved(FILE *f)
{
    f->_fileno = moved(f->_fileno);
}
DIR *opendir(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !dir) {
        int error = errno;
        close(fd);
        errno = error;
    }
    return dir;
}
int dup(int fd)
{
    return fcntl(fd, F_DUPFD, 0);
}
int fcntl(int fd, int what, ...)
{
    va_list list;
    va_start(list, what);
    long argument = va_arg(list, long);
    va_end(list);
    if (is_placeholder(fd)) {
        errno = EBADF;
        return -1;
    }
    if ((what == F_DUPFD || what == F_DUPFD_CLOEXEC) && argument < file_numbers()) {
        int closed = lowest_closed((int)argument);
        if (closed >= 0)
            return dup3(fd, closed, what == F_DUPFD ? 0 : O_CLOEXEC);
        argument = file_numbers();
    }
    int rc = NEXT(fcntl)(fd, what, argument);
    int locks = what == F_SETLK || what == F_SETLKW || what == F_OFD_SETLK || what == F_OFD_SETLKW;
    return locks ? lock_seen(rc) : rc;
}
int fcntl64(int, int, ...) __attribute__((alias("fcntl")));
