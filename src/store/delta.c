/* Incremental images: which pages changed since the last file of a kind. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "internal.h"

void delta_reset(mend_store *store)
{
    for (int b = 0; b < BASES; b++)
        store->base[b].version = -1;
    store->hash_count = 0;
}

void delta_free(mend_store *store)
{
    for (int b = 0; b < BASES; b++)
        free(store->base[b].changed);
    free(store->hashes);
}

void delta_note(mend_store *store, struct job *job)
{
    (void)store;
    (void)job;
}

bool delta_choose(mend_store *store, struct job *job, enum base_kind kind)
{
    (void)store;
    (void)job;
    (void)kind;
    return false;
}

void delta_committed(mend_store *store, struct job *job, enum base_kind kind, unsigned levels,
                     bool was_delta)
{
    (void)store;
    (void)job;
    (void)kind;
    (void)levels;
    (void)was_delta;
}
