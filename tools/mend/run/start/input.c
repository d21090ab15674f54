/* Standard input from a terminal. The launcher is not in the terminal's foreground group (its signals are ours to pass
 * on), so its first read would stop it. We read for it, as long as we are in the foreground ourselves, and give
 * it a pipe. */
#include "start.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static struct {
    atomic_int offered; /* a launcher's pipe that the thread has not taken yet */
    bool feeding;       /* the thread runs */
} input = {.offered = -1};

static bool in_foreground(void)
{
    return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/* Write all of it, unless the launcher is gone or replaced. False: nobody reads it any more. */
static bool pass_on(int fd, const char *bytes, ssize_t n)
{
    while (n > 0 && atomic_load(&input.offered) < 0) {
        struct pollfd p = {fd, POLLOUT, 0};
        ssize_t written = poll(&p, 1, 100) == 1 ? write(fd, bytes, (size_t)n) : 0;
        if (written < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        if (written > 0) {
            bytes += written;
            n -= written;
        }
    }
    return true;
}

/* False: the user typed the end of input, or the terminal or the reader is gone. */
static bool one_turn(int fd)
{
    char bytes[4096];
    struct pollfd p = {STDIN_FILENO, POLLIN, 0};
    if (fd < 0 || !in_foreground())
        return poll(NULL, 0, 50) == 0;
    if (poll(&p, 1, 50) != 1 || !in_foreground())
        return true;
    ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    return n > 0 && pass_on(fd, bytes, n);
}

static void *feed(void *unused)
{
    (void)unused;
    for (int fd = -1;;) {
        int next = atomic_exchange(&input.offered, -1);
        bool goes_on = next < 0 && one_turn(fd);
        if (!goes_on && fd >= 0)
            close(fd);
        if (!goes_on)
            fd = next;
    }
    return NULL;
}

int run_input_start(void)
{
    int ends[2];
    pthread_t thread;
    sigset_t all, before;
    if (!isatty(STDIN_FILENO) || pipe2(ends, O_CLOEXEC))
        return -1;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    int unused = atomic_exchange(&input.offered, ends[1]);
    if (unused >= 0)
        close(unused);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the main thread */
    if (!input.feeding && pthread_create(&thread, NULL, feed, NULL) == 0) {
        pthread_detach(thread);
        input.feeding = true;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ends[0];
}
