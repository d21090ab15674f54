/* os/pipes.c - pipes and event counters, by which threads wake each other. The image holds the unread bytes of
 * a pipe. A pipe whose other end is closed stays broken after a restart. If the other end belongs to another
 * process, which no image brings back, the program can still read the unread bytes, but a write fails (EBADF,
 * without a signal that ends the program). Of anything else, such as sockets that os/sockets.c does not handle,
 * a restart keeps only the number, on which reads give end of file and writes fail: it must not lead to the next
 * file that the program opens.
 */
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

struct content {
    size_t bytes;
    char data[];
};
struct end {
    int fd, flags, cloexec;
    enum { PIPE, EVENTS, LISTENER, OTHER } kind;
    int lost;       /* a restart puts /dev/null here: OTHER, or the write end to another process */
    uint64_t count; /* EVENTS */
    ino_t inode;
    int first;               /* the first end of its pipe, which has the next two fields */
    struct content *content; /* unread bytes */
    long room;               /* capacity of the pipe in bytes */
    struct listener *listener;
};
static struct {
    struct end *list;
    int count, room;
} ends;

static long control(int fd, int what, long argument)
{
    return raw_syscall(SYS_fcntl, fd, what, argument, 0, 0, 0);
}

/* The hexadecimal "eventfd-count:" in /proc/self/fdinfo, read by raw calls. Returns 0 if fd is no event counter. */
static int counter_of(int fd, uint64_t *count)
{
    char path[64], text[512], *at;
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
    long f = raw_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
    if (f < 0)
        return 0;
    long n = raw_syscall(SYS_read, f, (long)text, sizeof text - 1, 0, 0, 0);
    raw_syscall(SYS_close, f, 0, 0, 0, 0, 0);
    text[n > 0 ? n : 0] = 0;
    if (!(at = strstr(text, "eventfd-count:")))
        return 0;
    *count = 0;
    for (at += strlen("eventfd-count:"); *at == ' ' || *at == '\t'; at++)
        ;
    for (; *at && *at != '\n'; at++)
        *count = *count * 16 + (uint64_t)(*at >= 'a' ? *at - 'a' + 10 : *at - '0');
    return 1;
}

int pipe_note(int fd, const struct stat *st)
{
    struct end e = {.fd = fd,
                    .flags = (int)control(fd, F_GETFL, 0),
                    .cloexec = (int)control(fd, F_GETFD, 0) & FD_CLOEXEC,
                    .inode = st->st_ino};
    if (ends.count == ends.room) {
        struct end *more = keep_alloc((size_t)(2 * ends.room + 64) * sizeof *more);
        for (int i = 0; i < ends.count; i++)
            more[i] = ends.list[i];
        if (ends.list)
            keep_free(ends.list);
        ends.list = more;
        ends.room = 2 * ends.room + 64;
    }
    if (!S_ISFIFO(st->st_mode))
        e.kind = counter_of(fd, &e.count)                                    ? EVENTS
                 : S_ISSOCK(st->st_mode) && (e.listener = listener_note(fd)) ? LISTENER
                                                                             : OTHER;
    e.lost = e.kind == OTHER;
    ends.list[ends.count++] = e;
    return !e.lost;
}

/* The copy may be smaller than the pipe: the kernel limits the pages that a user's pipes may have. */
static void note_unread(int fd, const struct content *c)
{
    int there = 0;
    raw_syscall(SYS_ioctl, fd, FIONREAD, (long)&there, 0, 0, 0);
    if (c->bytes < (size_t)there)
        file_say("the image does not keep all bytes in a pipe", "note");
}

/* The bytes stay in the pipe: tee() copies them into another one. */
static struct content *unread(int fd, long room)
{
    int copy[2];
    struct content *c = keep_alloc(sizeof *c + (size_t)room);
    c->bytes = 0;
    if (raw_syscall(SYS_pipe2, (long)copy, O_CLOEXEC | O_NONBLOCK, 0, 0, 0, NUMBERS_AS_THEY_ARE) <
        0) {
        note_unread(fd, c);
        return c;
    }
    control(copy[1], F_SETPIPE_SZ, room);
    long n = raw_syscall(SYS_tee, fd, copy[1], room, SPLICE_F_NONBLOCK, 0, 0);
    while (n > 0 && c->bytes < (size_t)n) {
        long got =
            raw_syscall(SYS_read, copy[0], (long)(c->data + c->bytes), n - (long)c->bytes, 0, 0, 0);
        if (got <= 0)
            break;
        c->bytes += (size_t)got;
    }
    raw_syscall(SYS_close, copy[0], 0, 0, 0, 0, 0);
    raw_syscall(SYS_close, copy[1], 0, 0, 0, 0, 0);
    note_unread(fd, c);
    return c;
}

