/* A draft: the copy that the next save will keep, filled before that save. It belongs to the caller (slot->users)
 * until store_draft_end(), so nothing is lost if the save fails. */
#include <store/draft.h>

#include "internal.h"

#include <stdlib.h>

int store_draft_begin(mend_store *store, const mend_store_stream *streams, int count, void *place[])
{
    if (store->draft.slot)
        return mend_fail(MEND_ERR_ARGUMENT, "store %s has a draft", store->name);
    int rc = layout_make(store, (const int[]){0}, 0, streams, count, &store->draft.layout);
    if (rc == 0)
        rc = slot_acquire(store, store->draft.layout.stream_bytes, &store->draft.slot);
    if (rc) {
        free(store->draft.layout.regions);
        store->draft = (struct draft){0};
        return rc;
    }
    pthread_mutex_lock(&store->lock);
    slot_forget(store->draft.slot);
    pthread_mutex_unlock(&store->lock);
    for (int i = 0; i < count; i++)
        place[i] = store->draft.slot->memory + store->draft.layout.regions[i].offset;
    return 0;
}

void store_draft_end(mend_store *store)
{
    slot_release(store, store->draft.slot);
    free(store->draft.layout.regions);
    store->draft = (struct draft){0};
}

void store_let_oldest_go(mend_store *store, bool yes)
{
    pthread_mutex_lock(&store->lock);
    store->oldest_may_go = yes;
    pthread_mutex_unlock(&store->lock);
}

struct slot *draft_for(mend_store *store, const mend_image_head *head)
{
    struct slot *slot = store->draft.slot;
    if (!slot || slot->poisoned || !layout_same(&store->draft.layout, head))
        return NULL;
    pthread_mutex_lock(&store->lock);
    slot->users++; /* for this save */
    pthread_mutex_unlock(&store->lock);
    return slot;
}
