#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include <base/fail.h>

#include "format.h"
#include "sums.h"

/* The most bytes of consecutive raw blocks in one write. If this thread computes the sums as well, it does so right after
 * it has written them, when they are in the cache: before that, all of them would have to come from memory, and writing them
 * afterwards is hardly faster for it. */
#define RUN_BYTES        ((size_t)1 << 20)
#define RUN_BYTES_SUMMED ((size_t)256 << 10)

struct writer {
    const mend_image_head *head;
    const uint8_t *stream;
    const mend_image_write_options *options;
    mend_sink sink;
    uint64_t at; /* in the file */
    struct disk_entry *index;
    uint64_t count;
    const uint8_t *run; /* raw bytes not yet written */
    size_t run_bytes, run_most;
    uint64_t run_first; /* its first entry in the index */
    struct sums *sums;  /* NULL: no second thread */
    ZSTD_CCtx *zstd;
    uint8_t *packed;
    size_t packed_room;
};

uint64_t mend_image_bound(const mend_image_head *head)
{
    return sizeof(struct disk_head) + head->region_count * sizeof(mend_image_region) +
           sizeof(uint64_t) + head->stream_bytes + block_count(head) * sizeof(struct disk_entry) +
           sizeof(struct disk_foot);
}

static bool wanted(const struct writer *w, uint64_t block)
{
    return !w->options->blocks || (w->options->blocks[block / 64] >> (block % 64) & 1);
}

static int emit(struct writer *w, const void *bytes, size_t count)
{
    int rc = w->sink.write(w->sink.context, bytes, count);
    w->at += count;
    return rc;
}

/* Does the second thread compute the sum of these bytes? */
static bool by_other(const struct writer *w, const uint8_t *bytes)
{
    return w->sums && bytes != w->options->reused;
}

static int flush_run(struct writer *w)
{
    const uint8_t *bytes = w->run;
    size_t n = w->run_bytes, done = 0;
    w->run_bytes = 0;
    int rc = n ? w->sink.write(w->sink.context, bytes, n) : 0;
    for (uint64_t i = w->run_first; done < n && rc == 0; done += w->index[i++].stored) {
        struct disk_entry *e = &w->index[i];
        if (!by_other(w, bytes + done))
            e->sum = mend_image_sum(w->head->save_id, e->block, bytes + done, e->stored);
    }
    return rc;
}

/* Its bytes go out now, or with the run of raw blocks that it continues. */
static int put_raw(struct writer *w, uint64_t entry, const uint8_t *bytes, size_t n)
{
    const uint8_t *reused = w->options->reused;
    bool lasts = !w->options->fetch || (reused && bytes != reused);
    if (!w->run_bytes || w->run + w->run_bytes != bytes || w->run_bytes + n > w->run_most) {
        int rc = flush_run(w);
        if (rc)
            return rc;
        w->run = bytes;
        w->run_first = entry;
    }
    if (by_other(w, bytes))
        sums_add(w->sums, entry, bytes);
    w->run_bytes += n;
    w->at += n;
    return lasts ? 0 : flush_run(w); /* the pointer is not valid for longer */
}

/* Store one block: its index entry and its bytes. */
static int put_block(struct writer *w, uint64_t block)
{
    size_t n = block_bytes(w->head, block), stored = n;
    uint64_t place = block * w->head->block, entry = w->count++;
    const uint8_t *bytes = w->options->fetch
                               ? w->options->fetch(w->options->fetch_context, place, n)
                               : w->stream + place;
    bool zstd = false;

    if (!bytes)
        return MEND_ERR_STREAM; /* whose text is that of who fetched */
    if (w->zstd) {
        size_t packed =
            ZSTD_compressCCtx(w->zstd, w->packed, w->packed_room, bytes, n, w->options->compress);
        if (!ZSTD_isError(packed) && packed < n) {
            zstd = true;
            stored = packed;
        }
    }
    w->index[entry] = (struct disk_entry){
        .block = block,
        .offset = w->at,
        .stored = (uint32_t)stored,
        .zstd = zstd,
    };
    if (!zstd)
        return put_raw(w, entry, bytes, n);
    w->index[entry].sum = mend_image_sum(w->head->save_id, block, w->packed, stored);
    int rc = flush_run(w);
    return rc ? rc : emit(w, w->packed, stored);
}

static int put_blocks(struct writer *w)
{
    uint64_t n = block_count(w->head);
    int rc = 0;
    if (w->options->second_thread && !w->zstd)
        w->sums = sums_begin(w->head->save_id, w->index, n);
    w->run_most = w->sums ? RUN_BYTES : RUN_BYTES_SUMMED;
    for (uint64_t block = 0; block < n && rc == 0; block++)
        rc = wanted(w, block) ? put_block(w, block) : 0;
    rc = rc ? rc : flush_run(w);
    sums_end(w->sums);
    return rc;
}

static int put_end(struct writer *w)
{
    size_t bytes = w->count * sizeof *w->index;
    struct disk_foot foot = {
        .magic = FOOT_MAGIC,
        .index_offset = w->at,
        .index_count = w->count,
        .index_sum = XXH3_64bits(w->index, bytes),
        .file_bytes = w->at + bytes + sizeof foot,
        .version = w->head->version,
        .save_id = w->head->save_id,
    };
    foot.sum = XXH3_64bits(&foot, offsetof(struct disk_foot, sum));
    int rc = bytes ? emit(w, w->index, bytes) : 0;
    return rc ? rc : emit(w, &foot, sizeof foot);
}

static void *room(struct writer *w, size_t bytes)
{
    return w->options->allocate ? w->options->allocate(w->options->allocate_context, bytes)
                                : calloc(1, bytes);
}

static int prepare(struct writer *w)
{
    uint64_t n = 0, all = block_count(w->head);
    for (uint64_t block = 0; block < all; block++)
        n += wanted(w, block);
    w->index = room(w, (n ? n : 1) * sizeof *w->index);
    if (w->options->compress) {
        w->packed_room = ZSTD_compressBound(w->head->block);
        w->packed = malloc(w->packed_room);
        w->zstd = ZSTD_createCCtx();
    }
    if (!w->index || (w->options->compress && (!w->packed || !w->zstd)))
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the index of %llu blocks",
                         (unsigned long long)n);
    return 0;
}

int mend_image_write(const mend_image_head *head, const uint8_t *stream,
                     const mend_image_write_options *options, mend_sink sink, uint64_t *written)
{
    static const mend_image_write_options none;
    struct writer w = {
        .head = head, .stream = stream, .options = options ? options : &none, .sink = sink};
    bool ours = !w.options->allocate;
    if (w.options->blocks && head->base_version < 0)
        return mend_fail(MEND_ERR_ARGUMENT, "a choice of blocks needs a base");
    int rc = mend_image_check_head(head);
    if (rc)
        return rc;
    uint8_t *packed_head = room(&w, packed_head_bytes(head));
    rc = prepare(&w);
    if (rc == 0 && !packed_head)
        rc = mend_fail(MEND_ERR_NO_MEMORY, "no memory for an image header");
    if (rc == 0) {
        pack_head_into(head, packed_head);
        rc = emit(&w, packed_head, packed_head_bytes(head));
    }
    if (rc == 0)
        rc = put_blocks(&w);
    if (rc == 0)
        rc = put_end(&w);
    if (rc == 0 && written)
        *written = w.at;
    ZSTD_freeCCtx(w.zstd);
    free(w.packed);
    if (ours) {
        free(w.index);
        free(packed_head);
    }
    return rc;
}
