/* Getting a part, from the nearest place that has it undamaged. */
#include "restore/obtain.h"

#include "copies/device.h"

#include <stdlib.h>
#include <string.h>

enum { TAG_LENGTH = 21, TAG_IMAGE };

/* Where rank `asker` can try, in this order. The list is the same on every rank. */
enum way { WAY_MEMORY, WAY_FILE, WAY_ASK_MEMORY, WAY_ASK_FILE, WAY_SHARED, WAY_REBUILD };

struct choice {
    enum way way;
    const struct item *item; /* NULL for WAY_REBUILD */
};

struct choices {
    struct choice *list;
    int count;
};

static bool fits(const struct item *i, enum way way, int asker)
{
    bool file = i->kind == IN_OWN || i->kind == IN_COPY;
    switch (way) {
    case WAY_MEMORY: return i->kind == IN_MEMORY && i->holder == asker;
    case WAY_FILE: return file && i->holder == asker;
    case WAY_ASK_MEMORY: return i->kind == IN_MEMORY && i->holder != asker;
    case WAY_ASK_FILE: return file && i->holder != asker;
    case WAY_SHARED: return i->kind == IN_GLOBAL || i->kind == IN_BUNDLE;
    default: return false;
    }
}

static int list_choices(const struct inventory *inv, const struct attempt *a, int asker, int want,
                        struct choices *out)
{
    out->count = 0;
    out->list = malloc((size_t)(inv->count + 1) * sizeof *out->list);
    if (!out->list)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d sources", inv->count);
    for (enum way way = WAY_MEMORY; way < WAY_REBUILD; way++)
        for (int i = 0; i < inv->count; i++) {
            const struct item *item = &inv->items[i];
            if (item->version == a->version && item->id == a->id && item->ranks == a->ranks &&
                item->rank == want && fits(item, way, asker))
                out->list[out->count++] = (struct choice){way, item};
        }
    if (inventory_group(inv, a, want))
        out->list[out->count++] = (struct choice){WAY_REBUILD, NULL};
    return 0;
}

/* ---- one way each ---------------------------------------------------------------------------- */

static struct part *new_part(mend_image *image, struct slot *slot, uint8_t *buffer)
{
    struct part *part = calloc(1, sizeof *part);
    if (!part)
        return NULL;
    part->image = image;
    part->slot = slot;
    part->buffer = buffer;
    part->head = image ? mend_image_info(image) : &slot->head;
    return part;
}

static int open_memory(mend_store *store, const struct item *item, struct part **part)
{
    struct slot *slot = slot_find(&store->own, item->version, item->id, item->rank);
    if (!slot)
        slot = slot_find(&store->held, item->version, item->id, item->rank);
    if (!slot)
        return mend_fail(MEND_ERR_NOT_FOUND, "version %lld is not in memory any more",
                         (long long)item->version);
    struct drain *staged = NULL;
    device_stage(store, slot, &staged); /* meanwhile, it crosses the bus */
    int rc = slot_verify(slot);
    if (rc)
        slot->complete = slot->users > 0;
    else if (!(*part = new_part(NULL, slot, NULL)))
        rc = mend_fail(MEND_ERR_NO_MEMORY, "no memory for a part");
    if (rc) {
        device_unstage(store, staged);
        return rc;
    }
    (*part)->staged = staged;
    pthread_mutex_lock(&store->lock);
    slot->users++;
    pthread_mutex_unlock(&store->lock);
    return 0;
}

/* Open and verify every block. The part takes over the image, or we close it. */
static int adopt_image(mend_image *image, const struct item *item, uint8_t *buffer,
                       struct part **part)
{
    const mend_image_head *head = mend_image_info(image);
    int rc = 0;
    if (head->version != item->version || head->save_id != item->id || head->rank != item->rank ||
        head->kind != MEND_IMAGE_DATA)
        rc = mend_fail(MEND_ERR_DAMAGED, "this is not the image of version %lld, rank %d",
                       (long long)item->version, item->rank);
    if (rc == 0)
        rc = mend_image_verify(image);
    if (rc == 0 && !(*part = new_part(image, NULL, buffer)))
        rc = mend_fail(MEND_ERR_NO_MEMORY, "no memory for a part");
    if (rc)
        mend_image_close(image);
    return rc;
}

static int open_file(mend_store *store, const struct item *item, struct part **part)
{
    static const enum mend_file_kind kinds[] = {
        [IN_OWN] = MEND_FILE_OWN, [IN_COPY] = MEND_FILE_COPY, [IN_GLOBAL] = MEND_FILE_GLOBAL};
    mend_image *image = NULL;
    mend_file file = {MEND_FILE_BUNDLE, item->bundle, item->version, item->id};
    int rc;

    if (item->kind == IN_BUNDLE) {
        rc = mend_folder_open_bundled(store->global, &file, item->rank, &image);
    } else {
        file.kind = kinds[item->kind];
        file.rank = item->rank;
        rc = mend_folder_open_chain(item->kind == IN_GLOBAL ? store->global : store->local, &file,
                                    &image);
    }
    return rc ? rc : adopt_image(image, item, NULL, part);
}

