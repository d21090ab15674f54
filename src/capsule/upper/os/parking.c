/* os/parking.c - parks the application's threads.
 *
 * A signal parks a thread: its registers then lie in the kernel's signal frame on its own stack, which is saved memory.
 * At a restart the lower half clones a thread that returns through this very frame. The thread that takes the image is
 * not parked (life/stop.c).
 *
 *   1. A turn (upper.release) begins with the first thread that is asked, and ends when they are released.
 *   2. The speaker asks one thread after the other, by a signal. Each answers with the number of the turn: it is parked,
 *      or it cannot be parked, because it is inside MPI or in another of our functions (in_library).
 *   3. A thread reads the number of the turn before it looks whether threads are to be parked. So a signal that it takes
 *      late, when the turn is over, does not park it: the number has changed. Nor does its late answer count.
 *   4. A thread that is inside MPI is on its way to where it can be parked. Or it never gets there: it waits for a lock
 *      (of malloc(), of a stream) that a parked thread holds. So either the speaker gives up, and comes again later
 *      (hold_threads); or it releases all after a while, and parks them anew (park_threads).
 */
#include "os/threads.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct {
    volatile int wanted; /* a speaker wants the others parked */
    int held;            /* until release_held_threads() */
    int answers;         /* so far; a futex */
    int refused[MAX_THREADS];
} parking;
__thread volatile unsigned interruptions;

static long futex(int *word, int operation, int value, const struct timespec *limit)
{
    return raw_syscall(SYS_futex, (long)word, operation, value, (long)limit, 0, 0);
}

static void nap(long microseconds)
{
    raw_syscall(SYS_nanosleep, (long)&(struct timespec){0, microseconds * 1000}, 0, 0, 0, 0, 0);
}

static int turn_now(void)
{
    return __atomic_load_n(&upper.release, __ATOMIC_SEQ_CST);
}

/* What a thread answers in this turn. The lower half takes 0 for a thread that is not parked. */
static int answer_of(int turn)
{
    return (turn & 0x3fffffff) + 1;
}

static void answer(int *place, int turn)
{
    __atomic_store_n(place, answer_of(turn), __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&parking.answers, 1, __ATOMIC_SEQ_CST);
    futex(&parking.answers, FUTEX_WAKE_PRIVATE, 1, NULL);
}

/* This thread has the lower half's thread pointer: it cannot read my_slot. */
static void refuse_from_below(int turn)
{
    int tid = (int)raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
    for (int i = 0; i < upper.nthreads; i++)
        if (upper.threads[i].tid == tid && upper.threads[i].used != FREE)
            answer(&parking.refused[i], turn);
}

/* A thread that waits for the other end of a named pipe has opened nothing yet, and does so again after the
 * signal (SA_RESTART): in_library does not hold it. */
static int waits_in_open(const void *uc)
{
    return opening && opening == in_library && is_before_call(uc, SYS_openat);
}

/* Runs on any thread of the process, at any moment, so it uses no libc but errno. */
static void on_park(int sig, siginfo_t *si, void *uc)
{
    (void)sig;
    uintptr_t at = interrupted_at(uc);
    int turn = turn_now(), wanted = parking.wanted;
    if ((uintptr_t)thread_pointer_get() >= UPPER_END) {
        if (wanted)
            refuse_from_below(turn);
        return; /* a thread of the lower half, or one inside it */
    }
    interruptions++;
    if (my_slot < 0)
        return;
    int inside = (in_library && !waits_in_open(uc)) || at >= UPPER_END || in_fast_code(at);
    if (!wanted) {
        if (!inside && my_slot == MAIN_SLOT && upper.stop_phase == STOP_HERE &&
            upper.activity == ACTIVITY_NONE) {
            int saved_errno = errno, depth = in_library;
            in_library = 0;
            stop_from_signal();
            in_library = depth;
            errno = saved_errno;
        }
        return; /* else not now; the signal comes again */
    }
    if (inside) {
        answer(&parking.refused[my_slot], turn);
        return;
    }
    struct upper_thread *t = &upper.threads[my_slot];
    t->frame = signal_frame(si, uc);
    answer(&t->parked, turn);
    while (turn_now() == turn)
        futex(&upper.release, FUTEX_WAIT_PRIVATE, turn, NULL);
}

