/* Restoring: which version, and the way back into the application's data. */
#include <stdlib.h>
#include <string.h>

#include "obtain.h"
#include "restore.h"

/* ---- which ----------------------------------------------------------------------------------- */

static bool is_bad(const mend_store *store, const struct attempt *a)
{
    for (int i = 0; i < store->bad_count; i++)
        if (store->bad[i].version == a->version && store->bad[i].id == a->id)
            return true;
    return false;
}

static void mark_bad(mend_store *store, const struct attempt *a)
{
    struct known *bigger = realloc(store->bad, (size_t)(store->bad_count + 1) * sizeof *bigger);
    if (!bigger)
        return;
    store->bad = bigger;
    store->bad[store->bad_count++] = (struct known){.version = a->version, .id = a->id};
}

/* A complete attempt that was made later under a number that is not larger: the program had gone
 * back (restored an older version, or begun anew) before it saved that one. What it had saved above
 * belongs to an abandoned past, even where a level has not yet removed it. */
static bool is_outlived(const struct attempt *a, const struct attempt *complete, int count)
{
    for (int i = 0; i < count; i++)
        if (complete[i].version <= a->version && complete[i].id > a->id)
            return true;
    return false;
}

/* Complete attempts, newest first, one per version number, none of an abandoned past. */
static int restorable(mend_store *store, const struct inventory *inv, struct attempt **out,
                      int *count)
{
    struct attempt *all = NULL;
    int n = 0, complete = 0, total = 0, rc = inventory_attempts(inv, &all, &total);
    if (rc)
        return rc;
    for (int i = 0; i < total; i++)
        if (!is_bad(store, &all[i]) && inventory_complete(store, inv, &all[i]))
            all[complete++] = all[i];
    for (int i = 0; i < complete; i++) /* the list behind i is still whole: older versions */
        if (!is_outlived(&all[i], all + i + 1, complete - i - 1) &&
            (n == 0 || all[n - 1].version != all[i].version))
            all[n++] = all[i];
    *out = all;
    *count = n;
    return 0;
}

/* Wait for the background, look what is there. All get the same. */
static int look(mend_store *store, struct inventory *inv, struct attempt **attempts, int *count)
{
    engine_drain(store);
    int rc = inventory_take(store, inv);
    if (rc)
        return rc;
    rc = restorable(store, inv, attempts, count);
    if (rc) {
        net_break(store->net);
        inventory_free(inv);
    }
    return rc;
}

int mend_store_newest_until(mend_store *store, long at_most, long *version)
{
    struct inventory inv = {0};
    struct attempt *attempts = NULL;
    int count = 0, i = 0;

    if (!store || !version)
        return mend_fail(MEND_ERR_ARGUMENT, "no store, or nowhere to put the answer");
    engine_hold(store);
    int rc = look(store, &inv, &attempts, &count);
    engine_release(store);
    if (rc)
        return rc;
    while (i < count && attempts[i].version > at_most)
        i++;
    if (i < count)
        *version = (long)attempts[i].version;
    else
        rc = inventory_nothing(store, &inv);
    free(attempts);
    inventory_free(&inv);
    return rc;
}

int mend_store_newest(mend_store *store, long *version)
{
    return mend_store_newest_until(store, INT64_MAX, version);
}

int mend_store_versions(mend_store *store, long *versions, int room, int *count)
{
    struct inventory inv = {0};
    struct attempt *attempts = NULL;

    if (!store || !count || (room > 0 && !versions))
        return mend_fail(MEND_ERR_ARGUMENT, "no store, or nowhere to put the answer");
    engine_hold(store);
    int rc = look(store, &inv, &attempts, count);
    engine_release(store);
    if (rc)
        return rc;
    for (int i = 0; i < *count && i < room; i++)
        versions[i] = (long)attempts[i].version;
    free(attempts);
    inventory_free(&inv);
    return 0;
}

static int find_attempt(mend_store *store, const struct inventory *inv, int64_t version,
                        struct attempt *out)
{
    struct attempt *attempts = NULL;
    int count = 0, rc = restorable(store, inv, &attempts, &count), i = 0;
    if (rc)
        return rc;
    while (i < count && attempts[i].version != version)
        i++;
    if (i < count)
        *out = attempts[i];
    else
        rc = mend_fail(MEND_ERR_NO_VERSION, "version %lld cannot be restored by every rank",
                       (long long)version);
    free(attempts);
    return rc;
}

/* ---- afterwards ------------------------------------------------------------------------------ */

