/* online/delta.c - sends an image to another process, except for what that process already has.
 *
 *   1. Every process tells the one it receives from which version of that rank it has. (None, unless both sides have an
 *      older version of the same rank: a spare gets the whole image.)
 *   2. The sender finds the pages that are not those of that version: it shares all others with it (images/pool.h),
 *      so it compares nothing. It sends the new tables, packed as a difference, and where the new pages belong.
 *   3. The new pages follow. The receiver's image shares all others with the one that it had.
 *      (If both are on one machine, the receiver reads them where they are, when nobody waits for it: online/lend.c.)
 * Until everything has arrived the receiver has the old version, unchanged, and nothing of the new one. A wrong copy is
 * found when it is loaded: every page has a checksum, and so have the tables.
 */
#include "online/online.h"
#include "images/pool.h"

#include <base/fault.h>
#include <mend/error.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 4 << 20, TAG = 5, SMALLEST_PAGE = 4096 };

struct side { /* one side of the transfer: what goes out, or comes in */
    struct held_image *image, *base;
    int peer, near;
    struct paged_delta delta;
    size_t notes_bytes;
    char *stage;              /* a piece of pages that are not consecutive */
    uint64_t range, in_range; /* the position of the next pages to move */
};

/* Keep the memory for staging: touching new memory costs more than everything else. */
static char *staging(int which)
{
    static char *memory[2];
    if (!memory[which] && !(memory[which] = malloc(PIECE)))
        die("no memory for %d bytes of changes", PIECE);
    return memory[which];
}

static void prepare_out(struct side *s)
{
    if (paged_delta_make(&s->delta, &s->image->pages, s->base ? &s->base->pages : NULL))
        die("%s", mend_error_text());
    s->notes_bytes = paged_notes_bytes(&s->delta.offer);
}

static void prepare_in(struct side *s)
{
    s->notes_bytes = paged_notes_bytes(&s->delta.offer);
    if (!(s->delta.notes = malloc(s->notes_bytes + 1)))
        die("no memory for %zu bytes of changes", s->notes_bytes);
}

static void begin_image(struct side *s)
{
    if (paged_delta_begin(&s->delta, &s->image->pages, s->base ? &s->base->pages : NULL))
        die("%s", mend_error_text());
}

/* The next pages of the delta, as many as fit a piece; *staged: they are not consecutive. */
static char *next_piece(struct side *s, uint32_t *slots, size_t *count, int *staged)
{
    const struct paged *p = &s->image->pages;
    size_t n = 0;
    while (n < PIECE / ground.page_size && s->range < s->delta.offer.ranges) {
        const struct page_range *r = &s->delta.ranges[s->range];
        slots[n++] = p->slot[r->first + s->in_range++];
        if (s->in_range == r->count) {
            s->range++;
            s->in_range = 0;
        }
    }
    *count = n;
    *staged = n && pool_in_order(slots, n) < n;
    return *staged || !n ? s->stage : pool_page(slots[0]);
}

static int move_pages(struct side *out, struct side *in, MPI_Comm comm)
{
    static uint32_t slots[2][PIECE / SMALLEST_PAGE];
    size_t n[2];
    int staged[2], moved = 0;
    do {
        char *from = next_piece(out, slots[0], &n[0], &staged[0]);
        char *to = next_piece(in, slots[1], &n[1], &staged[1]);
        for (size_t i = 0; staged[0] && i < n[0]; i++)
            memcpy(from + i * ground.page_size, pool_page(slots[0][i]), ground.page_size);
        if (MPI_Sendrecv(from, (int)(n[0] * ground.page_size), MPI_BYTE,
                         n[0] ? out->peer : MPI_PROC_NULL, TAG, to, (int)(n[1] * ground.page_size),
                         MPI_BYTE, n[1] ? in->peer : MPI_PROC_NULL, TAG, comm, MPI_STATUS_IGNORE))
            return 0;
        if (out->range + in->range && !moved++)
            MEND_FAULT_POINT(recover_save_moved);
        for (size_t i = 0; staged[1] && i < n[1]; i++)
            memcpy(pool_page(slots[1][i]), to + i * ground.page_size, ground.page_size);
    } while (n[0] || n[1]);
    return 1;
}

