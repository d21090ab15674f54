/* os/waits.c - calls of libc that wait and that a signal ends early.
 *
 * We park a thread with a signal, and the kernel ends some calls after a handler has run, whatever
 * SA_RESTART says: sleeping, poll(), pause(). The application must not see that. If nothing but our own
 * signal came, we make the call again with the remaining time. The clock of MPI_Wtime measures it,
 * because that continues across a restart.
 */
#include "os/os.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

/* To find out whether only our own signal ended a call: the counts before it. */
struct before {
    unsigned ours, theirs;
};
static inline struct before look(void)
{
    return (struct before){interruptions, handled_signals};
}
static inline int only_ours(struct before b)
{
    return interruptions != b.ours && handled_signals == b.theirs;
}
#define AGAIN(call)                                                          \
    ({                                                                       \
        struct before before_;                                               \
        __typeof__(call) result_again_;                                      \
        do {                                                                 \
            before_ = look();                                                \
            result_again_ = call;                                            \
        } while (result_again_ < 0 && errno == EINTR && only_ours(before_)); \
        result_again_;                                                       \
    })

static struct timespec to_timespec(double seconds)
{
    if (seconds < 0)
        seconds = 0;
    time_t whole = (time_t)seconds;
    return (struct timespec){whole, (long)((seconds - (double)whole) * 1e9)};
}
static double to_seconds(const struct timespec *t)
{
    return (double)t->tv_sec + 1e-9 * (double)t->tv_nsec;
}

/* --- sleeping --- */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *want, struct timespec *rest)
{
    struct timespec left = *want;
    double end = to_seconds(want) + core_clock();
    for (;;) {
        struct before b = look();
        int rc = NEXT(clock_nanosleep)(clock, flags, &left, rest);
        if (rc != EINTR || !only_ours(b))
            return rc;
        if (!(flags & TIMER_ABSTIME))
            left = to_timespec(end - core_clock());
    }
}
int nanosleep(const struct timespec *want, struct timespec *rest)
{
    int rc = clock_nanosleep(CLOCK_REALTIME, 0, want, rest);
    if (rc)
        errno = rc;
    return rc ? -1 : 0;
}
int usleep(useconds_t microseconds)
{
    return nanosleep(&(struct timespec){microseconds / 1000000, microseconds % 1000000 * 1000L},
                     NULL);
}
unsigned sleep(unsigned seconds)
{
    struct timespec rest = {0, 0};
    if (nanosleep(&(struct timespec){(time_t)seconds, 0}, &rest) == 0)
        return 0;
    return (unsigned)rest.tv_sec + (rest.tv_nsec >= 500000000);
}
int pause(void)
{
    return AGAIN(NEXT(pause)());
}
int sigsuspend(const sigset_t *mask)
{
    sigset_t ours = *mask; /* must block neither SIGSYS nor our own signals */
    sigdelset(&ours, SIGSYS);
    sigdelset(&ours, SIGNAL_PARK);
    sigdelset(&ours, SIGNAL_LEAVE);
    return AGAIN(NEXT(sigsuspend)(&ours));
}
int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    return AGAIN(NEXT(sigwaitinfo)(set, info));
}

/* --- waiting for files --- */
int poll(struct pollfd *files, nfds_t n, int milliseconds)
{
    double end = core_clock() + 1e-3 * milliseconds;
    for (;;) {
        struct before b = look();
        int rc = NEXT(poll)(files, n, milliseconds);
        if (rc >= 0 || errno != EINTR || !only_ours(b))
            return rc;
        if (milliseconds > 0) {
            double left = 1e3 * (end - core_clock());
            milliseconds = left > 0 ? (int)left + 1 : 0;
        }
    }
}
int ppoll(struct pollfd *files, nfds_t n, const struct timespec *limit, const sigset_t *mask)
{
    double end = limit ? core_clock() + to_seconds(limit) : 0;
    struct timespec left = limit ? *limit : (struct timespec){0, 0};
    for (;;) {
        struct before b = look();
        int rc = NEXT(ppoll)(files, n, limit ? &left : NULL, mask);
        if (rc >= 0 || errno != EINTR || !only_ours(b))
            return rc;
        if (limit)
            left = to_timespec(end - core_clock());
    }
}
int epoll_wait(int fd, struct epoll_event *events, int n, int milliseconds)
{
    double end = core_clock() + 1e-3 * milliseconds;
    for (;;) {
        struct before b = look();
        int rc = NEXT(epoll_wait)(fd, events, n, milliseconds);
        if (rc >= 0 || errno != EINTR || !only_ours(b))
            return rc;
        if (milliseconds > 0) {
            double left = 1e3 * (end - core_clock());
            milliseconds = left > 0 ? (int)left + 1 : 0;
        }
    }
}
int select(int n, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
           struct timeval *restrict limit)
{
    return AGAIN(
        NEXT(select)(n, in, out, other, limit)); /* Linux updates `limit` and keeps the sets */
}

/* --- semaphores: their times are absolute --- */
int sem_wait(sem_t *sem)
{
    return AGAIN(NEXT(sem_wait)(sem));
}
int sem_timedwait(sem_t *restrict sem, const struct timespec *restrict until)
{
    return AGAIN(NEXT(sem_timedwait)(sem, until));
}
int sem_clockwait(sem_t *restrict sem, clockid_t clock, const struct timespec *restrict until)
{
    return AGAIN(NEXT(sem_clockwait)(sem, clock, until));
}