/* The restored version is the present now: what is known starts from it, what lies above is
 * abandoned. */
static void settle(mend_store *store, const struct inventory *inv, const struct attempt *a)
{
    struct attempt *attempts = NULL;
    int count = 0;

    pthread_mutex_lock(&store->lock);
    known_forget(store);
    if (restorable(store, inv, &attempts, &count) == 0)
        for (int i = 0; i < count; i++) {
            struct known *k = attempts[i].version <= a->version
                                  ? known_add(store, attempts[i].version, attempts[i].id)
                                  : NULL;
            if (k)
                k->reached = inventory_levels(store, inv, &attempts[i]);
            /* its copies in memory are needed also while their second ones are made anew */
            if (k && k->version == a->version && k->id == a->id)
                k->reached |= store->levels & MEND_LEVEL_BIT(MEND_LEVEL_MEMORY);
        }
    for (int i = 0; i < store->own.count + store->held.count; i++) {
        struct slot *s =
            i < store->own.count ? store->own.list[i] : store->held.list[i - store->own.count];
        if (s->complete && !s->users && s->head.version > a->version)
            slot_forget(s);
    }
    store->last = store->floor = a->version;
    pthread_mutex_unlock(&store->lock);
    free(attempts);
    delta_reset(store);
}

/* Levels at which the version lacks something that it should have there. The same on every rank. */
static unsigned lacking(const mend_store *store, const struct inventory *inv,
                        const struct attempt *a)
{
    unsigned missing = store->levels & ~inventory_levels(store, inv, a);
    missing &= ~MEND_LEVEL_BIT(MEND_LEVEL_GLOBAL);
    if (a->ranks != store->size && !store->alone)
        return 0;
    if (!inventory_kind(inv, a, IN_OWN))
        missing &= ~MEND_LEVEL_BIT(MEND_LEVEL_LOCAL);
    if (!inventory_kind(inv, a, IN_COPY))
        missing &= ~MEND_LEVEL_BIT(MEND_LEVEL_PARTNER);
    if (!inventory_kind(inv, a, IN_PARITY))
        missing &= ~MEND_LEVEL_BIT(MEND_LEVEL_ERASURE);
    return missing;
}

/* The part as a slot of our own, to save it again from. */
static struct slot *slot_of_part(mend_store *store, struct part *part)
{
    struct slot *slot =
        slot_find(&store->own, part->head->version, part->head->save_id, store->rank);

    pthread_mutex_lock(&store->lock);
    if (slot)
        slot->users++;
    for (int i = 0; !slot && i < store->own.count; i++)
        if (!store->own.list[i]->users && !store->own.list[i]->complete &&
            !store->own.list[i]->poisoned)
            slot = store->own.list[i];
    if (slot && slot->complete) {
        pthread_mutex_unlock(&store->lock);
        return slot;
    }
    int rc = slot ? 0 : slot_add(store, &store->own, &slot);
    if (rc == 0)
        rc = slot_reserve(store, slot, part->head->stream_bytes);
    if (rc == 0)
        slot->users++;
    pthread_mutex_unlock(&store->lock);
    if (rc)
        return NULL;
    slot->serial = 0; /* not the application's present data */
    rc = part_read(part, 0, slot->memory, part->head->stream_bytes);
    if (rc == 0)
        rc = slot_set_head(slot, part->head);
    pthread_mutex_lock(&store->lock);
    slot->head.base_version = -1;
    slot->head.base_id = 0;
    slot->head.block = (uint32_t)store->options.block;
    slot->complete = rc == 0;
    if (rc)
        slot->users--;
    pthread_mutex_unlock(&store->lock);
    return rc ? NULL : slot;
}

/* Lost redundancy is made good in the background: the part is saved again, as the same version and
 * attempt, at the levels that lack it. */
static int rebuild_later(mend_store *store, const struct inventory *inv, const struct attempt *a,
                         struct part *part)
{
    unsigned levels = lacking(store, inv, a);
    if (!levels)
        return 0;
    struct job *job = calloc(1, sizeof *job);
    struct slot *slot = job ? slot_of_part(store, part) : NULL;
    int64_t ready = slot != NULL;
    int rc = net_all_min(store->net, CALL, &ready, 1);
    if (rc || !ready) {
        if (slot) {
            pthread_mutex_lock(&store->lock);
            slot->users--;
            pthread_mutex_unlock(&store->lock);
        }
        free(job);
        mend_event("store.rebuild_skipped", ev_int("version", a->version));
        return rc;
    }
    *job = (struct job){.slot = slot,
                        .version = a->version,
                        .id = a->id,
                        .levels = levels,
                        .full = true,
                        .rebuild = true};
    engine_push(store, job);
    return 0;
}

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
            rc = part_read(part, saved->offset, r->address, r->bytes);
    }
    return rc;
}

