/* Preloaded: every call of libc by which the driver's library speaks with other processes, on stderr. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void tell(const char *format, ...)
{
    char text[700];
    va_list list;
    va_start(list, format);
    int n = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (n > 0 && NEXT(write)(2, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1) < 0)
        _exit(9);
}

static const char *named(const struct sockaddr *a, socklen_t n)
{
    static __thread char text[200];
    const struct sockaddr_un *u = (const struct sockaddr_un *)a;
    if (!a || a->sa_family != AF_UNIX)
        return "(no unix socket)";
    int length = (int)n - 2;
    snprintf(text, sizeof text, "%s%.*s", u->sun_path[0] ? "" : "@",
             u->sun_path[0] ? length : length - 1, u->sun_path[0] ? u->sun_path : u->sun_path + 1);
    return text;
}

static int opened(const char *what, const char *path, int fd)
{
    if (strstr(path, "/proc/") || strstr(path, "nvidia") || strstr(path, "shm"))
        tell("  trace: %s %s = %d\n", what, path, fd);
    return fd;
}

int open(const char *path, int flags, ...)
{
    va_list l;
    va_start(l, flags);
    int mode = va_arg(l, int);
    va_end(l);
    return opened("open", path, NEXT(open)(path, flags, mode));
}
int open64(const char *path, int flags, ...)
{
    va_list l;
    va_start(l, flags);
    int mode = va_arg(l, int);
    va_end(l);
    return opened("open64", path, NEXT(open)(path, flags, mode));
}
FILE *fopen(const char *path, const char *mode)
{
    FILE *f = NEXT(fopen)(path, mode);
    opened("fopen", path, f ? fileno(f) : -1);
    return f;
}
int connect(int fd, const struct sockaddr *a, socklen_t n)
{
    int rc = NEXT(connect)(fd, a, n);
    tell("  trace: connect %d %s = %d\n", fd, named(a, n), rc);
    return rc;
}
int bind(int fd, const struct sockaddr *a, socklen_t n)
{
    int rc = NEXT(bind)(fd, a, n);
    tell("  trace: bind %d %s = %d\n", fd, named(a, n), rc);
    return rc;
}
static void bytes(const char *what, int fd, const void *p, size_t count, ssize_t rc)
{
    char hex[100] = "";
    for (size_t i = 0; i < count && i < 24; i++)
        snprintf(hex + 3 * i, 4, "%02x ", ((const unsigned char *)p)[i]);
    tell("  trace: %s %d, %zu bytes = %zd: %s\n", what, fd, count, rc, hex);
}
ssize_t write(int fd, const void *p, size_t count)
{
    ssize_t rc = NEXT(write)(fd, p, count);
    if (fd > 2)
        bytes("write", fd, p, count, rc);
    return rc;
}
ssize_t read(int fd, void *p, size_t count)
{
    ssize_t rc = NEXT(read)(fd, p, count);
    if (count < 4096 && rc >= 0)
        bytes("read", fd, p, (size_t)rc, rc);
    return rc;
}
ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
    ssize_t rc = NEXT(sendmsg)(fd, m, flags);
    tell("  trace: sendmsg %d, control %zu = %zd\n", fd, m->msg_controllen, rc);
    return rc;
}
ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
    ssize_t rc = NEXT(recvmsg)(fd, m, flags);
    tell("  trace: recvmsg %d, control %zu = %zd\n", fd, m->msg_controllen, rc);
    return rc;
}
