/* os_signals.c - the application's signal handlers and masks. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core.h"

/* The application's handlers run with the upper half's TLS whatever they interrupt,
 * and are installed again after a restart.  SIGSYS must never be blocked: the
 * kernel would kill the process at the next mmap. */
static struct sigaction act[65];
static char act_set[65];

static void on_signal(int sig, siginfo_t *si, void *uc)
{
    void *tp = thread_pointer_get();
    int inside = tp == upper.lower->thread_pointer;
    if ((uintptr_t)tp >= UPPER_END &&
        !inside) { /* a thread of the lower half caught it: pass it on */
        /* No libc here: its errno would land in the other half's TLS. The kernel refuses to let a
         * further thread pass on a signal of its own (si_code >= 0). */
        long pid = raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
        if (raw_syscall(SYS_rt_tgsigqueueinfo, pid, *upper.lower->tid_address, sig, (long)si, 0,
                        0) == -EPERM)
            raw_syscall(SYS_tgkill, pid, *upper.lower->tid_address, sig, 0, 0, 0);
        return;
    }
    if (inside)
        thread_pointer_set(upper.thread_pointer_inside);
    if (act[sig].sa_flags & SA_SIGINFO)
        act[sig].sa_sigaction(sig, si, uc);
    else
        act[sig].sa_handler(sig);
    if (inside)
        thread_pointer_set(tp);
}
static int install(int sig)
{
    struct sigaction k = act[sig];
    sigdelset(&k.sa_mask, SIGSYS);
    sigdelset(&k.sa_mask, SIGNAL_PARK);
    sigdelset(&k.sa_mask, SIGNAL_LEAVE);
    if (k.sa_handler != SIG_DFL && k.sa_handler != SIG_IGN) {
        k.sa_sigaction = on_signal;
        k.sa_flags |= SA_SIGINFO;
    }
    return NEXT(sigaction)(sig, &k, NULL);
}
int sigaction(int sig, const struct sigaction *new, struct sigaction *old)
{
    if (sig < 1 || sig > 64) {
        errno = EINVAL;
        return -1;
    }
    struct sigaction prev = act[sig];
    if (!act_set[sig])
        NEXT(sigaction)(sig, NULL, &prev);
    if (old)
        *old = prev;
    if (!new || sig == SIGSYS || sig == SIGNAL_PARK || sig == SIGNAL_LEAVE)
        return 0;
    act[sig] = *new;
    act_set[sig] = 1;
    return install(sig);
}
sighandler_t signal(int sig, sighandler_t h)
{
    struct sigaction a = {.sa_handler = h, .sa_flags = SA_RESTART}, old;
    return sigaction(sig, &a, &old) ? SIG_ERR : old.sa_handler;
}
static int set_mask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t s;
    if (set && how != SIG_UNBLOCK) {
        s = *set;
        sigdelset(&s, SIGSYS);
        sigdelset(&s, SIGNAL_PARK);
        sigdelset(&s, SIGNAL_LEAVE);
        set = &s;
    }
    return syscall(SYS_rt_sigprocmask, how, set, old, 8);
}
int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    return set_mask(how, set, old);
}
int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return set_mask(how, set, old) ? errno : 0;
}

void reinstall_signals(void)
{
    for (int s = 1; s <= 64; s++)
        if (act_set[s])
            install(s);
}
