/* os_pipes.c - pipes that the application has to itself, both ends of them, and event counters: threads
 * wake each other by them. What is in a pipe goes into the image. A pipe with one end here leads to
 * another process, which no image brings back.
 */
#include "core.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

struct content {
    size_t bytes;
    char data[];
};
enum { ENDS = 256 };
static struct end {
    int fd, flags, cloexec;
    int event; /* no pipe: an event counter, and its count */
    uint64_t count;
    ino_t inode;
    int first;               /* of this pipe: has what follows */
    struct content *content; /* unread bytes */
    long room;               /* of the pipe, in bytes */
} ends[ENDS];
static int nends;

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
    e.event = !S_ISFIFO(st->st_mode);
    if (nends == ENDS || (e.event && !counter_of(fd, &e.count)))
        return 0;
    ends[nends++] = e;
    return 1;
}

/* What is in the pipe stays there: tee() makes a copy in another one. */
static struct content *unread(int fd, long room)
{
    int copy[2];
    struct content *c = keep_alloc(sizeof *c + (size_t)room);
    c->bytes = 0;
    if (raw_syscall(SYS_pipe2, (long)copy, O_CLOEXEC | O_NONBLOCK, 0, 0, 0, 0) < 0)
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
    for (int i = 0; i < nends; i++)
        if (ends[i].content)
            keep_free(ends[i].content);
    nends = 0;
}

/* All files have been looked at: which pipes have both ends here? */
void pipes_noted(void)
{
    int kept = 0;
    for (int i = 0; i < nends; i++) {
        struct end *e = &ends[i];
        int ways = 0, reader = -1;
        for (int j = 0; j < nends && !e->event; j++)
            if (!ends[j].event && ends[j].inode == e->inode) {
                int way = ends[j].flags & O_ACCMODE;
                ways |= way == O_RDONLY ? 1 : way == O_WRONLY ? 2 : 3;
                if (way != O_WRONLY && reader < 0)
                    reader = ends[j].fd;
                if (j < i)
                    e->first = -1;
            }
        if (!e->event && ways != 3) {
            file_say("an open pipe to another process is not kept by the image", "note");
            e->first = -2;
        } else if (!e->event && e->first == 0) {
            e->first = 1;
            e->room = control(reader, F_GETPIPE_SZ, 0);
            e->content = unread(reader, e->room);
        }
    }
    for (int i = 0; i < nends; i++)
        if (ends[i].first != -2)
            ends[kept++] = ends[i];
    nends = kept;
}

static void place(long from, const struct end *e)
{
    raw_syscall(SYS_dup3, from, e->fd, e->cloexec ? O_CLOEXEC : 0, 0, 0, 0);
    control(e->fd, F_SETFL, e->flags & (O_NONBLOCK | O_ASYNC));
}

void pipes_again(void)
{
    for (int i = 0; i < nends; i++) {
        struct end *e = &ends[i];
        int two[2];
        if (e->event) {
            long fd = raw_syscall(SYS_eventfd2, 0, O_NONBLOCK, 0, 0, 0, 0);
            if (fd >= 0 && e->count)
                raw_syscall(SYS_write, fd, (long)&e->count, sizeof e->count, 0, 0, 0);
            place(fd, e);
            raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
            continue;
        }
        if (e->first != 1 || raw_syscall(SYS_pipe2, (long)two, O_CLOEXEC, 0, 0, 0, 0) < 0)
            continue;
        control(two[1], F_SETPIPE_SZ, e->room);
        for (size_t at = 0; at < e->content->bytes;) {
            long n = raw_syscall(SYS_write, two[1], (long)(e->content->data + at),
                                 (long)(e->content->bytes - at), 0, 0, 0);
            if (n <= 0)
                break;
            at += (size_t)n;
        }
        for (int j = i; j < nends; j++)
            if (!ends[j].event && ends[j].inode == e->inode)
                place((ends[j].flags & O_ACCMODE) == O_RDONLY ? two[0] : two[1], &ends[j]);
        raw_syscall(SYS_close, two[0], 0, 0, 0, 0, 0);
        raw_syscall(SYS_close, two[1], 0, 0, 0, 0, 0);
    }
}
