/* discard.c - pages of an upper half that was rolled back are given back later.
 *
 * Freeing memory takes about as long as copying it: a rank that has filled 1 GB since the version it goes
 * back to would spend 100 ms on nothing else. Moving pages to another address costs next to nothing
 * (whole page tables are moved), so
 *   1. discard() moves them to where nobody looks; what was there reads as zero;
 *   2. when the program goes on, discard_free() gives them back, in a thread of its own;
 *   3. a repair that comes before that is done waits for it, so they never add up.
 * Until then they are memory in use: LIMIT says how much at most; the rest is freed at once.
 */
#include "start/discard.h"
#include "ground/ground.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

enum {
    MOST = 64,
    TABLE = 2 << 20, /* what one page table spans, where pages are of 4 KiB */
    SLICE = 4 << 20, /* given back at once: meanwhile no mmap() of the application can begin */
};
static const size_t LIMIT = 1ul << 30;

static struct {
    char *at;
    size_t length;
} moved[MOST];
static int count;
static size_t total;

static pthread_t thread;
static int running;

/* Tables are moved whole only between addresses that lie alike in them. */
static int move_away(uintptr_t from, size_t length)
{
    size_t room = length + TABLE;
    if (length < TABLE || count == MOST || total + length > LIMIT)
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
    moved[count].at = place;
    moved[count++].length = room;
    total += length;
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
    for (int i = 0; i < count; i++)
        for (size_t at = 0; at < moved[i].length; at += SLICE)
            munmap(moved[i].at + at, moved[i].length - at < SLICE ? moved[i].length - at : SLICE);
    count = 0;
    total = 0;
    return NULL;
}

void discard_wait(void)
{
    if (running)
        pthread_join(thread, NULL);
    running = 0;
}

void discard_free(void)
{
    discard_wait();
    if (!count)
        return;
    sigset_t all, before; /* the application's handlers are not for this thread */
    sigfillset(&all);
    sigdelset(&all, SIGNAL_LEAVE);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    running = pthread_create(&thread, NULL, free_all, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!running)
        free_all(NULL);
}
