/* One save at a time, and no other call of the store inside it.
 *
 * A producer of a stream runs in the middle of a save. If it, or another thread, calls the store again, the messages
 * of the two calls would be mixed up, so we refuse the call. If the producer leaves the save by a jump (after a death
 * inside an MPI call of its own, which the process layer repairs), the store would lose the save's copy and its job
 * forever. The next call detects that: it comes from the same thread, and its frame is at or above that of the save.
 * Then we take back what the save held, as if it had failed. */
#include "copies/cow.h"
#include "copies/pages.h"
#include "internal.h"

#include <stdlib.h>

static bool was_left_by_a_jump(const struct guard *g, uintptr_t frame)
{
    return pthread_equal(g->by, pthread_self()) && frame >= g->frame;
}

static void give_back(mend_store *store)
{
    struct guard *g = &store->guard;
    mend_event("store.jump", ev_str("store", store->name), ev_str("call", g->call));
    if (g->job && g->job->later)
        cow_start(store);
    cow_wait(store);
    pages_lost(store);
    slot_release(store, g->slot);
    if (g->job) {
        pthread_mutex_lock(&store->lock);
        job_free(store, g->job);
        pthread_mutex_unlock(&store->lock);
    }
    free(g->regions);
    g->slot = NULL;
    g->job = NULL;
    g->regions = NULL;
    g->call = NULL;
}

/* Call it with the guard's lock held. */
static int check(mend_store *store, const char *call, uintptr_t frame)
{
    struct guard *g = &store->guard;
    if (g->call && was_left_by_a_jump(g, frame))
        give_back(store);
    return g->call ? mend_fail(MEND_ERR_STATE, "%s() while %s() of store %s is in progress%s", call,
                               g->call, store->name,
                               pthread_equal(g->by, pthread_self()) ? ", from inside it"
                                                                    : " in another thread")
                   : 0;
}

int guard_check(mend_store *store, const char *call, uintptr_t frame)
{
    pthread_mutex_lock(&store->guard.lock);
    int rc = check(store, call, frame);
    pthread_mutex_unlock(&store->guard.lock);
    return rc;
}

int guard_enter(mend_store *store, const char *call, uintptr_t frame)
{
    struct guard *g = &store->guard;
    pthread_mutex_lock(&g->lock);
    int rc = check(store, call, frame);
    if (rc == 0) {
        g->call = call;
        g->by = pthread_self();
        g->frame = frame;
    }
    pthread_mutex_unlock(&g->lock);
    return rc;
}

void guard_leave(mend_store *store)
{
    pthread_mutex_lock(&store->guard.lock);
    store->guard.call = NULL;
    pthread_mutex_unlock(&store->guard.lock);
}
