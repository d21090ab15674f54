/* undo/library.c - records what the MPI library is about to change in the application's files.
 *
 * MPI-IO ends in a few functions of libc, whatever the view, the file pointer and the hints, and whichever
 * rank writes for the others. We define those functions in the executable, where the dynamic linker finds
 * them first. So the process that overwrites bytes records exactly those bytes, just before it does so.
 */
#include "undo/undo.h"

#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define OURS __attribute__((visibility("default")))

/* 0: nothing to record: MPI-IO has no file open, or this is another file, or a socket. */
static int concerns(int fd)
{
    struct stat st;
    if (!outside_open() || fstat(fd, &st) || !S_ISREG(st.st_mode) || !undo_take())
        return 0;
    int yes = outside_has(&st);
    undo_give();
    return yes;
}

static uint64_t all_of(const struct iovec *part, int n)
{
    uint64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += part[i].iov_len;
    return sum;
}

OURS ssize_t write(int fd, const void *bytes, size_t count)
{
    if (concerns(fd))
        undo_note_write(fd, -1, count);
    return syscall(SYS_write, fd, bytes, count);
}

OURS ssize_t writev(int fd, const struct iovec *part, int n)
{
    if (concerns(fd))
        undo_note_write(fd, -1, all_of(part, n));
    return syscall(SYS_writev, fd, part, n);
}

OURS ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at)
{
    if (concerns(fd))
        undo_note_write(fd, at, count);
    return syscall(SYS_pwrite64, fd, bytes, count, at);
}

OURS ssize_t pwritev(int fd, const struct iovec *part, int n, off_t at)
{
    if (concerns(fd))
        undo_note_write(fd, at, all_of(part, n));
    return syscall(SYS_pwritev, fd, part, n, at, 0);
}

OURS int ftruncate(int fd, off_t size)
{
    if (concerns(fd))
        undo_note_cut(fd, (uint64_t)size);
    return (int)syscall(SYS_ftruncate, fd, size);
}

OURS int unlink(const char *path)
{
    struct stat st;
    int concerned = 0;
    if (outside_open() && !lstat(path, &st) && undo_take()) {
        concerned = outside_has(&st);
        undo_give();
    }
    if (concerned)
        undo_note_gone(path);
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

/* Asynchronous I/O runs synchronously. A failure may end the application's part of this process: a write
 * still in flight would then land after the bytes were put back, and a read would land in memory that was
 * loaded from an image. (Also, libc's threads for it look like the application's.) */
static int done(struct aiocb *call, ssize_t n)
{
    call->__return_value = n;
    call->__error_code = n < 0 ? errno : 0;
    return 0;
}

static int later(const char *name, struct aiocb *call)
{
    union {
        void *symbol;
        int (*call)(struct aiocb *);
    } library = {dlsym(RTLD_NEXT, name)};
    return library.call(call);
}

OURS int aio_write(struct aiocb *call)
{
    if (!undo_log.folder[0])
        return later("aio_write", call);
    return done(call, pwrite(call->aio_fildes, (const void *)call->aio_buf, call->aio_nbytes,
                             call->aio_offset));
}

OURS int aio_read(struct aiocb *call)
{
    if (!undo_log.folder[0])
        return later("aio_read", call);
    return done(call,
                pread(call->aio_fildes, (void *)call->aio_buf, call->aio_nbytes, call->aio_offset));
}

/* The 64-bit names; here they are the same functions. */
OURS int aio_write64(struct aiocb64 *call)
{
    return aio_write((struct aiocb *)call);
}

OURS int aio_read64(struct aiocb64 *call)
{
    return aio_read((struct aiocb *)call);
}

OURS ssize_t pwrite64(int, const void *, size_t, off_t) __attribute__((alias("pwrite")));
OURS ssize_t pwritev64(int, const struct iovec *, int, off_t) __attribute__((alias("pwritev")));
OURS int ftruncate64(int, off_t) __attribute__((alias("ftruncate")));

int undo_library_heard(void)
{
    return dlsym(RTLD_DEFAULT, "pwritev") == (void *)pwritev &&
           dlsym(RTLD_DEFAULT, "aio_write") == (void *)aio_write;
}