void pipes_forget(void)
{
    for (int i = 0; i < ends.count; i++) {
        if (ends.list[i].content)
            keep_free(ends.list[i].content);
        if (ends.list[i].listener)
            keep_free(ends.list[i].listener);
    }
    ends.count = 0;
}

/* This process has only one kind of end: does another process have the other? */
static int leads_elsewhere(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN | POLLOUT};
    raw_syscall(SYS_ppoll, (long)&p, 1, (long)&(struct timespec){0, 0}, 0, 0, 0);
    return !(p.revents & (POLLERR | POLLHUP)); /* no reader, no writer */
}

/* All files are noted. Find the ends that belong together, and save the unread bytes with the first of them. */
void pipes_noted(void)
{
    for (int i = 0; i < ends.count; i++) {
        struct end *e = &ends.list[i];
        int ways = 0, reader = -1;
        if (e->kind != PIPE)
            continue;
        e->first = 1;
        for (int j = 0; j < ends.count; j++) {
            if (ends.list[j].kind != PIPE || ends.list[j].inode != e->inode)
                continue;
            int way = ends.list[j].flags & O_ACCMODE;
            ways |= way == O_RDONLY ? 1 : way == O_WRONLY ? 2 : 3;
            if (way != O_WRONLY && reader < 0)
                reader = ends.list[j].fd;
            if (j < i)
                e->first = 0;
        }
        if (ways != 3 && leads_elsewhere(e->fd)) {
            file_say("the image does not keep an open pipe to another process", "note");
            e->lost = ways == 2;
        }
        if (!e->first || e->lost)
            continue;
        e->room = control(e->fd, F_GETPIPE_SZ, 0);
        e->content = reader >= 0 ? unread(reader, e->room) : keep_alloc(sizeof *e->content);
        if (reader < 0)
            e->content->bytes = 0;
    }
}

static void place(long from, const struct end *e)
{
    raw_syscall(SYS_dup3, from, e->fd, e->cloexec ? O_CLOEXEC : 0, 0, 0, 0);
    control(e->fd, F_SETFL, e->flags & (O_NONBLOCK | O_ASYNC));
}

void pipes_again(void)
{
    for (int i = 0; i < ends.count; i++) {
        struct end *e = &ends.list[i];
        int two[2];
        if (e->lost) {
            long fd = raw_syscall(SYS_openat, AT_FDCWD, (long)"/dev/null", O_RDONLY, 0, 0, 0);
            place(fd, e);
            raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
            continue;
        }
        if (e->kind == LISTENER) {
            raw_syscall(SYS_close, e->fd, 0, 0, 0, 0, 0); /* else, in place, it holds the name */
            long fd = listener_again(e->listener);
            if (fd < 0)
                file_say("a socket cannot listen under its name again", "resume");
            else
                place(fd, e);
            if (fd >= 0)
                raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
            continue;
        }
        if (e->kind == EVENTS) {
            long fd = raw_syscall(SYS_eventfd2, 0, O_NONBLOCK, 0, 0, 0, NUMBERS_AS_THEY_ARE);
            if (fd >= 0 && e->count)
                raw_syscall(SYS_write, fd, (long)&e->count, sizeof e->count, 0, 0, 0);
            place(fd, e);
            raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
            continue;
        }
        if (!e->first)
            continue;
        /* O_NONBLOCK: a pipe that stays too small must not block the resume; place() resets it */
        if (raw_syscall(SYS_pipe2, (long)two, O_CLOEXEC | O_NONBLOCK, 0, 0, 0,
                        NUMBERS_AS_THEY_ARE) < 0) {
            file_say("a pipe cannot be made again", "resume");
            continue;
        }
        control(two[1], F_SETPIPE_SZ, e->room);
        for (size_t at = 0; at < e->content->bytes;) {
            long n = raw_syscall(SYS_write, two[1], (long)(e->content->data + at),
                                 (long)(e->content->bytes - at), 0, 0, 0);
            if (n <= 0) {
                file_say("not all bytes fit into a pipe again", "resume");
                break;
            }
            at += (size_t)n;
        }
        for (int j = i; j < ends.count; j++)
            if (ends.list[j].kind == PIPE && ends.list[j].inode == e->inode)
                place((ends.list[j].flags & O_ACCMODE) == O_RDONLY ? two[0] : two[1],
                      &ends.list[j]);
        raw_syscall(SYS_close, two[0], 0, 0, 0, 0, 0);
        raw_syscall(SYS_close, two[1], 0, 0, 0, 0, 0);
    }
}
