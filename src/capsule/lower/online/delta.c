/* online/delta.c - a rank's new image goes to its partner as far as it differs from the last one.
 *
 * Both have the last version that partners have: the rank its own image of it, the partner the copy.
 *   1. Everybody tells the rank whose partner it is which version of that rank it has.
 *   2. The rank compares its two images block by block. If the partner's base is the right one and at
 *      most half of the blocks differ, it sends their numbers and their bytes, else all.
 *   3. The partner makes the new copy from the old one and what came.
 * A copy that were wrong is found when it is loaded: every block of an image has a sum.
 */
#include "online/online.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64 << 10, PIECE = 16 << 20, TAG = 5 };

struct offer {
    uint64_t size, changed; /* bytes of the image, blocks sent */
    int32_t whole, zero;
};

static size_t length_of(size_t size, size_t block)
{
    return size - block * BLOCK < BLOCK ? size - block * BLOCK : BLOCK;
}

/* Memory that is kept from version to version: touching new pages would cost more than all else. */
static char *staging(int which, size_t size)
{
    static char *memory[4];
    static size_t room[4];
    if (size > room[which]) {
        free(memory[which]);
        room[which] = size + size / 8;
        if (!(memory[which] = malloc(room[which])))
            die("no memory for %zu bytes of changes", size);
    }
    return memory[which];
}

/* Block numbers and their bytes into the staging memory; too many: 0. */
static uint64_t find_changes(const char *new, size_t size, const char *old, size_t old_size,
                             uint32_t **numbers)
{
    size_t blocks = (size + BLOCK - 1) / BLOCK, n = 0;
    *numbers = (uint32_t *)(void *)staging(0, (blocks + 1) * sizeof **numbers);
    for (size_t b = 0; b < blocks; b++) {
        size_t length = length_of(size, b);
        if (b * BLOCK + length <= old_size && !memcmp(new + b *BLOCK, old + b * BLOCK, length))
            continue;
        if (n >= blocks / 2)
            return 0;
        memcpy(staging(1, (blocks / 2 + 1) * BLOCK) + n * BLOCK, new + b *BLOCK, length);
        (*numbers)[n++] = (uint32_t)b;
    }
    if (n == 0) { /* 0 stands for all: send one block that is as it was */
        memcpy(staging(1, BLOCK), new, length_of(size, 0));
        (*numbers)[n++] = 0;
    }
    return n;
}

static int both_ways(const char *out, size_t out_bytes, int to, char *in, size_t in_bytes, int from,
                     MPI_Comm comm)
{
    for (size_t at = 0; at < out_bytes || at < in_bytes; at += PIECE) {
        size_t s = at >= out_bytes ? 0 : out_bytes - at < PIECE ? out_bytes - at : PIECE;
        size_t r = at >= in_bytes ? 0 : in_bytes - at < PIECE ? in_bytes - at : PIECE;
        if (MPI_Sendrecv(out + at, (int)s, MPI_BYTE, s ? to : MPI_PROC_NULL, TAG, in + at, (int)r,
                         MPI_BYTE, r ? from : MPI_PROC_NULL, TAG, comm, MPI_STATUS_IGNORE))
            return 0;
    }
    return 1;
}

static void apply(char *to, struct held_image *base, const struct offer *offer,
                  const uint32_t *numbers, const char *bytes)
{
    size_t blocks = (offer->size + BLOCK - 1) / BLOCK, next = 0;
    const char *old = held_bytes(base, base->size);
    for (size_t b = 0; b < blocks; b++) {
        size_t length = length_of(offer->size, b);
        if (next < offer->changed && numbers[next] == b)
            memcpy(to + b * BLOCK, bytes + next++ * BLOCK, length);
        else if (b * BLOCK + length <= base->size)
            memcpy(to + b * BLOCK, old + b * BLOCK, length);
    }
    if (next != offer->changed)
        die("changes of an image are out of order");
}

int held_copy(struct held_image *own, struct held_image *own_base, int to, struct held_image *copy,
              struct held_image *copy_base, int from, MPI_Comm comm, size_t *sent)
{
    int have = copy_base ? copy_base->version : 0, partner_has = 0;
    struct offer mine = {.size = own->size, .whole = 1}, theirs;
    uint32_t *numbers = NULL;
    if (MPI_Sendrecv(&have, 1, MPI_INT, from, TAG, &partner_has, 1, MPI_INT, to, TAG, comm,
                     MPI_STATUS_IGNORE))
        return 0;
    char *new = held_bytes(own, own->size);
    if (own_base && partner_has == own_base->version) {
        mine.changed = find_changes(new, own->size, held_bytes(own_base, own_base->size),
                                    own_base->size, &numbers);
        mine.whole = mine.changed == 0;
    }
    int ok = MPI_Sendrecv(&mine, sizeof mine, MPI_BYTE, to, TAG, &theirs, sizeof theirs, MPI_BYTE,
                          from, TAG, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    if (ok) {
        if (held_room(copy->fd, theirs.size))
            die("cannot keep an image of %llu bytes in memory: %s", (unsigned long long)theirs.size,
                strerror(errno));
        char *in = held_bytes(copy, theirs.size);
        size_t in_numbers = theirs.whole ? 0 : theirs.changed * sizeof(uint32_t);
        size_t in_bytes = theirs.whole ? theirs.size : theirs.changed * BLOCK;
        uint32_t *their_numbers = (uint32_t *)(void *)staging(2, in_numbers + 1);
        char *bytes = theirs.whole ? in : staging(3, in_bytes + 1);
        *sent = mine.whole ? own->size : mine.changed * BLOCK;
        ok = both_ways((char *)numbers, mine.whole ? 0 : mine.changed * sizeof *numbers, to,
                       (char *)their_numbers, in_numbers, from, comm) &&
             both_ways(mine.whole ? new : staging(1, 1), *sent, to, bytes, in_bytes, from, comm);
        if (ok && !theirs.whole)
            apply(in, copy_base, &theirs, their_numbers, bytes);
    }
    copy->size = ok ? theirs.size : 0;
    return ok;
}
