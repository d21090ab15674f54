/* paged_stream.c - an image in memory as a stream of bytes, and back: see images/paged.h. */
#include "images/paged.h"
#include "images/image.h"
#include "images/pool.h"

#include <base/fail.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static uint64_t front_bytes(const struct paged_prefix *f)
{
    return sizeof *f + f->head_bytes + f->tail_bytes + f->pages * sizeof(uint64_t);
}

static uint64_t sum_of_front(const struct paged_prefix *f, const struct paged *p)
{
    uint64_t part[4] = {XXH3_64bits(f, offsetof(struct paged_prefix, sum)),
                        XXH3_64bits(p->head, p->head_bytes), XXH3_64bits(p->tail, p->tail_bytes),
                        XXH3_64bits(p->sum, p->pages * sizeof *p->sum)};
    return XXH3_64bits(part, sizeof part);
}

static struct paged_prefix prefix_of(const struct paged *p)
{
    struct paged_prefix f = {PAGED_MAGIC, p->head_bytes, p->tail_bytes, p->pages, 0};
    f.sum = sum_of_front(&f, p);
    return f;
}

uint64_t paged_bytes(const struct paged *p)
{
    struct paged_prefix f = {PAGED_MAGIC, p->head_bytes, p->tail_bytes, p->pages, 0};
    return ROUND_UP(front_bytes(&f), ground.page_size) + p->pages * ground.page_size;
}

/* Copies the part of [at, at + count) that lies in one piece of the stream, which begins at `begin`. */
static void copy_part(const void *piece, uint64_t begin, uint64_t bytes, uint64_t at, char *to,
                      size_t count)
{
    uint64_t from = at > begin ? at : begin;
    uint64_t end = at + count < begin + bytes ? at + count : begin + bytes;
    if (from < end)
        memcpy(to + (from - at), (const char *)piece + (from - begin), end - from);
}

static void read_front(const struct paged *p, uint64_t at, char *to, size_t count)
{
    struct paged_prefix f = prefix_of(p);
    uint64_t begin = sizeof f;
    memset(to, 0, count);
    copy_part(&f, 0, sizeof f, at, to, count);
    copy_part(p->head, begin, p->head_bytes, at, to, count);
    copy_part(p->tail, begin += p->head_bytes, p->tail_bytes, at, to, count);
    copy_part(p->sum, begin + p->tail_bytes, p->pages * sizeof *p->sum, at, to, count);
}

static int read_pages(const struct paged *p, uint64_t at, char *to, size_t count)
{
    int rc = 0;
    while (count && rc == 0) {
        uint64_t page = at / ground.page_size, skip = at % ground.page_size;
        size_t n = pool_in_order(p->slot + page, p->pages - page) * ground.page_size - skip;
        n = n < count ? n : count;
        rc = pool_read(p->slot[page], skip, to, n);
        at += n;
        to += n;
        count -= n;
    }
    return rc;
}

int paged_read(const struct paged *p, uint64_t at, void *to, size_t count)
{
    uint64_t begin = paged_bytes(p) - p->pages * ground.page_size;
    size_t before = at >= begin ? 0 : begin - at < count ? begin - at : count;
    if (before)
        read_front(p, at, to, before);
    return count > before ? read_pages(p, at + before - begin, (char *)to + before, count - before)
                          : 0;
}

static int check_front(const struct paged_prefix *f, uint64_t bytes)
{
    if (f->magic != PAGED_MAGIC)
        return mend_fail(MEND_ERR_FORMAT, "not an image of a capsule of this version");
    if (f->head_bytes > bytes || f->tail_bytes > bytes || f->pages > bytes / ground.page_size ||
        ROUND_UP(front_bytes(f), ground.page_size) + f->pages * ground.page_size != bytes)
        return mend_fail(MEND_ERR_DAMAGED, "an image of a capsule has a wrong length");
    return 0;
}

static int read_all(struct paged *p, paged_source *read, void *context, uint64_t bytes)
{
    struct paged_prefix f;
    uint64_t at = sizeof f;
    if (bytes < sizeof f)
        return mend_fail(MEND_ERR_TRUNCATED, "an image of a capsule is truncated");
    int rc = read(context, 0, &f, sizeof f);
    if (rc == 0)
        rc = check_front(&f, bytes);
    if (rc)
        return rc;
    p->head_bytes = f.head_bytes;
    p->tail_bytes = f.tail_bytes;
    p->head = malloc(f.head_bytes + 1);
    p->tail = malloc(f.tail_bytes + 1);
    rc = p->head && p->tail ? paged_make_room(p, f.pages)
                            : mend_fail(MEND_ERR_NO_MEMORY, "no memory to read an image");
    if (rc == 0)
        rc = read(context, at, p->head, p->head_bytes);
    if (rc == 0)
        rc = read(context, at += p->head_bytes, p->tail, p->tail_bytes);
    if (rc == 0)
        rc = read(context, at + p->tail_bytes, p->sum, f.pages * sizeof *p->sum);
    if (rc == 0)
        rc = pool_get(p->slot, f.pages);
    if (rc == 0)
        p->pages = f.pages;
    if (rc == 0 && f.sum != sum_of_front(&f, p))
        rc = mend_fail(MEND_ERR_DAMAGED, "the tables of an image have a wrong checksum");
    if (rc == 0)
        rc = paged_check(p);
    at = ROUND_UP(front_bytes(&f), ground.page_size);
    for (uint64_t i = 0, n; rc == 0 && i < p->pages; i += n) {
        n = pool_in_order(p->slot + i, p->pages - i);
        rc = read(context, at + i * ground.page_size, pool_page(p->slot[i]), n * ground.page_size);
    }
    return rc;
}

int paged_from_stream(struct paged *p, paged_source *read, void *context, uint64_t bytes)
{
    *p = (struct paged){0};
    int rc = read_all(p, read, context, bytes);
    if (rc)
        paged_free(p);
    return rc;
}
