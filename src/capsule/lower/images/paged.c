/* paged.c - an image in memory: see images/paged.h. */
#include "images/paged.h"
#include "images/image.h"
#include "images/pool.h"

#include <base/fail.h>
#include <base/sum.h>
#include <stdlib.h>
#include <string.h>

const struct mapping *paged_mappings(const struct paged *p)
{
    return (const struct mapping *)(p->head + 1);
}

const struct run *paged_runs(const struct paged *p)
{
    return (const struct run *)(paged_mappings(p) + p->head->mappings);
}

void paged_free(struct paged *p)
{
    if (p->slot)
        pool_drop(p->slot, p->pages);
    lent_free(p);
    free(p->head);
    free(p->tail);
    free(p->slot);
    free(p->sum);
    *p = (struct paged){0};
}

int64_t paged_find(struct paged_cursor *c, uint64_t address)
{
    if (!c->p || !c->p->head)
        return -1;
    const struct run *runs = paged_runs(c->p);
    while (c->run < c->p->head->runs && runs[c->run].to <= address) {
        c->before += (runs[c->run].to - runs[c->run].from) / ground.page_size;
        c->run++;
    }
    if (c->run == c->p->head->runs || address < runs[c->run].from)
        return -1;
    return (int64_t)(c->before + (address - runs[c->run].from) / ground.page_size);
}

uint64_t paged_find_end(const struct paged_cursor *c, uint64_t address, uint64_t to)
{
    if (!c->p || !c->p->head || c->run == c->p->head->runs)
        return to;
    const struct run *run = &paged_runs(c->p)[c->run];
    uint64_t end = address < run->from ? run->from : run->to;
    return end < to ? end : to;
}

int paged_make_room(struct paged *p, uint64_t pages)
{
    p->slot = malloc(pages * sizeof *p->slot + 1);
    p->sum = malloc(pages * sizeof *p->sum + 1);
    if (!p->slot || !p->sum)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a table of %llu pages",
                         (unsigned long long)pages);
    return 0;
}

int paged_check(const struct paged *p)
{
    const struct image_meta *m = p->head;
    uint64_t pages = 0, last = 0, n = p->head_bytes;
    if (n < sizeof *m || m->border_version != BORDER_VERSION || m->page_size != ground.page_size)
        return mend_fail(MEND_ERR_FORMAT, "not an image of a capsule of this version");
    if (m->runs > n || m->names > n ||
        n != sizeof *m + m->mappings * sizeof(struct mapping) + m->runs * sizeof(struct run) +
                 m->files * sizeof(struct named_file) + m->names)
        return mend_fail(MEND_ERR_DAMAGED, "the tables of an image have wrong lengths");
    const struct run *runs = paged_runs(p);
    for (uint64_t i = 0; i < m->runs; i++) {
        const struct run *r = &runs[i];
        if (r->in_base || r->from < last || r->to <= r->from ||
            (r->to - r->from) % ground.page_size)
            return mend_fail(MEND_ERR_DAMAGED, "run %llu of an image is out of order",
                             (unsigned long long)i);
        pages += (r->to - r->from) / ground.page_size;
        last = r->to;
    }
    if (pages != p->pages || m->bytes != pages * ground.page_size)
        return mend_fail(MEND_ERR_DAMAGED, "an image should have %llu pages and has %llu",
                         (unsigned long long)pages, (unsigned long long)p->pages);
    return 0;
}

int paged_copy(const struct paged *p, uint64_t at, void *to, size_t count)
{
    if (p->lent)
        return lent_read(p, at, to, count);
    for (size_t n; count; at += n, count -= n, to = (char *)to + n) {
        n = ground.page_size - at % ground.page_size;
        n = n < count ? n : count;
        memcpy(to, (char *)pool_page(p->slot[at / ground.page_size]) + at % ground.page_size, n);
    }
    return 0;
}

/* Verify a page after it is in place: so the program runs what was verified. If most pages are already right,
 * reading two is cheaper than writing one. */
int paged_put(const struct paged *p, uint64_t page, char *to, size_t count, int checked, int there)
{
    if (p->lent)
        return lent_put(p, page, to, count, checked);
    for (; count; count--, page++, to += ground.page_size) {
        const void *from = pool_page(p->slot[page]);
        if (!there || memcmp(to, from, ground.page_size) != 0)
            memcpy(to, from, ground.page_size);
        if (!checked && mend_sum(to, ground.page_size, 0) != p->sum[page])
            return mend_fail(MEND_ERR_DAMAGED, "page %llu of rank %u has a wrong checksum",
                             (unsigned long long)page, p->head->rank);
    }
    return 0;
}