static int open_here(mend_store *store, const struct item *item, struct part **part)
{
    int rc =
        item->kind == IN_MEMORY ? open_memory(store, item, part) : open_file(store, item, part);
    if (rc)
        mend_event("store.damaged", ev_int("version", item->version), ev_int("part", item->rank),
                   ev_str("error", mend_error_text()));
    return rc;
}

/* ---- by message ------------------------------------------------------------------------------ */

struct packing {
    uint8_t *bytes;
    uint64_t at, room;
};

static int pack_bytes(void *context, const void *bytes, size_t count)
{
    struct packing *p = context;
    if (count > p->room - p->at)
        return mend_fail(MEND_ERR_INTERNAL, "an image is longer than its bound");
    memcpy(p->bytes + p->at, bytes, count);
    p->at += count;
    return 0;
}

/* Pack any part as one whole image in memory: it travels in this form, so that the receiver can verify it. */
static int pack_part(struct part *part, uint8_t **bytes, uint64_t *count)
{
    mend_image_head head = *part->head;
    head.base_version = -1;
    head.base_id = 0;
    struct packing p = {.room = mend_image_bound(&head)};
    uint8_t *stream =
        part->slot ? part->slot->memory : malloc(head.stream_bytes ? head.stream_bytes : 1);
    p.bytes = malloc(p.room);
    int rc = stream && p.bytes ? 0 : mend_fail(MEND_ERR_NO_MEMORY, "no memory to send a part");
    if (rc == 0 && !part->slot)
        rc = part_read(part, 0, stream, head.stream_bytes);
    if (rc == 0)
        rc = mend_image_write(&head, stream, NULL, (mend_sink){pack_bytes, &p}, NULL);
    if (!part->slot)
        free(stream);
    if (rc) {
        free(p.bytes);
        return rc;
    }
    *bytes = p.bytes;
    *count = p.at;
    return 0;
}

/* Complete one message, from or into memory on the heap. */
static int transfer(mend_store *store, bool sending, int peer, int tag, void *bytes, size_t count,
                    bool *poisoned)
{
    int rc = sending ? net_send(store->net, CALL, peer, tag, bytes, count)
                     : net_receive(store->net, CALL, peer, tag, bytes, count);
    int ended = net_complete(store->net, CALL, poisoned);
    return rc ? rc : ended;
}

/* The holder's side: length 0 means that the part is damaged here, too. */
static int send_part(mend_store *store, const struct item *item, int asker)
{
    struct part *part = NULL;
    uint8_t *bytes = NULL;
    uint64_t *length = calloc(1, sizeof *length);
    bool poisoned = false;

    if (!length)
        return net_break(store->net), mend_fail(MEND_ERR_NO_MEMORY, "no memory");
    if (open_here(store, item, &part) == 0 && pack_part(part, &bytes, length))
        *length = 0;
    part_close(store, part);
    MEND_FAULT_POINT(store_restore_send);
    int rc = transfer(store, true, asker, TAG_LENGTH, length, sizeof *length, &poisoned);
    if (rc == 0 && *length)
        rc = transfer(store, true, asker, TAG_IMAGE, bytes, *length, &poisoned);
    if (rc == 0)
        store->stats.bytes_sent += *length;
    net_free(bytes, poisoned);
    net_free(length, poisoned);
    return rc;
}

static int adopt_bytes(uint8_t *bytes, uint64_t count, const struct item *item, struct part **part)
{
    mend_image *image = NULL;
    int rc = mend_image_open(mend_source_memory(bytes, count), &image);
    if (rc == 0)
        rc = adopt_image(image, item, bytes, part);
    if (rc)
        free(bytes);
    return rc;
}

/* The asker's side. *damaged: no part came, or a damaged one; the net itself works. */
static int receive_part(mend_store *store, const struct item *item, struct part **part,
                        int *damaged)
{
    uint64_t *length = calloc(1, sizeof *length);
    uint8_t *bytes = NULL;
    bool poisoned = false;

    *damaged = 0;
    if (!length)
        return net_break(store->net), mend_fail(MEND_ERR_NO_MEMORY, "no memory");
    int rc = transfer(store, false, item->holder, TAG_LENGTH, length, sizeof *length, &poisoned);
    if (rc == 0 && *length && !(bytes = malloc(*length))) {
        net_break(store->net); /* the sender has already started and cannot be stopped */
        rc = mend_fail(MEND_ERR_NO_MEMORY, "no memory for %llu bytes", (unsigned long long)*length);
    }
    if (rc == 0 && *length)
        rc = transfer(store, false, item->holder, TAG_IMAGE, bytes, *length, &poisoned);
    MEND_FAULT_POINT(store_restore_receive);
    if (rc == 0 && !*length)
        *damaged = mend_fail(MEND_ERR_DAMAGED, "rank %d has no good copy of rank %d's part",
                             item->holder, item->rank);
    else if (rc == 0)
        *damaged = adopt_bytes(bytes, *length, item, part);
    else
        net_free(bytes, poisoned);
    net_free(length, poisoned);
    return rc;
}

