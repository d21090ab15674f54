/* After a restore: what is known now, and which copies to make again. */
#include <stdlib.h>

#include "restore/obtain.h"
#include "restore/restore.h"

/* Make `present` the newest version: what is known starts from it, and what lies above is abandoned. The memory level
 * keeps that version, and `older` ones below it. */
void restore_settle(mend_store *store, const struct inventory *inv, const struct attempt *present,
                    int older)
{
    struct attempt *attempts = NULL;
    int count = 0;

    pthread_mutex_lock(&store->lock);
    known_forget(store);
    if (restore_list(store, inv, &attempts, &count) == 0)
        for (int i = 0; i < count; i++) {
            struct known *k = attempts[i].version <= present->version
                                  ? known_add(store, attempts[i].version, attempts[i].id)
                                  : NULL;
            if (!k)
                continue;
            bool is_present = k->version == present->version && k->id == present->id;
            k->reached = inventory_levels(store, inv, &attempts[i]);
            /* We need copies in memory also while we make their second ones again. Those that need not be kept are
             * free for the next saves; otherwise each restore would cost one more. */
            if (is_present || (older > 0 && inventory_kind(inv, &attempts[i], IN_MEMORY)))
                k->reached |= store->levels & MEND_LEVEL_BIT(MEND_LEVEL_MEMORY);
            else
                k->reached &= ~MEND_LEVEL_BIT(MEND_LEVEL_MEMORY);
            older -= !is_present;
        }
    for (int i = 0; i < store->own.count + store->held.count; i++) {
        struct slot *s =
            i < store->own.count ? store->own.list[i] : store->held.list[i - store->own.count];
        if (s->complete && !s->users && s->head.version > present->version)
            slot_forget(s);
    }
    store->last = store->floor = present->version;
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

/* Turn the part into a slot of our own, from which we can save it again. */
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
    slot->serial = 0; /* not the application's current data */
    slot->device_serial = 0;
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

/* Restore lost redundancy in the background: save the part again, as the same version and attempt, at the levels that
 * lack it. */
int restore_rebuild_later(mend_store *store, const struct inventory *inv, const struct attempt *a,
                          struct part *part)
{
    unsigned levels = lacking(store, inv, a);
    if (!levels)
        return 0;
    struct job *job = calloc(1, sizeof *job);
    struct slot *slot = job ? slot_of_part(store, part) : NULL;
    int64_t ready = slot != NULL;
    int rc = net_all_min(store->net, CALL, &ready, 1);
    if (rc || !ready || !slot) {
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
