/* Restoring: which version, and how it gets back into the application's data. */
#include <stdlib.h>

#include "copies/device.h"
#include "restore/obtain.h"
#include "restore/restore.h"

/* ---- restore --------------------------------------------------------------------------------- */

static bool chosen(const int *ids, int count, int id)
{
    if (!ids)
        return true;
    for (int i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

static int check_regions(mend_store *store, const struct part *part, const int *ids, int count)
{
    for (int i = 0; ids && i < count; i++)
        if (!region_find(store, ids[i]))
            return mend_fail(MEND_ERR_REGION, "region %d is not registered", ids[i]);
    for (int i = 0; i < store->region_count; i++) {
        const struct region *r = &store->regions[i];
        if (!chosen(ids, count, r->id))
            continue;
        const mend_image_region *saved = part_region(part, r->id);
        if (!saved)
            return mend_fail(MEND_ERR_REGION, "region %d (%s) is not in version %lld", r->id,
                             r->label, (long long)part->head->version);
        if (saved->bytes != r->bytes)
            return mend_fail(MEND_ERR_SIZE, "region %d (%s) has %zu bytes, %llu in version %lld",
                             r->id, r->label, r->bytes, (unsigned long long)saved->bytes,
                             (long long)part->head->version);
    }
    return 0;
}

static int copy_regions(mend_store *store, struct part *part, const int *ids, int count)
{
    int rc = 0;
    for (int i = 0; rc == 0 && i < store->region_count; i++) {
        const struct region *r = &store->regions[i];
        const mend_image_region *saved =
            chosen(ids, count, r->id) ? part_region(part, r->id) : NULL;
        if (saved)
            rc = device_read(store, part, saved->offset, r->address, r->bytes);
        if (rc == MEND_ERR_DEVICE || rc == MEND_ERR_NO_MEMORY)
            rc = mend_fail_within(rc, "version %lld: region %d (%s) on rank %d",
                                  (long long)part->head->version, r->id, r->label, store->rank);
    }
    return rc;
}

int restore_worst(mend_store *store, int mine)
{
    int64_t worst = mine;
    int broken = net_all_min(store->net, CALL, &worst, 1);
    if (broken)
        return broken;
    return mine || !worst ? mine
                          : mend_fail((int)worst, "another rank cannot restore: %s",
                                      mend_error_sentence((int)worst));
}

static int restore_same(mend_store *store, const struct inventory *inv, const struct attempt *a,
                        const int *ids, int count)
{
    struct part *part = NULL;
    device_ahead(store, !ids);
    int rc = obtain_part(store, inv, a, store->rank, &part);
    device_ahead(store, false);
    if (rc)
        return rc;
    rc = restore_agree(store, check_regions(store, part, ids, count));
    MEND_FAULT_POINT(store_restore_copy);
    if (rc == 0)
        rc = restore_agree(store, copy_regions(store, part, ids, count));
    if (rc == 0) {
        restore_settle(store, inv, a, 0);
        rc = restore_rebuild_later(store, inv, a, part);
    }
    part_close(store, part);
    return rc;
}

static int restore_attempt(mend_store *store, const struct inventory *inv, const struct attempt *a,
                           const int *ids, int count)
{
    double start = mend_now();
    int rc;
    if (store->alone || a->ranks == store->size)
        rc = restore_same(store, inv, a, ids, count);
    else
        rc = redistribute(store, inv, a, ids, count);
    if (rc == 0 && !(store->alone || a->ranks == store->size))
        restore_settle(store, inv, a, 0);
    if (rc == MEND_ERR_DAMAGED)
        restore_mark_bad(store, a);
    store->stats.restore_seconds = mend_now() - start;
    mend_event("store.restore", ev_str("store", store->name), ev_int("version", a->version),
               ev_str("error", rc ? mend_error_name(rc) : ""),
               ev_real("seconds", mend_now() - start));
    return rc;
}

static int restore_version(mend_store *store, mend_version_t version, const int *ids, int count)
{
    struct inventory inv = {0};
    struct attempt *attempts = NULL, a;
    int found = 0;

    if (!store || count < 0)
        return mend_fail(MEND_ERR_ARGUMENT, "no store, or a negative count");
    int rc = guard_check(store, "mend_store_restore", FRAME);
    if (rc)
        return rc;
    engine_hold(store);
    rc = restore_look(store, &inv, &attempts, &found);
    if (rc == 0)
        rc = restore_find(store, &inv, version, &a);
    if (rc == 0)
        rc = restore_attempt(store, &inv, &a, ids, count);
    engine_release(store);
    free(attempts);
    inventory_free(&inv);
    return rc;
}

int mend_store_restore(mend_store *store, mend_version_t version)
{
    return restore_version(store, version, NULL, 0);
}

int mend_store_restore_regions(mend_store *store, mend_version_t version, const int *ids, int count)
{
    static const int none[1];
    return restore_version(store, version, ids ? ids : none, ids ? count : 0);
}

static int restore_newest(mend_store *store, mend_version_t *version)
{
    struct inventory inv = {0};
    struct attempt *attempts = NULL;
    int count = 0;

    int rc = restore_look(store, &inv, &attempts, &count);
    if (rc)
        return rc;
    rc = MEND_ERR_NO_VERSION;
    for (int i = 0; i < count; i++) {
        *version = attempts[i].version;
        rc = restore_attempt(store, &inv, &attempts[i], NULL, 0);
        if (rc != MEND_ERR_DAMAGED)
            break;
        mend_event("store.fallback", ev_str("store", store->name),
                   ev_int("version", attempts[i].version));
    }
    if (rc == MEND_ERR_NO_VERSION)
        rc = inventory_nothing(store, &inv);
    free(attempts);
    inventory_free(&inv);
    return rc;
}

int mend_store_restore_newest(mend_store *store, mend_version_t *version)
{
    if (!store || !version)
        return mend_fail(MEND_ERR_ARGUMENT, "no store, or no place for the result (NULL)");
    int rc = guard_check(store, "mend_store_restore_newest", FRAME);
    if (rc)
        return rc;
    engine_hold(store);
    rc = restore_newest(store, version);
    engine_release(store);
    return rc;
}

/* ---- in parts -------------------------------------------------------------------------------- */

static int begin_restore(mend_store *store, mend_version_t version, int rank, bool look)
{
    struct inventory inv = {0};
    struct attempt *attempts = NULL, a, newest = {0};
    int count = 0;

    int rc = restore_look(store, &inv, &attempts, &count);
    if (rc)
        return rc;
    if (count)
        newest = attempts[0];
    free(attempts);
    int want = rank == -1 ? store->rank : rank;
    rc = restore_find(store, &inv, version, &a);
    if (rc == 0)
        rc = restore_agree(store,
                           want >= -2 && (want < a.ranks || store->alone)
                               ? 0
                               : mend_fail(MEND_ERR_RANK_COUNT,
                                           "rank %d is not in version %ld, which has %d ranks",
                                           want, version, a.ranks));
    if (rc == 0)
        rc = obtain_part(store, &inv, &a, want, &store->open_part);
    if (rc == MEND_ERR_DAMAGED)
        restore_mark_bad(store, &a);
    int64_t own = want == store->rank;
    if (rc == 0)
        rc = net_all_min(store->net, CALL, &own, 1);
    if (rc == 0 && own) { /* looking at others' parts changes nothing */
        restore_settle(store, &inv, look ? &newest : &a,
                       look ? store->options.level[MEND_LEVEL_MEMORY].keep - 1 : 0);
        rc = restore_rebuild_later(store, &inv, &a, store->open_part);
    }
    inventory_free(&inv);
    return rc;
}

static int begin(mend_store *store, mend_version_t version, int rank, bool look)
{
    if (!store)
        return mend_fail(MEND_ERR_ARGUMENT, "no store");
    mend_store_end_restore(store);
    engine_hold(store);
    int rc = begin_restore(store, version, rank, look);
    engine_release(store);
    return rc;
}

int mend_store_begin_restore(mend_store *store, mend_version_t version, int rank)
{
    return begin(store, version, rank, false);
}

int mend_store_begin_look(mend_store *store, mend_version_t version, int rank)
{
    return begin(store, version, rank, true);
}

int mend_store_end_restore(mend_store *store)
{
    if (!store)
        return mend_fail(MEND_ERR_ARGUMENT, "no store");
    part_close(store, store->open_part);
    store->open_part = NULL;
    return 0;
}

static int need_part(mend_store *store)
{
    return store && store->open_part ? 0
                                     : mend_fail(MEND_ERR_STATE, "no part of a version is open");
}

int mend_store_saved_ranks(mend_store *store, int *ranks)
{
    int rc = need_part(store);
    if (rc == 0 && ranks)
        *ranks = store->open_part->head->ranks;
    return rc;
}

int mend_store_saved_count(mend_store *store, int *count)
{
    int rc = need_part(store);
    if (rc == 0 && count)
        *count = (int)store->open_part->head->region_count;
    return rc;
}

int mend_store_saved_region(mend_store *store, int index, int *id, size_t *bytes,
                            const char **label)
{
    int rc = need_part(store);
    if (rc)
        return rc;
    if (index < 0 || index >= (int)store->open_part->head->region_count)
        return mend_fail(MEND_ERR_REGION, "there is no saved region number %d", index);
    const mend_image_region *r = &store->open_part->head->regions[index];
    if (id)
        *id = r->id;
    if (bytes)
        *bytes = r->bytes;
    if (label)
        *label = r->label;
    return 0;
}

int mend_store_saved_size(mend_store *store, int id, size_t *bytes)
{
    int rc = need_part(store);
    const mend_image_region *r = rc ? NULL : part_region(store->open_part, id);
    if (rc == 0 && !r)
        rc = mend_fail(MEND_ERR_REGION, "there is no saved region %d", id);
    if (rc == 0 && bytes)
        *bytes = r->bytes;
    return rc;
}

int mend_store_read(mend_store *store, int id, size_t offset, void *to, size_t count)
{
    int rc = need_part(store);
    const mend_image_region *r = rc ? NULL : part_region(store->open_part, id);
    if (rc)
        return rc;
    if (!r)
        return mend_fail(MEND_ERR_REGION, "there is no saved region %d", id);
    if (count > r->bytes || offset > r->bytes - count)
        return mend_fail(MEND_ERR_SIZE, "saved region %d ends at %llu", id,
                         (unsigned long long)r->bytes);
    return device_read(store, store->open_part, r->offset + offset, to, count);
}
