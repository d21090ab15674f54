/* changes.c - what differs between two images of a rank.
 *
 * An image is packed: one page more shifts all that follow. So pages are compared by their addresses, which are
 * in the tables of both images; what is before memory (tables) and behind it (sums, output) by its place from there.
 */
#include "images/changes.h"
#include "images/image.h"

#include <base/fail.h>
#include <stdlib.h>
#include <string.h>

enum { GRAIN = 512 }; /* of what is not pages */

struct image_pages {
    const char *runs; /* struct run, perhaps not aligned */
    uint64_t count;
    uint64_t memory, end; /* where pages begin and end */
};

static struct run run_at(const struct image_pages *p, uint64_t i)
{
    struct run r;
    memcpy(&r, p->runs + i * sizeof r, sizeof r);
    return r;
}

/* The tables of an image in memory, as selection.c writes it. It may have come from elsewhere: nothing is believed. */
static int find_pages(const char *bytes, size_t size, struct image_pages *p)
{
    struct image_prefix prefix;
    struct image_meta m;
    uint64_t at = sizeof prefix + mend_image_head_bytes(2);
    if (size < at + sizeof m)
        return 0;
    memcpy(&prefix, bytes, sizeof prefix);
    memcpy(&m, bytes + at, sizeof m);
    if (prefix.magic != IMAGE_PREFIX || m.border_version != BORDER_VERSION ||
        m.page_size != page_size || m.runs > size || m.names > size || m.bytes > size)
        return 0;
    uint64_t before = at + sizeof m + m.mappings * sizeof(struct mapping);
    uint64_t tables =
        before + m.runs * sizeof(struct run) + m.files * sizeof(struct named_file) + m.names;
    *p = (struct image_pages){bytes + before, m.runs, ROUND_UP(tables, page_size), 0};
    p->end = p->memory + m.bytes;
    if (tables > size || p->end > size)
        return 0;
    uint64_t pages = 0, last = 0;
    for (uint64_t i = 0; i < p->count; i++) {
        struct run r = run_at(p, i);
        if (r.in_base || r.from < last || r.to <= r.from || (r.to - r.from) % page_size ||
            r.to - r.from > m.bytes - pages)
            return 0;
        pages += r.to - r.from;
        last = r.to;
    }
    return pages == m.bytes;
}

static int add(struct changes *c, uint64_t from, uint64_t bytes)
{
    struct change *last = c->count ? &c->list[c->count - 1] : NULL;
    if (from == CHANGE_NEW)
        c->told += bytes;
    if (last &&
        (from == CHANGE_NEW ? last->from == CHANGE_NEW
                            : last->from != CHANGE_NEW && last->from + last->bytes == from)) {
        last->bytes += bytes;
        return 0;
    }
    if (c->count == c->room) {
        size_t room = 2 * c->room + 1024;
        struct change *more = realloc(c->list, room * sizeof *more);
        if (!more)
            return 1;
        c->list = more;
        c->room = room;
    }
    c->list[c->count++] = (struct change){from, bytes};
    return 0;
}

/* [at, end) of the new one against the old one's from `there` on. */
static int add_plain(struct changes *c, const char *new, uint64_t at, uint64_t end, const char *old,
                     uint64_t there, uint64_t old_end)
{
    int full = 0;
    while (at < end && !full) {
        uint64_t n = end - at < GRAIN ? end - at : GRAIN;
        int same = there < old_end && n <= old_end - there && !memcmp(new + at, old + there, n);
        full = add(c, same ? there : CHANGE_NEW, n);
        at += n;
        there += n;
    }
    return full;
}

struct old_pages { /* asked for in ascending order */
    const struct image_pages *p;
    uint64_t run, at; /* this one's pages begin here */
};

/* Where the old image has the page at `address`; 0: nowhere. */
static uint64_t old_place(struct old_pages *o, uint64_t address)
{
    while (o->run < o->p->count) {
        struct run r = run_at(o->p, o->run);
        if (address < r.from)
            return 0;
        if (address < r.to)
            return o->at + (address - r.from);
        o->at += r.to - r.from;
        o->run++;
    }
    return 0;
}

int changes_find(struct changes *c, const char *new, size_t bytes, const char *old,
                 size_t old_bytes)
{
    struct image_pages mine, theirs;
    c->count = c->told = 0;
    if (!find_pages(new, bytes, &mine) || !find_pages(old, old_bytes, &theirs))
        return 1;
    struct old_pages o = {&theirs, 0, theirs.memory};
    uint64_t at = mine.memory;
    int full = add_plain(c, new, 0, mine.memory, old, 0, theirs.memory);
    for (uint64_t i = 0; i < mine.count && !full; i++) {
        struct run r = run_at(&mine, i);
        for (uint64_t page = r.from; page < r.to && !full; page += page_size) {
            uint64_t place = old_place(&o, page);
            int same = place && !memcmp(new + at, old + place, page_size);
            full = add(c, same ? place : CHANGE_NEW, page_size) || c->told > bytes / 2;
            at += page_size;
        }
    }
    return full || add_plain(c, new, at, bytes, old, theirs.end, old_bytes) || c->told > bytes / 2;
}

void changes_collect(const struct changes *c, const char *new, char *to)
{
    for (size_t i = 0; i < c->count; i++) {
        if (c->list[i].from == CHANGE_NEW)
            to = mempcpy(to, new, c->list[i].bytes);
        new += c->list[i].bytes;
    }
}

int changes_apply(const struct changes *c, const char *told, const char *old, size_t old_bytes,
                  char *to, size_t bytes)
{
    uint64_t left = bytes, told_left = c->told;
    for (size_t i = 0; i < c->count; i++) {
        uint64_t n = c->list[i].bytes, from = c->list[i].from;
        int own = from == CHANGE_NEW;
        if (n > left || (own ? n > told_left : from > old_bytes || n > old_bytes - from))
            return mend_fail(MEND_ERR_DAMAGED, "change %zu of an image does not fit", i);
        to = mempcpy(to, own ? told : old + from, n);
        told += own ? n : 0;
        told_left -= own ? n : 0;
        left -= n;
    }
    return left || told_left ? mend_fail(MEND_ERR_DAMAGED, "changes of an image are missing") : 0;
}
