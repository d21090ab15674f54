/* The gate: while a thread is inside an agreement, no other thread of ours drives MPI.
 *
 * When Open MPI's agreement learns of a death, it walks its tables of agreements without a lock, and keeps a pointer
 * to an agreement that another thread may end in the meantime. So any thread of ours other than the program's own
 * (the store's background thread, the guard of the process layer) calls MPI only between enter and leave, makes no
 * call that waits, and waits at the gate while it is closed.
 *
 * A process may close the gate only when every living process is about to enter the same agreement (hall.c).
 * Otherwise one of them might wait for a message that our background thread has not sent yet. */
#include <ulfm/gate.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static struct {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    atomic_bool closed;
    atomic_int inside;
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};
static _Thread_local bool by_me;

bool mend_gate_try(void)
{
    if (by_me)
        return true;
    atomic_fetch_add(&gate.inside, 1);
    if (!atomic_load(&gate.closed))
        return true;
    atomic_fetch_sub(&gate.inside, 1);
    return false;
}

void mend_gate_enter(void)
{
    while (!mend_gate_try()) {
        pthread_mutex_lock(&gate.lock);
        while (atomic_load(&gate.closed))
            pthread_cond_wait(&gate.opened, &gate.lock);
        pthread_mutex_unlock(&gate.lock);
    }
}

void mend_gate_leave(void)
{
    if (!by_me)
        atomic_fetch_sub(&gate.inside, 1);
}

void mend_gate_close(void)
{
    pthread_mutex_lock(&gate.lock);
    while (atomic_load(&gate.closed))
        pthread_cond_wait(&gate.opened, &gate.lock);
    atomic_store(&gate.closed, true);
    by_me = true;
    pthread_mutex_unlock(&gate.lock);
    while (atomic_load(&gate.inside) > 0)
        sched_yield();
}

void mend_gate_open(void)
{
    if (!by_me)
        return;
    pthread_mutex_lock(&gate.lock);
    by_me = false;
    atomic_store(&gate.closed, false);
    pthread_cond_broadcast(&gate.opened);
    pthread_mutex_unlock(&gate.lock);
}
