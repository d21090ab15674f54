/* stranger NAME UID: a hostile client of the abstract Unix socket NAME, as the user UID (if we may be that one). First
 * in line: idle connections, garbage, and a hello that comes byte by byte. Says "in" when it stands at the door, and
 * goes on until the socket or the connections are gone, or it is killed. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { IDLE = 200 };

static int knock(const char *name)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path + 1, sizeof to.sun_path - 1, "%s", name);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&to,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))) == 0)
        return fd;
    close(fd);
    return -1;
}

int main(int argc, char **argv)
{
    static const unsigned char hello[] = {1, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0};
    char noise[100000];
    int in = 0;
    if (argc != 3)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    uid_t user = (uid_t)atoi(argv[2]);
    if (user != getuid() && setresuid(user, user, user))
        return 77;
    memset(noise, 0x5a, sizeof noise);
    int dribbler = knock(argv[1]), loud = knock(argv[1]);
    in += dribbler >= 0;
    (void)!send(loud, noise, sizeof noise, MSG_DONTWAIT | MSG_NOSIGNAL);
    for (int i = 0; i < IDLE; i++)
        in += knock(argv[1]) >= 0;
    if (!in)
        return 1;
    puts("in");
    fflush(stdout);
    for (size_t i = 0;; i++) {
        (void)!send(dribbler, &hello[i % sizeof hello], 1, MSG_DONTWAIT | MSG_NOSIGNAL);
        usleep(200000);
        if (i % sizeof hello == sizeof hello - 1) {
            close(dribbler);
            dribbler = knock(argv[1]);
        }
    }
}
