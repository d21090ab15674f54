/* Agreements in a thread of their own.
 *
 * Where several threads call MPI, the library keeps pointers to the stack of a thread that waits in it: such a call
 * cannot be left by a jump. So the call is made in a thread of its own, and it is the thread that is left:
 *   1. the owner starts the thread and sleeps; it drives no MPI (see gate.c);
 *   2. the thread carries the order out, and wakes the owner;
 *   3. if the owner gives up before, it marks the order as left, and goes its way. Nothing that belongs to the order
 *      is freed: the thread's stack and the order live on;
 *   4. the thread stays in the library until MPI_Finalize. It cannot be put to sleep: the library lets one of the
 *      threads that wait in it drive progress for all, and that may be this one. So it goes on turning, and yields its
 *      core at every turn.
 *   5. MPI_Finalize begins by deleting what is attached to MPI_COMM_SELF: there such threads are stopped.
 * 2 and 3 exclude each other by a lock. If the thread ends after it was left, nobody has use for its result. */
#include <ulfm/apart.h>

#include <base/event.h>
#include <ulfm/ulfm.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct work {
    struct mend_apart_order order;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool done;
    atomic_bool left;
};

static _Thread_local struct work *mine;

void mend_apart_here(struct mend_apart_order *order)
{
    order->mpi_code = order->agree ? mend_ulfm_agree(order->comm, &order->flags)
                                   : mend_ulfm_shrink(order->comm, &order->alive);
}

static void *thread(void *arg)
{
    struct work *work = arg;
    mine = work;
    mend_apart_here(&work->order);
    pthread_mutex_lock(&work->lock);
    work->done = true;
    pthread_cond_signal(&work->ended);
    pthread_mutex_unlock(&work->lock);
    return NULL;
}

static atomic_int left_behind, stopped; /* threads */
static atomic_bool over;                /* MPI_Finalize has begun */

void mend_apart_turn(void)
{
    if (!mine || !atomic_load(&mine->left))
        return;
    if (!atomic_load(&over)) {
        sched_yield();
        return;
    }
    atomic_fetch_add(&stopped, 1);
    for (;;)
        pause();
}

/* Step 5. A thread that sleeps inside the library turns no more and cannot be waited for. */
static int at_finalize(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    atomic_store(&over, true);
    for (double limit = mend_now() + 1;
         atomic_load(&stopped) < atomic_load(&left_behind) && mend_now() < limit;)
        sched_yield();
    return MPI_SUCCESS;
}

static void leave_behind(pthread_t id)
{
    static int key = MPI_KEYVAL_INVALID;
    pthread_detach(id);
    atomic_fetch_add(&left_behind, 1);
    if (key != MPI_KEYVAL_INVALID)
        return;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &key, NULL) == MPI_SUCCESS)
        PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}

static int start(struct work *work, pthread_t *id)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* the program's signals are the program's */
    int rc = pthread_create(id, NULL, thread, work);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return rc;
}

/* With the lock held. */
static void nap(struct work *work)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&work->ended, &work->lock, &until);
}

/* True: done. */
static bool await(struct work *work, bool (*give_up)(void *arg), void *arg)
{
    bool tired = false;
    pthread_mutex_lock(&work->lock);
    while (!work->done && !tired) {
        nap(work);
        tired = !work->done && give_up(arg);
    }
    atomic_store(&work->left, tired);
    pthread_mutex_unlock(&work->lock);
    return !tired;
}

static struct work *prepare(const struct mend_apart_order *order)
{
    pthread_condattr_t attr;
    struct work *work = calloc(1, sizeof *work);
    if (!work)
        return NULL;
    work->order = *order;
    pthread_mutex_init(&work->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&work->ended, &attr);
    pthread_condattr_destroy(&attr);
    return work;
}

static void discard(struct work *work)
{
    if (!work)
        return;
    pthread_cond_destroy(&work->ended);
    pthread_mutex_destroy(&work->lock);
    free(work);
}

bool mend_apart(struct mend_apart_order *order, bool (*give_up)(void *arg), void *arg)
{
    pthread_t id;
    struct work *work = prepare(order);
    if (!work || start(work, &id) != 0) { /* the others are on their way: without a way out, then */
        mend_event("ulfm.apart", ev_str("error", "no thread"));
        discard(work);
        mend_apart_here(order);
        return true;
    }
    if (!await(work, give_up, arg)) {
        leave_behind(id);
        return false;
    }
    pthread_join(id, NULL);
    *order = work->order;
    discard(work);
    return true;
}
