/* online/delta.c - a rank's new image goes to its partner as far as it differs from the last one.
 *
 * Both have the last version that partners have: the rank its own image of it, the partner the copy.
 *   1. Everybody tells the rank whose partner it is which version of that rank it has.
 *   2. The rank compares its two images page by page (images/changes.c). If the partner's base is the right one
 *      and at most half of it is new, it sends the list of pieces and the bytes that are new, else all.
 *   3. The partner makes the new copy from the old one and what came.
 * A copy that were wrong is found when it is loaded: every block of an image has a sum.
 */
#include "online/online.h"
#include "images/changes.h"

#include <errno.h>
#include <mend/error.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 16 << 20, TAG = 5 };

struct offer {
    uint64_t size;           /* bytes of the image */
    uint64_t changes, bytes; /* that are sent */
    int32_t whole, zero;
};

/* Memory that is kept from version to version: touching new pages would cost more than all else. */
static char *staging(int which, size_t size)
{
    static char *memory[3];
    static size_t room[3];
    if (size > room[which]) {
        free(memory[which]);
        room[which] = size + size / 8;
        if (!(memory[which] = malloc(room[which])))
            die("no memory for %zu bytes of changes", size);
    }
    return memory[which];
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

int held_copy(struct held_image *own, struct held_image *own_base, int to, struct held_image *copy,
              struct held_image *copy_base, int from, MPI_Comm comm, size_t *sent)
{
    static struct changes mine;
    mend_version_t have = copy_base ? copy_base->version : 0, partner_has = 0;
    struct offer out = {.size = own->size, .bytes = own->size, .whole = 1}, in;
    if (MPI_Sendrecv(&have, 1, MPI_INT64_T, from, TAG, &partner_has, 1, MPI_INT64_T, to, TAG, comm,
                     MPI_STATUS_IGNORE))
        return 0;
    const char *bytes = held_bytes(own, own->size);
    if (own_base && partner_has == own_base->version &&
        !changes_find(&mine, bytes, own->size, held_bytes(own_base, own_base->size),
                      own_base->size)) {
        out = (struct offer){.size = own->size, .changes = mine.count, .bytes = mine.told};
        char *told = staging(0, mine.told + 1);
        changes_collect(&mine, bytes, told);
        bytes = told;
    }
    *sent = out.changes * sizeof(struct change) + out.bytes;
    if (MPI_Sendrecv(&out, sizeof out, MPI_BYTE, to, TAG, &in, sizeof in, MPI_BYTE, from, TAG, comm,
                     MPI_STATUS_IGNORE))
        return 0;
    if (in.bytes > in.size)
        die("an image of %llu bytes was offered as %llu", (unsigned long long)in.size,
            (unsigned long long)in.bytes);
    if (held_room(copy->fd, in.size))
        die("cannot keep an image of %llu bytes in memory: %s", (unsigned long long)in.size,
            strerror(errno));
    size_t listed = in.changes * sizeof(struct change);
    struct changes theirs = {(void *)staging(1, listed + 1), in.changes, 0, in.bytes};
    char *image = held_bytes(copy, in.size), *told = in.whole ? image : staging(2, in.bytes + 1);
    int ok = both_ways((char *)mine.list, out.changes * sizeof(struct change), to,
                       (char *)theirs.list, listed, from, comm) &&
             both_ways(bytes, out.bytes, to, told, in.bytes, from, comm);
    if (ok && !in.whole &&
        changes_apply(&theirs, told, held_bytes(copy_base, copy_base->size), copy_base->size, image,
                      in.size))
        die("%s", mend_error_text());
    copy->size = ok ? in.size : 0;
    return ok;
}
