/* compare.c - which pages of the upper half are as an image has them.
 *
 * The program waits for this, so several threads do it where there are cores for them: those of the machine, divided among
 * the ranks, which all do the same at this moment.
 */
#include "images/image.h"
#include "images/paged.h"
#include "images/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

enum { MOST = 8 };
static const uint64_t least = 4 << 20; /* bytes for a thread: it has its price */

struct part { /* pages of a survey, by their numbers */
    const struct survey *survey;
    const struct paged *base;
    uint8_t *same;
    uint64_t from, to;
    pthread_t thread;
    int begun;
};

static void *compare(void *context)
{
    struct part *part = context;
    struct paged_cursor base = {part->base, 0, 0};
    uint64_t number = 0;
    for (size_t i = 0; i < part->survey->count && number < part->to; i++) {
        const struct stretch *t = &part->survey->stretches[i];
        uint64_t pages = (t->to - t->from) / ground.page_size;
        uint64_t skip = part->from > number ? part->from - number : 0;
        for (uint64_t k = skip; k < pages && number + k < part->to; k++) {
            uint64_t at = t->from + k * ground.page_size;
            int64_t there = paged_find(&base, at);
            part->same[number + k] =
                there >= 0 && !memcmp((const void *)(at + (uint64_t)t->shift),
                                      pool_page(part->base->slot[there]), ground.page_size);
        }
        number += pages;
    }
    return NULL;
}

int threads_for(uint64_t bytes, uint64_t ranks)
{
    cpu_set_t cores;
    uint64_t n = sched_getaffinity(0, sizeof cores, &cores) ? 1 : (uint64_t)CPU_COUNT(&cores);
    n /= ranks ? ranks : 1;
    n = n < bytes / least ? n : bytes / least;
    return n < 1 ? 1 : n > MOST ? MOST : (int)n;
}

void paged_compare(const struct survey *s, const struct paged *base, uint8_t *same)
{
    struct part part[MOST] = {{0}};
    int n = threads_for(s->pages * ground.page_size, s->meta.size);
    sigset_t every, old;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &old); /* handlers are not for these threads */
    for (int i = n - 1; i >= 0; i--) {
        part[i] = (struct part){.survey = s,
                                .base = base,
                                .same = same,
                                .from = s->pages * (uint64_t)i / (uint64_t)n,
                                .to = s->pages * (uint64_t)(i + 1) / (uint64_t)n};
        part[i].begun = i && !pthread_create(&part[i].thread, NULL, compare, &part[i]);
        if (!part[i].begun) /* no thread is to be had: one after the other */
            compare(&part[i]);
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    for (int i = 0; i < n; i++)
        if (part[i].begun)
            pthread_join(part[i].thread, NULL);
}
