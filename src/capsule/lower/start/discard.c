/* discard.c - frees the pages of an upper half that was rolled back, later.
 *
 * Freeing memory takes about as long as copying it: a rank that has filled 1 GB since the version it goes
 * back to would spend 100 ms on nothing else. Moving pages to another address costs next to nothing
 * (whole page tables are moved), so
 *   1. discard() moves them out of the way; their old place reads as zero;
 *   2. when the program continues, discard_free() frees them, in a thread of its own;
 *   3. a repair that comes before that is done waits for it, so they never add up.
 * Until then they are memory in use. LIMIT bounds that; the rest is freed at once.
 */
#include "start/start.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

enum {
    MOST = 64,
    TABLE = 2 << 20, /* the span of one page table, with pages of 4 KiB */
    SLICE = 4 << 20, /* freed in one step: meanwhile no mmap() of the application can begin */
};
static const size_t LIMIT = 1ul << 30;

static struct {
    struct {
        char *at;
        size_t length;
    } moved[MOST];
    int count;
    size_t total;
    pthread_t thread; /* frees them, while `running` */
    int running;
} later;

/* Whole tables are moved only between addresses with the same offset in them. */
static int move_away(uintptr_t from, size_t length)
{
    size_t room = length + TABLE;
    if (length < TABLE || later.count == MOST || later.total + length > LIMIT)
        return 0;
    char *place = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED)
        return 0;
    uintptr_t to = (uintptr_t)place + (from - (uintptr_t)place) % TABLE;
    if (mremap((void *)from, length, length, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
               (void *)to) == MAP_FAILED) {
        munmap(place, room);
        return 0;
    }
    later.moved[later.count].at = place;
    later.moved[later.count++].length = room;
    later.total += length;
    return 1;
}

int discard(uintptr_t from, size_t length)
{
    return move_away(from, length) || madvise((void *)from, length, MADV_DONTNEED) == 0;
}

static void *free_all(void *none)
{
    (void)none;
    struct timespec others = {0, 50000000}; /* ranks of this node may still be on their way */
    nanosleep(&others, NULL);
    for (int i = 0; i < later.count; i++)
        for (size_t at = 0; at < later.moved[i].length; at += SLICE)
            munmap(later.moved[i].at + at,
                   later.moved[i].length - at < SLICE ? later.moved[i].length - at : SLICE);
    later.count = 0;
    later.total = 0;
    return NULL;
}

void discard_wait(void)
{
    if (later.running)
        pthread_join(later.thread, NULL);
    later.running = 0;
}

void discard_free(void)
{
    discard_wait();
    if (!later.count)
        return;
    sigset_t all, before; /* the application's handlers must not run in this thread */
    sigfillset(&all);
    sigdelset(&all, SIGNAL_LEAVE);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    later.running = pthread_create(&later.thread, NULL, free_all, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!later.running)
        free_all(NULL);
}
