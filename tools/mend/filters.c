#include "filters.h"
#include "tool.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Each makes its call in a way that does nothing, and that fails only if nobody may make it. */
static int install_filter(void)
{
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = 1, .filter = &allow};
    unsigned trap = SECCOMP_RET_TRAP;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &trap) ||
                   prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
                   syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
               ? -1
               : 0;
}

static int signal_thread(void)
{
    return (int)syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), 0);
}

static int await_signal(void)
{
    sigset_t none;
    sigemptyset(&none);
    int rc = sigtimedwait(&none, NULL, &(struct timespec){0, 0});
    return rc < 0 && errno == EAGAIN ? 0 : rc;
}

static int make_memory(void)
{
    return memfd_create("mend", MFD_CLOEXEC);
}

static int make_pair(void)
{
    int two[2];
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, two);
}

static int count_events(void)
{
    return eventfd(0, EFD_CLOEXEC);
}

static int watch_files(void)
{
    return epoll_create1(EPOLL_CLOEXEC);
}

static int watch_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    return signalfd(-1, &none, SFD_CLOEXEC);
}

static int make_timer(void)
{
    timer_t timer;
    return timer_create(CLOCK_MONOTONIC, &(struct sigevent){.sigev_notify = SIGEV_NONE}, &timer);
}

static int order_memory(void)
{
    long can = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    if (can >= 0 && !(can & MEMBARRIER_CMD_PRIVATE_EXPEDITED))
        errno = ENOSYS;
    return can >= 0 && can & MEMBARRIER_CMD_PRIVATE_EXPEDITED ? 0 : -1;
}

/* What the capsule and the launcher cannot do without. */
static const struct {
    const char *name;
    int (*make)(void);
} calls[] = {
    {"seccomp", install_filter}, /* first: filters_try */
    {"tgkill", signal_thread},    {"rt_sigtimedwait", await_signal}, {"memfd_create", make_memory},
    {"socketpair", make_pair},    {"eventfd2", count_events},        {"epoll_create1", watch_files},
    {"signalfd4", watch_signals}, {"timer_create", make_timer},      {"membarrier", order_memory}};
enum { CALLS = sizeof calls / sizeof *calls };

struct answer {
    int tried, error; /* calls; of the last one */
};

/* Too few descriptors, memory or processes are told where they are needed. */
static int is_want(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == EAGAIN;
}

static void try_calls(volatile struct answer *a)
{
    while (a->tried < CALLS && !a->error) {
        int k = a->tried++;
        a->error = calls[k].make() < 0 && !is_want(errno) ? errno : 0;
    }
}

/* In a child: a filter stays, and a profile may kill whoever makes a call. 0: not known, so whoever needs them will see. */
static int try_all(struct answer *result)
{
    int status;
    struct answer *a =
        mmap(NULL, sizeof *a, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (a == MAP_FAILED)
        return 0;
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* no core file if it is killed */
        try_calls(a);
        _exit(0);
    }
    int known = child > 0 && waitpid(child, &status, 0) == child;
    *result = *a;
    munmap(a, sizeof *a);
    if (known && WIFSIGNALED(status) && !result->error)
        result->error = EPERM;
    return known;
}

const char *filters_denied(int *error)
{
    struct answer a;
    if (!try_all(&a) || !a.error)
        return NULL;
    *error = a.error;
    return calls[a.tried - 1].name;
}

int filters_check(const char *command)
{
    int why;
    const char *call = filters_denied(&why);
    if (!call)
        return TOOL_OK;
    if (call == calls[0].name)
        return tool_failed(
            command,
            "this system does not let processes install seccomp filters (%s), and an "
            "unmodified program needs one; in a container, use a profile that allows "
            "seccomp(), or protect the program with mend/flow.h",
            strerror(why));
    return tool_failed(command,
                       "this system refuses the system call %s (%s), which Mend needs; in a "
                       "container, use a profile that allows %s()",
                       call, strerror(why), call);
}
