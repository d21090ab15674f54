/* Incremental images: which pages changed since the last file of a kind.
 *
 * Every save finds the pages that changed since the save before it: by hashes or comparison in the background, or by
 * the kernel's write tracking inside the save call (pages.c). It adds them to one set for each kind of file (own,
 * global), because levels have different intervals. The set of a kind has what changed since its last committed file.
 *
 * We write a delta only if its base has reached at least the levels that the delta is for, so that whoever has the
 * delta has the base. Chains are bounded: when the engine is idle, it merges the newest file with its bases
 * (merge.c). If it is never idle, the version after the longest chain is written whole, from the copy in memory, and
 * its commit prunes what it replaces.
 *
 * If more than half of the pages change, a delta gains nothing. Then we write the version whole, and stop looking for
 * changes for a few saves (twice as many each time).
 */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "copies/device.h"

#define PAUSE_MAX 16

void delta_reset(mend_store *store)
{
    for (int b = 0; b < BASES; b++)
        store->base[b].version = -1;
    store->hash_count = 0;
    store->copy_serial = 0;
}

void delta_free(mend_store *store)
{
    for (int b = 0; b < BASES; b++)
        free(store->base[b].changed);
    free(store->hashes);
    free(store->last_copy);
}

static size_t page_bytes(uint64_t stream, uint64_t page)
{
    uint64_t left = stream - page * PAGE;
    return left < PAGE ? (size_t)left : PAGE;
}

static void set_bit(uint64_t *bits, uint64_t i)
{
    bits[i / 64] |= (uint64_t)1 << (i % 64);
}

static uint64_t count_bits(const uint64_t *bits, uint64_t n)
{
    uint64_t sum = 0;
    for (size_t w = 0; w < bitmap_words(n); w++)
        sum += (uint64_t)__builtin_popcountll(bits[w]);
    return sum;
}

/* By hash: 128 bits for each page, so that "unchanged" is never wrong in practice (64 bits would give 1 in 10^10 over
 * a long run). */
static uint64_t *by_hash(mend_store *store, const struct job *job)
{
    uint64_t stream = job->slot->head.stream_bytes, n = page_count(stream);
    bool fresh = store->hash_count != n || store->hash_serial != job->serial || !store->hashes;
    uint64_t *changed = calloc(bitmap_words(n) + 1, sizeof *changed);

    if (fresh) {
        free(store->hashes);
        store->hashes = malloc((n + 1) * sizeof(XXH128_hash_t));
        store->hash_count = store->hashes ? n : 0;
        store->hash_serial = job->serial;
    }
    if (!changed || !store->hashes) {
        free(changed);
        store->hash_count = 0;
        return NULL;
    }
    XXH128_hash_t *last = store->hashes;
    const struct mend_device_sum *sums =
        job->slot->device_serial == job->serial ? job->slot->device_sums : NULL;
    for (uint64_t p = 0; p < n; p++) {
        XXH128_hash_t h;
        if (sums && (sums[p].low || sums[p].high)) /* the device has summed it */
            h = (XXH128_hash_t){.low64 = sums[p].low, .high64 = sums[p].high};
        else
            h = XXH3_128bits(job->slot->memory + p * PAGE, page_bytes(stream, p));
        if (!fresh && h.low64 == last[p].low64 && h.high64 == last[p].high64)
            continue;
        last[p] = h;
        set_bit(changed, p);
    }
    return changed;
}

static uint64_t *by_comparison(mend_store *store, const struct job *job)
{
    uint64_t stream = job->slot->head.stream_bytes, n = page_count(stream);
    bool fresh = store->copy_serial != job->serial || !store->last_copy;
    uint64_t *changed = calloc(bitmap_words(n) + 1, sizeof *changed);

    if (fresh) {
        free(store->last_copy);
        store->last_copy = malloc(stream + 1);
        store->copy_serial = store->last_copy ? job->serial : 0;
    }
    if (!changed || !store->last_copy) {
        free(changed);
        return NULL;
    }
    for (uint64_t p = 0; p < n; p++) {
        uint8_t *old = store->last_copy + p * PAGE;
        const uint8_t *new = job->slot->memory + p *PAGE;
        size_t bytes = page_bytes(stream, p);
        if (!fresh && memcmp(old, new, bytes) == 0)
            continue;
        memcpy(old, new, bytes);
        set_bit(changed, p);
    }
    return changed;
}

