/* anchor.c - makes a death known at once, however much memory the dead process had.
 *
 * When a process is killed, the kernel first frees its memory (10 ms for 100 MB, a second for 10 GB)
 * and only then closes its connections and tells its parent: until then nobody can know. So
 *   1. each process of the job has a second one, the anchor, which shares its memory and does nothing;
 *   2. a kill then frees nothing, because the memory is still in use, and others learn of the death within
 *      microseconds;
 *   3. the kernel tells the anchor when its parent is gone. The anchor lets the others repair the job first,
 *      because they may need the core, and then ends, which frees the memory.
 * The anchor has no files, so connections end with the process. No signal but a kill reaches it, and
 * no wait() of the application sees it, because it sends no SIGCHLD. If the process dies between 1 and the
 * anchor's request for 3, the anchor finds that its parent has changed, and ends. Everything works without an
 * anchor, only slower.
 */
#include "online/online.h"

#ifdef OPEN_MPI
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Runs with the thread pointer of its parent: it must not touch libc. */
static int lie(void *parent)
{
    unsigned long orphaned = 1ul << (SIGUSR1 - 1);
    struct timespec repair = {0, 30000000};
    raw_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGUSR1, 0, 0, 0, 0);
    raw_syscall(SYS_prctl, PR_SET_NAME, (long)"mend-anchor", 0, 0, 0, 0);
    raw_syscall(SYS_close_range, 0, ~0u, 0, 0, 0, 0);
    while (raw_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0) == (long)parent)
        raw_syscall(SYS_rt_sigtimedwait, (long)&orphaned, 0, 0, sizeof orphaned, 0, 0);
    raw_syscall(SYS_nanosleep, (long)&repair, 0, 0, 0, 0, 0);
    raw_syscall(SYS_exit_group, 0, 0, 0, 0, 0, 0);
    return 0;
}

void anchor_cast(void)
{
    static char stack[4096] __attribute__((aligned(64)));
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* the anchor's mask for good */
    clone(lie, stack + sizeof stack, CLONE_VM, (void *)(long)getpid());
    sigprocmask(SIG_SETMASK, &before, NULL);
}
#endif
