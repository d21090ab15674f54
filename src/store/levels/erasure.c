/* Level erasure: the own file, and a share of the parity of a group of ranks on different failure domains. */
#include <stdlib.h>
#include <string.h>

#include <code/erasure.h>

#include "restore/inventory.h"

enum { TAG_LENGTHS = 41, TAG_CHUNK, TAG_PIECE };

#define STEP ((size_t)256 << 10) /* bytes of each chunk in transit at a time */

_Static_assert(sizeof(mend_parity_group) <= PAGE, "the meta data is one page of the stream");

static void parity_regions(mend_image_region regions[2], const mend_parity_group *meta)
{
    regions[0] = (mend_image_region){.id = 0, .offset = 0, .bytes = sizeof *meta, .label = "group"};
    regions[1] = (mend_image_region){
        .id = 1, .offset = PAGE, .bytes = meta->chunk * (uint64_t)meta->parity, .label = "parity"};
}

int parity_read_meta(mend_image *image, struct item *item)
{
    mend_parity_group group;
    int rc = mend_parity_read(image, &group);
    if (rc)
        return rc;
    item->group_size = group.size;
    item->parity = group.parity;
    item->index = group.index;
    item->chunk = group.chunk;
    memcpy(item->member, group.member, sizeof item->member);
    memcpy(item->member_bytes, group.member_bytes, sizeof item->member_bytes);
    return 0;
}

/* ---- encoding -------------------------------------------------------------------------------- */

struct encoder {
    mend_store *store;
    const struct group *group;
    mend_parity_group *meta;
    uint64_t *lengths; /* of the members' files */
    mend_source file;
    mend_code *code;
    uint8_t *image;    /* a meta page, then the parity: what we write */
    uint8_t *out, *in; /* k steps to send, m x k steps to receive */
    int error;
    bool poisoned;
};

static int share_lengths(struct encoder *e)
{
    struct net *net = e->store->net;
    const struct group *g = e->group;
    int rc = 0;

    e->lengths[g->index] = e->file.bytes;
    for (int i = 0; rc == 0 && i < g->size; i++) {
        if (i == g->index)
            continue;
        rc = net_receive(net, WORK, g->member[i], TAG_LENGTHS, &e->lengths[i], sizeof(uint64_t));
        if (rc == 0)
            rc = net_send(net, WORK, g->member[i], TAG_LENGTHS, &e->lengths[g->index],
                          sizeof(uint64_t));
    }
    int ended = net_complete(net, WORK, &e->poisoned);
    return rc ? rc : ended;
}

static int make_room(struct encoder *e)
{
    const struct group *g = e->group;
    uint64_t k = (uint64_t)(g->size - g->parity), longest = 0;

    for (int i = 0; i < g->size; i++) {
        if (e->lengths[i] > INT64_MAX / 128)
            return mend_fail(MEND_ERR_DAMAGED, "a member's file has an impossible length");
        if (e->lengths[i] > longest)
            longest = e->lengths[i];
    }
    *e->meta = (mend_parity_group){.size = g->size, .parity = g->parity, .index = g->index};
    e->meta->chunk = (longest + k - 1) / k;
    memcpy(e->meta->member, g->member, sizeof e->meta->member);
    memcpy(e->meta->member_bytes, e->lengths, (size_t)g->size * sizeof(uint64_t));
    e->image = calloc(1, PAGE + e->meta->chunk * (uint64_t)g->parity);
    e->out = malloc(k * STEP);
    e->in = malloc((size_t)g->parity * k * STEP);
    if (!e->image || !e->out || !e->in)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a parity of %llu bytes",
                         (unsigned long long)(e->meta->chunk * (uint64_t)g->parity));
    memcpy(e->image, e->meta, sizeof *e->meta);
    return mend_code_new(g->size - g->parity, g->parity, &e->code);
}

/* Read bytes [at, at+n) of chunk c of a file, zeros beyond its end. */
static int read_chunk(mend_source *file, uint64_t chunk_bytes, int c, uint64_t at, uint8_t *to,
                      size_t n)
{
    uint64_t from = (uint64_t)c * chunk_bytes + at;
    size_t there =
        from < file->bytes ? (file->bytes - from < n ? (size_t)(file->bytes - from) : n) : 0;
    memset(to + there, 0, n - there);
    return there ? file->read(file->context, from, to, there) : 0;
}

/* One step of every stripe at once: send a piece of my chunk to the stripe's parity holders, and receive the pieces
 * that I hold parity of. */
