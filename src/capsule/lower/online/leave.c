/* online/leave.c - ends the upper half of this process, so that an older one can take its place.
 *
 * An MPI call has failed and returned to its wrapper, which stands on a stack of the upper half:
 *   1. continue on a stack of our own, in the main thread;
 *   2. revoke every communicator of the application, so that nobody waits for us;
 *   3. end the other threads of the upper half, and see that they are gone;
 *   4. complete every request: none may write into upper memory any more;
 *   5. drop what the MPI library has kept for reuse from a send that never ended (ulfm/requests.c).
 */
#include "online/online.h"
#include "gpu/gpu.h"
#include "undo/undo.h"

#ifdef OPEN_MPI
#include <ulfm/ulfm.h>

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LOWER_THREADS = 256 };
static struct {
    char *stack_top;
    void (*then)(void);
    volatile int acknowledged; /* count of the lower half's own threads */
    int acknowledging[LOWER_THREADS];
    double patience; /* with requests: until then */
    MPI_Comm *comms; /* that the application has made */
    int comm_count, comm_room;
} leave;

static void nap(long microseconds)
{
    struct timespec t = {0, microseconds * 1000};
    nanosleep(&t, NULL);
}

/* The pause between two signals to the same thread, in microseconds. The kernel queues SIGNAL_LEAVE, and a
 * thread that has not run for a while gets all of them at once, each with a frame on its stack: they must be
 * few. */
static long longer(long pause)
{
    return 2 * pause < 20000 ? 2 * pause : 20000;
}

void on_own_stack(void (*function)(void))
{
    context_call(function, leave.stack_top);
}

static int has_acknowledged(int tid)
{
    for (int i = 0; i < leave.acknowledged && i < LOWER_THREADS; i++)
        if (leave.acknowledging[i] == tid)
            return 1;
    return 0;
}

/* Once, however many signals have waited for this thread to run. */
static void acknowledge(int tid)
{
    if (has_acknowledged(tid))
        return;
    int i = __atomic_fetch_add(&leave.acknowledged, 1, __ATOMIC_SEQ_CST);
    if (i < LOWER_THREADS)
        leave.acknowledging[i] = tid;
}

/* SIGNAL_LEAVE. The thread pointer tells which half the thread belongs to. */
static void on_leave(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    (void)context;
    uintptr_t pointer = (uintptr_t)thread_pointer_get();
    int tid = (int)raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
    if (tid ==
        ground.main_tid) { /* another thread has noticed a failure: the main thread repairs */
        if (online.leaving || pointer == (uintptr_t)lower.thread_pointer)
            return;
        thread_pointer_set(lower.thread_pointer);
        on_own_stack(leave.then);
    }
    if (pointer < UPPER_END) /* it belongs to the upper half, and ends here */
        raw_syscall(SYS_exit, 0, 0, 0, 0, 0, 0);
    if (pointer == (uintptr_t)lower.thread_pointer)
        return;
    acknowledge(tid); /* it belongs to the lower half */
}

void leave_prepare(void (*then)(void))
{
    size_t length = 1 << 20;
    char *stack = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        die("no memory for a stack: %s", strerror(errno));
    leave.stack_top = stack + length;
    leave.then = then;
    struct sigaction action = {.sa_sigaction = on_leave,
                               .sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER};
    sigaction(SIGNAL_LEAVE, &action, NULL);
}

void leave_now(void)
{
    if (syscall(SYS_gettid) == ground.main_tid)
        on_own_stack(leave.then);
    for (long pause = 500; !online.leaving; pause = longer(pause)) {
        syscall(SYS_tgkill, getpid(), ground.main_tid, SIGNAL_LEAVE);
        nap(pause);
    }
    syscall(SYS_exit, 0); /* this thread belongs to the upper half */
    abort();
}

