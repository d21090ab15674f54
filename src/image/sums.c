/* Checksums of blocks, by a second thread.
 *
 * A sum takes a fraction of the time that writing the block takes, so the second thread is mostly ahead and naps. The
 * first one never waits for it: at the end it takes blocks that nobody has begun, too.
 */
#include "sums.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

struct block {
    struct disk_entry *entry;
    const void *bytes;
};
struct sums {
    uint64_t save_id;
    struct disk_entry *index;
    struct block *blocks;
    uint64_t added, taken; /* of `blocks`: filled in; begun */
    int complete;          /* nothing will be added */
    pthread_t thread;
};

/* Returns 0 if there is none to take now. */
static int sum_one(struct sums *s)
{
    uint64_t i = __atomic_load_n(&s->taken, __ATOMIC_RELAXED);
    do
        if (i == __atomic_load_n(&s->added, __ATOMIC_ACQUIRE))
            return 0;
    while (
        !__atomic_compare_exchange_n(&s->taken, &i, i + 1, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    struct disk_entry *e = s->blocks[i].entry;
    e->sum = mend_image_sum(s->save_id, e->block, s->blocks[i].bytes, e->stored);
    return 1;
}

static void *sum_all(void *context)
{
    static const struct timespec nap = {0, 50000};
    struct sums *s = context;
    while (sum_one(s) || !__atomic_load_n(&s->complete, __ATOMIC_ACQUIRE))
        if (__atomic_load_n(&s->taken, __ATOMIC_RELAXED) ==
            __atomic_load_n(&s->added, __ATOMIC_RELAXED))
            nanosleep(&nap, NULL);
    return NULL;
}

struct sums *sums_begin(uint64_t save_id, struct disk_entry *index, uint64_t most)
{
    struct sums *s = calloc(1, sizeof *s);
    struct block *blocks = malloc(most * sizeof *blocks + 1);
    int rc = -1;
    if (s && blocks) {
        sigset_t all, before; /* the program's handlers must not run in that thread */
        *s = (struct sums){.save_id = save_id, .index = index, .blocks = blocks};
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        rc = pthread_create(&s->thread, NULL, sum_all, s);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    if (rc == 0)
        return s;
    free(blocks);
    free(s);
    return NULL;
}

void sums_add(struct sums *s, uint64_t entry, const void *bytes)
{
    s->blocks[s->added] = (struct block){&s->index[entry], bytes};
    __atomic_store_n(&s->added, s->added + 1, __ATOMIC_RELEASE);
}

void sums_end(struct sums *s)
{
    if (!s)
        return;
    __atomic_store_n(&s->complete, 1, __ATOMIC_RELEASE);
    while (sum_one(s))
        ;
    pthread_join(s->thread, NULL);
    free(s->blocks);
    free(s);
}
