/* os/signals.c - the application's signal handlers and masks.
 *
 * The application's handlers run with the upper half's thread pointer, whatever they interrupt. A
 * restart installs them again. They return through our own restorer (arch/CPU/context.S), not through
 * the vdso, which lies elsewhere in the next process. Nothing may block SIGSYS: the kernel would kill
 * the process at the next mmap.
 *
 * A SIGPIPE belongs to the application only if its own write raised it. Open MPI's TCP transport raises it
 * in a rank that writes to a rank that has just died, and the default action would kill this rank as well.
 * The thread pointer at that moment shows which half was writing, so we never block SIGPIPE ourselves.
 */
#include "os/os.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define KERNEL_SA_RESTORER 0x04000000

struct kernel_sigaction {
    void *handler;
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

#define BIT(sig)      (1ull << ((sig) - 1))
#define NEVER_BLOCKED (BIT(SIGSYS) | BIT(SIGNAL_PARK) | BIT(SIGNAL_LEAVE))
#define FAULTS \
    (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGILL) | BIT(SIGFPE) | BIT(SIGTRAP) | BIT(SIGABRT))

__thread volatile unsigned handled_signals;
static struct {
    struct sigaction actions[65];
    char action_set[65];
    stack_t alternate; /* of the main thread */
    struct kernel_sigaction of_libc[2];
    void (*jump)(jmp_buf, int); /* libc's own, and its checked form */
    void (*checked_jump)(jmp_buf, int);
} handling;
enum { FIRST_OF_LIBC = 32 }; /* pthread_cancel(), and setuid() with threads */

void install_handler(int sig, void (*handler)(int, siginfo_t *, void *), int flags, uint64_t mask)
{
    struct kernel_sigaction k = {(void *)handler, (unsigned)flags | SA_SIGINFO | KERNEL_SA_RESTORER,
                                 signal_restorer,
                                 mask & ~(BIT(SIGSYS) | BIT(SIGNAL_LEAVE) | FAULTS)};
    raw_syscall(SYS_rt_sigaction, sig, (long)&k, 0, 8, 0, 0);
}

/* Runs with the upper half's thread pointer in force. It is not part of on_signal(), whose code may have computed
 * addresses of thread-local variables with the other half's. Both are FAST_CODE: between on_signal()'s look at
 * `inside` and the change of in_library, no signal may park or stop the thread. */
FAST_CODE static __attribute__((noinline)) void call_handler(int sig, siginfo_t *si, void *uc,
                                                             int inside)
{
    in_library += inside;
    handled_signals++;
    if (handling.actions[sig].sa_flags & SA_SIGINFO)
        handling.actions[sig].sa_sigaction(sig, si, uc);
    else
        handling.actions[sig].sa_handler(sig);
    in_library -= inside;
}

/* For a broken pipe, the signal looks as if the process had sent it to itself. */
static inline __attribute__((always_inline)) int is_of_lower_half(int sig, const siginfo_t *si,
                                                                  const void *pointer)
{
    return sig == SIGPIPE && (uintptr_t)pointer >= UPPER_END && si->si_code == SI_USER &&
           si->si_pid == raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

/* The default action of SIGPIPE: end the application. */
static void on_broken_pipe(int sig, siginfo_t *si, void *uc)
{
    (void)uc;
    if (is_of_lower_half(sig, si, thread_pointer_get()))
        return;
    struct kernel_sigaction k = {0};
    raw_syscall(SYS_rt_sigaction, sig, (long)&k, 0, 8, 0, 0);
    raw_syscall(SYS_tgkill, raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0),
                raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0), sig, 0, 0, 0);
}

FAST_CODE static void on_signal(int sig, siginfo_t *si, void *uc)
{
    void *pointer = thread_pointer_get();
    int inside = pointer == upper.lower->thread_pointer;
    if (is_of_lower_half(sig, si, pointer))
        return;
    upper.doubtful |= sig == SIGTERM; /* a launcher ends the other ranks when one has died */
    if ((uintptr_t)pointer >= UPPER_END && !inside) {
        /* A thread of the lower half caught the signal: pass it on. No libc here: it would set errno
         * in the other half's TLS. A thread may queue a signal with si_code >= 0 only to itself, else
         * the call returns EPERM.
         */
        long pid = raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
        int main_tid = upper.threads[0].tid;
        if (raw_syscall(SYS_rt_tgsigqueueinfo, pid, main_tid, sig, (long)si, 0, 0) == -EPERM)
            raw_syscall(SYS_tgkill, pid, main_tid, sig, 0, 0, 0);
        return;
    }
    if (inside)
        thread_pointer_set(upper.thread_pointer_inside);
    call_handler(sig, si, uc, inside || in_fast_code(interrupted_at(uc)));
    if (inside)
        thread_pointer_set(pointer);
}

/* A handler may leave an open() that waits for the other end of a named pipe (alarm(), siglongjmp()). The thread is then no
 * longer between opening and moving a file. */
static void leave_open(void)
{
    if (opening)
        in_library = opening - 1;
    opening = 0;
}

