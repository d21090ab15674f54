/* look.c - what is in the pages of a survey, by as many threads as there are cores for: the first access to a page waits for
 * memory. */
#include "images/image.h"

#include <base/sum.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

enum { AHEAD = 16 }; /* pages */
int page_is_zero(const void *bytes)
{
    const uint64_t *page = bytes;
    if (page[0] | page[1]) /* most nonzero pages differ here already, and each access is a miss */
        return 0;
    for (size_t i = 0; i < ground.page_size / 8; i += 8)
        if (page[i] | page[i + 1] | page[i + 2] | page[i + 3] | page[i + 4] | page[i + 5] |
            page[i + 6] | page[i + 7])
            return 0;
    return 1;
}

struct part { /* of the pages, by their numbers */
    const struct selection *selection;
    uint64_t from, to;
    pthread_t thread;
    int begun;
};

static void *look(void *context)
{
    const struct part *part = context;
    const struct selection *p = part->selection;
    uint64_t number = 0; /* of the first page of a stretch */
    for (size_t i = 0; i < p->survey->count && number < part->to; i++) {
        const struct stretch *t = &p->survey->stretches[i];
        const char *bytes = (const char *)(t->from + (uint64_t)t->shift);
        uint64_t pages = (t->to - t->from) / ground.page_size;
        uint64_t end = part->to - number < pages ? part->to - number : pages;
        int of_file = p->survey->mappings[t->mapping].file != 0; /* no run: the file's bytes */
        for (uint64_t k = part->from > number ? part->from - number : 0; k < end; k++) {
            const char *page = bytes + k * ground.page_size;
            __builtin_prefetch(page + AHEAD * ground.page_size); /* never faults */
            int zero = !of_file && page_is_zero(page);
            p->zero[number + k] = (uint8_t)zero;
            if (p->sums && !zero)
                p->sums[number + k] = mend_sum(page, ground.page_size, 0);
        }
        number += pages;
    }
    return NULL;
}

void selection_look(const struct selection *p, int alone)
{
    struct part part[MOST_THREADS] = {{0}};
    uint64_t pages = p->survey->pages;
    int n = alone ? 1 : threads_for(pages * ground.page_size, p->survey->meta.size);
    sigset_t every, old;
    sigfillset(&every);
    if (n > 1)
        pthread_sigmask(SIG_SETMASK, &every, &old); /* handlers must not run in these threads */
    for (int i = n - 1; i >= 0; i--) {
        part[i] = (struct part){.selection = p,
                                .from = pages * (uint64_t)i / (uint64_t)n,
                                .to = pages * (uint64_t)(i + 1) / (uint64_t)n};
        part[i].begun = i && !pthread_create(&part[i].thread, NULL, look, &part[i]);
        if (!part[i].begun) /* this thread's part, or no thread available */
            look(&part[i]);
    }
    if (n > 1)
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    for (int i = 0; i < n; i++)
        if (part[i].begun)
            pthread_join(part[i].thread, NULL);
}