/* Step 1. `base` stays if it is what the other side has. */
static int agree_on_base(struct side *out, const struct side *in, MPI_Comm comm)
{
    mend_version_t have = in->base ? in->base->version : 0, they_have = 0;
    if (MPI_Sendrecv(&have, 1, MPI_INT64_T, in->peer, TAG, &they_have, 1, MPI_INT64_T, out->peer,
                     TAG, comm, MPI_STATUS_IGNORE))
        return 0;
    if (out->base && out->base->version != they_have)
        out->base = NULL;
    int32_t uses = out->base != NULL, they_use = 0;
    if (MPI_Sendrecv(&uses, 1, MPI_INT32_T, out->peer, TAG, &they_use, 1, MPI_INT32_T, in->peer,
                     TAG, comm, MPI_STATUS_IGNORE))
        return 0;
    return 1 + (they_use == 0);
}

static int move_notes(struct side *out, struct side *in, MPI_Comm comm)
{
    for (size_t at = 0; at < out->notes_bytes || at < in->notes_bytes; at += PIECE) {
        size_t s = at >= out->notes_bytes ? 0 : out->notes_bytes - at;
        size_t r = at >= in->notes_bytes ? 0 : in->notes_bytes - at;
        s = s < PIECE ? s : PIECE;
        r = r < PIECE ? r : PIECE;
        if (MPI_Sendrecv(out->delta.notes + at, (int)s, MPI_BYTE, s ? out->peer : MPI_PROC_NULL,
                         TAG, in->delta.notes + at, (int)r, MPI_BYTE, r ? in->peer : MPI_PROC_NULL,
                         TAG, comm, MPI_STATUS_IGNORE))
            return 0;
    }
    return 1;
}

/* Pages that can be lent are not sent. */
static int lend(struct side *out, struct side *in, MPI_Comm comm)
{
    struct lend_side o = {out->image, &out->delta, out->near ? out->peer : MPI_PROC_NULL, 0};
    struct lend_side i = {in->image, &in->delta, in->near ? in->peer : MPI_PROC_NULL, 0};
    if (!lend_exchange(&o, &i, comm))
        return 0;
    out->range = o.done ? out->delta.offer.ranges : 0;
    in->range = i.done ? in->delta.offer.ranges : 0;
    return 1;
}

static int transfer(struct side *out, struct side *in, MPI_Comm comm)
{
    int agreed = agree_on_base(out, in, comm);
    if (!agreed)
        return 0;
    if (agreed == 2)
        in->base = NULL;
    if (out->image)
        prepare_out(out);
    if (MPI_Sendrecv(&out->delta.offer, sizeof out->delta.offer, MPI_BYTE, out->peer, TAG,
                     &in->delta.offer, sizeof in->delta.offer, MPI_BYTE, in->peer, TAG, comm,
                     MPI_STATUS_IGNORE))
        return 0;
    if (in->image)
        prepare_in(in);
    if (!move_notes(out, in, comm))
        return 0;
    if (in->image)
        begin_image(in);
    MEND_FAULT_POINT(recover_save_told);
    return lend(out, in, comm) && move_pages(out, in, comm);
}

/* held_new() frees what is left of a copy that did not complete. */
static int copy(struct side *out, struct side *in, MPI_Comm comm)
{
    out->stage = staging(0);
    in->stage = staging(1);
    int ok = transfer(out, in, comm);
    if (in->image && ok)
        in->image->size = paged_bytes(&in->image->pages);
    paged_delta_free(&out->delta);
    paged_delta_free(&in->delta);
    return ok;
}

int held_copy(const struct held_side *given, const struct held_side *taken, MPI_Comm comm,
              size_t *sent, size_t *changed)
{
    struct side out = {
        .image = given->image, .base = given->base, .peer = given->peer, .near = given->near};
    struct side in = {
        .image = taken->image, .base = taken->base, .peer = taken->peer, .near = taken->near};
    int ok = copy(&out, &in, comm);
    *changed = out.delta.offer.new_pages * ground.page_size;
    *sent = out.notes_bytes + *changed;
    return ok;
}

int held_move(struct held_image *given, int to, struct held_image *taken, int from, int near,
              MPI_Comm comm)
{
    struct side out = {.image = given, .peer = given ? to : MPI_PROC_NULL, .near = near};
    struct side in = {.image = taken, .peer = taken ? from : MPI_PROC_NULL, .near = near};
    return copy(&out, &in, comm);
}