void longjmp(jmp_buf to, int value)
{
    leave_open();
    handling.jump(to, value);
    __builtin_unreachable();
}
void _longjmp(jmp_buf, int) __attribute__((alias("longjmp"), noreturn));
void siglongjmp(sigjmp_buf, int) __attribute__((alias("longjmp"), noreturn));
void __longjmp_chk(jmp_buf to, int value) __attribute__((noreturn));
void __longjmp_chk(jmp_buf to, int value)
{
    leave_open();
    handling.checked_jump(to, value);
    __builtin_unreachable();
}

static void install(int sig)
{
    const struct sigaction *a = &handling.actions[sig];
    uint64_t mask;
    memcpy(&mask, &a->sa_mask, sizeof mask);
    if (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN) {
        install_handler(sig, on_signal, a->sa_flags & ~SA_SIGINFO, mask & ~NEVER_BLOCKED);
    } else if (sig == SIGPIPE && a->sa_handler == SIG_DFL) {
        install_handler(sig, on_broken_pipe, SA_ONSTACK, 0);
    } else {
        struct kernel_sigaction k = {(void *)a->sa_handler, (unsigned)a->sa_flags, NULL, 0};
        raw_syscall(SYS_rt_sigaction, sig, (long)&k, 0, 8, 0, 0);
    }
}

int sigaction(int sig, const struct sigaction *new, struct sigaction *old)
{
    if (sig < 1 || sig > 64 || (new && (sig == SIGKILL || sig == SIGSTOP))) {
        errno = EINVAL;
        return -1;
    }
    struct sigaction previous = handling.actions[sig];
    if (!handling.action_set[sig])
        NEXT(sigaction)(sig, NULL, &previous);
    if (old)
        *old = previous;
    if (!new || sig == SIGSYS || sig == SIGNAL_PARK || sig == SIGNAL_LEAVE)
        return 0;
    handling.actions[sig] = *new;
    handling.action_set[sig] = 1;
    install(sig);
    return 0;
}

sighandler_t signal(int sig, sighandler_t handler)
{
    struct sigaction a = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
    return sigaction(sig, &a, &old) ? SIG_ERR : old.sa_handler;
}

static long set_mask(int how, const sigset_t *set, sigset_t *old)
{
    uint64_t mask;
    if (set) {
        memcpy(&mask, set, sizeof mask);
        if (how != SIG_UNBLOCK)
            mask &= ~NEVER_BLOCKED;
    }
    return raw_syscall(SYS_rt_sigprocmask, how, set ? (long)&mask : 0, (long)old, 8, 0, 0);
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    long rc = set_mask(how, set, old);
    if (rc < 0)
        errno = (int)-rc;
    return rc < 0 ? -1 : 0;
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return (int)-set_mask(how, set, old);
}

void block_signals(uint64_t *old)
{
    uint64_t all = ~(BIT(SIGSYS) | BIT(SIGNAL_LEAVE) | BIT(SIGPIPE) | FAULTS);
    raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)old, 8, 0, 0);
}

void restore_signals(const uint64_t *old)
{
    raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)old, 0, 8, 0, 0);
}

int signal_is_pending(int sig)
{
    uint64_t set = 0;
    raw_syscall(SYS_rt_sigpending, (long)&set, 8, 0, 0, 0, 0);
    return !!(set & BIT(sig));
}

/* The alternate stack of the thread that takes the image; another kernel thread will need it. (The signal
 * frames of parked threads include theirs.) And the handlers that libc installs, once, for signals of its own. */
void note_signals(void)
{
    raw_syscall(SYS_sigaltstack, 0, (long)&handling.alternate, 0, 0, 0, 0);
    for (int i = 0; i < 2; i++)
        raw_syscall(SYS_rt_sigaction, FIRST_OF_LIBC + i, 0, (long)&handling.of_libc[i], 8, 0, 0);
}

void reinstall_signals(void)
{
    handling.alternate.ss_flags &= ~SS_ONSTACK; /* the kernel computes it */
    /* A stack that one of the lower half's libraries (UCX) has set does not exist in the next process. */
    if ((uintptr_t)handling.alternate.ss_sp < UPPER_END)
        raw_syscall(SYS_sigaltstack, (long)&handling.alternate, 0, 0, 0, 0, 0);
    for (int s = 1; s <= 64; s++)
        if (handling.action_set[s])
            install(s);
    for (int i = 0; i < 2; i++)
        if ((uintptr_t)handling.of_libc[i].handler < UPPER_END) /* the upper half's libc */
            raw_syscall(SYS_rt_sigaction, FIRST_OF_LIBC + i, (long)&handling.of_libc[i], 0, 8, 0,
                        0);
}

void signals_init(void)
{
    struct sigaction *pipe = &handling.actions[SIGPIPE];
    handling.jump = (void (*)(jmp_buf, int))dlsym(RTLD_NEXT, "longjmp");
    handling.checked_jump = (void (*)(jmp_buf, int))dlsym(RTLD_NEXT, "__longjmp_chk");
    NEXT(sigaction)(SIGPIPE, NULL, pipe);
    handling.action_set[SIGPIPE] = 1;
    if (pipe->sa_handler == SIG_DFL)
        install(SIGPIPE);
}