/* Is it worth looking? If everything changes anyway, look only from time to time. Pages we did not look at count as
 * changed. */
static bool look_now(mend_store *store)
{
    if (store->pause_left > 0) {
        store->pause_left--;
        store->hash_count = 0;
        store->copy_serial = 0;
        return false;
    }
    return true;
}

static void learn(mend_store *store, const uint64_t *changed, uint64_t pages, bool first)
{
    if (!changed || first)
        return;
    if (count_bits(changed, pages) * 2 <= pages) {
        store->pause = 0;
        return;
    }
    store->pause = store->pause ? store->pause * 2 : 1;
    if (store->pause > PAUSE_MAX)
        store->pause = PAUSE_MAX;
    store->pause_left = store->pause;
}

static void add_to_base(struct base *base, const struct job *job, uint64_t pages)
{
    if (base->version < 0)
        return;
    if (!job->changed || base->serial != job->serial) {
        base->version = -1;
        return;
    }
    for (size_t w = 0; w < bitmap_words(pages); w++)
        base->changed[w] |= job->changed[w];
}

void delta_note(mend_store *store, struct job *job)
{
    uint64_t pages = page_count(job->slot->head.stream_bytes);
    bool first;
    /* The kernel does not see what a device writes. */
    bool hash = store->options.delta == MEND_DELTA_HASH ||
                (store->options.delta == MEND_DELTA_PAGES && job->mine);

    if (store->options.delta == MEND_DELTA_OFF)
        return;
    if (!job->changed && store->options.delta == MEND_DELTA_CMP && look_now(store)) {
        first = store->copy_serial != job->serial;
        job->changed = by_comparison(store, job);
        learn(store, job->changed, pages, first);
    } else if (!job->changed && hash && look_now(store)) {
        first = store->hash_serial != job->serial || store->hash_count != pages;
        job->changed = by_hash(store, job);
        learn(store, job->changed, pages, first);
    }
    for (int b = 0; b < BASES; b++)
        add_to_base(&store->base[b], job, pages);
}

bool delta_choose(mend_store *store, struct job *job, enum base_kind kind)
{
    const struct base *base = &store->base[kind];
    uint64_t pages = page_count(job->slot->head.stream_bytes);
    unsigned erasure = MEND_LEVEL_BIT(MEND_LEVEL_ERASURE);
    unsigned levels =
        kind == BASE_OWN ? job->levels & LEVELS_OWN_FILE : MEND_LEVEL_BIT(MEND_LEVEL_GLOBAL);

    if (store->options.delta == MEND_DELTA_OFF || job->full || job->rebuild || base->version < 0 ||
        !job->changed)
        return false;
    if ((levels & ~base->levels) || (levels & erasure) || base->serial != job->serial ||
        base->chain >= store->options.delta_chain)
        return false;
    return count_bits(base->changed, pages) * 2 <= pages;
}

/* The job's file becomes the base of the next one. */
void delta_committed(mend_store *store, struct job *job, enum base_kind kind, unsigned levels,
                     bool was_delta)
{
    struct base *base = &store->base[kind];
    uint64_t pages = page_count(job->slot->head.stream_bytes);
    size_t words = bitmap_words(pages) + 1;

    if (store->options.delta == MEND_DELTA_OFF)
        return;
    uint64_t *changed = realloc(base->changed, words * sizeof *changed);
    if (!changed) {
        base->version = -1;
        return;
    }
    memset(changed, 0, words * sizeof *changed);
    *base = (struct base){.version = job->version,
                          .id = job->id,
                          .levels = levels,
                          .chain = was_delta ? base->chain + 1 : 0,
                          .serial = job->serial,
                          .changed = changed};
}
