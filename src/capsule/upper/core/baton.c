/* core/baton.c - see baton.h. No libc: signal handlers call this, and threads are parked in the queue. */
#include "core/core.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

struct waiter { /* on the stack of the waiting thread */
    int go;
    struct waiter *next;
};
static struct {
    int lock; /* of the other fields; held for a few instructions, by threads that are not parked */
    int taken;
    struct waiter *first, **end;
} baton;

static void lock_queue(void)
{
    while (__atomic_exchange_n(&baton.lock, 1, __ATOMIC_ACQUIRE))
        raw_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}
static void unlock_queue(void)
{
    __atomic_store_n(&baton.lock, 0, __ATOMIC_RELEASE);
}

int baton_try(void)
{
    lock_queue();
    int free = !baton.taken;
    baton.taken = 1;
    unlock_queue();
    return free;
}

/* Another thread hands us the baton while we wait, so no checkpoint can be requested in between. */
static void wait_for_it(struct waiter *me)
{
    in_library--;
    while (!__atomic_load_n(&me->go, __ATOMIC_ACQUIRE))
        raw_syscall(SYS_futex, (long)&me->go, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
    in_library++;
}

static void stand_in_queue(struct waiter *me)
{
    if (!baton.first)
        baton.end = &baton.first;
    *baton.end = me;
    baton.end = &me->next;
    upper.wanted++;
}

void baton_take(void)
{
    struct waiter me = {0, NULL};
    lock_queue();
    int wait = baton.taken;
    baton.taken = 1;
    if (wait)
        stand_in_queue(&me);
    unlock_queue();
    if (wait)
        wait_for_it(&me);
}

/* The caller has locked the queue; this unlocks it. The next thread owns the baton when this returns, and its stack
 * frame with `next` may vanish soon after. */
static void hand_over(void)
{
    struct waiter *next = baton.first;
    if (next) {
        baton.first = next->next;
        upper.wanted--;
    } else {
        baton.taken = 0;
    }
    unlock_queue();
    if (!next)
        return;
    __atomic_store_n(&next->go, 1, __ATOMIC_RELEASE);
    raw_syscall(SYS_futex, (long)&next->go, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

void baton_give(void)
{
    lock_queue();
    hand_over();
}

/* Not while this process speaks for a checkpoint, nor inside a callback of the program. */
static int may_pass(void)
{
    return upper.several && !core.speaking && in_library == 1;
}

void baton_pass(void)
{
    struct waiter me = {0, NULL};
    if (!may_pass() || !upper.wanted)
        return;
    lock_queue();
    stand_in_queue(&me);
    hand_over();
    wait_for_it(&me);
}

void baton_rest(void)
{
    struct timespec nap = {0, 50000};
    if (!may_pass())
        return;
    baton_give();
    in_library--;
    raw_syscall(SYS_nanosleep, (long)&nap, 0, 0, 0, 0, 0);
    in_library++;
    baton_take();
}
