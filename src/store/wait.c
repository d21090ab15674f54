/* The result of a save: wait for it, query it, cancel the save. */
#include "internal.h"

#include <base/grow.h>

static int result_text(mend_store *store, int rc)
{
    if (rc == MEND_ERR_DEGRADED)
        return mend_fail(rc, "version %lld was not saved at all its levels",
                         (long long)store->last);
    if (rc == MEND_ERR_NOT_SAVED)
        return mend_fail(rc, "version %lld was not saved at any level%s%s", (long long)store->last,
                         store->why[0] ? ": " : "", store->why);
    return rc ? mend_fail(rc, "a process died while version %lld was being saved",
                          (long long)store->last)
              : 0;
}

int mend_store_wait(mend_store *store)
{
    if (!store)
        return mend_fail(MEND_ERR_ARGUMENT, "no store");
    int rc = guard_check(store, "mend_store_wait", FRAME);
    if (rc)
        return rc;
    engine_drain(store);
    int64_t worst =
        store->result; /* commits are agreed, so all have the same, unless a process died */
    int broken = net_all_min(store->net, CALL, &worst, 1);
    return broken ? broken : result_text(store, (int)worst);
}

int mend_store_test(mend_store *store, int *done)
{
    if (!store || !done)
        return mend_fail(MEND_ERR_ARGUMENT, "no store, or no place for the result (NULL)");
    pthread_mutex_lock(&store->lock);
    *done = store->pending == 0;
    int rc = *done ? store->result : 0;
    pthread_mutex_unlock(&store->lock);
    return result_text(store, rc);
}

int mend_store_progress_sized(mend_store *store, mend_store_progress_info *info, size_t size)
{
    if (!store || !info)
        return mend_fail(MEND_ERR_ARGUMENT, "no store, or no place for the result (NULL)");
    pthread_mutex_lock(&store->lock);
    mend_store_progress_info own = {
        .version = store->current ? store->current->version : store->last,
        .pending = store->pending,
        .level = (mend_level)atomic_load(&store->level_now),
        .bytes_done = atomic_load(&store->bytes_done),
        .bytes_total = atomic_load(&store->bytes_total),
    };
    pthread_mutex_unlock(&store->lock);
    if (own.bytes_done > own.bytes_total)
        own.bytes_done = own.bytes_total;
    mend_result_give(info, size, &own, sizeof own);
    return 0;
}

int mend_store_cancel(mend_store *store)
{
    if (!store)
        return mend_fail(MEND_ERR_ARGUMENT, "no store");
    atomic_store(&store->cancel, true);
    engine_drain(store);
    int64_t nothing = 0;
    int rc = net_all_min(store->net, CALL, &nothing, 1);
    atomic_store(&store->cancel, false);
    return rc;
}

int mend_store_reached(mend_store *store, mend_version_t version, unsigned *levels)
{
    int rc = MEND_ERR_VERSION;
    if (!store || !levels)
        return mend_fail(MEND_ERR_ARGUMENT, "no store, or no place for the result (NULL)");
    pthread_mutex_lock(&store->lock);
    for (int i = store->known_count - 1; rc && i >= 0; i--)
        if (store->known[i].version == version) {
            *levels = store->known[i].reached;
            rc = 0;
        }
    pthread_mutex_unlock(&store->lock);
    return rc ? mend_fail(rc, "version %ld is not known", version) : 0;
}
