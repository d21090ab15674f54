/* Removing everything, and looking at one's own part alone. */
#include "internal.h"
#include "restore/restore.h"

#include <stdlib.h>

static int discard_folder(mend_store *store, const char *folder)
{
    mend_file *files = NULL;
    int count = 0, first_error = 0;
    int rc = folder ? mend_folder_list(folder, &files, &count) : 0;
    if (rc)
        return rc;
    for (int i = 0; i < count; i++) {
        char path[PATH_ROOM];
        if (!version_is_mine(store, &files[i]))
            continue;
        rc = file_path(folder, &files[i], path);
        if (rc == 0)
            rc = mend_io_remove(path);
        if (rc && !first_error)
            first_error = rc;
    }
    free(files);
    return first_error;
}

static void discard_slots(struct slots *slots)
{
    for (int i = 0; i < slots->count; i++)
        if (!slots->list[i]->users)
            slot_forget(slots->list[i]);
}

/* Protocol:
 *   1. Wait until nothing is in progress.
 *   2. Wait until all ranks have come: no rank may remove what another still restores from.
 *   3. Forget what is known, in memory and in files.
 *   4. Agree on the result. */
static int discard(mend_store *store)
{
    engine_drain(store);
    int rc = restore_agree(store, 0);
    if (rc)
        return rc;
    pthread_mutex_lock(&store->lock);
    known_forget(store);
    discard_slots(&store->own);
    discard_slots(&store->held);
    store->last = store->floor = -1;
    pthread_mutex_unlock(&store->lock);
    delta_reset(store);
    rc = discard_folder(store, store->local);
    int global = discard_folder(store, store->global);
    rc = restore_agree(store, rc ? rc : global);
    mend_event("store.discard", ev_str("store", store->name),
               ev_str("error", rc ? mend_error_name(rc) : ""));
    return rc;
}

int mend_store_discard(mend_store *store)
{
    if (!store)
        return mend_fail(MEND_ERR_ARGUMENT, "no store");
    int rc = guard_check(store, "mend_store_discard", FRAME);
    if (rc)
        return rc;
    mend_store_end_restore(store);
    engine_hold(store);
    rc = discard(store);
    engine_release(store);
    return rc;
}

static int own_memory(mend_store *store, const struct known *k, struct part *part)
{
    struct slot *slot = slot_find(&store->own, k->version, k->id, store->rank);
    if (!slot)
        return mend_fail(MEND_ERR_NO_VERSION, "version %lld is not in this rank's memory",
                         (long long)k->version);
    int rc = slot_verify(slot);
    if (rc)
        return rc;
    pthread_mutex_lock(&store->lock);
    slot->users++;
    pthread_mutex_unlock(&store->lock);
    part->slot = slot;
    part->head = &slot->head;
    return 0;
}

static int own_file(mend_store *store, const struct known *k, struct part *part)
{
    mend_file file = {MEND_FILE_OWN, store->rank, k->version, k->id};
    if (!store->local)
        return mend_fail(MEND_ERR_NO_VERSION, "this rank has no copy of version %lld",
                         (long long)k->version);
    int rc = mend_folder_open_chain(store->local, &file, &part->image);
    if (rc == 0)
        rc = mend_image_verify(part->image);
    if (rc) {
        mend_image_close(part->image);
        part->image = NULL;
        return rc;
    }
    part->head = mend_image_info(part->image);
    return 0;
}

int mend_store_begin_restore_own(mend_store *store, mend_version_t version)
{
    if (!store)
        return mend_fail(MEND_ERR_ARGUMENT, "no store");
    mend_store_end_restore(store);
    struct part *part = calloc(1, sizeof *part);
    if (!part)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a part");
    struct known found = {.version = -1};
    pthread_mutex_lock(&store->lock);
    for (int i = 0; i < store->known_count; i++)
        if (store->known[i].version == version && store->known[i].reached)
            found = store->known[i];
    pthread_mutex_unlock(&store->lock);
    int rc = found.version >= 0
                 ? own_memory(store, &found, part)
                 : mend_fail(MEND_ERR_NO_VERSION, "version %ld is not known here", version);
    if (rc && found.version >= 0) {
        engine_hold(store);
        rc = own_file(store, &found, part);
        engine_release(store);
    }
    if (rc) {
        free(part);
        return rc;
    }
    store->open_part = part;
    return 0;
}