/* ---- all ranks together ---------------------------------------------------------------------- */

struct need {
    int want; /* -2: nothing */
    int next; /* choice to try */
    bool done;
    struct choices choices;
};

/* One rank's turn, in which a holder or a group may help. Returns only failures of the net; *mine has the asker's
 * result. */
static int try_choice(mend_store *store, const struct inventory *inv, const struct attempt *a,
                      int asker, const struct need *need, struct part **part, int *mine)
{
    const struct choice *c = &need->choices.list[need->next];
    bool me = asker == store->rank;

    switch (c->way) {
    case WAY_MEMORY:
    case WAY_FILE:
    case WAY_SHARED:
        if (me)
            *mine = open_here(store, c->item, part);
        return 0;
    case WAY_ASK_MEMORY:
    case WAY_ASK_FILE:
        if (me)
            return receive_part(store, c->item, part, mine);
        return c->item->holder == store->rank ? send_part(store, c->item, asker) : 0;
    default: {
        struct rebuild what = {inv, a, need->want, asker};
        struct item wanted = {.version = a->version, .id = a->id, .rank = need->want};
        uint8_t *bytes = NULL;
        uint64_t count = 0;
        int rc = erasure_rebuild(store, &what, &bytes, &count);
        if (me && rc == 0)
            *mine = adopt_bytes(bytes, count, &wanted, part);
        else if (me)
            *mine = rc;
        return rc == MEND_ERR_PEER_FAILED || rc == MEND_ERR_MPI ? rc : 0;
    }
    }
}

static int make_needs(mend_store *store, const struct inventory *inv, const struct attempt *a,
                      int want, struct need **out)
{
    int *wants = malloc((size_t)store->size * sizeof *wants);
    struct need *needs = calloc((size_t)store->size, sizeof *needs);
    *out = needs;
    if (!wants || !needs) {
        free(wants);
        net_break(store->net);
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d ranks", store->size);
    }
    int rc = net_gather(store->net, CALL, &want, sizeof want, wants);
    for (int r = 0; rc == 0 && r < store->size; r++) {
        needs[r] = (struct need){.want = wants[r], .done = wants[r] == -2};
        int asker = store->alone ? store->rank : r;
        if (!needs[r].done)
            rc = list_choices(inv, a, asker, wants[r], &needs[r].choices);
    }
    if (rc) /* the others are about to enter the first round */
        net_break(store->net);
    free(wants);
    return rc;
}

static void free_needs(struct need *needs, int count)
{
    for (int r = 0; needs && r < count; r++)
        free(needs[r].choices.list);
    free(needs);
}

/* Protocol:
 *   1. All learn every rank's wish, and make the same list of choices for each.
 *   2. In a round, each rank without a part takes its next choice, in order of ranks; holders help.
 *   3. All learn who has what. Ranks that got nothing good go to their next choice in another round.
 *   4. If a rank has no choice left, all fail alike.
 * Every part is verified before it counts. A death fails the messages of its round, for all. */
int obtain_part(mend_store *store, const struct inventory *inv, const struct attempt *a, int want,
                struct part **part)
{
    struct need *needs = NULL;
    int8_t *got = malloc((size_t)store->size);
    bool open = true, lost = false;

    *part = NULL;
    int rc = make_needs(store, inv, a, want, &needs);
    if (rc == 0 && !got) {
        net_break(store->net);
        rc = mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d ranks", store->size);
    }
    while (rc == 0 && open && !lost) {
        int mine = 0;
        for (int r = 0; rc == 0 && r < store->size; r++) {
            if (needs[r].done)
                continue;
            if (needs[r].next >= needs[r].choices.count)
                lost = true;
            else
                rc = try_choice(store, inv, a, store->alone ? store->rank : r, &needs[r], part,
                                &mine);
        }
        int8_t ok = want == -2 || *part != NULL;
        if (rc == 0 && !lost)
            rc = net_gather(store->net, CALL, &ok, sizeof ok, got);
        open = false;
        for (int r = 0; rc == 0 && !lost && r < store->size; r++) {
            needs[r].next += !needs[r].done && !got[r];
            needs[r].done = got[r];
            open = open || !got[r];
        }
    }
    if (rc == 0 && lost)
        rc = mend_fail(MEND_ERR_DAMAGED, "version %lld: a part is damaged or missing everywhere",
                       (long long)a->version);
    if (rc) {
        part_close(store, *part);
        *part = NULL;
    }
    free_needs(needs, store->size);
    free(got);
    return rc;
}
