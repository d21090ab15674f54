/* os/scratch.c - open files that no longer have a name: scratch files of Fortran, tmpfile(). The image
 * holds their content, and a restart writes it to a new file without a name in the same folder.
 */
#include "os/files.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct scratch {
    size_t bytes;
    char data[];
};

static long folder_of(const char *path, char *folder, size_t room)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash && slash > path ? (size_t)(slash - path) : 1;
    if (path[0] != '/' || n >= room)
        return -ENOENT;
    memcpy(folder, path, n);
    folder[n] = 0;
    return 0;
}

struct scratch *scratch_save(int fd, size_t bytes)
{
    char own[32];
    struct scratch *s = keep_alloc(sizeof *s + bytes);
    s->bytes = 0;
    /* If the application cannot read it, open it again. Not otherwise: to close that may drop locks (os/closing.c). */
    file_link(fd, own, sizeof own);
    int readable = (file_control(fd, F_GETFL, 0) & O_ACCMODE) != O_WRONLY;
    long again =
        readable ? fd : raw_syscall(SYS_openat, AT_FDCWD, (long)own, O_RDONLY | O_CLOEXEC, 0, 0, 0);
    while (again >= 0 && s->bytes < bytes) {
        long n = raw_syscall(SYS_pread64, again, (long)(s->data + s->bytes),
                             (long)(bytes - s->bytes), (long)s->bytes, 0, 0);
        if (n <= 0)
            break;
        s->bytes += (size_t)n;
    }
    if (again >= 0 && !readable)
        raw_syscall(SYS_close, again, 0, 0, 0, 0, 0);
    if (s->bytes < bytes)
        file_say("cannot be read: the image does not keep all of a file without a name", own);
    return s;
}

long scratch_again(const struct scratch *s, const char *path, int flags)
{
    char folder[4096];
    long rc = folder_of(path, folder, sizeof folder), fd = -1;
    if (rc == 0) /* O_TMPFILE requires write access, which does not hurt the application */
        fd = raw_syscall(SYS_openat, AT_FDCWD, (long)folder,
                         __O_TMPFILE | O_DIRECTORY | O_RDWR | (flags & O_APPEND), 0600, 0, 0);
    if (fd < 0)
        fd = raw_syscall(SYS_memfd_create, (long)"scratch", 0, 0, 0, 0, 0);
    for (size_t at = 0; fd >= 0 && at < s->bytes;) {
        long n = raw_syscall(SYS_pwrite64, fd, (long)(s->data + at), (long)(s->bytes - at),
                             (long)at, 0, 0);
        if (n <= 0) {
            raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
            return -ENOSPC;
        }
        at += (size_t)n;
    }
    return fd;
}