/* All ranks' worst; my own message if it is mine. */
int restore_agree(mend_store *store, int rc)
{
    int64_t worst = rc;
    int broken = net_all_min(store->net, CALL, &worst, 1);
    if (broken)
        return broken;
    return rc || !worst ? rc
                        : mend_fail((int)worst, "another rank cannot restore: %s",
                                    mend_error_sentence((int)worst));
}

static int restore_same(mend_store *store, const struct inventory *inv, const struct attempt *a,
                        const int *ids, int count)
{
    struct part *part = NULL;
    int rc = obtain_part(store, inv, a, store->rank, &part);
    if (rc)
        return rc;
    rc = restore_agree(store, check_regions(store, part, ids, count));
    MEND_FAULT_POINT(store_restore_copy);
    if (rc == 0)
        rc = restore_agree(store, copy_regions(store, part, ids, count));
    if (rc == 0) {
        settle(store, inv, a);
        rc = rebuild_later(store, inv, a, part);
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
        settle(store, inv, a);
    if (rc == MEND_ERR_DAMAGED)
        mark_bad(store, a);
    store->stats.restore_seconds = mend_now() - start;
    mend_event("store.restore", ev_str("store", store->name), ev_int("version", a->version),
               ev_str("error", rc ? mend_error_name(rc) : ""),
               ev_real("seconds", mend_now() - start));
    return rc;
}

static int restore_version(mend_store *store, long version, const int *ids, int count)
{
    struct inventory inv = {0};
    struct attempt *attempts = NULL, a;
    int found = 0;

    if (!store || count < 0)
        return mend_fail(MEND_ERR_ARGUMENT, "no store, or a negative count");
    engine_hold(store);
    int rc = look(store, &inv, &attempts, &found);
    if (rc == 0)
        rc = find_attempt(store, &inv, version, &a);
    if (rc == 0)
        rc = restore_attempt(store, &inv, &a, ids, count);
    engine_release(store);
    free(attempts);
    inventory_free(&inv);
    return rc;
}

int mend_store_restore(mend_store *store, long version)
{
    return restore_version(store, version, NULL, 0);
}

int mend_store_restore_regions(mend_store *store, long version, const int *ids, int count)
{
    static const int none[1];
    return restore_version(store, version, ids ? ids : none, ids ? count : 0);
}

static int restore_newest(mend_store *store, long *version)
{
    struct inventory inv = {0};
    struct attempt *attempts = NULL;
    int count = 0;

    int rc = look(store, &inv, &attempts, &count);
    if (rc)
        return rc;
    rc = MEND_ERR_NO_VERSION;
    for (int i = 0; i < count; i++) {
        *version = (long)attempts[i].version;
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

int mend_store_restore_newest(mend_store *store, long *version)
{
    if (!store || !version)
        return mend_fail(MEND_ERR_ARGUMENT, "no store, or nowhere to put the answer");
    engine_hold(store);
    int rc = restore_newest(store, version);
    engine_release(store);
    return rc;
}

/* ---- in parts -------------------------------------------------------------------------------- */

static int begin_restore(mend_store *store, long version, int rank)
{
    struct inventory inv = {0};
    struct attempt *attempts = NULL, a;
    int count = 0;

    int rc = look(store, &inv, &attempts, &count);
    if (rc)
        return rc;
    free(attempts);
    int want = rank == -1 ? store->rank : rank;
    rc = find_attempt(store, &inv, version, &a);
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
        mark_bad(store, &a);
    int64_t own = want == store->rank;
    if (rc == 0)
        rc = net_all_min(store->net, CALL, &own, 1);
    if (rc == 0 && own) { /* looking at others' parts does not turn back time */
        settle(store, &inv, &a);
        rc = rebuild_later(store, &inv, &a, store->open_part);
    }
    inventory_free(&inv);
    return rc;
}

int mend_store_begin_restore(mend_store *store, long version, int rank)
{
    if (!store)
        return mend_fail(MEND_ERR_ARGUMENT, "no store");
    mend_store_end_restore(store);
    engine_hold(store);
    int rc = begin_restore(store, version, rank);
    engine_release(store);
    return rc;
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
    return part_read(store->open_part, r->offset + offset, to, count);
}
