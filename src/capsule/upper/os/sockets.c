/* os/sockets.c - sockets on which the program listens for others on its machine, under a name that is not
 * a file (abstract, in unix(7)). A restart listens there again; connections are lost. If the name ends with
 * the process ID, as a GPU driver's does, the new name ends with the new process ID, because others look
 * for the process under that name.
 */
#include "os/os.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

struct listener {
    int type, pid;
    socklen_t length;
    struct sockaddr_un name;
};

static int option(int fd, int which)
{
    int value = 0;
    socklen_t size = sizeof value;
    long rc = raw_syscall(SYS_getsockopt, fd, SOL_SOCKET, which, (long)&value, (long)&size, 0);
    return rc < 0 ? 0 : value;
}

/* At a checkpoint. Returns NULL if fd is anything else. The caller frees the result by keep_free(). */
struct listener *listener_note(int fd)
{
    struct listener l = {.type = option(fd, SO_TYPE), .length = sizeof l.name};
    if (!option(fd, SO_ACCEPTCONN) || option(fd, SO_DOMAIN) != AF_UNIX ||
        raw_syscall(SYS_getsockname, fd, (long)&l.name, (long)&l.length, 0, 0, 0) < 0 ||
        l.length <= offsetof(struct sockaddr_un, sun_path) || l.length > sizeof l.name ||
        l.name.sun_path[0])
        return NULL;
    l.pid = (int)raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
    struct listener *kept = keep_alloc(sizeof *kept);
    *kept = l;
    return kept;
}

/* "…-OLD" becomes "…-NEW". */
static void name_anew(struct listener *l)
{
    char old[24], new[24];
    size_t head = offsetof(struct sockaddr_un, sun_path), all = l->length - head;
    size_t cut = (size_t)snprintf(old, sizeof old, "-%d", l->pid);
    size_t more =
        (size_t)snprintf(new, sizeof new, "-%d", (int)raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0));
    if (all <= cut || all - cut + more > sizeof l->name.sun_path ||
        memcmp(l->name.sun_path + all - cut, old, cut) != 0)
        return;
    memcpy(l->name.sun_path + all - cut, new, more);
    l->length = (socklen_t)(head + all - cut + more);
}

/* Returns a new listening socket, or -errno. */
long listener_again(const struct listener *kept)
{
    enum { WAITING = 128 };
    struct listener l = *kept;
    long fd = raw_syscall(SYS_socket, AF_UNIX, l.type, 0, 0, 0, 0);
    if (fd < 0)
        return fd;
    name_anew(&l);
    long rc = raw_syscall(SYS_bind, fd, (long)&l.name, l.length, 0, 0, 0);
    if (rc == 0)
        rc = raw_syscall(SYS_listen, fd, WAITING, 0, 0, 0, 0);
    if (rc == 0)
        return fd;
    raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
    return rc;
}
