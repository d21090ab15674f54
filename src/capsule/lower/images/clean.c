/* clean.c - a process that goes back to an image already has most of its pages.
 *
 *   1. Before filling anything, we ask which pages of kept mappings were not written since memory was like the
 *      image `was` (images/track.c). They must also be present: a page that was given back reads as zero.
 *   2. Such a page is as the new image needs it if both images have it in the same slot. If one of the two versions
 *      was abandoned, the pages in which they differ have slots of their own.
 *   3. When everything is filled, memory is like the new image. Pages that we filled count as written until the
 *      next survey, which compares them: protecting them now would take as long as filling them.
 */
#include "images/load.h"
#include "images/pool.h"
#include "images/track.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int add_clean(void *context, uint64_t from, uint64_t to)
{
    struct loaded *l = context;
    if (l->clean_count == l->clean_room) {
        size_t room = 2 * l->clean_room + 256;
        void *more = realloc(l->clean, room * sizeof *l->clean);
        if (!more)
            return -1;
        l->clean = more;
        l->clean_room = room;
    }
    l->clean[l->clean_count++] = (struct mend_range){from, to};
    return 0;
}

static int is_kept(const struct loaded *l, uint32_t i)
{
    return l->kept && l->kept[i] && !l->mappings[i].shared;
}

void clean_find(struct loaded *l)
{
    int pagemap = l->was && track_start() ? pagemap_open() : -1;
    if (pagemap < 0)
        l->was = NULL;
    for (uint32_t i = 0; l->was && i < l->meta.mappings; i++) {
        const struct mapping *m = &l->mappings[i];
        size_t before = l->clean_count;
        if (is_kept(l, i) && track_clean(pagemap, m->from, m->to, add_clean, l))
            l->clean_count = before;
    }
    if (pagemap >= 0)
        close(pagemap);
}

/* The first range that ends behind `at`. */
static size_t range_at(const struct loaded *l, uint64_t at)
{
    size_t low = 0, high = l->clean_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (l->clean[middle].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of [from, to), all of it clean: how far both images have the same slots, or have different ones. */
static uint64_t same_slots(const struct loaded *l, struct paged_cursor *was, uint64_t from,
                           uint64_t to, uint64_t page, int *there)
{
    const uint32_t *slot = l->paged->slot + page;
    uint64_t at = from;
    if (l->was == l->paged) {
        *there = 1;
        return to;
    }
    for (; at < to; at += ground.page_size, slot++) {
        int64_t i = paged_find(was, at);
        int same = i >= 0 && l->was->slot[i] == *slot;
        if (at == from)
            *there = same;
        else if (same != *there)
            break;
    }
    return at;
}

uint64_t clean_until(const struct loaded *l, struct paged_cursor *was, uint64_t from, uint64_t to,
                     uint64_t page, int *there)
{
    size_t i = range_at(l, from);
    *there = 0;
    if (i == l->clean_count || l->clean[i].start >= to)
        return to;
    if (l->clean[i].start > from)
        return l->clean[i].start;
    return same_slots(l, was, from, l->clean[i].end < to ? l->clean[i].end : to, page, there);
}

void clean_check(const struct loaded *l)
{
    uint64_t page = 0;
    if (l->paged &&
        l->paged->lent) /* nothing was taken for unchanged, and everything was verified */
        return;
    for (uint64_t i = 0; l->paged && track_is_checked() && i < l->meta.runs; i++)
        for (uint64_t at = l->runs[i].from; at < l->runs[i].to; at += ground.page_size, page++)
            if (memcmp((const void *)at, pool_page(l->paged->slot[page]), ground.page_size) != 0)
                track_wrong(at, "when an image was loaded");
}
