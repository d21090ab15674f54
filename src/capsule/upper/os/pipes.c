/* os/pipes.c - pipes and event counters, by which threads wake each other. What is in a pipe goes into
 * the image. If nobody has the other end, it is broken after a restart, too. If another process has it,
 * which no image brings back, what was unread can still be read; to write is an error (EBADF, and no
 * signal that ends the program). Of other sockets than those of os/sockets.c and the like only the number is kept, as such an error: it
 * must not lead to the next file that is opened.
 */
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
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
    int lost;       /* its other end is another process's, and nothing can be read */
    uint64_t count; /* EVENTS */
    ino_t inode;
    int first;               /* of this pipe: has what follows */
    struct content *content; /* unread bytes */
    long room;               /* of the pipe, in bytes */
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

/* "NAME: HEX" of /proc/self/fdinfo, by raw calls */
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

/* What is in the pipe stays there: tee() makes a copy in another one. */
static struct content *unread(int fd, long room)
{
    int copy[2];
    struct content *c = keep_alloc(sizeof *c + (size_t)room);
    c->bytes = 0;
    if (raw_syscall(SYS_pipe2, (long)copy, O_CLOEXEC | O_NONBLOCK, 0, 0, 0, NUMBERS_AS_THEY_ARE) <
        0)
        return c;
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

/* Only one kind of end is here: does another process have the other? */
static int leads_elsewhere(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN | POLLOUT};
    raw_syscall(SYS_ppoll, (long)&p, 1, (long)&(struct timespec){0, 0}, 0, 0, 0);
    return !(p.revents & (POLLERR | POLLHUP)); /* no reader, no writer */
}

/* All files have been looked at: whose other end is here? The first end of a pipe has what is in it. */
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
            raw_syscall(SYS_close, e->fd, 0, 0, 0, 0, 0); /* gone back in time, it has the name */
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
        if (!e->first ||
            raw_syscall(SYS_pipe2, (long)two, O_CLOEXEC, 0, 0, 0, NUMBERS_AS_THEY_ARE) < 0)
            continue;
        control(two[1], F_SETPIPE_SZ, e->room);
        for (size_t at = 0; at < e->content->bytes;) {
            long n = raw_syscall(SYS_write, two[1], (long)(e->content->data + at),
                                 (long)(e->content->bytes - at), 0, 0, 0);
            if (n <= 0)
                break;
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
