/* capture.c - an image of the upper half in memory, which shares with the one before what has not changed.
 *
 *   1. The pages that were touched are listed (images/survey.c).
 *   2. Each is compared with the page that the base has at this address (images/compare.c). If they are the same, the new image has that
 *      one, too; if not, it is copied to a slot of its own, with its sum. Zero pages are left out.
 *   3. The tables are made.
 * The base stays as it is whatever happens: a slot that somebody has is never written to.
 */
#include "images/paged.h"
#include "images/image.h"
#include "images/pool.h"

#include <base/fail.h>
#include <base/fault.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct capture {
    struct survey *survey;
    struct paged *p;
    struct paged_cursor base;
    struct run *runs;
    uint64_t run_count, run_room;
    const char *new; /* pages that follow each other and are to be copied: */
    uint64_t first, count;
    char *scratch;   /* a page */
    uint8_t *same;   /* [pages of the survey]: as in the base */
    uint64_t number; /* of the page in the survey */
};

static int flush(struct capture *c)
{
    uint32_t *slot = c->p->slot + c->first;
    uint64_t left = c->count;
    if (!left)
        return 0;
    int rc = pool_get(slot, left);
    c->count = 0;
    if (rc)
        return rc;
    c->p->pages = c->first + left;
    for (size_t n; left && rc == 0; left -= n) {
        n = pool_in_order(slot, left);
        rc = pool_write(*slot, c->new, n);
        slot += n;
        c->new += n *ground.page_size;
    }
    return rc;
}

static int add_run(struct capture *c, uint64_t at, int continues)
{
    if (continues && c->run_count && c->runs[c->run_count - 1].to == at) {
        c->runs[c->run_count - 1].to += ground.page_size;
        return 0;
    }
    if (c->run_count == c->run_room) {
        c->run_room = 2 * c->run_room + 256;
        struct run *more = realloc(c->runs, c->run_room * sizeof *more);
        if (!more)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the table of pages");
        c->runs = more;
    }
    c->runs[c->run_count++] = (struct run){at, at + ground.page_size, 0};
    return 0;
}

/* What is not copied at once must follow what waits to be. */
static int add_new(struct capture *c, const char *bytes, uint64_t page)
{
    int moving = survey_is_moving(c->survey, (uint64_t)bytes, ground.page_size), rc = 0;
    if (moving || (c->count && c->new + c->count *ground.page_size != bytes))
        rc = flush(c);
    if (moving)
        bytes = memcpy(c->scratch, bytes, ground.page_size);
    if (!c->count) {
        c->new = bytes;
        c->first = page;
    }
    c->count++;
    c->p->sum[page] = XXH3_64bits(bytes, ground.page_size);
    return rc == 0 && moving ? flush(c) : rc;
}

static int add_shared(struct capture *c, uint64_t page, uint64_t in_base)
{
    int rc = flush(c);
    if (rc)
        return rc;
    c->p->slot[page] = c->base.p->slot[in_base];
    c->p->sum[page] = c->base.p->sum[in_base];
    pool_share(&c->p->slot[page], 1);
    c->p->pages = page + 1;
    return 0;
}

static int add_page(struct capture *c, const struct stretch *t, uint64_t at)
{
    const char *bytes = (const char *)(at + (uint64_t)t->shift);
    int of_file =
        c->survey->mappings[t->mapping].file != 0; /* where no run is, its bytes would be */
    int64_t in_base = c->same[c->number++] ? paged_find(&c->base, at) : -1;
    uint64_t page = c->count ? c->first + c->count : c->p->pages;
    int rc;
    if (in_base >= 0)
        rc = add_shared(c, page, (uint64_t)in_base);
    else if (!of_file && page_is_zero(bytes))
        return 0;
    else
        rc = add_new(c, bytes, page);
    return rc ? rc : add_run(c, at, at != t->from);
}

static int add_pages(struct capture *c)
{
    const struct survey *s = c->survey;
    int rc = 0;
    for (size_t i = 0; i < s->count && rc == 0; i++) {
        if (i == s->count / 2)
            MEND_FAULT_POINT(recover_save_pages);
        for (uint64_t at = s->stretches[i].from; at < s->stretches[i].to && rc == 0;
             at += ground.page_size)
            rc = add_page(c, &s->stretches[i], at);
    }
    return rc ? rc : flush(c);
}

static int make_head(struct capture *c)
{
    struct survey *s = c->survey;
    size_t maps = s->meta.mappings * sizeof *s->mappings, runs = c->run_count * sizeof *c->runs;
    size_t files = s->meta.files * sizeof *s->files;
    s->meta.runs = c->run_count;
    s->meta.bytes = c->p->pages * ground.page_size;
    c->p->head_bytes = sizeof s->meta + maps + runs + files + s->meta.names;
    if (!(c->p->head = malloc(c->p->head_bytes)))
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the table of pages");
    void *to = mempcpy(c->p->head, &s->meta, sizeof s->meta);
    to = mempcpy(to, s->mappings, maps);
    to = runs ? mempcpy(to, c->runs, runs) : to;
    if (files) {
        to = mempcpy(to, s->files, files);
        memcpy(to, s->names, s->meta.names);
    }
    return 0;
}

int paged_of_survey(struct paged *p, struct survey *s, const struct paged *base)
{
    struct capture c = {
        .survey = s, .p = p, .base = {base, 0, 0}, .scratch = malloc(ground.page_size)};
    *p = (struct paged){0};
    c.same = calloc(s->pages + 1, 1);
    int rc = c.scratch && c.same ? paged_make_room(p, s->pages)
                                 : mend_fail(MEND_ERR_NO_MEMORY, "no memory for a page");
    if (rc == 0) {
        survey_reveal(s, 1);
        if (base)
            paged_compare(s, base, c.same);
        rc = add_pages(&c);
        survey_reveal(s, 0);
    }
    if (rc == 0)
        rc = make_head(&c);
    if (rc == 0)
        rc = paged_check(p);
    free(c.runs);
    free(c.scratch);
    free(c.same);
    if (rc)
        paged_free(p);
    return rc;
}

int paged_capture(struct paged *p, struct upper *upper, const struct paged *base)
{
    struct survey s;
    *p = (struct paged){0};
    int rc = survey_take(&s, upper);
    if (rc == 0)
        rc = paged_of_survey(p, &s, base);
    survey_free(&s);
    return rc;
}

int paged_set_tail(struct paged *p, const void *parts[], const size_t bytes[], int count)
{
    size_t all = 0;
    for (int i = 0; i < count; i++)
        all += bytes[i];
    free(p->tail);
    p->tail = malloc(all + 1);
    if (!p->tail)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for held-back output");
    p->tail_bytes = all;
    char *to = p->tail;
    for (int i = 0; i < count; i++)
        to = bytes[i] ? mempcpy(to, parts[i], bytes[i]) : to;
    return 0;
}
