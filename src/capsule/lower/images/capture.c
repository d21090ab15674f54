/* capture.c - an image of the upper half in memory, which shares with the one before what has not changed.
 *
 *   1. The pages that were touched are listed, and those that were written since the last image (images/survey.c).
 *   2. A page that was not written is as the base has it: the new image has that one, too; if the base has none, it is
 *      zero. All others are compared with the page that the base has at this address (images/compare.c). If they are the
 *      same, it is shared; if not, it is copied to a slot of its own, with its sum. Zero pages are left out.
 *   3. The tables are made.
 * The base stays as it is whatever happens: a slot that somebody has is never written to. Only if the base is the image
 * that memory was like when writes began to be noted (images/track.h) is step 2 right: else every page is compared.
 */
#include "images/paged.h"
#include "images/image.h"
#include "images/pool.h"
#include "images/track.h"

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
    char *scratch; /* a page */
    struct pieces pieces;
    size_t piece; /* the next one */
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

static int add_run(struct capture *c, uint64_t from, uint64_t to, int continues)
{
    if (continues && c->run_count && c->runs[c->run_count - 1].to == from) {
        c->runs[c->run_count - 1].to = to;
        return 0;
    }
    if (c->run_count == c->run_room) {
        c->run_room = 2 * c->run_room + 256;
        struct run *more = realloc(c->runs, c->run_room * sizeof *more);
        if (!more)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the table of pages");
        c->runs = more;
    }
    c->runs[c->run_count++] = (struct run){from, to, 0};
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

static int add_shared(struct capture *c, uint64_t in_base, uint64_t count)
{
    int rc = flush(c);
    uint64_t page = c->p->pages;
    if (rc)
        return rc;
    memcpy(c->p->slot + page, c->base.p->slot + in_base, count * sizeof *c->p->slot);
    memcpy(c->p->sum + page, c->base.p->sum + in_base, count * sizeof *c->p->sum);
    pool_share(c->p->slot + page, count);
    c->p->pages = page + count;
    return 0;
}

static int add_changed(struct capture *c, const struct stretch *t, uint64_t at)
{
    const char *bytes = (const char *)(at + (uint64_t)t->shift);
    int of_file =
        c->survey->mappings[t->mapping].file != 0; /* where no run is, its bytes would be */
    uint64_t page = c->count ? c->first + c->count : c->p->pages;
    if (!of_file && page_is_zero(bytes))
        return 0;
    int rc = add_new(c, bytes, page);
    return rc ? rc : add_run(c, at, at + ground.page_size, at != t->from);
}

/* [from, to) is as the base has it. */
static int add_unchanged(struct capture *c, const struct stretch *t, uint64_t from, uint64_t to)
{
    int rc = 0, of_file = c->survey->mappings[t->mapping].file != 0;
    for (uint64_t end; from < to && rc == 0; from = end) {
        int64_t in_base = paged_find(&c->base, from);
        end = paged_find_end(&c->base, from, to);
        for (uint64_t at = from; in_base < 0 && of_file && at < end && rc == 0;
             at += ground.page_size)
            rc = add_changed(c, t, at);
        if (in_base >= 0)
            rc = add_shared(c, (uint64_t)in_base, (end - from) / ground.page_size);
        if (in_base >= 0 && rc == 0)
            rc = add_run(c, from, end, from != t->from);
    }
    return rc;
}

static int add_piece(struct capture *c, const struct stretch *t, const struct piece *p)
{
    const uint8_t *same = c->pieces.same + p->number;
    int rc = 0;
    for (uint64_t at = p->from; at < p->to && rc == 0; at += ground.page_size)
        rc = *same++ ? add_unchanged(c, t, at, at + ground.page_size) : add_changed(c, t, at);
    return rc;
}

static int add_stretch(struct capture *c, const struct stretch *t)
{
    uint64_t at = t->from;
    int rc = 0;
    while (at < t->to && rc == 0) {
        const struct piece *p = c->piece < c->pieces.count ? &c->pieces.list[c->piece] : NULL;
        if (!p || p->from >= t->to)
            return add_unchanged(c, t, at, t->to);
        rc = add_unchanged(c, t, at, p->from);
        if (rc == 0)
            rc = add_piece(c, t, p);
        at = p->to;
        c->piece++;
    }
    return rc;
}

static int add_pages(struct capture *c)
{
    const struct survey *s = c->survey;
    int rc = 0;
    for (size_t i = 0; i < s->count && rc == 0; i++) {
        if (i == s->count / 2)
            MEND_FAULT_POINT(recover_save_pages);
        rc = add_stretch(c, &s->stretches[i]);
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

static void was_changed(uint64_t address)
{
    track_wrong(address, "while an image was taken");
}

static int look_and_add(struct capture *c)
{
    const struct paged *base = c->base.p;
    int known = base && c->survey->tracked && base->serial && base->serial == track_image();
    int rc = pieces_make(&c->pieces, c->survey, !known);
    if (rc)
        return rc;
    survey_reveal(c->survey, 1);
    if (base)
        pieces_compare(&c->pieces, base, c->survey->meta.size);
    rc = add_pages(c);
    if (rc == 0)
        rc = make_head(c);
    if (rc == 0 && track_is_checked())
        survey_check(c->survey, c->p, was_changed);
    survey_reveal(c->survey, 0);
    return rc;
}

int paged_of_survey(struct paged *p, struct survey *s, const struct paged *base)
{
    struct capture c = {
        .survey = s, .p = p, .base = {base, 0, 0}, .scratch = malloc(ground.page_size)};
    *p = (struct paged){0};
    int rc = c.scratch ? paged_make_room(p, s->pages)
                       : mend_fail(MEND_ERR_NO_MEMORY, "no memory for a page");
    if (rc == 0)
        rc = look_and_add(&c);
    if (rc == 0)
        rc = paged_check(p);
    free(c.runs);
    free(c.scratch);
    pieces_free(&c.pieces);
    if (rc)
        paged_free(p);
    else
        p->serial = track_new_serial();
    track_memory_is(rc || !s->tracked ? 0 : p->serial);
    return rc;
}

int paged_capture(struct paged *p, struct upper *upper, const struct paged *base)
{
    struct survey s;
    *p = (struct paged){0};
    int rc = survey_take(&s, upper, 1);
    if (rc == 0)
        rc = paged_of_survey(p, &s, base);
    else
        track_memory_is(0);
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
