#include <base/fail.h>
#include <base/fault.h>
#include <base/io.h>

#include "io_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One system call moves at most this much (Linux' own limit is 2 GiB - 4 KiB). */
#define CHUNK_MAX ((size_t)1 << 30)

/* The errno that a fault asks for, or 0. */
static int fault_errno(enum mend_fault_effect effect)
{
    return effect == MEND_FAULT_EIO ? EIO : effect == MEND_FAULT_ENOSPC ? ENOSPC : 0;
}

static size_t shortened(enum mend_fault_effect effect, size_t size)
{
    return effect == MEND_FAULT_SHORT && size > 1 ? size / 2 : size;
}

/* Write a flipped copy: the caller's data must not change. */
static ssize_t write_flipped(int fd, const void *data, size_t size, off_t offset)
{
    char *copy = malloc(size);
    if (!copy)
        return -1;
    memcpy(copy, data, size);
    copy[size / 2] ^= 0x10;
    ssize_t n = offset < 0 ? write(fd, copy, size) : pwrite(fd, copy, size, offset);
    free(copy);
    return n;
}

/* One write; offset < 0 means at the file's own position. */
static ssize_t write_once(int fd, const void *data, size_t size, off_t offset)
{
    enum mend_fault_effect effect = MEND_FAULT_POINT(io_write);
    if ((errno = fault_errno(effect)))
        return -1;
    if (effect == MEND_FAULT_FLIP && size > 0)
        return write_flipped(fd, data, size, offset);
    size = shortened(effect, size < CHUNK_MAX ? size : CHUNK_MAX);
    return offset < 0 ? write(fd, data, size) : pwrite(fd, data, size, offset);
}

