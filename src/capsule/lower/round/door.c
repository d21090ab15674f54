/* round/door.c - see door.h. */
#include "round/door.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

static const double hello_seconds = 30; /* a busy machine may keep an agent from speaking */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- where we are ---------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ b[i]) * 0x100000001b3ull;
    return hash;
}

uint64_t door_place(void)
{
    static const char *const space[] = {"/proc/self/ns/net", "/proc/self/ns/user"};
    char text[256] = "";
    struct stat st;
    uint64_t hash = 0xcbf29ce484222325ull;
    gethostname(text, sizeof text - 1);
    hash = mix(hash, text, strlen(text));
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text) : 0;
    if (fd >= 0)
        close(fd);
    hash = mix(hash, text, n > 0 ? (size_t)n : 0);
    for (int i = 0; i < 2; i++)
        if (stat(space[i], &st) == 0)
            hash = mix(hash, &st.st_ino, sizeof st.st_ino);
    return hash;
}

/* ---- opening --------------------------------------------------------------------------------- */

static socklen_t local_address(struct sockaddr_un *at, const char *name)
{
    *at = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(at->sun_path + 1, name, strlen(name)); /* it begins with a 0: an abstract name */
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
}

static int prepare(struct door *d, int family, int ranks, uint64_t cookie)
{
    int slots = ranks + DOOR_SLOTS;
    *d = (struct door){.listener = -1,
                       .local = family == AF_UNIX,
                       .cookie = cookie,
                       .ranks = ranks,
                       .slots = slots,
                       .seconds = hello_seconds};
    d->guest = calloc((size_t)slots, sizeof *d->guest);
    if (d->guest)
        d->listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return d->listener < 0 ? -1 : 0;
}

int door_open_here(struct door *d, int ranks, uint64_t cookie, char name[DOOR_NAME])
{
    struct sockaddr_un at;
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return -1;
    snprintf(name, DOOR_NAME, "mend-%016llx", (unsigned long long)number);
    socklen_t n = local_address(&at, name);
    if (prepare(d, AF_UNIX, ranks, cookie) || bind(d->listener, (struct sockaddr *)&at, n) ||
        listen(d->listener, ranks + DOOR_SLOTS)) {
        int why = errno;
        door_close(d);
        errno = why;
        return -1;
    }
    return 0;
}

static uint32_t own_addresses(const char *interface, uint32_t address[DOOR_ADDRESSES])
{
    struct ifaddrs *list;
    uint32_t count = 0;
    if (getifaddrs(&list))
        return 0;
    for (struct ifaddrs *i = list; i && count < DOOR_ADDRESSES; i = i->ifa_next) {
        if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET)
            continue;
        uint32_t v = ((struct sockaddr_in *)i->ifa_addr)->sin_addr.s_addr;
        if (interface[0] ? !strcmp(i->ifa_name, interface) : v != htonl(INADDR_LOOPBACK))
            address[count++] = v;
    }
    freeifaddrs(list);
    return count;
}

int door_open_outside(struct door *d, int ranks, uint64_t cookie, const char *interface,
                      uint32_t address[DOOR_ADDRESSES], uint32_t *count, uint32_t *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t n = sizeof at;
    *count = own_addresses(interface, address);
    if (interface[0] && !*count)
        return errno = EADDRNOTAVAIL, -1;
    if (*count == 1) /* else we do not know which one the others can reach */
        at.sin_addr.s_addr = address[0];
    if (prepare(d, AF_INET, ranks, cookie) ||
        bind(d->listener, (struct sockaddr *)&at, sizeof at) ||
        listen(d->listener, ranks + DOOR_SLOTS) ||
        getsockname(d->listener, (struct sockaddr *)&at, &n)) {
        int why = errno;
        door_close(d);
        errno = why;
        return -1;
    }
    *port = ntohs(at.sin_port);
    return 0;
}

int door_connect_here(const char *name)
{
    struct sockaddr_un to;
    socklen_t n = local_address(&to, name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), rc = -1;
    while (fd >= 0 && (rc = connect(fd, (struct sockaddr *)&to, n)) && errno == EINTR)
        ;
    if (fd >= 0 && rc) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* ---- guests ---------------------------------------------------------------------------------- */

int door_list(const struct door *d, struct pollfd *list)
{
    list[0] = (struct pollfd){d->listener, POLLIN, 0};
    for (int i = 0; i < d->count; i++)
        list[1 + i] = (struct pollfd){d->guest[i].fd, POLLIN, 0};
    return 1 + d->count;
}

static void remove_guest(struct door *d, int i)
{
    d->count--;
    memmove(&d->guest[i], &d->guest[i + 1], (size_t)(d->count - i) * sizeof *d->guest);
}

/* Read what it has said so far. 1: it has left its slot. */
static int hear(struct door *d, int i, int (*take)(int rank, int fd))
{
    struct guest *g = &d->guest[i];
    struct control_head head;
    uint64_t words[2];
    ssize_t n = recv(g->fd, g->bytes + g->got, sizeof g->bytes - g->got, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    g->got += n > 0 ? (size_t)n : 0;
    memcpy(&head, g->bytes, sizeof head);
    memcpy(words, g->bytes + sizeof head, sizeof words);
    int wrong = g->got >= sizeof head && (head.type != CONTROL_HELLO || head.bytes != sizeof words);
    if (n > 0 && !wrong && g->got < sizeof g->bytes)
        return 0;
    int fd = g->fd, all = n > 0 && !wrong && words[0] == d->cookie && words[1] < (uint64_t)d->ranks;
    remove_guest(d, i);
    if (all)
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    if (!all || !take((int)words[1], fd))
        close(fd);
    return 1;
}

/* Only this user may come in by a local door. */
static int is_ours(const struct door *d, int fd)
{
    struct ucred peer;
    socklen_t n = sizeof peer;
    return !d->local ||
           (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 && peer.uid == geteuid());
}

static void let_in(struct door *d, int (*take)(int rank, int fd))
{
    int fd = accept4(d->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if ((fd < 0 && (errno == EMFILE || errno == ENFILE) && d->count) || d->count == d->slots) {
        close(d->guest[0].fd); /* the guest that has been silent longest makes room */
        remove_guest(d, 0);
    }
    if (fd < 0) {
        nanosleep(&(struct timespec){0, 1000000}, NULL); /* no descriptor is free: do not spin */
        return;
    }
    if (!is_ours(d, fd)) {
        close(fd);
        return;
    }
    if (!d->local)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    d->guest[d->count++] = (struct guest){.fd = fd, .until = now() + d->seconds};
    hear(d, d->count - 1, take); /* usually it has spoken already */
}

void door_answer(struct door *d, const struct pollfd *list, int (*take)(int rank, int fd))
{
    double t = now();
    int knock = d->listener >= 0 && list[0].revents;
    for (int i = d->count - 1; i >= 0; i--) {
        if (list[1 + i].revents && hear(d, i, take))
            continue;
        if (t > d->guest[i].until) {
            close(d->guest[i].fd);
            remove_guest(d, i);
        }
    }
    if (knock)
        let_in(d, take);
}

void door_close(struct door *d)
{
    for (int i = 0; i < d->count; i++)
        close(d->guest[i].fd);
    if (d->listener >= 0)
        close(d->listener);
    free(d->guest);
    *d = (struct door){.listener = -1};
}
