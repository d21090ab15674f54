/* A daemon on another machine than the head: it reads on standard input where the head is, connects, and says hello. */
#include "node.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int connect_to(const char *address, const char *port)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST}, *found;
    if (getaddrinfo(address, port, &hints, &found))
        return -1;
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
    socklen_t size = sizeof error;
    int rc = fd < 0 ? -1 : connect(fd, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    if (rc &&
        (fd < 0 || errno != EINPROGRESS || poll(&(struct pollfd){fd, POLLOUT, 0}, 1, 20000) <= 0 ||
         getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) || error)) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    return fd;
}

static bool greet(int fd, uint32_t index, const unsigned char *secret)
{
    struct link l;
    struct wire w = {0};
    struct wire_reader r;
    uint32_t kind = 0;
    int rc = 0;
    link_open(&l, fd, LINK_BEFORE_HELLO);
    wire_put_u32(&w, PROTOCOL_MAGIC);
    wire_put_u32(&w, PROTOCOL_VERSION);
    wire_put_u32(&w, index);
    wire_put_bytes(&w, secret, SECRET_SIZE / 2);
    link_send(&l, SAY_HELLO, &w);
    wire_free(&w);
    /* Read one byte at a time: what follows the answer is for node_serve. */
    bool ok = link_flush(&l);
    double limit = launcher_clock() + 20;
    while (ok && (rc = link_next(&l, &kind, &r)) == 0 && launcher_clock() < limit) {
        unsigned char byte;
        poll(&(struct pollfd){fd, POLLIN, 0}, 1, 1000);
        ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT);
        ok = n == 1 || (n < 0 && (errno == EAGAIN || errno == EINTR));
        if (n == 1)
            wire_put_bare(&l.in, &byte, 1);
    }
    size_t size = 0;
    const void *half = rc > 0 ? wire_get_bytes(&r, &size) : NULL;
    ok = ok && rc > 0 && kind == SAY_WELCOME && size == SECRET_SIZE / 2 &&
         memcmp(half, secret + SECRET_SIZE / 2, size) == 0;
    wire_free(&l.in);
    wire_free(&l.out);
    return ok;
}

int node_connect_and_serve(void)
{
    char line[512] = "", address[128], port[16], hex[2 * SECRET_SIZE + 1];
    unsigned char secret[SECRET_SIZE];
    unsigned index;
    size_t n = 0;
    /* "mend 1 ADDRESS PORT INDEX SECRET"; read one byte at a time, and one line at most. */
    while (n < sizeof line - 1 && read(0, line + n, 1) == 1 && line[n] != '\n')
        n++;
    if (sscanf(line, "mend 1 %127s %15s %u %64s", address, port, &index, hex) != 4 ||
        strlen(hex) != sizeof hex - 1) {
        fputs("mend-node is a part of mend run; you cannot start it by hand\n", stderr);
        return 2;
    }
    for (int i = 0; i < SECRET_SIZE; i++) {
        unsigned byte = 0;
        sscanf(hex + 2 * i, "%2x", &byte);
        secret[i] = (unsigned char)byte;
    }
    int fd = connect_to(address, port);
    if (fd < 0 || !greet(fd, index, secret)) {
        fprintf(stderr, "mend-node: %s at %s port %s\n",
                fd < 0 ? "cannot reach the job's head" : "the job's head refused the connection",
                address, port);
        return 1;
    }
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(nothing, 0);
    setsid(); /* a daemon: leave the agent's terminal and process group, and outlive it */
    explicit_bzero(line, sizeof line);
    explicit_bzero(hex, sizeof hex);
    return node_serve(fd, index);
}
