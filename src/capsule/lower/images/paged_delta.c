/* paged_delta.c - the difference between an image and an older one that another process has: see
 * images/paged.h.
 *
 * Pages are the same if they are in the same slot: the new image shares what did not change.
 */
#include "images/paged.h"
#include "images/image.h"
#include "images/pool.h"

#include <base/fail.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

static void add_range(struct paged_delta *d, uint64_t page, uint64_t count)
{
    struct page_range *next = &d->ranges[d->offer.ranges];
    d->offer.new_pages += count;
    if (d->offer.ranges && next[-1].first + next[-1].count == page) {
        next[-1].count += (uint32_t)count;
        return;
    }
    *next = (struct page_range){(uint32_t)page, (uint32_t)count};
    d->offer.ranges++;
}

/* Consecutive slots in both images: add those that differ. */
static void add_different(struct paged_delta *d, uint64_t page, const uint32_t *slot,
                          const uint32_t *old, uint64_t count)
{
    for (uint64_t i = 0, same; i < count; i = same) {
        while (i < count && slot[i] == old[i])
            i++;
        for (same = i; same < count && slot[same] != old[same]; same++)
            ;
        if (same > i)
            add_range(d, page + i, same - i);
    }
}

static int find_new_pages(struct paged_delta *d, const struct paged *p, const struct paged *base)
{
    struct paged_cursor old = {base, 0, 0};
    const struct run *runs = paged_runs(p);
    uint64_t page = 0, count;
    d->ranges = malloc(p->pages * sizeof *d->ranges + 1);
    if (!d->ranges)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the list of changes");
    for (uint64_t i = 0; i < p->head->runs; i++)
        for (uint64_t at = runs[i].from; at < runs[i].to;
             at += count * ground.page_size, page += count) {
            int64_t there = paged_find(&old, at);
            count = (paged_find_end(&old, at, runs[i].to) - at) / ground.page_size;
            if (there < 0)
                add_range(d, page, count);
            else
                add_different(d, page, p->slot + page, base->slot + there, count);
        }
    return 0;
}

/* The tables differ in a few places only, so the tables of the base are the dictionary. */
static int pack_head(struct paged_delta *d, const struct paged *p, const struct paged *base,
                     size_t room)
{
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    if (!zstd)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory to pack the tables of an image");
    if (base)
        ZSTD_CCtx_refPrefix(zstd, base->head, base->head_bytes);
    size_t n = ZSTD_compress2(zstd, d->notes, room, p->head, p->head_bytes);
    ZSTD_freeCCtx(zstd);
    d->offer.packed_bytes = n;
    return ZSTD_isError(n) ? mend_fail(MEND_ERR_NO_MEMORY, "cannot pack the tables of an image: %s",
                                       ZSTD_getErrorName(n))
                           : 0;
}

static int unpack_head(const struct paged_delta *d, const struct paged *base, void *to)
{
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    if (!zstd)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory to unpack the tables of an image");
    if (base)
        ZSTD_DCtx_refPrefix(zstd, base->head, base->head_bytes);
    size_t n = ZSTD_decompressDCtx(zstd, to, d->offer.head_bytes, d->notes, d->offer.packed_bytes);
    ZSTD_freeDCtx(zstd);
    return n == d->offer.head_bytes && XXH3_64bits(to, n) == d->offer.head_sum
               ? 0
               : mend_fail(MEND_ERR_DAMAGED, "the tables of an image do not unpack");
}

size_t paged_notes_bytes(const struct paged_offer *o)
{
    return o->packed_bytes + o->tail_bytes + o->ranges * sizeof(struct page_range) +
           o->new_pages * sizeof(uint64_t);
}

int paged_delta_make(struct paged_delta *d, const struct paged *p, const struct paged *base)
{
    size_t bound = ZSTD_compressBound(p->head_bytes);
    *d = (struct paged_delta){.offer = {.pages = p->pages,
                                        .head_bytes = p->head_bytes,
                                        .tail_bytes = p->tail_bytes,
                                        .packed_bytes = bound,
                                        .head_sum = XXH3_64bits(p->head, p->head_bytes)}};
    int rc = find_new_pages(d, p, base);
    if (rc)
        return rc;
    d->notes = malloc(paged_notes_bytes(&d->offer) + 1);
    if (!d->notes)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the list of changes");
    rc = pack_head(d, p, base, bound);
    if (rc)
        return rc;
    char *to = d->notes + d->offer.packed_bytes;
    to = p->tail_bytes ? mempcpy(to, p->tail, p->tail_bytes) : to;
    to = mempcpy(to, d->ranges, d->offer.ranges * sizeof *d->ranges);
    for (uint64_t i = 0; i < d->offer.ranges; i++)
        to = mempcpy(to, p->sum + d->ranges[i].first, d->ranges[i].count * sizeof *p->sum);
    return 0;
}

