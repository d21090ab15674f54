/* os/transfers.c - calls that move bytes, and that a signal ends in the middle.
 *
 * A write to a pipe or a socket that is full waits for a reader. If we park the thread then, the kernel returns how
 * many bytes it has taken so far; natively, without a signal, it takes all. So we pass on the rest. If that fails,
 * the result is what was taken before, as natively: a write that may not wait has ended early of its own accord.
 */
#include "os/waits.h"

#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* `done` counts the bytes so far, `more` is the next call. */
#define ALL_OF(count, more)                                       \
    ({                                                            \
        ssize_t n_;                                               \
        size_t done = 0;                                          \
        struct before before_;                                    \
        int error_ = errno;                                       \
        do {                                                      \
            before_ = look();                                     \
            n_ = AGAIN(more);                                     \
            done += n_ > 0 ? (size_t)n_ : 0;                      \
        } while (n_ > 0 && done < (count) && only_ours(before_)); \
        if (n_ < 0 && done)                                       \
            errno = error_;                                       \
        n_ < 0 && !done ? n_ : (ssize_t)done;                     \
    })

ssize_t write(int fd, const void *bytes, size_t count)
{
    return ALL_OF(count, NEXT(write)(fd, (const char *)bytes + done, count - done));
}

/* The parts without their first `done` bytes; stops at a part that was taken in part, which goes first and alone. */
static ssize_t rest_of(int fd, const struct iovec *part, int count, size_t done)
{
    for (; count > 1 && done >= part->iov_len; part++, count--)
        done -= part->iov_len;
    if (!done)
        return NEXT(writev)(fd, part, count);
    return NEXT(write)(fd, (const char *)part->iov_base + done, part->iov_len - done);
}

ssize_t writev(int fd, const struct iovec *part, int count)
{
    size_t all = 0;
    for (int i = 0; i < count; i++)
        all += part[i].iov_len;
    return ALL_OF(all, rest_of(fd, part, count, done));
}

ssize_t send(int fd, const void *bytes, size_t count, int flags)
{
    return ALL_OF(count, NEXT(send)(fd, (const char *)bytes + done, count - done, flags));
}

ssize_t recv(int fd, void *bytes, size_t count, int flags)
{
    if (!(flags & MSG_WAITALL) || flags & MSG_PEEK)
        return AGAIN(NEXT(recv)(fd, bytes, count, flags));
    return ALL_OF(count, NEXT(recv)(fd, (char *)bytes + done, count - done, flags));
}
