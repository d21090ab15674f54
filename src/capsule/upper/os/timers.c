/* os/timers.c - POSIX timers (timer_create): a restart creates them again, with their remaining time.
 *
 * The program's handle is an index into our table, because the kernel gives another number in a new process. libc handles
 * a timer that runs a function in a thread (SIGEV_THREAD) or signals one thread; an image does not keep such a timer, and
 * prints a note.
 */
#include "os/os.h"

#include <dlfcn.h>
#include <errno.h>
#include <time.h>

enum { TIMERS = 4096, FIRST_HANDLE = 0x40000000 };
struct timer {
    int used, kernel;
    clockid_t clock;
    struct sigevent event;
    struct itimerspec left; /* when the image was taken */
};
static struct {
    struct timer list[TIMERS];
    int not_kept;
} timers;

static long result(long r)
{
    if (r >= 0)
        return r;
    errno = (int)-r;
    return -1;
}

static struct timer *ours(timer_t handle)
{
    uintptr_t i = (uintptr_t)handle - FIRST_HANDLE;
    return i < TIMERS && timers.list[i].used ? &timers.list[i] : NULL;
}

static long make(struct timer *t)
{
    return raw_syscall(SYS_timer_create, t->clock, (long)&t->event, (long)&t->kernel, 0, 0, 0);
}

static int take_place(void)
{
    int i = 0;
    while (i < TIMERS && __atomic_exchange_n(&timers.list[i].used, 1, __ATOMIC_ACQ_REL))
        i++;
    return i;
}

static int create(clockid_t clock, struct sigevent *restrict event, timer_t *restrict out)
{
    int theirs = event && event->sigev_notify != SIGEV_SIGNAL && event->sigev_notify != SIGEV_NONE;
    int i = theirs ? 0 : take_place();
    if (i == TIMERS)
        file_say("the image keeps at most 4096 timers", "note");
    if (i == TIMERS || theirs) {
        timers.not_kept = 1;
        return NEXT(timer_create)(clock, event, out);
    }
    timer_t handle = (timer_t)(uintptr_t)(FIRST_HANDLE + i);
    struct timer *t = &timers.list[i];
    *t = (struct timer){.used = 1, .clock = clock};
    if (event) {
        t->event = *event;
    } else {
        t->event.sigev_signo = SIGALRM;
        t->event.sigev_value.sival_ptr = handle;
    }
    long r = make(t);
    if (r < 0)
        t->used = 0;
    else
        *out = handle;
    return (int)result(r);
}

int timer_create(clockid_t clock, struct sigevent *restrict event, timer_t *restrict out)
{
    in_library++; /* no image of a timer that does not exist yet */
    int rc = create(clock, event, out);
    in_library--;
    return rc;
}

int timer_settime(timer_t handle, int flags, const struct itimerspec *restrict new,
                  struct itimerspec *restrict old)
{
    struct timer *t = ours(handle);
    return t ? (int)result(
                   raw_syscall(SYS_timer_settime, t->kernel, flags, (long)new, (long)old, 0, 0))
             : NEXT(timer_settime)(handle, flags, new, old);
}

int timer_gettime(timer_t handle, struct itimerspec *now)
{
    struct timer *t = ours(handle);
    return t ? (int)result(raw_syscall(SYS_timer_gettime, t->kernel, (long)now, 0, 0, 0, 0))
             : NEXT(timer_gettime)(handle, now);
}

int timer_getoverrun(timer_t handle)
{
    struct timer *t = ours(handle);
    return t ? (int)result(raw_syscall(SYS_timer_getoverrun, t->kernel, 0, 0, 0, 0, 0))
             : NEXT(timer_getoverrun)(handle);
}

int timer_delete(timer_t handle)
{
    struct timer *t = ours(handle);
    if (!t)
        return NEXT(timer_delete)(handle);
    t->used = 0;
    return (int)result(raw_syscall(SYS_timer_delete, t->kernel, 0, 0, 0, 0, 0));
}

void note_timers(void)
{
    for (int i = 0; i < TIMERS; i++)
        if (timers.list[i].used) {
            struct timespec *left = &timers.list[i].left.it_value;
            raw_syscall(SYS_timer_gettime, timers.list[i].kernel, (long)&timers.list[i].left, 0, 0,
                        0, 0);
            if (!left->tv_sec && !left->tv_nsec &&
                timers.list[i].event.sigev_notify == SIGEV_SIGNAL &&
                signal_is_pending(timers.list[i].event.sigev_signo))
                left->tv_nsec = 1; /* it has expired, but its signal is blocked */
        }
    if (timers.not_kept)
        file_say("the image does not keep a timer that runs or signals one thread", "note");
}

/* In a process that rolled back in place, the old timers still exist. */
void timers_again(void)
{
    for (int i = 0; i < TIMERS; i++) {
        struct timer *t = &timers.list[i];
        if (!t->used)
            continue;
        raw_syscall(SYS_timer_delete, t->kernel, 0, 0, 0, 0, 0);
        if (make(t) < 0)
            file_say("cannot create a timer again", "note");
        else if (t->left.it_value.tv_sec || t->left.it_value.tv_nsec)
            raw_syscall(SYS_timer_settime, t->kernel, 0, (long)&t->left, 0, 0, 0);
    }
}
