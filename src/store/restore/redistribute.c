/* Restores on another number of ranks: regions that are parts of a global array find their new places. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "copies/device.h"
#include "restore/obtain.h"
#include "restore/restore.h"

enum { TAG_SLICE = 61 };

#define SLICE ((size_t)16 << 20)

/* A wish: bytes [offset, offset+bytes) of global array `id`. A gift: the same, of a saved part. */
struct extent {
    int32_t id, present;
    uint64_t offset, bytes, total;
};

static bool chosen(const int *ids, int count, int id)
{
    if (!ids)
        return true;
    for (int i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* Gather every rank's wishes; malloc'ed, ends[r] = where those of rank r end. */
static int gather_wishes(mend_store *store, const int *ids, int count, struct extent **all,
                         int *ends)
{
    struct extent *mine = calloc((size_t)store->region_count + 1, sizeof *mine);
    size_t *sizes = malloc((size_t)store->size * sizeof *sizes);
    uint8_t *bytes = NULL;
    int n = 0, rc = mine && sizes
                        ? 0
                        : mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d ranks", store->size);

    for (int i = 0; rc == 0 && i < store->region_count; i++) {
        const struct region *r = &store->regions[i];
        if (!chosen(ids, count, r->id))
            continue;
        if (!r->global)
            rc = mend_fail(
                MEND_ERR_RANK_COUNT,
                "another number of ranks saved the version, and region %d has no global layout",
                r->id);
        mine[n++] = (struct extent){r->id, 1, r->global_offset, r->bytes, r->global_total};
    }
    rc = restore_agree(store, rc);
    if (rc == 0)
        rc = net_gather_var(store->net, CALL, mine, (size_t)n * sizeof *mine, &bytes, sizes);
    for (int r = 0, end = 0; rc == 0 && r < store->size; r++)
        ends[r] = end += (int)(sizes[r] / sizeof *mine);
    free(mine);
    free(sizes);
    *all = (struct extent *)(void *)bytes;
    return rc;
}

/* What the part has of a wish. */
static bool overlap(const struct extent *wish, const struct extent *gift, uint64_t *from,
                    uint64_t *bytes)
{
    uint64_t end = wish->offset + wish->bytes < gift->offset + gift->bytes
                       ? wish->offset + wish->bytes
                       : gift->offset + gift->bytes;
    *from = wish->offset > gift->offset ? wish->offset : gift->offset;
    *bytes = end > *from ? end - *from : 0;
    return wish->id == gift->id && *bytes > 0;
}

struct span {
    int region;
    uint64_t from, end;
};

/* One round's gifts: what the parts that are open now have. */
struct round {
    mend_store *store;
    struct extent *wishes;
    const int *wish_ends;
    struct extent *gifts;
    int *gift_ends;
    struct part *part; /* mine */
    uint8_t *slice;
    bool poisoned;      /* a message may still write to the slice */
    struct span *spans; /* which the parts have of my regions */
    int span_count, span_room;
    bool write;   /* false: only note the spans */
    bool differs; /* array `resized` has `saved` bytes in the version, not `now` */
    int resized;
    uint64_t now, saved;
    int failed; /* a device did not take its bytes, and why */
    char why[600];
};

static int gather_gifts(struct round *r)
{
    mend_store *store = r->store;
    uint32_t n = r->part ? r->part->head->region_count : 0;
    struct extent *mine = calloc(n + 1, sizeof *mine);
    size_t *sizes = malloc((size_t)store->size * sizeof *sizes);
    uint8_t *bytes = NULL;
    int count = 0;

    if (!mine || !sizes) {
        net_break(store->net);
        free(mine);
        free(sizes);
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d ranks", store->size);
    }
    for (uint32_t i = 0; i < n; i++) {
        const mend_image_region *s = &r->part->head->regions[i];
        if (s->flags & MEND_REGION_GLOBAL)
            mine[count++] = (struct extent){s->id, 1, s->global_offset, s->bytes, s->global_total};
    }
    int rc = net_gather_var(store->net, CALL, mine, (size_t)count * sizeof *mine, &bytes, sizes);
    for (int p = 0, end = 0; rc == 0 && p < store->size; p++)
        r->gift_ends[p] = end += (int)(sizes[p] / sizeof *mine);
    free(r->gifts);
    r->gifts = (struct extent *)(void *)bytes;
    free(mine);
    free(sizes);
    return rc;
}

static int note_span(struct round *r, struct span span)
{
    if (r->span_count == r->span_room) {
        int room = r->span_room ? 2 * r->span_room : 64;
        struct span *bigger = realloc(r->spans, (size_t)room * sizeof *bigger);
        if (!bigger) {
            net_break(r->store->net); /* the others are about to enter the next round */
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d pieces of arrays", room);
        }
        r->spans = bigger;
        r->span_room = room;
    }
    r->spans[r->span_count++] = span;
    return 0;
}

/* A slice, to its place in my memory. */
static void put(struct round *r, const struct region *to, uint64_t from, size_t bytes)
{
    int rc = r->failed ? 0
                       : device_write(r->store, to->address + (from - to->global_offset), r->slice,
                                      bytes);
    if (!rc)
        return;
    r->failed =
        mend_fail_within(rc, "region %d (%s) on rank %d", to->id, to->label, r->store->rank);
    snprintf(r->why, sizeof r->why, "%s", mend_error_text());
}

/* Move bytes [from, from+bytes) of one array from `giver` to `taker`, in slices. */
static int move_extent(struct round *r, int giver, int taker, int id, uint64_t from, uint64_t bytes)
{
    mend_store *store = r->store;
    const struct region *to = taker == store->rank ? region_find(store, id) : NULL;
    const mend_image_region *saved = giver == store->rank ? part_region(r->part, id) : NULL;
    int rc = 0;

    if (!r->write)
        return to ? note_span(r, (struct span){(int)(to - store->regions), from, from + bytes}) : 0;
    for (uint64_t at = 0; rc == 0 && at < bytes; at += SLICE) {
        size_t n = bytes - at < SLICE ? (size_t)(bytes - at) : SLICE;
        if (saved)
            rc =
                part_read(r->part, saved->offset + (from + at - saved->global_offset), r->slice, n);
        if (rc) { /* verified before, but the disk has changed it. The taker waits: tell all */
            net_break(store->net);
            return rc;
        }
        if (giver != taker && saved)
            rc = net_send(store->net, CALL, taker, TAG_SLICE, r->slice, n);
        else if (giver != taker && to)
            rc = net_receive(store->net, CALL, giver, TAG_SLICE, r->slice, n);
        int ended = giver != taker ? net_complete(store->net, CALL, &r->poisoned) : 0;
        if (rc == 0)
            rc = ended;
        if (rc == 0 && to)
            put(r, to, from + at, n);
    }
    return rc;
}

/* Positions in an array of another length mean other elements. All ranks have the same lists, so all find the same. */
static void compare_totals(struct round *r)
{
    int n = r->store->size;
    for (int w = 0; !r->differs && w < r->wish_ends[n - 1]; w++)
        for (int g = 0; !r->differs && g < r->gift_ends[n - 1]; g++) {
            const struct extent *wish = &r->wishes[w], *gift = &r->gifts[g];
            if (wish->id != gift->id || wish->total == gift->total)
                continue;
            r->resized = wish->id;
            r->now = wish->total;
            r->saved = gift->total;
            r->differs = true;
        }
}

/* Go through every pair of a wish and a gift, in the same order on every rank; the two concerned move bytes. */
static int move_round(struct round *r)
{
    int me = r->store->rank, rc = 0;
    for (int taker = 0; rc == 0 && taker < r->store->size; taker++)
        for (int w = taker ? r->wish_ends[taker - 1] : 0; rc == 0 && w < r->wish_ends[taker]; w++)
            for (int giver = 0; rc == 0 && giver < r->store->size; giver++)
                for (int g = giver ? r->gift_ends[giver - 1] : 0;
                     rc == 0 && g < r->gift_ends[giver]; g++) {
                    uint64_t from, bytes;
                    if ((me == taker || me == giver) &&
                        overlap(&r->wishes[w], &r->gifts[g], &from, &bytes))
                        rc = move_extent(r, giver, taker, r->wishes[w].id, from, bytes);
                }
    return rc;
}

static int compare_spans(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    if (x->region != y->region)
        return x->region < y->region ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

/* Bytes of a region that the spans cover. They are sorted, may overlap, and lie inside the region. */
static uint64_t covered(const struct round *r, int region)
{
    uint64_t sum = 0, reached = 0;
    for (int i = 0; i < r->span_count; i++) {
        const struct span *s = &r->spans[i];
        if (s->region != region || s->end <= reached)
            continue;
        sum += s->end - (s->from > reached ? s->from : reached);
        reached = s->end;
    }
    return sum;
}

static int check_filled(struct round *r, const int *ids, int count)
{
    if (r->differs)
        return mend_fail(MEND_ERR_SIZE,
                         "global array %d has %llu bytes on all ranks, %llu in the version",
                         r->resized, (unsigned long long)r->now, (unsigned long long)r->saved);
    if (r->span_count)
        qsort(r->spans, (size_t)r->span_count, sizeof *r->spans, compare_spans);
    for (int i = 0; i < r->store->region_count; i++) {
        const struct region *region = &r->store->regions[i];
        uint64_t filled = chosen(ids, count, region->id) ? covered(r, i) : region->bytes;
        if (filled < region->bytes)
            return mend_fail(MEND_ERR_REGION,
                             "region %d: only %llu of %zu bytes are in the version", region->id,
                             (unsigned long long)filled, region->bytes);
    }
    return 0;
}

/* Go through all saved parts, as many at a time as there are ranks now. */
static int all_rounds(struct round *r, const struct inventory *inv, const struct attempt *a)
{
    int rc = 0, n = r->store->size;
    for (int first = 0; rc == 0 && first < a->ranks; first += n) {
        int want = first + r->store->rank < a->ranks ? first + r->store->rank : -2;
        rc = obtain_part(r->store, inv, a, want, &r->part);
        if (rc == 0)
            rc = gather_gifts(r);
        if (rc == 0)
            compare_totals(r);
        if (rc == 0)
            rc = move_round(r);
        part_close(r->store, r->part);
        r->part = NULL;
    }
    return rc;
}

/* Protocol:
 *   1. All learn all wishes; a region without a global layout fails all.
 *   2. Obtain and verify all saved parts, round by round, and check whether they cover the wishes and
 *      are of arrays of the same length. Write nothing yet.
 *   3. Go through all rounds again, and now move the bytes. A rank whose device does not take them continues to give
 *      and to take, because the others wait for it. All learn of it at the end. */
int redistribute(mend_store *store, const struct inventory *inv, const struct attempt *a,
                 const int *ids, int count)
{
    int *ends = calloc((size_t)store->size * 2, sizeof *ends);
    struct round r = {
        .store = store, .wish_ends = ends, .gift_ends = ends ? ends + store->size : NULL};

    r.slice = malloc(SLICE);
    int rc = restore_agree(store, ends && r.slice ? 0 : mend_fail(MEND_ERR_NO_MEMORY, "no memory"));
    if (rc == 0)
        rc = gather_wishes(store, ids, count, &r.wishes, ends);
    if (rc == 0)
        rc = all_rounds(&r, inv, a);
    if (rc == 0)
        rc = restore_agree(store, check_filled(&r, ids, count));
    r.write = true;
    if (rc == 0)
        rc = all_rounds(&r, inv, a);
    if (rc == 0)
        rc = restore_agree(store, r.failed ? mend_fail(r.failed, "%s", r.why) : 0);
    if (rc == 0)
        mend_event("store.redistribute", ev_int("version", a->version), ev_int("from", a->ranks),
                   ev_int("to", store->size));
    net_free(r.slice, r.poisoned);
    free(r.spans);
    free(r.wishes);
    free(r.gifts);
    free(ends);
    return rc;
}
