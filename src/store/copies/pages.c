/* Write tracking by the kernel: userfaultfd in asynchronous write-protect mode, read by PAGEMAP_SCAN.
 *
 * A page is clean only if it is present and still write-protected. One that was never touched, was given back
 * (MADV_DONTNEED) or was mapped again counts as changed. So do pages that a region covers only in part, and small
 * regions: they may share a page with anything. We do not use mprotect: system calls into protected memory would
 * fail.
 */
#include "copies/pages.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <base/copy.h>
#include <base/track.h>

#define SMALL     (16 * PAGE)
#define PAUSE_MAX 16

struct seen {
    int id;
    uint8_t *address;
    size_t bytes;
};

struct pages {
    int uffd, pagemap;
    bool armed; /* everything has been write-protected since the last save */
    int pause, pause_left;
    struct mend_range *ranges; /* disjoint, ascending */
    int range_count;
    struct seen *regions; /* the regions behind the ranges */
    int region_count;
    uint64_t serial;
};

/* ---- what is watched ------------------------------------------------------------------------- */

static bool inner_pages(const struct region *r, struct mend_range *out)
{
    out->start = ((uintptr_t)r->address + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    out->end = ((uintptr_t)r->address + r->bytes) & ~(uintptr_t)(PAGE - 1);
    return r->bytes >= SMALL && out->end > out->start;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct mend_range *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static void forget_ranges(struct pages *p)
{
    for (int i = 0; i < p->range_count; i++)
        mend_track_unwatch(p->uffd, &p->ranges[i]);
    p->range_count = p->region_count = 0;
    p->armed = false;
}

static bool same_regions(const mend_store *store, const struct pages *p)
{
    if (p->region_count != store->region_count || p->serial != store->serial)
        return false;
    for (int i = 0; i < p->region_count; i++)
        if (p->regions[i].id != store->regions[i].id ||
            p->regions[i].address != store->regions[i].address ||
            p->regions[i].bytes != store->regions[i].bytes)
            return false;
    return true;
}

/* Regions may overlap, but we watch and query each page once. */
static bool watch_regions(mend_store *store, struct pages *p)
{
    size_t n = (size_t)store->region_count + 1;
    struct mend_range *ranges = realloc(p->ranges, n * sizeof *ranges);
    struct seen *seen = realloc(p->regions, n * sizeof *seen);
    int count = 0, merged = 0;

    if (ranges)
        p->ranges = ranges;
    if (seen)
        p->regions = seen;
    if (!ranges || !seen)
        return false;
    for (int i = 0; i < store->region_count; i++) {
        const struct region *r = &store->regions[i];
        seen[i] = (struct seen){r->id, r->address, r->bytes};
        count += inner_pages(r, &ranges[count]);
    }
    qsort(ranges, (size_t)count, sizeof *ranges, compare_ranges);
    for (int i = 0; i < count; i++) {
        if (merged && ranges[i].start <= ranges[merged - 1].end) {
            if (ranges[i].end > ranges[merged - 1].end)
                ranges[merged - 1].end = ranges[i].end;
        } else {
            ranges[merged++] = ranges[i];
        }
    }
    for (int i = 0; i < merged; i++)
        if (mend_track_watch(p->uffd, &ranges[i])) { /* some mappings cannot be watched */
            p->range_count = i;
            forget_ranges(p);
            return false;
        }
    p->range_count = merged;
    p->region_count = store->region_count;
    p->serial = store->serial;
    return true;
}

/* ---- in a save ------------------------------------------------------------------------------- */

static void set_run(uint64_t *bits, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++)
        bits[i / 64] |= (uint64_t)1 << (i % 64);
}

struct marking {
    mend_store *store;
    const mend_image_head *head;
    uint64_t *bits;
};

/* Mark a run of changed pages, in the stream's numbering, for every region that it touches. */
static int mark_run(void *context, uintptr_t start, uintptr_t end, unsigned is)
{
    (void)is;
    struct marking *m = context;
    for (uint32_t i = 0; i < m->head->region_count; i++) {
        const mend_image_region *to = &m->head->regions[i];
        const struct region *r = region_find(m->store, to->id);
        uintptr_t from = (uintptr_t)r->address, stop = from + r->bytes;
        uintptr_t a = start > from ? start : from, b = end < stop ? end : stop;
        if (a < b)
            set_run(m->bits, (to->offset + (a - from)) / PAGE,
                    (to->offset + (b - from) + PAGE - 1) / PAGE);
    }
    return 0;
}

/* Mark edges and small regions, which we do not watch. */
static void mark_unwatched(struct marking *m)
{
    for (uint32_t i = 0; i < m->head->region_count; i++) {
        const mend_image_region *to = &m->head->regions[i];
        const struct region *r = region_find(m->store, to->id);
        uint64_t first = to->offset / PAGE, end = (to->offset + to->bytes + PAGE - 1) / PAGE;
        struct mend_range inner;
        if (!to->bytes)
            continue;
        if (!inner_pages(r, &inner)) {
            set_run(m->bits, first, end);
            continue;
        }
        if (((uintptr_t)r->address & (PAGE - 1)) != 0)
            set_run(m->bits, first, first + 1);
        if (((uintptr_t)(r->address + r->bytes) & (PAGE - 1)) != 0)
            set_run(m->bits, end - 1, end);
    }
}

static void all_stale(mend_store *store)
{
    for (int i = 0; i < store->own.count; i++)
        store->own.list[i]->serial = 0;
}

static void slots_stale(mend_store *store, const uint64_t *bits, size_t words)
{
    for (int i = 0; i < store->own.count; i++) {
        struct slot *s = store->own.list[i];
        for (size_t w = 0; s->serial == store->serial && w < words; w++)
            s->stale[w] |= bits[w];
    }
}

static struct pages *make_pages(mend_store *store)
{
    if (store->pages || store->options.delta != MEND_DELTA_PAGES)
        return store->pages;
    struct pages *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->uffd = mend_track_open();
    p->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    store->pages = p;
    return p;
}

/* Protect everything, so that changes show from now on. */
static bool arm(struct pages *p)
{
    for (int i = 0; i < p->range_count; i++)
        if (mend_track_protect(p->uffd, &p->ranges[i], true)) {
            forget_ranges(p);
            return false;
        }
    p->armed = true;
    return true;
}

/* Nearly everything changes, so tracking costs more than it gains. Pause for some saves, longer each time. */
static void give_up_for_now(struct pages *p)
{
    for (int i = 0; i < p->range_count; i++)
        mend_track_protect(p->uffd, &p->ranges[i], false);
    p->armed = false;
    p->pause = p->pause ? p->pause * 2 : 1;
    if (p->pause > PAUSE_MAX)
        p->pause = PAUSE_MAX;
    p->pause_left = p->pause;
}

static uint64_t count_bits(const uint64_t *bits, size_t words)
{
    uint64_t sum = 0;
    for (size_t w = 0; w < words; w++)
        sum += (uint64_t)__builtin_popcountll(bits[w]);
    return sum;
}

/* We do not track a save with streams, or with other regions than the registered ones. */
static bool whole_store(mend_store *store, const mend_image_head *head)
{
    if (head->region_count != (uint32_t)store->region_count)
        return false;
    for (uint32_t i = 0; i < head->region_count; i++)
        if (!region_find(store, head->regions[i].id))
            return false;
    return true;
}

uint64_t *pages_take(mend_store *store, const mend_image_head *head)
{
    struct pages *p = make_pages(store);
    if (!p || p->uffd < 0 || p->pagemap < 0 || !whole_store(store, head)) {
        pages_lost(store);
        return NULL;
    }
    if (!same_regions(store, p))
        forget_ranges(p);
    if (!p->armed) {
        all_stale(store);
        if (p->pause_left > 0)
            p->pause_left--;
        else if (p->range_count || watch_regions(store, p))
            arm(p);
        return NULL;
    }
    size_t words = bitmap_words(page_count(head->stream_bytes)) + 1;
    struct marking m = {store, head, calloc(words, sizeof(uint64_t))};
    int failed = m.bits == NULL;
    for (int i = 0; !failed && i < p->range_count; i++)
        failed = mend_track_changed(p->pagemap, &p->ranges[i], mark_run, &m);
    if (failed) { /* a mapping was replaced: start over */
        free(m.bits);
        forget_ranges(p);
        all_stale(store);
        return NULL;
    }
    mark_unwatched(&m);
    if (count_bits(m.bits, words) * 2 > page_count(head->stream_bytes))
        give_up_for_now(p);
    else
        p->pause = 0;
    slots_stale(store, m.bits, words);
    return m.bits;
}

/* Copy runs of stale pages of one region. */
static void copy_stale(struct slot *slot, const mend_image_region *to, const struct region *from)
{
    uint64_t page = to->offset / PAGE, end = (to->offset + to->bytes + PAGE - 1) / PAGE;
    while (page < end) {
        if (!(slot->stale[page / 64] >> (page % 64) & 1)) {
            if (page % 64 == 0 && slot->stale[page / 64] == 0)
                page += 64;
            else
                page++;
            continue;
        }
        uint64_t run = page;
        while (run < end && (slot->stale[run / 64] >> (run % 64) & 1)) {
            slot->stale[run / 64] &= ~((uint64_t)1 << (run % 64));
            run++;
        }
        uint64_t a = page * PAGE > to->offset ? page * PAGE : to->offset;
        uint64_t b = run * PAGE < to->offset + to->bytes ? run * PAGE : to->offset + to->bytes;
        mend_copy(slot->memory + a, from->address + (a - to->offset), b - a);
        page = run;
    }
}

bool pages_copy(mend_store *store, struct slot *slot, const mend_image_region *to,
                const struct region *from)
{
    if (!store->pages || slot->serial != store->serial || !slot->stale)
        return false;
    copy_stale(slot, to, from);
    return true;
}

void pages_copied(mend_store *store, struct slot *slot, const mend_image_head *head)
{
    if (!store->pages || !store->pages->armed || slot->serial == store->serial)
        return;
    free(slot->stale);
    slot->stale = calloc(bitmap_words(page_count(head->stream_bytes)) + 1, sizeof *slot->stale);
    slot->serial = slot->stale ? store->serial : 0;
}

void pages_lost(mend_store *store)
{
    all_stale(store);
    if (store->pages)
        forget_ranges(store->pages);
}

void pages_free(mend_store *store)
{
    struct pages *p = store->pages;
    if (!p)
        return;
    forget_ranges(p);
    if (p->uffd >= 0)
        close(p->uffd);
    if (p->pagemap >= 0)
        close(p->pagemap);
    free(p->ranges);
    free(p->regions);
    free(p);
}

bool pages_work(void)
{
    return sysconf(_SC_PAGESIZE) == PAGE && mend_track_works();
}
