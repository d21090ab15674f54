/* ended.c - a program that ends itself, with an exit code or by MPI_Abort, reports that to `mend run`: a
 * relaunch would only repeat it. A program that crashes may have been hit from outside, so it is recovered;
 * but we save its last output, because it may crash again. */
#include "ground/settings.h"
#include "output/output.h"

#include <base/ends.h>
#include <base/config.h>
#include <base/event.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    int watched;
    int (*plain_abort)(handle_t comm, int code);
    struct sigaction before[65];  /* the handlers that we found */
    struct sigaction library[65]; /* the MPI library's */
    volatile int crashing;        /* the signal that the library's handler has got */
} ended;

/* If the end follows an error that the death of another rank may have caused, it is not the program's own
 * decision. (In a job that repairs itself the program never sees such an error.) Then the job is torn down
 * and launched again. */
static void tell(int code, const char *how, enum mend_ended_how how_told)
{
    if (lower.upper && lower.upper->doubtful && !ground.recovering)
        mend_event("recover.doubted", ev_int("code", code), ev_str("how", how));
    else {
        mend_event("recover.ended", ev_int("code", code), ev_str("how", how));
        mend_ends_ended(mend_event_rank(), how_told, code);
    }
}

/* The last output is final when all ranks have ended: a job that is launched again prints it again. 0: it
 * could not be written. */
static int output_written(void)
{
    return relaunch_active() ? output_end() : output_direct();
}

int ended_output(void)
{
    char reserve[4300];
    if (output_written())
        return 1;
    int why = errno;
    snprintf(reserve, sizeof reserve, "%s/reserve", settings.dir);
    if (unlink(reserve) == 0 && output_written())
        return 1; /* `mend run` has reserved some space for this */
    fprintf(stderr, "mend: the last output of rank %d could not be written to %s/output: %s\n",
            mend_event_rank(), settings.dir, strerror(why));
    mend_ends_ended(mend_event_rank(), MEND_ENDS_OUTPUT_LOST, why);
    return 0;
}

static int abort_and_tell(handle_t comm, int code)
{
    ended_output();
    tell(code ? code : 1, "MPI_Abort", MEND_ENDS_ABORTED);
    return ended.plain_abort(comm, code);
}

void ended_watch(void)
{
    ended.watched = 1;
    mend_ends_open(settings.dir, strtoull(mend_setting_string(MEND_KEY_RUN_MEETING), NULL, 10));
    ended.plain_abort = lower.Abort;
    lower.Abort = abort_and_tell;
}

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM};

/* Record a crash in the program's own code in the table, so that the job does not survive a repeated one for
 * ever. A signal from outside, or a crash in the MPI library (which a death may cause), does not count. */
static void tell_crash(int signal, const siginfo_t *info, const ucontext_t *context, int pid)
{
    uint64_t at = interrupted_at(context);
    int rank = mend_event_rank();
    if (signal == SIGTERM || rank < 0 || at >= UPPER_END || !mend_ends_path()[0] ||
        (info->si_code <= 0 && (signal != SIGABRT || info->si_pid != pid)))
        return;
    mend_ends_entry p = mend_ends_crash(signal, at, pid);
    long fd = raw_syscall(SYS_openat, AT_FDCWD, (long)mend_ends_path(),
                          O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0, 0, 0);
    if (fd >= 0)
        raw_syscall(SYS_pwrite64, fd, (long)&p, MEND_ENDS_TOLD, (long)rank * (long)sizeof p, 0, 0);
}

/* With the thread pointer of either half. Afterwards happens what would have happened without us: the
 * instruction runs again, or the signal is sent again. */
static void on_crash(int signal, siginfo_t *info, void *context)
{
    int pid = (int)raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
    if (pid == ground.main_tid) { /* not a child */
        output_last();
        tell_crash(signal, info, context, pid);
    }
    sigaction(signal, &ended.before[signal], NULL);
    if (info->si_code <= 0)
        raw_syscall(SYS_tgkill, raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0),
                    raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0), signal, 0, 0, 0);
}

void ended_watch_crashes(void)
{
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        sigaction(crashes[i], &action, &ended.before[crashes[i]]);
}

/* The library's handler takes memory. If the crash was inside malloc(), it waits for ever: end by the signal all the same. */
enum { HANDLER_SECONDS = 10 };
static void on_handler_hung(int alarm_signal)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t set;
    (void)alarm_signal;
    sigaction(ended.crashing, &plain, NULL);
    sigemptyset(&set);
    sigaddset(&set, ended.crashing);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raw_syscall(SYS_kill, raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0), ended.crashing, 0, 0, 0, 0);
}

static void limit_handler(int signal)
{
    struct sigaction action = {.sa_handler = on_handler_hung, .sa_flags = SA_ONSTACK};
    sigset_t set;
    ended.crashing = signal;
    sigaction(SIGALRM, &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    alarm(HANDLER_SECONDS);
}

/* Open MPI's crash handlers print the stack and send the signal again. They need the lower half's thread
 * pointer; otherwise they crash themselves, and an abort() of the program ends as a SIGSEGV. */
static void on_crash_for_library(int signal, siginfo_t *info, void *context)
{
    void *pointer = thread_pointer_get();
    int above = (uintptr_t)pointer < UPPER_END;
    limit_handler(signal);
    if (above)
        thread_pointer_set(lower.thread_pointer);
    if (ended.library[signal].sa_flags & SA_SIGINFO)
        ended.library[signal].sa_sigaction(signal, info, context);
    else
        ended.library[signal].sa_handler(signal);
    if (above)
        thread_pointer_set(pointer);
}

void ended_lend_pointer(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    stack_t stack;
    /* UCX gives this thread an alternate signal stack. Signal frames, and so images, would carry its address
     * into processes where nothing is mapped there: a crash would find no stack for its handler. */
    if (!sigaltstack(NULL, &stack) && (uintptr_t)stack.ss_sp >= UPPER_END)
        sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct sigaction action, *theirs = &ended.library[faults[i]];
        if (theirs->sa_handler || sigaction(faults[i], NULL, &action) ||
            action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
            continue;
        *theirs = action;
        action.sa_sigaction = on_crash_for_library;
        action.sa_flags |= SA_SIGINFO;
        sigaction(faults[i], &action, NULL);
    }
}

void ended_by_exit(int code)
{
    if (ended.watched)
        tell(code, "exit", MEND_ENDS_ENDED);
}

/* For a checkpoint after which the job stops: the program has not ended. */
void ended_left(void)
{
    if (ended.watched) {
        mend_event("recover.left", ev_str("launch", mend_setting_string(MEND_KEY_RUN_MEETING)));
        mend_ends_ended(mend_event_rank(), MEND_ENDS_LEFT, 0);
    }
    ended.watched = 0;
}

/* The last thing that a rank does. A rank that has not reported this was killed, whatever the launcher says:
 * MPICH's launcher exits with 0 after a quarter of all kills. */
void ended_well(void)
{
    if (!ended.watched)
        return;
    mend_event("recover.exited", ev_str("launch", mend_setting_string(MEND_KEY_RUN_MEETING)));
    mend_ends_ended(mend_event_rank(), MEND_ENDS_EXITED, 0);
}
