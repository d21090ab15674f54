/* round/connect.c - the agent's connection to the coordinator: by a Unix socket if all ranks are in one
 * place; otherwise by the first address that answers. */
#include "round/door.h"
#include "round/inside.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int connect_to(uint32_t address, uint32_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = address;
    if (fd < 0)
        return -1;
    int error = connect(fd, (struct sockaddr *)&to, sizeof to) ? errno : 0;
    if (error == EINPROGRESS) {
        struct pollfd p = {fd, POLLOUT, 0};
        socklen_t n = sizeof error;
        if (poll(&p, 1, 3000) != 1 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n))
            error = ETIMEDOUT;
    }
    if (error) {
        close(fd);
        return -1;
    }
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    return fd;
}

int connect_to_coordinator(const struct control_address *a)
{
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    int fd = -1;
    if (a->name[0])
        return door_connect_here(a->name);
    if (!strcmp(host, a->host))
        fd = connect_to(htonl(INADDR_LOOPBACK), a->port);
    for (uint32_t i = 0; fd < 0 && i < a->count; i++)
        fd = connect_to(a->address[i], a->port);
    return fd;
}
