/* Rebuilds a lost member's file from the rest of its group, during a restore. */
#include <stdlib.h>
#include <string.h>

#include <code/erasure.h>

#include "restore/inventory.h"

enum { TAG_REBUILD = 51 };

/* What one rank holds of the group, opened. Each piece has one designated holder: the first in the inventory. */
struct piece {
    const struct item *data, *parity; /* NULL: nobody has it */
    bool data_good, parity_good;
};

struct mending {
    mend_store *store;
    const struct rebuild *what;
    const struct item *group;
    int g, m, k, x; /* x: the member to rebuild */
    struct piece piece[GROUP_MAX];
    mend_code *code;
};

static const struct item *data_item(const struct mending *r, int i)
{
    const struct inventory *inv = r->what->inventory;
    for (int kind = IN_OWN; kind <= IN_COPY; kind++)
        for (int n = 0; n < inv->count; n++) {
            const struct item *item = &inv->items[n];
            if (item->kind == kind && item->rank == r->group->member[i] &&
                item->version == r->what->attempt->version && item->id == r->what->attempt->id &&
                item->whole && item->bytes == r->group->member_bytes[i])
                return item;
        }
    return NULL;
}

static int item_path(const mend_store *store, const struct item *item, char path[PATH_ROOM])
{
    enum mend_file_kind kind = item->kind == IN_OWN    ? MEND_FILE_OWN
                               : item->kind == IN_COPY ? MEND_FILE_COPY
                                                       : MEND_FILE_PARITY;
    mend_file file = {kind, item->rank, item->version, item->id};
    return file_path(store->local, &file, path);
}

static bool item_good(const mend_store *store, const struct item *item)
{
    char path[PATH_ROOM];
    mend_image *image = NULL;
    if (item_path(store, item, path) || mend_image_open_file(path, &image))
        return false;
    bool good = mend_image_verify(image) == 0;
    mend_image_close(image);
    return good;
}

/* A damaged piece would spoil the result, so every holder verifies its pieces first. */
static int find_pieces(struct mending *r)
{
    int64_t good[2 * GROUP_MAX];
    for (int i = 0; i < r->g; i++) {
        struct piece *p = &r->piece[i];
        p->data = i == r->x ? NULL : data_item(r, i);
        p->parity = inventory_find(r->what->inventory, r->what->attempt, r->group->member[i],
                                   IN_PARITY, -1);
        good[2 * i] = good[2 * i + 1] = 1;
        if (p->data && p->data->holder == r->store->rank)
            good[2 * i] = item_good(r->store, p->data);
        if (p->parity && p->parity->holder == r->store->rank)
            good[2 * i + 1] = item_good(r->store, p->parity);
    }
    int rc = net_all_min(r->store->net, CALL, good, 2 * r->g);
    for (int i = 0; i < r->g; i++) {
        r->piece[i].data_good = r->piece[i].data && good[2 * i];
        r->piece[i].parity_good = r->piece[i].parity && good[2 * i + 1];
    }
    return rc;
}

/* Choose k good pieces of a stripe: numbers for the code, members for the messages. */
static bool choose(const struct mending *r, int stripe, int use[], int member[])
{
    int n = 0;
    for (int i = 0; i < r->g && n < r->k; i++) {
        int row = stripe_row(r->g, r->m, stripe, i);
        if (i == r->x || !(row < 0 ? r->piece[i].data_good : r->piece[i].parity_good))
            continue;
        use[n] = row < 0 ? stripe_column(r->g, r->m, stripe, i) : r->k + row;
        member[n++] = i;
    }
    return n == r->k;
}

/* The holder's side of one piece: a chunk of a data file, or a row of a parity image. */
static int read_piece(const struct mending *r, int stripe, int i, uint8_t *to)
{
    char path[PATH_ROOM];
    int row = stripe_row(r->g, r->m, stripe, i);
    uint64_t chunk = r->group->chunk;
    const struct item *item = row < 0 ? r->piece[i].data : r->piece[i].parity;
    int rc = item_path(r->store, item, path);
    if (rc)
        return rc;
    if (row >= 0) {
        mend_image *image = NULL;
        rc = mend_image_open_file(path, &image);
        const mend_image_region *parity = rc ? NULL : mend_image_find_region(image, 1);
        if (parity)
            rc = mend_image_read(image, parity->offset + (uint64_t)row * chunk, to, chunk);
        mend_image_close(image);
        return rc;
    }
    mend_source file;
    rc = mend_source_file(path, 0, UINT64_MAX, &file);
    if (rc)
        return rc;
    uint64_t from = (uint64_t)stripe_chunk(r->g, r->m, stripe, i) * chunk;
    uint64_t there =
        from < file.bytes ? (file.bytes - from < chunk ? file.bytes - from : chunk) : 0;
    memset(to + there, 0, chunk - there);
    rc = there ? file.read(file.context, from, to, there) : 0;
    file.close(file.context);
    return rc;
}

