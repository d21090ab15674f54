/* ahead.c - pages for an upper half that is yet to come.
 *
 * The first touch of a page costs several times as much as copying its content. A spare has time before it is
 * needed, and knows how large an image is:
 *   1. it makes that many pages, part by part, so that the ranks next to it keep the core (ahead_more);
 *   2. when it takes over a rank, mremap() moves pages to where that rank has its memory: if both addresses have the
 *      same offset in their page tables, whole tables are moved (ahead_take);
 *   3. it frees the rest (ahead_free).
 */
#include "start/start.h"

#include <stdint.h>
#include <sys/mman.h>

enum {
    TABLE = 2 << 20, /* the span of one page table, with pages of 4 KiB */
    PART = 16 << 20,
};

static struct {
    char *at;
    size_t room,
        done; /* bytes from `at` on; `done` of them (at least `wanted` in the end) are pages */
    size_t wanted;
} pool;

void ahead_reserve(size_t bytes)
{
    pool.wanted = bytes;
}

int ahead_more(void)
{
    if (pool.wanted > pool.room) {
        ahead_free();
        size_t room = (pool.wanted + pool.wanted / 4 + TABLE) / TABLE * TABLE; /* images grow */
        void *at = mmap(NULL, room, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED)
            return pool.wanted = 0; /* works without it, only slower */
        pool.at = at;
        pool.room = room;
    }
    if (pool.done >= pool.wanted)
        return 0;
    size_t part = pool.room - pool.done < PART ? pool.room - pool.done : PART;
    if (madvise(pool.at + pool.done, part, MADV_POPULATE_WRITE)) {
        ahead_free();
        return pool.wanted = 0;
    }
    pool.done += part;
    return 1;
}

int ahead_take(void *to, size_t bytes)
{
    size_t skip = ((uintptr_t)to - (uintptr_t)pool.at) % TABLE;
    if (bytes < TABLE || !pool.at || skip + bytes > pool.done)
        return 0;
    char *from = pool.at + skip;
    if (mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED)
        return 0;
    if (skip)
        munmap(pool.at, skip);
    pool.at = from + bytes;
    pool.room -= skip + bytes;
    pool.done -= skip + bytes;
    return 1;
}

void ahead_free(void)
{
    if (pool.at)
        munmap(pool.at, pool.room);
    pool.at = NULL;
    pool.room = pool.done = 0;
}
