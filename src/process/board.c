#include "board.h"

#include <base/event.h>
#include <base/log.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct slot {
    _Alignas(128) atomic_int pid; /* 0: not on this node */
    atomic_llong started;         /* when the process started: the kernel reuses pids */
    atomic_llong beat;            /* CLOCK_MONOTONIC, milliseconds */
    atomic_int phase;
    atomic_int meeting; /* how many meetings it has entered */
    atomic_int rank;    /* -1: spare */
};

struct sheet {
    _Alignas(128) atomic_int bell; /* futex: spares sleep on it */
    struct slot slots[];
};

struct mend_board {
    struct sheet *sheet;
    size_t bytes;
    bool shared;
    char name[40];
    int seat, seats, meeting, rank;
    double watchdog, hang_timeout;
    struct mend_board_calls calls;
    bool guarded; /* the thread is running */
    pthread_t guard;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool closing;
    enum mend_phase phase;
    double since; /* when the phase began (mend_now()); 0: not watched */
};

const char *mend_phase_name(enum mend_phase phase)
{
    static const char *const names[] = {"work",  "spare", "shrink", "connect",  "cards", "spawn",
                                        "world", "build", "agree",  "finalize", "left"};
    return (unsigned)phase <= PHASE_LEFT ? names[phase] : "?";
}

static long long now_ms(void)
{
    return (long long)(mend_now() * 1e3);
}

/* Field 22 of /proc/PID/stat. The name in field 2 may contain anything, so count from its end. */
static long long start_time(int pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return -1;
    text[n] = 0;
    char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? atoll(at + 1) : -1;
}

static void sign(struct mend_board *b)
{
    struct slot *slot = &b->sheet->slots[b->seat];
    atomic_store(&slot->started, start_time(getpid()));
    atomic_store(&slot->beat, now_ms());
    atomic_store(&slot->phase, b->phase);
    atomic_store(&slot->meeting, b->meeting);
    atomic_store(&slot->rank, b->rank);
    atomic_store(&slot->pid, getpid());
}

/* ---- the guard thread ---------------------------------------------------------------------- */

/* Name the processes that this one waits for: those on this node that have not entered the same meeting. */
static void name_absent(const struct mend_board *b, double waited, char *text, size_t size)
{
    int here = 0, absent = 0;
    size_t n = (size_t)snprintf(text, size, "waited %.1f s in phase %s for", waited,
                                mend_phase_name(b->phase));
    for (int i = 0; i < b->seats; i++) {
        const struct slot *slot = &b->sheet->slots[i];
        int pid = atomic_load(&slot->pid), phase = atomic_load(&slot->phase);
        if (pid == 0 || phase == PHASE_LEFT || kill(pid, 0) != 0)
            continue;
        here++;
        if (i == b->seat || atomic_load(&slot->meeting) >= b->meeting || n >= size)
            continue;
        n += (size_t)snprintf(text + n, size - n, "%s rank %d (pid %d, in phase %s)",
                              absent++ ? "," : "", atomic_load(&slot->rank), pid,
                              mend_phase_name(phase));
    }
    if (absent == 0 && n < size)
        snprintf(text + n, size - n,
                 here < b->seats ? " processes of other nodes" : " processes that had come");
}

/* Kill the processes on this node whose beat is too old. They are stopped, and a stopped process holds up all others
 * although MPI does not count it as dead. */
static void end_stopped(const struct mend_board *b, double own_delay)
{
    long long limit = now_ms() - (long long)(b->hang_timeout * 1e3);
    if (own_delay > b->hang_timeout / 2)
        return; /* this process did not run either: the machine is slow, or was suspended */
    for (int i = 0; i < b->seats; i++) {
        const struct slot *slot = &b->sheet->slots[i];
        int pid = atomic_load(&slot->pid);
        if (pid == 0 || i == b->seat || atomic_load(&slot->beat) >= limit ||
            atomic_load(&slot->phase) == PHASE_LEFT)
            continue;
        int fd = (int)syscall(SYS_pidfd_open, pid, 0);
        if (fd < 0)
            continue;
        if (start_time(pid) == atomic_load(&slot->started)) {
            mend_event("process.hang", ev_int("pid", pid), ev_int("of", atomic_load(&slot->rank)),
                       ev_real("seconds", (double)(now_ms() - atomic_load(&slot->beat)) / 1e3));
            syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
        }
        close(fd);
    }
}

static double next_wake(const struct mend_board *b)
{
    const double tick = 0.25;
    double wake = b->hang_timeout > 0 ? b->hang_timeout / 10 : 3600;
    if (b->calls.tick && b->phase != PHASE_SPARE && wake > tick)
        wake = tick;
    if (b->watchdog > 0 && b->since > 0) {
        double left = b->since + b->watchdog - mend_now();
        if (left < wake)
            wake = left > 0.001 ? left : 0.001;
    }
    return wake;
}

