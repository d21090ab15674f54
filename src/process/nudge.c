/* Recovers wake-ups that the MPI library loses.
 *
 * A thread that enters a blocking MPI call checks once whether its peer or communicator has failed, then adds itself
 * to the list of threads to wake on news of a failure. Another thread that drives MPI at the same time (the store's,
 * or one of the program's) may receive the news between these two steps. Then the first thread is not on the list
 * yet: it waits forever, and the job waits for it. We saw this on machines with more threads than cores, where a
 * thread may be delayed between the two steps for long.
 *
 * Any later revoke of any communicator wakes all waiting threads, which then check again. So the guard thread does
 * this from time to time:
 *   1. Check whether a rank of this generation has failed or the base has been revoked, while the owner is not in a
 *      repair, or in a part of it that such news must end.
 *   2. If so, revoke a communicator that nobody else has: a duplicate of MPI_COMM_SELF, made beforehand, because
 *      making one may have to wait for the owner.
 *   3. Repeat this at growing intervals: the owner may be computing.
 * An owner that is not waiting, or not in vain, does not notice. */
#include "internal.h"

#include <base/event.h>

#include <stdlib.h>

enum { POKES = 6 };
static const double first_wait = 0.2, growth = 3;

struct mend_nudge {
    pthread_mutex_t lock;
    MPI_Comm base, world; /* watched; MPI_COMM_NULL: nothing is */
    MPI_Comm pokes[POKES];
    int left;
    double since, next; /* of the current trouble; 0: none */
};

/* A process in a shrink or an agreement waits for latecomers, and learns of failures by other means. A spare looks
 * for itself. */
static bool may_wait_in_vain(enum mend_phase phase)
{
    return phase != PHASE_SHRINK && phase != PHASE_AGREE && phase != PHASE_SPARE &&
           phase != PHASE_LEFT;
}

static bool in_trouble(const struct mend_nudge *n, enum mend_phase phase)
{
    if (n->base == MPI_COMM_NULL || !may_wait_in_vain(phase))
        return false;
    return mend_ulfm_is_revoked(n->base) ||
           (n->world != MPI_COMM_NULL && mend_ulfm_failed(n->world, NULL) > 0);
}

/* Runs in the guard thread. */
static void look(struct mend_nudge *n, enum mend_phase phase)
{
    double now = mend_now();
    if (!in_trouble(n, phase)) {
        n->since = 0;
        return;
    }
    if (n->since == 0) {
        n->since = now;
        n->next = now + first_wait;
        return;
    }
    if (now < n->next || n->left == 0)
        return;
    mend_ulfm_revoke(n->pokes[--n->left]);
    n->next = now + growth * (now - n->since);
    mend_event("process.nudge", ev_str("phase", mend_phase_name(phase)),
               ev_real("seconds", now - n->since));
}

void mend_nudge_tick(struct mend_nudge *n, enum mend_phase phase)
{
    if (!n)
        return;
    pthread_mutex_lock(&n->lock);
    look(n, phase);
    pthread_mutex_unlock(&n->lock);
}

/* Replace the duplicates that were used. */
static void fill(struct mend_nudge *n)
{
    for (; n->left < POKES; n->left++) {
        MPI_Comm *poke = &n->pokes[n->left];
        if (*poke != MPI_COMM_NULL)
            PMPI_Comm_free(poke);
        if (PMPI_Comm_dup(MPI_COMM_SELF, poke) != MPI_SUCCESS) {
            *poke = MPI_COMM_NULL;
            return;
        }
    }
}

struct mend_nudge *mend_nudge_open(void)
{
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    if (level != MPI_THREAD_MULTIPLE) /* no other thread can receive the news */
        return NULL;
    struct mend_nudge *n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    n->base = n->world = MPI_COMM_NULL;
    for (int i = 0; i < POKES; i++)
        n->pokes[i] = MPI_COMM_NULL;
    pthread_mutex_init(&n->lock, NULL);
    fill(n);
    return n;
}

void mend_nudge_watch(struct mend_nudge *n, MPI_Comm base, MPI_Comm world)
{
    if (!n)
        return;
    pthread_mutex_lock(&n->lock);
    n->base = base;
    n->world = world;
    n->since = 0;
    pthread_mutex_unlock(&n->lock);
}

void mend_nudge_refill(struct mend_nudge *n)
{
    if (!n)
        return;
    pthread_mutex_lock(&n->lock);
    fill(n);
    pthread_mutex_unlock(&n->lock);
}

void mend_nudge_close(struct mend_nudge *n)
{
    if (!n)
        return;
    for (int i = 0; i < POKES; i++)
        if (n->pokes[i] != MPI_COMM_NULL)
            PMPI_Comm_free(&n->pokes[i]);
    pthread_mutex_destroy(&n->lock);
    free(n);
}
