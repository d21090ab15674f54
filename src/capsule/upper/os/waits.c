/* os/waits.c - calls of libc that wait and that a signal ends early.
 *
 * We park a thread with a signal, and the kernel ends some calls after a handler has run, whatever
 * SA_RESTART says: sleeping, poll(), pause(). The application must not see that. If nothing but our own
 * signal came, we make the call again with the remaining time. The clock of MPI_Wtime measures it,
 * because that continues across a restart.
 */
#include "os/waits.h"

#include <dlfcn.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

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
static int milliseconds_until(double end)
{
    double left = 1e3 * (end - core_clock());
    return left > 0 ? (int)left + 1 : 0;
}

/* A mask for the time of a call must block neither SIGSYS nor our own signals. */
static const sigset_t *without_ours(const sigset_t *mask, sigset_t *ours)
{
    if (!mask)
        return NULL;
    *ours = *mask;
    sigdelset(ours, SIGSYS);
    sigdelset(ours, SIGNAL_PARK);
    sigdelset(ours, SIGNAL_LEAVE);
    return ours;
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
    sigset_t ours;
    without_ours(mask, &ours);
    return AGAIN(NEXT(sigsuspend)(&ours));
}
/* Whoever waits for all signals must not get ours: it would see a signal that nobody has sent, and would not be parked. */
int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
                 const struct timespec *restrict limit)
{
    double end = limit ? core_clock() + to_seconds(limit) : 0;
    struct timespec left = limit ? *limit : (struct timespec){0, 0};
    sigset_t theirs;
    without_ours(set, &theirs);
    for (;;) {
        struct before b = look();
        int rc = NEXT(sigtimedwait)(&theirs, info, limit ? &left : NULL);
        if (rc >= 0 || errno != EINTR || !only_ours(b))
            return rc;
        if (limit)
            left = to_timespec(end - core_clock());
    }
}
int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
    return sigtimedwait(set, info, NULL);
}
int sigwait(const sigset_t *restrict set, int *restrict sig)
{
    int rc;
    do
        rc = sigtimedwait(set, NULL, NULL);
    while (rc < 0 && errno == EINTR);
    if (rc < 0)
        return errno;
    *sig = rc;
    return 0;
}
int thrd_sleep(const struct timespec *want, struct timespec *rest)
{
    int rc = clock_nanosleep(CLOCK_REALTIME, 0, want, rest);
    return rc == 0 ? 0 : rc == EINTR ? -1 : -2;
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
        if (milliseconds > 0)
            milliseconds = milliseconds_until(end);
    }
}
int ppoll(struct pollfd *files, nfds_t n, const struct timespec *limit, const sigset_t *mask)
{
    double end = limit ? core_clock() + to_seconds(limit) : 0;
    struct timespec left = limit ? *limit : (struct timespec){0, 0};
    sigset_t ours;
    mask = without_ours(mask, &ours);
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
        if (milliseconds > 0)
            milliseconds = milliseconds_until(end);
    }
}
int epoll_pwait(int fd, struct epoll_event *events, int n, int milliseconds, const sigset_t *mask)
{
    double end = core_clock() + 1e-3 * milliseconds;
    sigset_t ours;
    mask = without_ours(mask, &ours);
    for (;;) {
        struct before b = look();
        int rc = NEXT(epoll_pwait)(fd, events, n, milliseconds, mask);
        if (rc >= 0 || errno != EINTR || !only_ours(b))
            return rc;
        if (milliseconds > 0)
            milliseconds = milliseconds_until(end);
    }
}
int epoll_pwait2(int fd, struct epoll_event *events, int n, const struct timespec *limit,
                 const sigset_t *mask)
{
    double end = limit ? core_clock() + to_seconds(limit) : 0;
    struct timespec left = limit ? *limit : (struct timespec){0, 0};
    sigset_t ours;
    mask = without_ours(mask, &ours);
    for (;;) {
        struct before b = look();
        int rc = NEXT(epoll_pwait2)(fd, events, n, limit ? &left : NULL, mask);
        if (rc >= 0 || errno != EINTR || !only_ours(b))
            return rc;
        if (limit)
            left = to_timespec(end - core_clock());
    }
}
int pselect(int n, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
            const struct timespec *restrict limit, const sigset_t *restrict mask)
{
    double end = limit ? core_clock() + to_seconds(limit) : 0;
    struct timespec left = limit ? *limit : (struct timespec){0, 0};
    sigset_t ours;
    mask = without_ours(mask, &ours);
    for (;;) {
        struct before b = look();
        int rc = NEXT(pselect)(n, in, out, other, limit ? &left : NULL, mask);
        if (rc >= 0 || errno != EINTR || !only_ours(b))
            return rc; /* after an error the sets are as they were */
        if (limit)
            left = to_timespec(end - core_clock());
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

/* --- queues and semaphores of System V --- */
ssize_t msgrcv(int id, void *message, size_t room, long type, int flags)
{
    return AGAIN(NEXT(msgrcv)(id, message, room, type, flags));
}
int msgsnd(int id, const void *message, size_t bytes, int flags)
{
    return AGAIN(NEXT(msgsnd)(id, message, bytes, flags));
}
int semop(int id, struct sembuf *steps, size_t count)
{
    return AGAIN(NEXT(semop)(id, steps, count));
}
int semtimedop(int id, struct sembuf *steps, size_t count, const struct timespec *limit)
{
    double end = limit ? core_clock() + to_seconds(limit) : 0;
    struct timespec left = limit ? *limit : (struct timespec){0, 0};
    for (;;) {
        struct before b = look();
        int rc = NEXT(semtimedop)(id, steps, count, limit ? &left : NULL);
        if (rc >= 0 || errno != EINTR || !only_ours(b))
            return rc;
        if (limit)
            left = to_timespec(end - core_clock());
    }
}
