/* mute.c - a head that takes a daemon's hello, bids it welcome, and then says nothing more, like one whose machine has lost
 * its power. Prints its port; the secret of the launch is all zeros. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void)
{
    enum { HELLO = 8 + 12 + 4 + 16, WELCOME = 8 + 4 + 16 };
    unsigned char hello[HELLO], welcome[WELCOME] = {20, 0, 0, 0, 2, 0, 0, 0, 16};
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof a;
    int listener = socket(AF_INET, SOCK_STREAM, 0), fd;
    if (listener < 0 || bind(listener, (struct sockaddr *)&a, size) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&a, &size))
        return 1;
    printf("%d\n", ntohs(a.sin_port));
    fflush(stdout);
    if ((fd = accept(listener, NULL, NULL)) < 0)
        return 1;
    for (ssize_t n, got = 0; got < HELLO; got += n)
        if ((n = read(fd, hello + got, (size_t)(HELLO - got))) <= 0)
            return 1;
    if (write(fd, welcome, WELCOME) != WELCOME)
        return 1;
    pause(); /* and the connection stays open */
    return 0;
}