/* Returns when no thread of the upper half is left but the one we took over. */
static void end_threads(void)
{
    int me = (int)syscall(SYS_gettid), left;
    double limit = seconds_now() + 60; /* a busy machine may run none of them for seconds */
    double next_signal = 0;
    long pause = 500;
    leave.acknowledged = 0;
    memset(leave.acknowledging, 0, sizeof leave.acknowledging);
    do {
        DIR *tasks = opendir("/proc/self/task");
        int signals = seconds_now() >= next_signal;
        left = tasks == NULL; /* no descriptor is free: nobody knows yet */
        for (struct dirent *e; tasks && (e = readdir(tasks));) {
            int tid = atoi(e->d_name);
            if (tid == me || tid <= 0 || has_acknowledged(tid))
                continue;
            left++;
            if (signals)
                syscall(SYS_tgkill, getpid(), tid, SIGNAL_LEAVE);
        }
        if (signals) {
            next_signal = seconds_now() + 1e-6 * (double)pause;
            pause = longer(pause);
        }
        if (tasks)
            closedir(tasks);
        if (left)
            nap(100);
        if (seconds_now() > limit) /* to the others: one more failure */
            die("cannot end a thread of the application");
    } while (left);
}

/* On a revoked communicator an unmatched receive is cancelled, one that is being filled is filled to its end
 * (its sender keeps progressing where it waits for us), and the library gives up one whose sender died. Sends
 * only read. */
static void finish_request(handle_t handle, int is_receive)
{
    MPI_Request request = (MPI_Request)handle;
    if (handle == online.request_consumed)
        return;
    for (int flag = 0; !flag && request != MPI_REQUEST_NULL;) {
        int rc = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        if (rc && !mend_ulfm_is_pending(rc))
            return;
        if (seconds_now() < leave.patience)
            continue;
        if (is_receive)
            die("cannot end a receive");
        return;
    }
}

static void finish_requests(void)
{
    leave.patience = seconds_now() + 3;
    if (lower.upper && lower.upper->each_request)
        lower.upper->each_request(finish_request);
    if (online.receive_under_way)
        finish_request(online.receive_under_way, 1);
    online.receive_under_way = (handle_t)MPI_REQUEST_NULL;
    online.request_consumed = 0;
}

/* The communicators are never freed: their context ids must not be reused while old messages are in flight.
 */
void comm_made(MPI_Comm comm)
{
    if (!ground.recovering || comm == MPI_COMM_NULL)
        return;
    creation_note(comm);
    if (leave.comm_count == leave.comm_room) {
        leave.comm_room = 2 * leave.comm_room + 16;
        leave.comms = realloc(leave.comms, (size_t)leave.comm_room * sizeof *leave.comms);
        if (!leave.comms)
            die("no memory for %d communicators", leave.comm_room);
    }
    leave.comms[leave.comm_count++] = comm;
}

void comm_gone(MPI_Comm comm)
{
    for (int i = 0; ground.recovering && i < leave.comm_count; i++)
        if (leave.comms[i] == comm) {
            leave.comms[i] = leave.comms[--leave.comm_count];
            return;
        }
}

void revoke_application(void)
{
    for (int i = 0; i < leave.comm_count; i++)
        mend_ulfm_revoke(leave.comms[i]);
    if (online.world != MPI_COMM_NULL)
        mend_ulfm_revoke(online.world);
}

static void revoke_all(MPI_Comm private_comm)
{
    revoke_application();
    leave.comm_count = 0;
    if (online.world == MPI_COMM_NULL)
        return;
    mend_ulfm_revoke(private_comm);
    mend_ulfm_revoke(online.self);
    online.world = online.self = MPI_COMM_NULL;
}

void leave_upper(MPI_Comm private_comm)
{
    if (online.leaving)
        return;
    online.leaving = 1;
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGSYS);
    sigdelset(&all, SIGNAL_LEAVE);
    sigdelset(&all, SIGPIPE); /* see os/signals.c */
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGABRT);
    sigprocmask(SIG_SETMASK, &all, NULL);
    agent_abandon(); /* it reads memory of the upper half */
    gpu_abandon();
    mend_ulfm_forget_kept_requests();
    revoke_all(private_comm);
    creation_settle();
    phase("revoke");
    end_threads();
    phase("threads");
    undo_leave();
    if (!online.windows_open) /* else nothing is loaded in its place */
        finish_requests();
    mend_ulfm_forget_kept_requests();
    phase("requests");
}
#endif