/* Are they in order, and as many as announced? */
static int check_ranges(const struct paged_delta *d)
{
    uint64_t next = 0, count = 0;
    for (uint64_t i = 0; i < d->offer.ranges; i++) {
        if (d->ranges[i].first < next || !d->ranges[i].count)
            return mend_fail(MEND_ERR_DAMAGED, "change %llu of an image is out of order",
                             (unsigned long long)i);
        next = (uint64_t)d->ranges[i].first + d->ranges[i].count;
        count += d->ranges[i].count;
    }
    return next <= d->offer.pages && count == d->offer.new_pages
               ? 0
               : mend_fail(MEND_ERR_DAMAGED, "changes of an image do not fit");
}

/* Pages [page, page + count), at addresses from `at` on, are as in the base: share them. */
static uint64_t take_others(struct paged *p, struct paged_cursor *old, uint64_t at, uint64_t page,
                            uint64_t count)
{
    uint64_t missing = 0;
    for (uint64_t n; count; count -= n, page += n, at += n * ground.page_size) {
        int64_t there = paged_find(old, at);
        n = (paged_find_end(old, at, at + count * ground.page_size) - at) / ground.page_size;
        if (there < 0) {
            missing += n;
            continue;
        }
        memcpy(p->slot + page, old->p->slot + there, n * sizeof *p->slot);
        memcpy(p->sum + page, old->p->sum + there, n * sizeof *p->sum);
    }
    return missing;
}

/* The pages that are not in the delta. *missing: how many of them the base lacks. */
static void find_others(const struct paged_delta *d, struct paged *p, const struct paged *base,
                        uint64_t *missing)
{
    struct paged_cursor old = {base, 0, 0};
    const struct run *runs = paged_runs(p);
    uint64_t first = 0, range = 0, end; /* pages of the run */
    for (uint64_t i = 0; i < p->head->runs; i++, first = end) {
        uint64_t page = first;
        end = first + (runs[i].to - runs[i].from) / ground.page_size;
        while (page < end) {
            while (range < d->offer.ranges &&
                   page >= (uint64_t)d->ranges[range].first + d->ranges[range].count)
                range++;
            const struct page_range *told = range < d->offer.ranges ? &d->ranges[range] : NULL;
            uint64_t stop = told && told->first < end ? told->first : end;
            if (stop > page)
                *missing += take_others(p, &old, runs[i].from + (page - first) * ground.page_size,
                                        page, stop - page);
            page = stop < end ? (uint64_t)told->first + told->count : end;
        }
    }
}

/* Gets slots for the pages that are yet to come. */
static int get_slots(const struct paged_delta *d, struct paged *p, const char *sums)
{
    uint32_t *own = malloc(d->offer.new_pages * sizeof *own + 1);
    int rc = own ? pool_get(own, d->offer.new_pages)
                 : mend_fail(MEND_ERR_NO_MEMORY, "no memory for the list of changes");
    for (uint64_t i = 0, k = 0, next = 0; rc == 0 && i <= d->offer.ranges; i++) {
        uint64_t first = i < d->offer.ranges ? d->ranges[i].first : p->pages;
        pool_share(p->slot + next, first - next);
        if (i == d->offer.ranges)
            break;
        const struct page_range *r = &d->ranges[i];
        next = first + r->count;
        memcpy(p->slot + r->first, own + k, r->count * sizeof *own);
        memcpy(p->sum + r->first, sums + k * sizeof *p->sum, r->count * sizeof *p->sum);
        k += r->count;
    }
    free(own);
    return rc;
}

static int begin(struct paged_delta *d, struct paged *p, const struct paged *base)
{
    const char *tail = d->notes + d->offer.packed_bytes, *ranges = tail + d->offer.tail_bytes;
    const char *sums = ranges + d->offer.ranges * sizeof *d->ranges;
    uint64_t missing = 0;
    d->ranges = malloc(d->offer.ranges * sizeof *d->ranges + 1);
    p->head_bytes = d->offer.head_bytes;
    p->tail_bytes = d->offer.tail_bytes;
    p->head = malloc(p->head_bytes + 1);
    p->tail = malloc(p->tail_bytes + 1);
    int rc = d->ranges && p->head && p->tail
                 ? paged_make_room(p, d->offer.pages)
                 : mend_fail(MEND_ERR_NO_MEMORY, "no memory for an image of %llu pages",
                             (unsigned long long)d->offer.pages);
    if (rc)
        return rc;
    memcpy(d->ranges, ranges, d->offer.ranges * sizeof *d->ranges);
    memcpy(p->tail, tail, p->tail_bytes);
    rc = unpack_head(d, base, p->head);
    p->pages = d->offer.pages;
    if (rc == 0)
        rc = paged_check(p);
    if (rc == 0)
        rc = check_ranges(d);
    if (rc == 0)
        find_others(d, p, base, &missing);
    if (missing)
        rc = mend_fail(MEND_ERR_DAMAGED, "%llu pages of an image are missing",
                       (unsigned long long)missing);
    return rc ? rc : get_slots(d, p, sums);
}

int paged_delta_begin(struct paged_delta *d, struct paged *p, const struct paged *base)
{
    *p = (struct paged){0};
    int rc = begin(d, p, base);
    if (rc) {
        free(p->slot); /* not counted as shared yet */
        p->slot = NULL;
        paged_free(p);
    }
    return rc;
}

void paged_delta_free(struct paged_delta *d)
{
    free(d->ranges);
    free(d->notes);
}