/* Move one piece from its holder to the rank that rebuilds. buffer is on the heap. */
static int move_piece(const struct mending *r, int stripe, int i, uint8_t *buffer, bool *poisoned)
{
    int row = stripe_row(r->g, r->m, stripe, i), rc = 0;
    int holder = row < 0 ? r->piece[i].data->holder : r->piece[i].parity->holder;
    int asker = r->what->requester, me = r->store->rank;

    if (holder == me) {
        rc = read_piece(r, stripe, i, buffer);
        if (rc) /* it was good a moment ago; zeros give garbage, which the verification finds */
            memset(buffer, 0, r->group->chunk);
    }
    if (holder == asker)
        return 0;
    rc = 0;
    if (holder == me)
        rc = net_send(r->store->net, CALL, asker, TAG_REBUILD, buffer, r->group->chunk);
    else if (asker == me)
        rc = net_receive(r->store->net, CALL, holder, TAG_REBUILD, buffer, r->group->chunk);
    MEND_FAULT_POINT(store_restore_rebuild);
    int ended = net_complete(r->store->net, CALL, poisoned);
    return rc ? rc : ended;
}

/* out: the asker's; NULL on the others. */
static int mend_stripe(const struct mending *r, int stripe, uint8_t *buffer, uint8_t *out,
                       bool *poisoned)
{
    int use[GROUP_MAX], member[GROUP_MAX], lost = stripe_column(r->g, r->m, stripe, r->x);
    mend_recipe *recipe = NULL;

    if (!choose(r, stripe, use, member))
        return mend_fail(MEND_ERR_LOST, "too many members of rank %d's group are lost or damaged",
                         r->what->rank);
    int bad = out ? mend_recipe_new(r->code, use, &lost, 1, &recipe) : 0, rc = 0;
    if (out)
        memset(out, 0, r->group->chunk);
    for (int n = 0; rc == 0 && n < r->k; n++) {
        rc = move_piece(r, stripe, member[n], buffer, poisoned);
        if (rc == 0 && out && bad == 0)
            mend_recipe_add(recipe, r->group->chunk, 0, n, buffer, out);
    }
    mend_recipe_free(recipe);
    return rc ? rc : bad;
}

/* Does anybody need this rank? All take part in the agreement on the pieces, but only these in the messages. */
static int prepare(struct mending *r)
{
    r->group = inventory_group(r->what->inventory, r->what->attempt, r->what->rank);
    if (!r->group)
        return mend_fail(MEND_ERR_LOST, "there is no parity for rank %d", r->what->rank);
    r->g = r->group->group_size;
    r->m = r->group->parity;
    r->k = r->g - r->m;
    while (r->group->member[r->x] != r->what->rank)
        r->x++;
    return find_pieces(r);
}

/* Protocol:
 *   1. Every holder verifies its pieces, and all learn which are good.
 *   2. For each stripe to which the lost member gave data, k good pieces travel to the asker.
 *   3. The asker solves for the missing chunk.
 * The result is an image with its own checksums; the caller verifies it. */
int erasure_rebuild(mend_store *store, const struct rebuild *what, uint8_t **bytes, uint64_t *count)
{
    struct mending r = {.store = store, .what = what};
    bool asker = what->requester == store->rank, poisoned = false;
    uint8_t *buffer = NULL, *file = NULL;

    int rc = prepare(&r);
    if (rc)
        return rc;
    uint64_t chunk = r.group->chunk;
    buffer = malloc(chunk ? chunk : 1);
    file = asker ? malloc(chunk * (uint64_t)r.k + 1) : NULL;
    if (buffer && (file || !asker))
        rc = mend_code_new(r.k, r.m, &r.code);
    else
        rc = mend_fail(MEND_ERR_NO_MEMORY, "no memory to rebuild %llu bytes",
                       (unsigned long long)(chunk * (uint64_t)r.k));
    int64_t ready = rc;
    int broken = net_all_min(store->net, CALL, &ready, 1);
    if (rc == 0)
        rc = broken ? broken : (int)ready;
    int bad = 0;
    for (int s = 0; rc == 0 && s < r.g; s++) {
        if (stripe_row(r.g, r.m, s, r.x) >= 0)
            continue;
        uint8_t *out = asker ? file + (uint64_t)stripe_chunk(r.g, r.m, s, r.x) * chunk : NULL;
        rc = mend_stripe(&r, s, buffer, out, &poisoned);
        if (rc == MEND_ERR_NO_MEMORY && asker) { /* the others continue */
            bad = rc;
            rc = 0;
        }
    }
    if (rc == 0)
        rc = bad;
    mend_code_free(r.code);
    net_free(buffer, poisoned);
    if (rc == 0 && asker) {
        *bytes = file;
        *count = r.group->member_bytes[r.x];
        mend_event("store.rebuilt", ev_int("version", what->attempt->version),
                   ev_int("part", what->rank), ev_int("bytes", (long long)*count));
    } else {
        free(file);
    }
    return rc;
}
