/* compare.c - which pages of the upper half are as an image has them.
 *
 * Pages that were not written since that image need no look (images/track.c). The program waits for the
 * others, so several threads compare them if there are cores: those of the machine, divided among the ranks,
 * which all do the same at this moment.
 */
#include "images/image.h"
#include "images/paged.h"
#include "images/pool.h"

#include <base/fail.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void add_piece(struct pieces *p, const struct stretch *t, uint64_t from, uint64_t to)
{
    p->list[p->count++] = (struct piece){from, to, p->pages, t->shift};
    p->pages += (to - from) / ground.page_size;
}

/* What was written in one stretch. *next: in, the first range that may be in it; out, the same for the next
 * stretch. */
static void add_written_of(struct pieces *p, const struct survey *s, const struct stretch *t,
                           size_t *next)
{
    while (*next < s->written_count && s->written[*next].end <= t->from)
        (*next)++;
    for (size_t i = *next; i < s->written_count && s->written[i].start < t->to; i++) {
        uint64_t from = s->written[i].start > t->from ? s->written[i].start : t->from;
        uint64_t to = s->written[i].end < t->to ? s->written[i].end : t->to;
        add_piece(p, t, from, to);
    }
}

int pieces_make(struct pieces *p, const struct survey *s, int all)
{
    size_t most = s->count + (all ? 0 : s->written_count), next = 0;
    *p = (struct pieces){.list = malloc(most * sizeof *p->list + 1)};
    if (!p->list)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory to list what was written");
    for (size_t i = 0; i < s->count; i++) {
        if (all)
            add_piece(p, &s->stretches[i], s->stretches[i].from, s->stretches[i].to);
        else
            add_written_of(p, s, &s->stretches[i], &next);
    }
    p->same = calloc(p->pages + 1, 1);
    return p->same ? 0 : mend_fail(MEND_ERR_NO_MEMORY, "no memory to list what was written");
}

void pieces_free(struct pieces *p)
{
    free(p->list);
    free(p->same);
    *p = (struct pieces){0};
}

struct part { /* of the pages, by their numbers */
    const struct pieces *pieces;
    const struct paged *base;
    uint64_t from, to;
    pthread_t thread;
    int begun;
};

static void *compare(void *context)
{
    struct part *part = context;
    struct paged_cursor base = {part->base, 0, 0};
    const size_t size = ground.page_size;
    for (size_t i = 0; i < part->pieces->count; i++) {
        const struct piece *p = &part->pieces->list[i];
        uint64_t pages = (p->to - p->from) / size;
        uint64_t skip = part->from > p->number ? part->from - p->number : 0;
        for (uint64_t k = skip; k < pages && p->number + k < part->to; k++) {
            uint64_t at = p->from + k * size;
            int64_t there = paged_find(&base, at);
            part->pieces->same[p->number + k] =
                there >= 0 && !memcmp((const void *)(at + (uint64_t)p->shift),
                                      pool_page(part->base->slot[there]), size);
        }
    }
    return NULL;
}

void pieces_compare(const struct pieces *p, const struct paged *base, uint64_t ranks)
{
    struct part part[MOST_THREADS] = {{0}};
    int n = threads_for(p->pages * ground.page_size, ranks);
    sigset_t every, old;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &old); /* handlers must not run in these threads */
    for (int i = n - 1; i >= 0; i--) {
        part[i] = (struct part){.pieces = p,
                                .base = base,
                                .from = p->pages * (uint64_t)i / (uint64_t)n,
                                .to = p->pages * (uint64_t)(i + 1) / (uint64_t)n};
        part[i].begun = i && !pthread_create(&part[i].thread, NULL, compare, &part[i]);
        if (!part[i].begun) /* this thread's part, or no thread available */
            compare(&part[i]);
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    for (int i = 0; i < n; i++)
        if (part[i].begun)
            pthread_join(part[i].thread, NULL);
}

void survey_check(const struct survey *s, const struct paged *p, void (*wrong)(uint64_t address))
{
    struct paged_cursor c = {p, 0, 0};
    for (size_t i = 0; i < s->count; i++) {
        const struct stretch *t = &s->stretches[i];
        for (uint64_t at = t->from; at < t->to; at += ground.page_size) {
            const void *bytes = (const void *)(at + (uint64_t)t->shift);
            int64_t there = paged_find(&c, at);
            int same = there < 0 ? page_is_zero(bytes)
                                 : !memcmp(bytes, pool_page(p->slot[there]), ground.page_size);
            if (!same && !survey_is_moving(s, (uint64_t)bytes, ground.page_size))
                wrong(at);
        }
    }
}