static void *guard(void *arg)
{
    struct mend_board *b = arg;
    pthread_mutex_lock(&b->lock);
    while (!b->closing) {
        struct timespec until;
        double wake = next_wake(b), from = mend_now();
        clock_gettime(CLOCK_MONOTONIC, &until);
        long long ns = until.tv_nsec + (long long)(wake * 1e9);
        until.tv_sec += ns / 1000000000;
        until.tv_nsec = ns % 1000000000;
        pthread_cond_timedwait(&b->changed, &b->lock, &until);
        if (b->closing)
            break;
        if (b->calls.tick) {
            enum mend_phase phase = b->phase;
            pthread_mutex_unlock(&b->lock);
            b->calls.tick(phase, b->calls.arg);
            pthread_mutex_lock(&b->lock);
        }
        if (b->hang_timeout > 0) {
            atomic_store(&b->sheet->slots[b->seat].beat, now_ms());
            end_stopped(b, mend_now() - from - wake);
        }
        if (b->watchdog > 0 && b->since > 0 && mend_now() - b->since > b->watchdog) {
            char who[600];
            name_absent(b, mend_now() - b->since, who, sizeof who);
            b->since = 0;
            b->calls.hung(who, b->calls.arg);
        }
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

static int start_guard(struct mend_board *b)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* the signals are for the program's own threads */
    int rc = pthread_create(&b->guard, NULL, guard, b);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    b->guarded = rc == 0;
    return rc;
}

/* ---- the face -------------------------------------------------------------------------------- */

struct mend_board *mend_board_open(int seat, int seats, double watchdog, double hang_timeout,
                                   const struct mend_board_calls *calls)
{
    struct mend_board *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->seat = seat;
    b->seats = seats;
    b->rank = -1;
    b->watchdog = watchdog;
    b->hang_timeout = hang_timeout;
    b->calls = *calls;
    b->bytes = sizeof(struct sheet) + (size_t)seats * sizeof(struct slot);
    b->sheet = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (b->sheet == MAP_FAILED) {
        free(b);
        return NULL;
    }
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&b->changed, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&b->lock, NULL);
    sign(b);
    int error = watchdog > 0 || hang_timeout > 0 || calls->tick ? start_guard(b) : 0;
    if (error) {
        mend_log(MEND_LOG_WARNING, "process: no guard thread: %s", strerror(error));
        b->watchdog = b->hang_timeout = 0;
    }
    return b;
}

void mend_board_share(struct mend_board *b, uint64_t name)
{
    struct stat st;
    if (b->shared)
        return;
    snprintf(b->name, sizeof b->name, "/mend-board-%016llx", (unsigned long long)name);
    int fd = shm_open(b->name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    void *sheet = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
        ftruncate(fd, (off_t)b->bytes) == 0)
        sheet = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (sheet == MAP_FAILED) {
        mend_event("process.board", ev_str("error", strerror(errno)));
        mend_log(
            MEND_LOG_WARNING,
            "process: no shared memory for the board (%s): Mend cannot detect stopped processes",
            strerror(errno));
        b->name[0] = 0;
        return;
    }
    pthread_mutex_lock(&b->lock);
    munmap(b->sheet, b->bytes);
    b->sheet = sheet;
    b->shared = true;
    sign(b);
    pthread_mutex_unlock(&b->lock);
}

void mend_board_unlink(struct mend_board *b)
{
    if (b->name[0])
        shm_unlink(b->name);
    b->name[0] = 0;
}

void mend_board_close(struct mend_board *b)
{
    if (!b)
        return;
    mend_board_unlink(b);
    mend_board_phase(b, PHASE_LEFT);
    if (b->guarded) {
        pthread_mutex_lock(&b->lock);
        b->closing = true;
        pthread_cond_signal(&b->changed);
        pthread_mutex_unlock(&b->lock);
        pthread_join(b->guard, NULL);
    }
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
    munmap(b->sheet, b->bytes);
    free(b);
}

void mend_board_phase(struct mend_board *b, enum mend_phase phase)
{
    bool watched = phase >= PHASE_SHRINK && phase <= PHASE_AGREE;
    pthread_mutex_lock(&b->lock);
    bool was = b->since > 0;
    b->phase = phase;
    b->since = watched ? mend_now() : 0;
    atomic_store(&b->sheet->slots[b->seat].phase, phase);
    if (watched && !was && b->guarded)
        pthread_cond_signal(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

enum mend_phase mend_board_where(const struct mend_board *b)
{
    return b->phase;
}

void mend_board_meeting(struct mend_board *b, int rank)
{
    b->rank = rank;
    atomic_store(&b->sheet->slots[b->seat].rank, rank);
    atomic_store(&b->sheet->slots[b->seat].meeting, ++b->meeting);
}

bool mend_board_nap(struct mend_board *b, long microseconds)
{
    struct timespec time = {.tv_sec = microseconds / 1000000,
                            .tv_nsec = microseconds % 1000000 * 1000};
    int bell = atomic_load(&b->sheet->bell);
    syscall(SYS_futex, &b->sheet->bell, FUTEX_WAIT, bell, &time, NULL, 0);
    return atomic_load(&b->sheet->bell) != bell;
}

void mend_board_ring(struct mend_board *b)
{
    atomic_fetch_add(&b->sheet->bell, 1);
    syscall(SYS_futex, &b->sheet->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
