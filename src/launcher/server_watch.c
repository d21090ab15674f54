/* Ends connections that would stop the PMIx library.
 *
 * The library reads the first message of whoever connects in the thread that does everything else, and waits for it for
 * ever. A process that connects and says nothing, because it was stopped just then or because it is not one of ours,
 * holds up all news of deaths and all fences of this machine.
 *
 *  1. A connection is being waited for if we have sent nothing on it, it has sent nothing for a while, and nothing is
 *     unread. What a process of ours has sent stays unread while the library waits for another one.
 *  2. Shut down, it reads as closed, and the library closes it.
 * This has a thread of its own, because the daemon's loop may be waiting for the library, too (SAY_ADD). It is done
 * before the daemon's lease can end for that reason, unless the time-out is below 5 s.
 */
#include "server_inside.h"

#include <dirent.h>
#include <linux/tcp.h> /* newer than netinet/tcp.h, which ends before what was sent */
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Milliseconds. A process of ours on a busy machine may need a moment between its connect() and its first message. */
enum { PATIENCE_LEAST = 2000, PATIENCE_MOST = 5000, PERIOD = 250 };
enum { ESTABLISHED = 1 }; /* as in netinet/tcp.h, which cannot be included, too */

static bool is_waited_for(int fd, uint32_t patience)
{
    struct tcp_info info;
    socklen_t size = sizeof info;
    int unread = 0;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
           size >= offsetof(struct tcp_info, tcpi_bytes_sent) + sizeof info.tcpi_bytes_sent &&
           info.tcpi_state == ESTABLISHED && info.tcpi_bytes_sent == 0 &&
           info.tcpi_last_data_recv > patience && ioctl(fd, FIONREAD, &unread) == 0 && unread == 0;
}

static void look(uint32_t patience)
{
    DIR *all = opendir("/proc/self/fd");
    for (const struct dirent *d; all && (d = readdir(all));) {
        int fd = atoi(d->d_name);
        if (fd > 2 && is_waited_for(fd, patience))
            shutdown(fd, SHUT_RDWR);
    }
    if (all)
        closedir(all);
}

static void *watch(void *nothing)
{
    uint32_t patience = server.job->timeout_ms / 2;
    patience = patience < PATIENCE_LEAST ? PATIENCE_LEAST : patience;
    patience = patience > PATIENCE_MOST ? PATIENCE_MOST : patience;
    for (;;) {
        look(patience);
        usleep(1000 * PERIOD);
    }
    return nothing;
}

bool server_watch(void)
{
    pthread_t watcher;
    return pthread_create(&watcher, NULL, watch, NULL) == 0 && pthread_detach(watcher) == 0;
}