int thread_may_speak(void)
{
    return my_slot == MAIN_SLOT ||
           __atomic_load_n(&upper.threads[MAIN_SLOT].used, __ATOMIC_RELAXED) != ALIVE;
}

static void ask(const struct upper_thread *t)
{
    raw_syscall(SYS_tgkill, raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0), t->tid, SIGNAL_PARK, 0, 0,
                0);
}

enum { NOTHING_TO_PARK, PARKED, REFUSED };
/* This also parks a thread that is about to end, if it can: such a thread may be waiting for a lock of malloc() that a
 * parked thread holds. */
static int park(int i, int *asked)
{
    struct upper_thread *t = &upper.threads[i];
    struct timespec ms = {0, 1000000};
    int mine = answer_of(turn_now());
    for (*asked = 0;;) {
        int answers = __atomic_load_n(&parking.answers, __ATOMIC_SEQ_CST);
        int used = __atomic_load_n(&t->used, __ATOMIC_SEQ_CST);
        if (used == FREE || t->thread_pointer == thread_pointer_get() ||
            (used == DYING && thread_is_gone(t)))
            return NOTHING_TO_PARK;
        if (__atomic_load_n(&t->parked, __ATOMIC_SEQ_CST) == mine)
            return PARKED;
        if (__atomic_exchange_n(&parking.refused[i], 0, __ATOMIC_SEQ_CST) == mine)
            return REFUSED;
        if (used == BEING_BORN && *asked) /* who begins it may wait for such a lock */
            return REFUSED;
        *asked = 1;
        if (used != BEING_BORN)
            ask(t);
        futex(&parking.answers, FUTEX_WAIT_PRIVATE, answers, &ms);
    }
}

/* Asks all. A running thread may start another: until nobody was running. A thread that refuses is asked again: it may only
 * have looked at the clock, and with many threads that do, one of them always does. Returns 0 after so many refusals of one. */
static int park_all(int patience)
{
    enum { PAUSE = 20 };
    parking.wanted = 1;
    for (int running = 1; running;) {
        running = 0;
        for (int i = 0; i < upper.nthreads; i++) {
            int asked, left = patience;
            while (park(i, &asked) == REFUSED) {
                if (!left--)
                    return 0;
                nap(PAUSE);
            }
            running |= asked;
        }
    }
    return 1;
}

static void release_all(void)
{
    parking.wanted = parking.held = 0;
    __atomic_add_fetch(&upper.release, 1, __ATOMIC_SEQ_CST);
    futex(&upper.release, FUTEX_WAKE_PRIVATE, MAX_THREADS, NULL);
}

int hold_threads(void)
{
    enum { PATIENCE = 30 };
    if (park_all(PATIENCE)) {
        parking.held = 1;
        return 1;
    }
    release_all();
    return 0;
}

void park_threads(void)
{
    enum { PATIENCE = 200, MOST = 50000 };
    for (int patience = PATIENCE; !park_all(patience); patience += patience < MOST ? patience : 0) {
        release_all();
        nap(1000);
    }
    int mine = answer_of(turn_now());
    for (int i = 0; i < upper.nthreads; i++)
        if (upper.threads[i].parked != mine)
            upper.threads[i].parked = 0; /* in an earlier turn */
}

void release_threads(void)
{
    if (!parking.held)
        release_all();
}

void release_held_threads(void)
{
    release_all();
}

void install_park_handler(void)
{
    install_handler(SIGNAL_PARK, on_park, SA_RESTART, ~0ull);
}
