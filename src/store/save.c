/* Saving: the part inside the application's call. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include <base/copy.h>

#include "copies/cow.h"
#include "copies/device.h"

#include <base/grow.h>
#include "copies/pages.h"

#define COPY_PIECE ((size_t)4 << 20)

struct mend_store_sink {
    uint8_t *at, *end;
};

void *mend_store_put_room(mend_store_sink *sink, size_t count)
{
    if (!sink || count > (size_t)(sink->end - sink->at)) {
        mend_fail(MEND_ERR_ARGUMENT, "a stream has more bytes than announced");
        return NULL;
    }
    void *room = sink->at;
    sink->at += count;
    return room;
}

int mend_store_put(mend_store_sink *sink, const void *bytes, size_t count)
{
    void *room = mend_store_put_room(sink, count);
    if (!room)
        return MEND_ERR_ARGUMENT;
    return mend_device_copy(room, bytes, count);
}

/* ---- agreement ------------------------------------------------------------------------------- */

/* A later attempt has a larger id, and no two attempts have the same. */
static int64_t new_id(void)
{
    struct timespec now;
    uint32_t noise = 0;
    clock_gettime(CLOCK_REALTIME, &now);
    if (getrandom(&noise, sizeof noise, GRND_NONBLOCK) != sizeof noise)
        noise = (uint32_t)now.tv_nsec * 2654435761u;
    uint64_t micro = (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
    return (int64_t)((micro << 11 ^ noise % 2048u) & INT64_MAX);
}

struct agreed {
    int64_t id, turn;
    bool steady;
    bool device; /* some rank has regions on a device */
    unsigned levels;
};

static unsigned due_levels(const mend_store *store, int64_t turn)
{
    unsigned due = 0;
    for (int level = 0; level < MEND_LEVEL_COUNT; level++)
        if ((store->levels & MEND_LEVEL_BIT(level)) &&
            turn % store->options.level[level].every == 0)
            due |= MEND_LEVEL_BIT(level);
    return due;
}

/* One reduction: is every rank ready, with the same version, and what is its id? */
enum { READY, VERSION, NO_VERSION, CHOICE, NO_CHOICE, LAST, TURN, STEADY, DEVICE, ID, AGREED };

static int begin_agreement(mend_store *store, int rc, mend_version_t version,
                           const mend_save_options *o, bool device, struct net_min **operation)
{
    int64_t choice = (int64_t)o->levels << 2 | (o->sync != 0) << 1 | (o->full != 0);
    int64_t v[AGREED] = {
        [READY] = rc,
        [VERSION] = version,
        [NO_VERSION] = -version,
        [CHOICE] = choice,
        [NO_CHOICE] = -choice,
        [LAST] = -store->last,
        [TURN] = -store->turn,
        [STEADY] =
            rc == 0 && (store->levels & MEND_LEVEL_BIT(MEND_LEVEL_MEMORY)) && memory_steady(store),
        [DEVICE] = -device,
        [ID] = store->rank == 0 || store->alone ? new_id() : INT64_MAX,
    };
    return net_min_begin(store->net, CALL, v, AGREED, operation);
}

static int end_agreement(mend_store *store, int rc, mend_version_t version,
                         const mend_save_options *o, struct net_min *operation,
                         struct agreed *agreed)
{
    int64_t v[AGREED] = {0};
    int broken = net_min_end(operation, v);
    if (broken)
        return broken;
    if (v[READY])
        return rc ? rc
                  : mend_fail((int)v[READY], "another rank could not save version %lld",
                              (long long)version);
    if (v[VERSION] != -v[NO_VERSION])
        return mend_fail(MEND_ERR_ARGUMENT, "ranks save different versions, from %lld to %lld",
                         (long long)v[VERSION], (long long)-v[NO_VERSION]);
    if (v[CHOICE] != -v[NO_CHOICE])
        return mend_fail(MEND_ERR_ARGUMENT, "ranks save version %lld with different options",
                         (long long)version);
    if (version <= -v[LAST])
        return mend_fail(MEND_ERR_VERSION, "version %lld is not larger than %lld",
                         (long long)version, (long long)-v[LAST]);
    agreed->id = v[ID];
    agreed->turn = -v[TURN];
    agreed->steady = v[STEADY] == 1;
    agreed->device = v[DEVICE] != 0;
    agreed->levels = o->levels ? o->levels : due_levels(store, agreed->turn);
    return 0;
}

/* ---- copying --------------------------------------------------------------------------------- */

static int copy_stream(const mend_store_stream *stream, uint8_t *to)
{
    mend_store_sink sink = {to, to + stream->bytes};
    mend_fail(0, "%s",
              ""); /* what is there afterwards is the producer's, such as a device's error */
    int rc = stream->produce(&sink, stream->arg);
    if (rc && *mend_error_text())
        return mend_fail_within(MEND_ERR_STREAM, "the producer of stream %d failed", stream->id);
    if (rc)
        return mend_fail(MEND_ERR_STREAM, "the producer of stream %d failed with %d", stream->id,
                         rc);
    if (sink.at != sink.end)
        return mend_fail(MEND_ERR_STREAM, "stream %d lacks %zu of its %zu bytes", stream->id,
                         (size_t)(sink.end - sink.at), stream->bytes);
    return 0;
}

/* Copy in pieces, and let the agreement make progress in between: on a node with more ranks than cores it would
 * otherwise begin only after the last rank's turn. */
static void copy_region(uint8_t *to, const uint8_t *from, size_t bytes, struct net_min *agreement)
{
    for (size_t at = 0; at < bytes; at += COPY_PIECE) {
        mend_copy(to + at, from + at, bytes - at < COPY_PIECE ? bytes - at : COPY_PIECE);
        if (agreement)
            net_min_push(agreement);
    }
}

/* Copy now what cow.c does not copy later: all of the region, or its first and last bytes. */
static void copy_now(const struct slot *slot, const mend_image_region *to, const struct region *r,
                     bool later, struct net_min *agreement)
{
    uint8_t *base = slot->memory + to->offset;
    size_t from = 0, end = 0;
    if (later && cow_inner(r, &from, &end)) {
        memcpy(base, r->address, from);
        memcpy(base + end, r->address + end, r->bytes - end);
    } else {
        copy_region(base, r->address, r->bytes, agreement);
    }
}

/* The only copy. Gaps between regions become zeros, so that an image contains nothing of other versions. */
static int fill_slot(mend_store *store, struct slot *slot, const mend_image_head *head,
                     const mend_save_options *o, const struct job *job, struct net_min *agreement)
{
    const struct drain *drain = job->drain;
    bool later = job->later;
    int registered = (int)head->region_count - o->stream_count, rc = 0;
    uint64_t end = 0;

    for (int i = 0; rc == 0 && i < (int)head->region_count; i++) {
        const mend_image_region *r = &head->regions[i];
        memset(slot->memory + end, 0, r->offset - end);
        end = r->offset + r->bytes;
        if (i >= registered) {
            rc = copy_stream(&o->streams[i - registered], slot->memory + r->offset);
            continue;
        }
        const struct region *from = region_find(store, r->id);
        if (r->bytes && !device_has(drain, r->id) && !pages_copy(store, slot, r, from))
            copy_now(slot, r, from, later, agreement);
    }
    return rc;
}

/* A layout that differs from the last one starts a new numbering of pages, so deltas start over. */
static int note_layout(mend_store *store, const mend_image_head *head)
{
    if (layout_same(&store->layout, head))
        return 0;
    struct slot holder = {.head = store->layout};
    int rc = slot_set_head(&holder, head);
    if (rc == 0) {
        store->layout = holder.head;
        store->serial++;
    }
    return rc;
}

static int check_choice(const mend_store *store, const mend_save_options *o, mend_version_t version)
{
    if (version < 0)
        return mend_fail(MEND_ERR_VERSION, "version %ld is negative", version);
    if (o->levels & ~store->levels)
        return mend_fail(MEND_ERR_ARGUMENT, "the store was not opened with all of the levels 0x%x",
                         o->levels);
    if (o->id_count < 0 || o->stream_count < 0 || (o->stream_count && !o->streams))
        return mend_fail(MEND_ERR_ARGUMENT, "a negative number of regions or streams");
    if (!store->levels)
        return mend_fail(MEND_ERR_CONFIG, "store %s has no level: set a local or global folder",
                         store->name);
    return 0;
}

/* What one save holds while it is in progress. */
struct making {
    mend_image_head head;
    struct slot *slot;
    struct job *job;
};

static int prepare(mend_store *store, mend_version_t version, const mend_save_options *o,
                   struct making *m)
{
    int rc = layout_make(store, o->ids, o->id_count, o->streams, o->stream_count, &m->head);
    if (rc == 0)
        rc = note_layout(store, &m->head);
    if (rc == 0 && !(m->job = calloc(1, sizeof *m->job)))
        rc = mend_fail(MEND_ERR_NO_MEMORY, "no memory for a save");
    if (rc == 0)
        m->job->version = version;
    if (rc == 0 && !(m->slot = draft_for(store, &m->head)))
        rc = slot_acquire(store, m->head.stream_bytes, &m->slot);
    if (rc == 0)
        rc = device_prepare(store, &m->head, (int)m->head.region_count - o->stream_count,
                            &m->job->drain);
    return rc;
}

/* Make the copy. `agreement` is in progress, or NULL: over. Fails only if a producer or a device does. */
static int copy_all(mend_store *store, struct making *m, const mend_save_options *o,
                    struct net_min *agreement)
{
    pthread_mutex_lock(&store->lock);
    slot_forget(m->slot);
    pthread_mutex_unlock(&store->lock);
    struct drain *drain = m->job->drain;
    if (drain)
        pages_lost(store);
    else
        m->job->changed = pages_take(store, &m->head);
    m->job->later =
        cow_protect(store, m->slot, &m->head, (int)m->head.region_count - o->stream_count, drain);
    if (!drain)
        m->slot->device_serial = 0;
    int begun = drain ? device_snapshot_begin(store, drain, m->slot) : 0;
    int rc = fill_slot(store, m->slot, &m->head, o, m->job, agreement);
    if (m->job->later)
        cow_start(store);
    if (rc == 0 && !drain)
        pages_copied(store, m->slot, &m->head);
    m->slot->head = m->head; /* with the regions */
    m->head.regions = store->guard.regions = NULL;
    if (drain)
        rc = device_snapshot_end(store, drain, m->slot, begun ? begun : rc);
    return rc;
}

/* May we copy before all have agreed? Not if the save has a stream, because its producer may do what cannot be
 * undone. Not into the only copy of a version that the memory level has. And not on a broken net: a peer may still be
 * reading the slot for an exchange that has failed here, and would keep a mixture as its copy. */
static bool may_copy_early(const mend_store *store, const struct making *m,
                           const mend_save_options *o)
{
    const struct slot *s = m->slot;
    return !o->stream_count && !net_broken(store->net) &&
           !(s->complete && known_kept(store, s->head.version, s->head.save_id,
                                       MEND_LEVEL_BIT(MEND_LEVEL_MEMORY)));
}

/* Copied and agreed: hand over to the engine. */
static void hand_over(mend_store *store, struct making *m, const struct agreed *agreed,
                      const mend_save_options *o)
{
    MEND_FAULT_POINT(store_save_copied);
    pthread_mutex_lock(&store->lock);
    m->slot->head.save_id = m->job->id = (uint64_t)agreed->id;
    m->slot->complete = !m->job->later && !m->job->drain;
    known_abandon(store, m->head.version);
    known_add(store, m->head.version, m->job->id);
    store->stats.saves++;
    store->stats.saves_later += m->job->later;
    store->stats.bytes_saved += m->head.stream_bytes;
    pthread_mutex_unlock(&store->lock);
    store->last = m->head.version;
    store->turn = agreed->turn + 1;
    m->job->slot = m->slot;
    m->job->levels = agreed->levels;
    m->job->full = o->full;
    m->job->steady = agreed->steady;
    m->job->device = agreed->device;
    m->job->mine = m->job->drain != NULL;
    m->job->serial = store->serial;
    m->slot = NULL;
    engine_push(store, m->job);
    m->job = NULL;
}

/* Protocol of a save:
 *   1. Every rank prepares everything that can fail: layout, a free copy, memory.
 *   2. One reduction agrees on readiness, version, levels and the save id. A rank that is not ready fails all.
 *   3. Copy, at the same time as 2 where nothing is lost if 2 fails.
 *   4. With streams or devices, a second reduction: a producer or a driver may have failed.
 *   5. The background engine takes over (engine.c).
 * A death before the end of 2 fails the call for all; a later one fails the commit in the engine. */
static int make_version(mend_store *store, struct making *m, int rc, const mend_save_options *o)
{
    struct net_min *agreement = NULL;
    struct agreed agreed = {0};
    mend_version_t version = m->head.version;
    bool early = rc == 0 && may_copy_early(store, m, o);
    int mine = 0;

    bool device = rc == 0 && m->job->drain;
    int begun = begin_agreement(store, rc, version, o, device, &agreement);
    if (begun)
        return begun;
    if (early)
        mine = copy_all(store, m, o, agreement);
    int all = end_agreement(store, rc, version, o, agreement, &agreed);
    rc = all ? all : rc; /* 0 only if mine is, too */
    if (rc == 0 && !early)
        mine = copy_all(store, m, o, NULL);
    if (rc == 0 && (o->stream_count || agreed.device)) {
        int64_t worst = mine;
        rc = net_all_min(store->net, CALL, &worst, 1);
        if (rc == 0 && worst)
            rc = mine ? mend_fail_within(mine, "version %lld", (long long)version)
                      : mend_fail((int)worst, "version %lld: another rank's %s failed",
                                  (long long)version, o->stream_count ? "stream" : "device");
    }
    if (rc == 0)
        hand_over(store, m, &agreed, o);
    else
        pages_lost(store);
    if (rc)
        cow_wait(store); /* the copier must be done with the slot */
    return rc;
}

/* What to take back if a producer leaves the save by a jump. */
static void hold(mend_store *store, struct slot *slot, struct job *job, mend_image_region *regions)
{
    store->guard.slot = slot;
    store->guard.job = job;
    store->guard.regions = regions;
}

int mend_store_save_sized(mend_store *store, mend_version_t version,
                          const mend_save_options *options, size_t size, size_t stream_size)
{
    mend_save_options own, *o = &own;
    struct making m = {0};

    if (!store)
        return mend_fail(MEND_ERR_ARGUMENT, "no store");
    int rc = guard_enter(store, "mend_store_save", FRAME);
    if (rc)
        return rc;
    double start = mend_now();
    rc = mend_options_take(o, sizeof *o, options, size, "mend_save_options");
    if (rc == 0 && o->stream_count > 0)
        rc = mend_size_same("mend_store_stream", stream_size, sizeof *o->streams);
    if (rc == 0)
        rc = check_choice(store, o, version);
    cow_wait(store); /* of the previous save; the engine reports its failure */
    if (rc == 0)
        rc = prepare(store, version, o, &m);
    if (rc == MEND_ERR_DEVICE)
        mend_fail_within(rc, "version %ld", version);
    m.head.version = version;
    hold(store, m.slot, m.job, m.head.regions);
    rc = make_version(store, &m, rc, o);
    hold(store, NULL, NULL, NULL);
    slot_release(store, m.slot);
    if (m.job) {
        pthread_mutex_lock(&store->lock);
        job_free(store, m.job);
        pthread_mutex_unlock(&store->lock);
    }
    free(m.head.regions);
    store->stats.seconds_blocked += mend_now() - start;
    mend_event("store.save", ev_str("store", store->name), ev_int("version", version),
               ev_str("error", rc ? mend_error_name(rc) : ""),
               ev_real("seconds", mend_now() - start));
    guard_leave(store);
    if (rc == 0 && (o->sync || store->options.sync))
        rc = mend_store_wait(store);
    return rc;
}

int mend_store_save(mend_store *store, mend_version_t version)
{
    return mend_store_save_with(store, version, NULL);
}
