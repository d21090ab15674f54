/* capture.c - takes an image of the upper half in memory; it shares unchanged pages with the previous image.
 *
 *   1. List the pages that were touched, and those that were written since the last image (images/survey.c).
 *   2. A page that was not written is as the base has it: the new image shares it; if the base has none, it is
 *      zero. Compare every other page with the page that the base has at this address (images/compare.c). If they
 *      are equal, share it; if not, copy it to a slot of its own, with its checksum. Leave out zero pages.
 *   3. Make the tables.
 * The base never changes, whatever happens: nobody writes to a slot that is held. Skipping unwritten pages in step 2
 * is right only if the base is the image that memory was like when the kernel began to record writes
 * (images/track.h): otherwise we compare every page.
 */
#include "images/paged.h"
#include "images/image.h"
#include "images/pool.h"
#include "images/track.h"

#include <base/fail.h>
#include <base/fault.h>
#include <base/sum.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 64 }; /* pages: still in the cache when they are copied after their sums */
struct capture {
    struct survey *survey;
    struct paged *p;
    struct paged_cursor base;
    struct run *runs;
    uint64_t run_count, run_room;
    uint32_t got[AT_ONCE]; /* slots for new pages */
    size_t used, filled;   /* of these: given to pages; with their content */
    const void *new[AT_ONCE];
    char *scratch; /* a page */
    struct pieces pieces;
    size_t piece; /* the next one */
};

/* Copies the new pages that wait for it. */
static int flush(struct capture *c)
{
    int rc = 0;
    for (size_t n; c->filled < c->used && rc == 0; c->filled += n) {
        n = pool_in_order(c->got + c->filled, c->used - c->filled);
        rc = pool_write(c->got[c->filled], c->new + c->filled, n);
    }
    return rc;
}

static int get_slots(struct capture *c)
{
    int rc = flush(c);
    if (rc == 0)
        rc = pool_get(c->got, AT_ONCE);
    if (rc == 0)
        c->used = c->filled = 0;
    return rc;
}

static int add_run(struct capture *c, uint64_t from, uint64_t to, int continues)
{
    if (continues && c->run_count && c->runs[c->run_count - 1].to == from) {
        c->runs[c->run_count - 1].to = to;
        return 0;
    }
    if (c->run_count == c->run_room) {
        uint64_t room = 2 * c->run_room + 256;
        struct run *more = realloc(c->runs, room * sizeof *more);
        if (!more)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the table of pages");
        c->runs = more;
        c->run_room = room;
    }
    c->runs[c->run_count++] = (struct run){from, to, 0};
    return 0;
}

/* A page that may change meanwhile is copied at once. */
static int add_new(struct capture *c, const char *bytes)
{
    struct paged *p = c->p;
    int moving = survey_is_moving(c->survey, (uint64_t)bytes, ground.page_size);
    int rc = c->used == AT_ONCE ? get_slots(c) : 0;
    if (rc)
        return rc;
    if (moving)
        bytes = memcpy(c->scratch, bytes, ground.page_size);
    p->slot[p->pages] = c->got[c->used];
    p->sum[p->pages++] = mend_sum(bytes, ground.page_size, 0);
    c->new[c->used++] = bytes;
    return moving || c->used == AT_ONCE ? flush(c) : 0;
}

static void add_shared(struct capture *c, uint64_t in_base, uint64_t count)
{
    uint64_t page = c->p->pages;
    memcpy(c->p->slot + page, c->base.p->slot + in_base, count * sizeof *c->p->slot);
    memcpy(c->p->sum + page, c->base.p->sum + in_base, count * sizeof *c->p->sum);
    pool_share(c->p->slot + page, count);
    c->p->pages = page + count;
}

static int add_changed(struct capture *c, const struct stretch *t, uint64_t at)
{
    const char *bytes = (const char *)(at + (uint64_t)t->shift);
    int of_file = c->survey->mappings[t->mapping].file != 0; /* no run: the file's bytes */
    if (!of_file && page_is_zero(bytes))
        return 0;
    int rc = add_new(c, bytes);
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
        if (in_base < 0)
            continue;
        add_shared(c, (uint64_t)in_base, (end - from) / ground.page_size);
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
    struct capture c = {.survey = s,
                        .p = p,
                        .base = {base, 0, 0},
                        .used = AT_ONCE,
                        .filled = AT_ONCE,
                        .scratch = malloc(ground.page_size)};
    *p = (struct paged){0};
    int rc = c.scratch ? paged_make_room(p, s->pages)
                       : mend_fail(MEND_ERR_NO_MEMORY, "no memory for a page");
    if (rc == 0)
        rc = look_and_add(&c);
    if (rc == 0)
        rc = paged_check(p);
    pool_drop(c.got + c.used, AT_ONCE - c.used);
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
