/* Which versions can be restored: those that are complete somewhere, not abandoned, and not known to be damaged. */
#include <stdlib.h>

#include "restore/obtain.h"
#include "restore/restore.h"

static bool is_bad(const mend_store *store, const struct attempt *a)
{
    for (int i = 0; i < store->bad_count; i++)
        if (store->bad[i].version == a->version && store->bad[i].id == a->id)
            return true;
    return false;
}

void restore_mark_bad(mend_store *store, const struct attempt *a)
{
    struct known *bigger = realloc(store->bad, (size_t)(store->bad_count + 1) * sizeof *bigger);
    if (!bigger)
        return;
    store->bad = bigger;
    store->bad[store->bad_count++] = (struct known){.version = a->version, .id = a->id};
}

/* Is there a complete attempt that was made later, under a number that is not larger? Then the program had gone back
 * (restored an older version, or started over) before it saved that one. What it had saved above is abandoned, even
 * where a level has not removed it yet. */
static bool is_outlived(const struct attempt *a, const struct attempt *complete, int count)
{
    for (int i = 0; i < count; i++)
        if (complete[i].version <= a->version && complete[i].id > a->id)
            return true;
    return false;
}

/* Complete attempts, newest first, one for each version number, without abandoned ones. */
int restore_list(mend_store *store, const struct inventory *inv, struct attempt **out, int *count)
{
    struct attempt *all = NULL;
    int n = 0, complete = 0, total = 0, rc = inventory_attempts(inv, &all, &total);
    if (rc)
        return rc;
    for (int i = 0; i < total; i++)
        if (!is_bad(store, &all[i]) && inventory_complete(store, inv, &all[i]))
            all[complete++] = all[i];
    for (int i = 0; i < complete; i++) /* what follows i is still complete: older versions */
        if (!is_outlived(&all[i], all + i + 1, complete - i - 1) &&
            (n == 0 || all[n - 1].version != all[i].version))
            all[n++] = all[i];
    *out = all;
    *count = n;
    return 0;
}

/* Wait for the background, then list what exists. All ranks get the same list. */
int restore_look(mend_store *store, struct inventory *inv, struct attempt **attempts, int *count)
{
    engine_drain(store);
    int rc = inventory_take(store, inv);
    if (rc)
        return rc;
    rc = restore_list(store, inv, attempts, count);
    if (rc) {
        net_break(store->net);
        inventory_free(inv);
    }
    return rc;
}

int mend_store_newest_until(mend_store *store, mend_version_t at_most, mend_version_t *version)
{
    struct inventory inv = {0};
    struct attempt *attempts = NULL;
    int count = 0, i = 0;

    if (!store || !version)
        return mend_fail(MEND_ERR_ARGUMENT, "no store, or no place for the result (NULL)");
    engine_hold(store);
    int rc = restore_look(store, &inv, &attempts, &count);
    engine_release(store);
    if (rc)
        return rc;
    while (i < count && attempts[i].version > at_most)
        i++;
    if (i < count)
        *version = attempts[i].version;
    else
        rc = inventory_nothing(store, &inv);
    free(attempts);
    inventory_free(&inv);
    return rc;
}

int mend_store_newest(mend_store *store, mend_version_t *version)
{
    return mend_store_newest_until(store, INT64_MAX, version);
}

int mend_store_versions(mend_store *store, mend_version_t *versions, int room, int *count)
{
    struct inventory inv = {0};
    struct attempt *attempts = NULL;

    if (!store || !count || (room > 0 && !versions))
        return mend_fail(MEND_ERR_ARGUMENT, "no store, or no place for the result (NULL)");
    engine_hold(store);
    int rc = restore_look(store, &inv, &attempts, count);
    engine_release(store);
    if (rc)
        return rc;
    for (int i = 0; i < *count && i < room; i++)
        versions[i] = attempts[i].version;
    free(attempts);
    inventory_free(&inv);
    return 0;
}

int restore_find(mend_store *store, const struct inventory *inv, mend_version_t version,
                 struct attempt *out)
{
    struct attempt *attempts = NULL;
    int count = 0, rc = restore_list(store, inv, &attempts, &count), i = 0;
    if (rc)
        return rc;
    while (i < count && attempts[i].version != version)
        i++;
    if (i < count)
        *out = attempts[i];
    else
        rc = mend_fail(MEND_ERR_NO_VERSION, "not every rank can restore version %lld",
                       (long long)version);
    free(attempts);
    return rc;
}
