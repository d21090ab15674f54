/* A free copy for the next save. */
#include <time.h>

#include "internal.h"

static bool memory_level(const mend_store *store)
{
    return store->levels & MEND_LEVEL_BIT(MEND_LEVEL_MEMORY);
}

/* A slot that nobody reads and whose version the memory level need not keep; or, if memory is tight, any slot that
 * nobody reads. */
static struct slot *free_slot(mend_store *store)
{
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < store->own.count; i++) {
            struct slot *s = store->own.list[i];
            bool kept = s->complete && known_kept(store, s->head.version, s->head.save_id,
                                                  MEND_LEVEL_BIT(MEND_LEVEL_MEMORY));
            if (!s->users && !s->poisoned && (!kept || (pass && slots_tight(store))))
                return s;
        }
    return NULL;
}

/* How many copies this store may have: those that the memory level keeps, and those for saves in progress. */
static int slot_limit(const mend_store *store)
{
    int kept = memory_level(store) ? store->options.level[MEND_LEVEL_MEMORY].keep : 0;
    return kept + store->options.buffers;
}

/* Wait for a free copy, at most max_stall seconds. */
int slot_acquire(mend_store *store, size_t bytes, struct slot **out)
{
    struct timespec end;
    int rc = 0;

    clock_gettime(CLOCK_REALTIME, &end);
    double until = (double)end.tv_sec + (double)end.tv_nsec * 1e-9 + store->options.max_stall;
    end.tv_sec = (time_t)until;
    end.tv_nsec = (long)((until - (double)end.tv_sec) * 1e9);
    pthread_mutex_lock(&store->lock);
    while (rc == 0 && !(*out = free_slot(store))) {
        if (store->own.count < slot_limit(store)) {
            rc = slot_add(store, &store->own, out);
            break;
        }
        if (!store->pending) /* all are kept, and no save in progress will free one */
            rc = slot_add(store, &store->own, out);
        else if (pthread_cond_timedwait(&store->changed, &store->lock, &end))
            rc = mend_fail(MEND_ERR_BUSY,
                           "no copy became free within %g s: the levels are slower than the saves",
                           store->options.max_stall);
        if (*out)
            break;
    }
    if (rc == 0) {
        (*out)->users++;
        if (bytes > (*out)->room) {
            slot_forget(*out); /* unmapping its memory loses the version */
            rc = slot_reserve(store, *out, bytes);
        }
        if (rc)
            (*out)->users--;
    }
    if (rc)
        *out = NULL; /* the caller has nothing to release */
    pthread_mutex_unlock(&store->lock);
    return rc;
}

void slot_release(mend_store *store, struct slot *slot)
{
    if (!slot)
        return;
    pthread_mutex_lock(&store->lock);
    slot->users--;
    pthread_mutex_unlock(&store->lock);
}
