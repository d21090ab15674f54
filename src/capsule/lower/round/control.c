#include "round/control.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static int send_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t w = send(fd, p, n, MSG_NOSIGNAL);
        if (w < 0 && errno == EINTR)
            continue;
        if (w <= 0)
            return -1;
        p += w;
        n -= (size_t)w;
    }
    return 0;
}

static int receive_all(int fd, char *p, size_t n)
{
    while (n) {
        ssize_t r = recv(fd, p, n, 0);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            return -1;
        p += r;
        n -= (size_t)r;
    }
    return 0;
}

int control_send(int fd, uint32_t type, uint32_t round, const void *bytes, size_t count)
{
    struct control_head head = {type, round, count};
    if (fd < 0 || send_all(fd, (const char *)&head, sizeof head))
        return -1;
    return count ? send_all(fd, bytes, count) : 0;
}

int control_receive(int fd, struct control_head *head, void **payload)
{
    *payload = NULL;
    if (receive_all(fd, (char *)head, sizeof *head) || head->bytes > CONTROL_LIMIT)
        return -1;
    *payload = malloc(head->bytes + 8);
    if (!*payload || (head->bytes && receive_all(fd, *payload, head->bytes))) {
        free(*payload);
        *payload = NULL;
        return -1;
    }
    return 1;
}
