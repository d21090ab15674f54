/* Level memory: the slot itself, and a second copy in the partner's memory. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define MEMORY_BIT MEND_LEVEL_BIT(MEND_LEVEL_MEMORY)

enum { TAG_SIZES = 11, TAG_HEAD, TAG_DATA };

struct sizes {
    uint64_t head, stream;
};

/* A copy of the version that goes when the next one is committed. Its owner still has it. */
static bool is_due(const mend_store *store, const struct slot *s)
{
    const struct known *due = known_due(store, MEND_LEVEL_MEMORY);
    return due && s->head.version == due->version && s->head.save_id == due->id;
}

/* A held slot whose version need not be kept, or not for long. If memory is tight, give up the only copy while
 * another level has a version. Call it with the lock held. */
static struct slot *free_held(const mend_store *store)
{
    for (int pass = 0; pass < 3; pass++)
        for (int i = 0; i < store->held.count; i++) {
            struct slot *s = store->held.list[i];
            bool kept =
                s->complete && known_kept(store, s->head.version, s->head.save_id, MEMORY_BIT);
            if (s->poisoned || s->users)
                continue;
            if (!kept || (pass == 1 && is_due(store, s)) || (pass == 2 && slots_tight(store)))
                return s;
        }
    return NULL;
}

static int held_slot(mend_store *store, size_t bytes, struct slot **out)
{
    int rc = 0;

    pthread_mutex_lock(&store->lock);
    struct slot *found = free_held(store);
    if (!found)
        rc = slot_add(store, &store->held, &found);
    if (rc == 0) {
        slot_forget(found);
        rc = slot_reserve(store, found, bytes);
    }
    pthread_mutex_unlock(&store->lock);
    *out = found;
    return rc;
}

bool memory_steady(mend_store *store)
{
    pthread_mutex_lock(&store->lock);
    const struct slot *s = store->pending ? NULL : free_held(store);
    bool steady =
        s && store->exchanged.serial == store->serial && s->room >= store->exchanged.stream;
    pthread_mutex_unlock(&store->lock);
    return steady;
}

/* The first message: how much is to come. Both directions at once. */
static int swap_sizes(mend_store *store, const struct sizes *mine, struct sizes *theirs)
{
    bool poisoned = false;
    struct sizes *box = calloc(2, sizeof *box);
    if (!box)
        return net_break(store->net), mend_fail(MEND_ERR_NO_MEMORY, "no memory");
    box[0] = *mine;
    int rc = net_receive(store->net, WORK, store->placement.holds, TAG_SIZES, &box[1], sizeof *box);
    if (rc == 0)
        rc = net_send(store->net, WORK, store->placement.partner, TAG_SIZES, &box[0], sizeof *box);
    int ended = net_complete(store->net, WORK, &poisoned);
    *theirs = box[1];
    net_free(box, poisoned);
    return rc ? rc : ended;
}

/* The peer's copy as it arrives. */
struct incoming {
    struct sizes sizes;
    struct slot *slot;
    uint8_t *head;
};

static int adopt(struct incoming *in)
{
    mend_image_head head;
    int rc = mend_image_unpack_head(in->head, in->sizes.head, &head);
    if (rc)
        return rc;
    if (head.stream_bytes != in->sizes.stream)
        rc = mend_fail(MEND_ERR_DAMAGED, "the partner's header does not fit its data");
    if (rc == 0)
        rc = slot_set_head(in->slot, &head);
    free(head.regions);
    if (rc)
        return rc;
    in->slot->complete = true;
    return 0;
}

/* Exchange head and data in both directions. Each holder sums its copy later, when there is nothing else to do
 * (engine.c). */
static int swap_data(mend_store *store, const struct slot *own, const uint8_t *head,
                     size_t head_bytes, struct incoming *in, bool *poisoned)
{
    struct net *net = store->net;
    int to = store->placement.partner, from = store->placement.holds;

    int rc = net_receive(net, WORK, from, TAG_HEAD, in->head, in->sizes.head);
    if (rc == 0)
        rc = net_receive(net, WORK, from, TAG_DATA, in->slot->memory, in->sizes.stream);
    if (rc == 0)
        rc = net_send(net, WORK, to, TAG_HEAD, head, head_bytes);
    if (rc == 0)
        rc = net_send(net, WORK, to, TAG_DATA, own->memory, own->head.stream_bytes);
    MEND_FAULT_POINT(store_memory_send);
    int ended = net_complete(net, WORK, poisoned);
    store->stats.bytes_sent += own->head.stream_bytes;
    return rc ? rc : ended;
}

/* Learn how much will come, and make room for it. Nobody sends what the other cannot take: all agree that they are
 * ready, unless they did so inside the save call (steady). */
static int make_ready(mend_store *store, struct job *job, const struct sizes *mine, int rc,
                      struct incoming *in)
{
    if (job->steady) {
        in->sizes = (struct sizes){store->exchanged.head, store->exchanged.stream};
    } else {
        int swapped = swap_sizes(store, mine, &in->sizes);
        if (swapped)
            return swapped;
    }
    if (rc == 0)
        rc = held_slot(store, in->sizes.stream, &in->slot);
    if (rc == 0 && !(in->head = malloc(in->sizes.head)))
        rc = mend_fail(MEND_ERR_NO_MEMORY, "no memory for the partner's header");
    if (job->steady) {
        if (rc)
            net_break(store->net); /* there is no other way to tell the others now */
        return rc;
    }
    int64_t ready = rc;
    int broken = net_all_min(store->net, WORK, &ready, 1);
    return broken ? broken : rc ? rc : (int)ready;
}

static int memory_exchange(mend_store *store, struct job *job)
{
    struct slot *own = job->slot;
    struct incoming in = {0};
    uint8_t *head = NULL;
    size_t head_bytes = 0;
    bool poisoned = false;

    if (store->placement.partner < 0)
        return 0;
    int rc = mend_image_pack_head(&own->head, &head, &head_bytes);
    struct sizes mine = {rc ? 0 : head_bytes, own->head.stream_bytes};
    rc = make_ready(store, job, &mine, rc, &in);
    if (rc == 0)
        rc = swap_data(store, own, head, head_bytes, &in, &poisoned);
    if (rc == 0) {
        pthread_mutex_lock(&store->lock);
        rc = adopt(&in);
        store->exchanged.serial = rc ? 0 : job->serial;
        store->exchanged.head = in.sizes.head;
        store->exchanged.stream = in.sizes.stream;
        pthread_mutex_unlock(&store->lock);
    }
    if (poisoned) {
        in.slot->poisoned = own->poisoned = true;
        return rc;
    }
    free(in.head);
    free(head);
    return rc;
}

const struct level_ops level_memory = {.exchange = memory_exchange};
