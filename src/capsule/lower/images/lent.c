/* lent.c - an image whose pages are in the pool of another process of this machine: see online/lend.c. */
#include "images/image.h"
#include "images/paged.h"
#include "images/pool.h"

#include <base/fail.h>
#include <base/io.h>
#include <base/sum.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PAGES = 64 }; /* per step: still in the cache when they are verified */

/* Never trust data from another process: no slot may lie behind the end of that file. */
static int all_there(int fd, const uint32_t *slots, uint64_t count)
{
    struct stat file;
    uint32_t highest = 0;
    for (uint64_t i = 0; i < count; i++)
        highest = slots[i] > highest ? slots[i] : highest;
    return fstat(fd, &file) == 0 && S_ISREG(file.st_mode) &&
           (uint64_t)file.st_size >= (highest + 1ull) * ground.page_size;
}

static struct lent *new_lent(const struct paged *p, const struct paged_delta *d)
{
    struct lent *lent = calloc(1, sizeof *lent);
    if (!lent)
        return NULL;
    lent->fd = -1;
    lent->slot =
        calloc(p->pages + 1, sizeof *lent->slot); /* of a large one, few pages are touched */
    lent->told = malloc(d->offer.ranges * sizeof *lent->told + 1);
    if (lent->slot && lent->told)
        return lent;
    free(lent->slot);
    free(lent->told);
    free(lent);
    return NULL;
}

int lent_open(struct paged *p, const struct paged_delta *d, int pid, int fd, const uint32_t *slots)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    if (!(p->lent = new_lent(p, d)))
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the table of an image");
    for (uint64_t i = 0; i < d->offer.ranges; i++) {
        const struct page_range *r = &d->ranges[i];
        memcpy(p->lent->slot + r->first, slots, r->count * sizeof *slots);
        p->lent->told[i] = *r;
        slots += r->count;
    }
    p->lent->ranges = d->offer.ranges;
    /* We write nothing to it. But a file that is open only for reading counts as one that libc opened in
     * passing, and a checkpoint waits for those (upper/os/files.c). */
    p->lent->fd = open(path, O_RDWR | O_CLOEXEC);
    if (p->lent->fd >= 0 && all_there(p->lent->fd, slots - d->offer.new_pages, d->offer.new_pages))
        return 0;
    lent_free(p);
    return mend_fail(MEND_ERR_IO, "cannot read the images of process %d", pid);
}

int lent_read(const struct paged *p, uint64_t at, void *to, size_t count)
{
    int rc = 0;
    while (count && rc == 0) {
        uint64_t page = at / ground.page_size, skip = at % ground.page_size;
        const uint32_t *slot = p->lent->slot + page;
        uint64_t most = (skip + count + ground.page_size - 1) / ground.page_size;
        size_t n = pool_in_order(slot, most) * ground.page_size - skip;
        n = n < count ? n : count;
        rc = mend_io_pread(p->lent->fd, to, n, (off_t)(*slot * ground.page_size + skip),
                           "an image of another process");
        at += n;
        to = (char *)to + n;
        count -= n;
    }
    return rc;
}

int lent_put(const struct paged *p, uint64_t page, char *to, size_t count, int checked)
{
    int rc = 0;
    for (size_t n; count && rc == 0; count -= n) {
        n = count < MOST_PAGES ? count : MOST_PAGES;
        rc = lent_read(p, page * ground.page_size, to, n * ground.page_size);
        for (size_t i = 0; i < n && rc == 0; i++, page++, to += ground.page_size)
            if (!checked && mend_sum(to, ground.page_size, 0) != p->sum[page])
                rc = mend_fail(MEND_ERR_DAMAGED, "page %llu of rank %u has a wrong checksum",
                               (unsigned long long)page, p->head->rank);
    }
    return rc;
}

int lent_fetch(const struct paged *p)
{
    int rc = 0;
    for (uint64_t i = 0; i < p->lent->ranges; i++) {
        uint64_t page = p->lent->told[i].first, end = page + p->lent->told[i].count;
        for (uint64_t n; page < end && rc == 0; page += n) {
            n = pool_in_order(p->slot + page, end - page);
            rc = lent_put(p, page, pool_page(p->slot[page]), n, 0);
        }
    }
    return rc;
}

void lent_free(struct paged *p)
{
    if (!p->lent)
        return;
    if (p->lent->fd >= 0)
        close(p->lent->fd);
    free(p->lent->told);
    free(p->lent->slot);
    free(p->lent);
    p->lent = NULL;
}