static int encode_step(struct encoder *e, uint64_t at, size_t n)
{
    const struct group *g = e->group;
    struct net *net = e->store->net;
    int k = g->size - g->parity, rc = 0, received = 0;

    for (int s = 0; rc == 0 && s < g->size; s++) {
        int row = stripe_row(g->size, g->parity, s, g->index);
        for (int i = 0; rc == 0 && row >= 0 && i < g->size; i++)
            if (stripe_row(g->size, g->parity, s, i) < 0)
                rc = net_receive(net, WORK, g->member[i], TAG_CHUNK + s % g->size * 4,
                                 e->in + (size_t)received++ * STEP, n);
    }
    for (int s = 0; rc == 0 && s < g->size; s++) {
        if (stripe_row(g->size, g->parity, s, g->index) >= 0)
            continue;
        int c = stripe_chunk(g->size, g->parity, s, g->index);
        uint8_t *piece = e->out + (size_t)c * STEP;
        int bad = read_chunk(&e->file, e->meta->chunk, c, at, piece, n);
        if (bad && !e->error)
            e->error = bad;
        for (int i = 0; rc == 0 && i < g->size; i++)
            if (stripe_row(g->size, g->parity, s, i) >= 0)
                rc = net_send(net, WORK, g->member[i], TAG_CHUNK + s % g->size * 4, piece, n);
        e->store->stats.bytes_sent += n * (size_t)g->parity;
    }
    MEND_FAULT_POINT(store_erasure_send);
    int ended = net_complete(net, WORK, &e->poisoned);
    if (rc || ended)
        return rc ? rc : ended;

    uint8_t *from[MEND_CODE_MAX];
    received = 0;
    for (int s = 0; s < g->size; s++) {
        int row = stripe_row(g->size, g->parity, s, g->index);
        if (row < 0)
            continue;
        for (int i = 0; i < k; i++)
            from[i] = e->in + (size_t)received++ * STEP;
        uint8_t *parity = e->image + PAGE + (uint64_t)row * e->meta->chunk + at;
        mend_code_row(e->code, n, row, from, parity);
    }
    return throttle(e->store, n) ? MEND_ERR_CANCELLED : 0;
}

static int write_parity(struct encoder *e, struct job *job)
{
    mend_store *store = e->store;
    mend_image_region regions[2];
    mend_file file = {MEND_FILE_PARITY, store->rank, job->version, job->id};
    mend_io_replacement replacement;
    char path[PATH_ROOM];

    parity_regions(regions, e->meta);
    mend_image_head head = job->slot->head;
    head.kind = MEND_IMAGE_PARITY;
    head.regions = regions;
    head.region_count = 2;
    head.stream_bytes = regions[1].offset + regions[1].bytes;
    int rc = file_path(store->local, &file, path);
    if (rc == 0)
        rc = mend_io_replace_begin(&replacement, path);
    if (rc)
        return rc;
    struct file_sink sink = {.store = store, .fd = replacement.fd, .path = path};
    rc = mend_image_write(&head, e->image, NULL, (mend_sink){file_sink_write, &sink}, NULL);
    if (rc == 0)
        return mend_io_replace_commit(&replacement);
    mend_io_replace_abort(&replacement);
    return rc;
}

/* Protocol:
 *   1. The group shares the lengths of its files; the chunk's length follows from them.
 *   2. All agree that they have the memory.
 *   3. In steps, send pieces to the parity holders.
 *   4. Write the parity.
 * A local error after 2 does not stop the steps, so that the group can finish; it fails the commit. */
static int erasure_exchange(mend_store *store, struct job *job)
{
    struct encoder e = {.store = store, .group = &store->placement.group};
    mend_file own = {MEND_FILE_OWN, store->rank, job->version, job->id};
    char path[PATH_ROOM];

    if (e.group->size < 2)
        return 0;
    int rc = file_path(store->local, &own, path);
    if (rc == 0)
        rc = mend_source_file(path, 0, UINT64_MAX, &e.file);
    e.lengths = calloc(GROUP_MAX, sizeof *e.lengths);
    e.meta = calloc(1, sizeof *e.meta);
    if (rc == 0 && (!e.lengths || !e.meta))
        rc = mend_fail(MEND_ERR_NO_MEMORY, "no memory for a group");
    int64_t worst = rc;
    int broken = net_all_min(store->net, WORK, &worst, 1);
    if (rc == 0)
        rc = broken ? broken : (int)worst;
    if (rc == 0) {
        broken = share_lengths(&e);
        worst = broken ? broken : make_room(&e);
        rc = (int)worst;
        if (broken == 0)
            broken = net_all_min(store->net, WORK, &worst, 1);
        if (rc == 0)
            rc = broken ? broken : (int)worst;
    }
    if (rc == 0) {
        atomic_store(&store->bytes_done, 0);
        atomic_store(&store->bytes_total, e.meta->chunk);
    }
    for (uint64_t at = 0; rc == 0 && at < e.meta->chunk; at += STEP) {
        size_t n = e.meta->chunk - at < STEP ? (size_t)(e.meta->chunk - at) : STEP;
        rc = encode_step(&e, at, n);
        if (rc == MEND_ERR_CANCELLED) {
            e.error = rc;
            rc = 0;
        }
    }
    if (rc == 0)
        rc = e.error ? e.error : write_parity(&e, job);
    if (e.file.close)
        e.file.close(e.file.context);
    net_free(e.lengths, e.poisoned);
    net_free(e.out, e.poisoned);
    net_free(e.in, e.poisoned);
    free(e.image);
    free(e.meta);
    mend_code_free(e.code);
    return rc;
}

const struct level_ops level_erasure = {.prepare = file_write_own, .exchange = erasure_exchange};