static int write_all(int fd, const char *data, size_t size, off_t offset, const char *path)
{
    while (size > 0) {
        ssize_t n = write_once(fd, data, size, offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return mend_fail_errno("cannot write to %s", path);
        data += n;
        size -= (size_t)n;
        if (offset >= 0)
            offset += n;
    }
    return MEND_OK;
}

int mend_io_write(int fd, const void *data, size_t size, const char *path)
{
    return write_all(fd, data, size, -1, path);
}

int mend_io_pwrite(int fd, const void *data, size_t size, off_t offset, const char *path)
{
    if (offset < 0)
        return mend_fail(MEND_ERR_ARGUMENT, "negative offset for %s", path);
    return write_all(fd, data, size, offset, path);
}

int mend_io_writev(int fd, struct iovec *parts, int count, const char *path)
{
    while (count > 0) {
        if (parts->iov_len == 0) {
            parts++;
            count--;
            continue;
        }
        ssize_t n;
        if (mend_fault_armed)
            n = write_once(fd, parts->iov_base, parts->iov_len, -1);
        else
            n = writev(fd, parts, count < IOV_MAX ? count : IOV_MAX);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return mend_fail_errno("cannot write to %s", path);
        for (size_t left = (size_t)n; left > 0;) {
            size_t step = left < parts->iov_len ? left : parts->iov_len;
            parts->iov_base = (char *)parts->iov_base + step;
            parts->iov_len -= step;
            left -= step;
            if (parts->iov_len == 0) {
                parts++;
                count--;
            }
        }
    }
    return MEND_OK;
}

static int read_all(int fd, char *data, size_t size, off_t offset, const char *path)
{
    while (size > 0) {
        enum mend_fault_effect effect = MEND_FAULT_POINT(io_read);
        size_t chunk = shortened(effect, size < CHUNK_MAX ? size : CHUNK_MAX);
        ssize_t n = -1;
        if (!(errno = fault_errno(effect)))
            n = offset < 0 ? read(fd, data, chunk) : pread(fd, data, chunk, offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return mend_fail_errno("cannot read %s", path);
        if (n == 0)
            return mend_fail(MEND_ERR_TRUNCATED, "%s ends %zu bytes too early", path, size);
        if (effect == MEND_FAULT_FLIP)
            data[n / 2] ^= 0x10;
        data += n;
        size -= (size_t)n;
        if (offset >= 0)
            offset += n;
    }
    return MEND_OK;
}

int mend_io_read(int fd, void *data, size_t size, const char *path)
{
    return read_all(fd, data, size, -1, path);
}

int mend_io_pread(int fd, void *data, size_t size, off_t offset, const char *path)
{
    if (offset < 0)
        return mend_fail(MEND_ERR_ARGUMENT, "negative offset for %s", path);
    return read_all(fd, data, size, offset, path);
}

static int open_once(const char *path, int flags)
{
    const char *name;
    int fd, at;
    if ((errno = fault_errno(MEND_FAULT_POINT(io_open))) || (at = mend_io_at(path, &name)) == -1)
        return -1;
    do {
        fd = openat(at, name, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

int mend_io_open_read(const char *path)
{
    /* O_NONBLOCK: a fifo in the file's place must not block us; it is refused below */
    int fd = open_once(path, O_RDONLY | O_NONBLOCK);
    if (fd < 0 && errno == ELOOP)
        return mend_fail(MEND_ERR_PERMISSION, "%s is a symbolic link, which is not followed", path);
    if (fd < 0)
        return mend_fail_errno("cannot open %s", path);
    struct stat st;
    int code = MEND_OK;
    if (fstat(fd, &st))
        code = mend_fail_errno("cannot examine %s", path);
    else if (!S_ISREG(st.st_mode))
        code = mend_fail(MEND_ERR_PERMISSION, "%s is not a regular file", path);
    else if (st.st_uid != geteuid())
        code = mend_fail(MEND_ERR_PERMISSION, "%s belongs to user %d, not to user %d", path,
                         (int)st.st_uid, (int)geteuid());
    else if (st.st_mode & 0022)
        code = mend_fail(MEND_ERR_PERMISSION, "%s can be written by other users (mode %04o)", path,
                         (unsigned)st.st_mode & 07777);
    if (code) {
        close(fd);
        return code;
    }
    return fd;
}

int mend_io_create(const char *path)
{
    int fd = open_once(path, O_RDWR | O_CREAT | O_EXCL);
    return fd < 0 ? mend_fail_errno("cannot create %s", path) : fd;
}

int mend_io_open_write(const char *path)
{
    int fd = open_once(path, O_WRONLY);
    return fd < 0 ? mend_fail_errno("cannot open %s", path) : fd;
}

int mend_io_close(int fd, const char *path)
{
    int broken = fault_errno(MEND_FAULT_POINT(io_close));
    int failed = close(fd);
    if (broken)
        errno = broken;
    return failed || broken ? mend_fail_errno("cannot close %s", path) : MEND_OK;
}

int mend_io_open_folder_at(int at, const char *name, const char *path, int *out)
{
    struct stat st;
    int code = MEND_OK, fd = -1;

    *out = -1;
    if (!(errno = fault_errno(MEND_FAULT_POINT(io_opendir))))
        fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return MEND_OK;
    if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
        return mend_fail(MEND_ERR_PERMISSION, "%s is a link or not a folder", path);
    if (fd < 0)
        return mend_fail_errno("cannot open the folder %s", path);
    if (fstat(fd, &st))
        code = mend_fail_errno("cannot examine %s", path);
    else if (st.st_uid != geteuid() || (st.st_mode & 022))
        code = mend_fail(MEND_ERR_PERMISSION,
                         "the folder %s belongs to another user, or others may write to it", path);
    if (code)
        close(fd);
    else
        *out = fd;
    return code;
}

int mend_io_open_folder(const char *path, int *out)
{
    const char *name;
    int at = mend_io_at_folder(path, &name);
    *out = -1;
    return at == -1 ? mend_fail_errno("cannot open the folder %s", path)
                    : mend_io_open_folder_at(at, name, path, out);
}

int mend_io_fsync(int fd, const char *path)
{
    int failed;
    if ((errno = fault_errno(MEND_FAULT_POINT(io_fsync))))
        return mend_fail_errno("cannot make %s durable", path);
    do {
        failed = fsync(fd);
    } while (failed && errno == EINTR);
    return failed ? mend_fail_errno("cannot make %s durable", path) : MEND_OK;
}

int mend_io_rename(const char *from, const char *to)
{
    const char *old_name, *new_name;
    int old_at = mend_io_at(from, &old_name), new_at = mend_io_at(to, &new_name);
    if (old_at == -1 || new_at == -1 || (errno = fault_errno(MEND_FAULT_POINT(io_rename))) ||
        renameat(old_at, old_name, new_at, new_name))
        return mend_fail_errno("cannot rename %s to %s", from, to);
    return MEND_OK;
}

int mend_io_remove(const char *path)
{
    const char *name;
    int at = mend_io_at(path, &name);
    if (at == -1 || (errno = fault_errno(MEND_FAULT_POINT(io_unlink))) ||
        (unlinkat(at, name, 0) && errno != ENOENT))
        return mend_fail_errno("cannot remove %s", path);
    return MEND_OK;
}

int mend_io_sync_directory(const char *path)
{
    const char *name;
    int at = mend_io_at_folder(path, &name), fd = -1;
    if (at != -1 && !(errno = fault_errno(MEND_FAULT_POINT(io_open))))
        fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return mend_fail_errno("cannot open the folder %s", path);
    int code = mend_io_fsync(fd, path);
    close(fd);
    return code;
}
