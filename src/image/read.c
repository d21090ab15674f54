#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include <base/fail.h>

#include "format.h"

#define CHAIN_MAX 4096 /* most deltas on one whole image */

struct mend_image {
    mend_source source;
    mend_image_head head;
    struct disk_entry *index;
    uint64_t count;
    mend_image *base;
    bool shares;           /* all but the next two belongs to another reader */
    uint8_t *raw, *packed; /* room for one block each */
    uint64_t cached;       /* the block in raw; UINT64_MAX: none */
};

static int source_read(mend_source *s, uint64_t at, void *to, size_t count)
{
    if (count > s->bytes || at > s->bytes - count)
        return mend_fail(MEND_ERR_TRUNCATED, "the file ends at %llu, before %llu",
                         (unsigned long long)s->bytes, (unsigned long long)(at + count));
    return count ? s->read(s->context, at, to, count) : 0;
}

static int read_foot(mend_image *image, struct disk_foot *foot)
{
    uint64_t n = image->source.bytes;
    if (n < sizeof(struct disk_head) + sizeof(uint64_t) + sizeof *foot)
        return mend_fail(MEND_ERR_TRUNCATED, "%llu bytes are too few for an image",
                         (unsigned long long)n);
    int rc = source_read(&image->source, n - sizeof *foot, foot, sizeof *foot);
    if (rc)
        return rc;
    if (memcmp(foot->magic, FOOT_MAGIC, sizeof foot->magic) != 0)
        return mend_fail(MEND_ERR_TRUNCATED,
                         "the file has no footer: it is truncated or not an image");
    if (foot->sum != XXH3_64bits(foot, offsetof(struct disk_foot, sum)))
        return mend_fail(MEND_ERR_DAMAGED, "the footer's checksum is wrong");
    if (foot->file_bytes != n || foot->index_offset > n ||
        foot->index_count > n / sizeof(struct disk_entry) ||
        foot->index_offset + foot->index_count * sizeof(struct disk_entry) + sizeof *foot != n)
        return mend_fail(MEND_ERR_DAMAGED, "the footer does not fit a file of %llu bytes",
                         (unsigned long long)n);
    return 0;
}

/* The header, whose length is bounded by where the index begins. *head_bytes = its length. */
static int read_head(mend_image *image, const struct disk_foot *foot, uint64_t *head_bytes)
{
    struct disk_head d;
    int rc = source_read(&image->source, 0, &d, sizeof d);
    if (rc)
        return rc;
    if (memcmp(d.magic, HEAD_MAGIC, sizeof d.magic) != 0)
        return mend_fail(MEND_ERR_FORMAT, "not an image");
    if (d.head_bytes < sizeof d || d.head_bytes > foot->index_offset)
        return mend_fail(MEND_ERR_DAMAGED, "the header's length is wrong");
    uint8_t *bytes = malloc(d.head_bytes);
    if (!bytes)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a header of %u bytes", d.head_bytes);
    rc = source_read(&image->source, 0, bytes, d.head_bytes);
    if (rc == 0)
        rc = mend_image_unpack_head(bytes, d.head_bytes, &image->head);
    free(bytes);
    if (rc == 0 && (image->head.version != foot->version || image->head.save_id != foot->save_id))
        rc = mend_fail(MEND_ERR_DAMAGED, "header and footer are of different versions");
    *head_bytes = d.head_bytes;
    return rc;
}

/* The blocks must follow each other without gap or overlap from the header to the index, in
 * ascending order. */
static int check_index(const mend_image *image, uint64_t at, uint64_t index_offset)
{
    const mend_image_head *head = &image->head;
    uint64_t all = block_count(head);

    for (uint64_t i = 0; i < image->count; i++) {
        const struct disk_entry *e = &image->index[i];
        if (e->block >= all || (i && e->block <= e[-1].block) || e->offset != at || e->zstd > 1 ||
            e->stored == 0)
            return mend_fail(MEND_ERR_DAMAGED, "entry %llu of the index is out of order",
                             (unsigned long long)i);
        size_t raw = block_bytes(head, e->block);
        if (e->zstd ? e->stored >= raw : e->stored != raw)
            return mend_fail(MEND_ERR_DAMAGED, "block %llu has a wrong length",
                             (unsigned long long)e->block);
        at += e->stored;
    }
    if (at != index_offset)
        return mend_fail(MEND_ERR_DAMAGED, "the blocks do not fill the file");
    if (head->base_version < 0 && image->count != all)
        return mend_fail(MEND_ERR_DAMAGED, "%llu blocks of %llu are there",
                         (unsigned long long)image->count, (unsigned long long)all);
    return 0;
}

static int read_index(mend_image *image, const struct disk_foot *foot, uint64_t head_bytes)
{
    size_t bytes = foot->index_count * sizeof *image->index;
    image->count = foot->index_count;
    image->index = calloc(image->count + 1, sizeof *image->index);
    image->raw = malloc(image->head.block);
    image->packed = malloc(image->head.block);
    if (!image->index || !image->raw || !image->packed)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for an index of %zu bytes", bytes);
    int rc = source_read(&image->source, foot->index_offset, image->index, bytes);
    if (rc)
        return rc;
    if (XXH3_64bits(image->index, bytes) != foot->index_sum)
        return mend_fail(MEND_ERR_DAMAGED, "the index's checksum is wrong");
    return check_index(image, head_bytes, foot->index_offset);
}

int mend_image_open(mend_source source, mend_image **out)
{
    struct disk_foot foot;
    uint64_t head_bytes = 0;
    mend_image *image = calloc(1, sizeof *image);

    if (!image) {
        if (source.close)
            source.close(source.context);
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for an image");
    }
    image->source = source;
    image->cached = UINT64_MAX;
    int rc = read_foot(image, &foot);
    if (rc == 0)
        rc = read_head(image, &foot, &head_bytes);
    if (rc == 0)
        rc = read_index(image, &foot, head_bytes);
    if (rc) {
        mend_image_close(image);
        return rc;
    }
    *out = image;
    return 0;
}

void mend_image_close(mend_image *image)
{
    while (image) {
        mend_image *base = image->base;
        if (image->source.close && !image->shares)
            image->source.close(image->source.context);
        if (!image->shares) {
            free(image->head.regions);
            free(image->index);
        }
        free(image->raw);
        free(image->packed);
        free(image);
        image = base;
    }
}

int mend_image_share(const mend_image *image, mend_image **reader)
{
    mend_image *first = NULL, **to = &first;
    for (; image; image = image->base, to = &(*to)->base) {
        mend_image *copy = malloc(sizeof *copy);
        if (copy) {
            *copy = *image;
            copy->base = NULL;
            copy->shares = true;
            copy->cached = UINT64_MAX;
            copy->raw = malloc(image->head.block);
            copy->packed = malloc(image->head.block);
            *to = copy;
        }
        if (!copy || !copy->raw || !copy->packed) {
            mend_image_close(first);
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory for another reader of an image");
        }
    }
    *reader = first;
    return 0;
}

uint64_t mend_image_raw_at(const mend_image *image)
{
    if (!image->count || image->count != block_count(&image->head))
        return 0;
    for (uint64_t i = 0; i < image->count; i++)
        if (image->index[i].zstd)
            return 0;
    return image->index[0].offset;
}

const mend_image_head *mend_image_info(const mend_image *image)
{
    return &image->head;
}

uint64_t mend_image_file_bytes(const mend_image *image)
{
    return image->source.bytes;
}

uint64_t mend_image_stored_blocks(const mend_image *image)
{
    return image->count;
}

const mend_image_region *mend_image_find_region(const mend_image *image, int id)
{
    for (uint32_t i = 0; i < image->head.region_count; i++)
        if (image->head.regions[i].id == id)
            return &image->head.regions[i];
    return NULL;
}

static bool same_layout(const mend_image_head *a, const mend_image_head *b)
{
    if (a->stream_bytes != b->stream_bytes || a->region_count != b->region_count ||
        a->rank != b->rank || a->ranks != b->ranks || strcmp(a->name, b->name) != 0)
        return false;
    for (uint32_t i = 0; i < a->region_count; i++)
        if (a->regions[i].id != b->regions[i].id || a->regions[i].offset != b->regions[i].offset ||
            a->regions[i].bytes != b->regions[i].bytes)
            return false;
    return true;
}

int mend_image_set_base(mend_image *image, mend_image *base)
{
    const mend_image_head *want = &image->head, *have = &base->head;
    int depth = 0;

    if (want->base_version != have->version || want->base_id != have->save_id ||
        (image->count != block_count(want) && !same_layout(want, have)))
        return mend_fail(MEND_ERR_DAMAGED, "version %lld is not the base that version %lld needs",
                         (long long)have->version, (long long)want->version);
    for (const mend_image *b = base; b; b = b->base)
        if (++depth > CHAIN_MAX)
            return mend_fail(MEND_ERR_DAMAGED, "a chain of more than %d deltas", CHAIN_MAX);
    image->base = base;
    return 0;
}

mend_image *mend_image_base(const mend_image *image)
{
    return image->base;
}

int mend_image_chain(const mend_image *image)
{
    int count = 0;
    for (const mend_image *b = image->base; b; b = b->base)
        count++;
    return count;
}

/* Read one stored block, check it, and leave its raw bytes in `to`. */
static int load_block(mend_image *image, const struct disk_entry *e, uint8_t *to)
{
    size_t raw = block_bytes(&image->head, e->block);
    uint8_t *stored = e->zstd ? image->packed : to;
    int rc = source_read(&image->source, e->offset, stored, e->stored);
    if (rc)
        return rc;
    if (mend_image_sum(image->head.save_id, e->block, stored, e->stored) != e->sum)
        return mend_fail(
            MEND_ERR_DAMAGED, "block %llu of version %lld, rank %d has a wrong checksum",
            (unsigned long long)e->block, (long long)image->head.version, image->head.rank);
    if (e->zstd && ZSTD_decompress(to, raw, stored, e->stored) != raw)
        return mend_fail(
            MEND_ERR_DAMAGED, "block %llu of version %lld, rank %d does not decompress",
            (unsigned long long)e->block, (long long)image->head.version, image->head.rank);
    return 0;
}

static int read_from_block(mend_image *image, const struct disk_entry *e, uint64_t skip,
                           uint8_t *to, size_t count)
{
    if (skip == 0 && count == block_bytes(&image->head, e->block))
        return load_block(image, e, to);
    if (image->cached != e->block) {
        image->cached = UINT64_MAX;
        int rc = load_block(image, e, image->raw);
        if (rc)
            return rc;
        image->cached = e->block;
    }
    memcpy(to, image->raw + skip, count);
    return 0;
}

/* First entry whose block is not below `block`. */
static uint64_t find_entry(const mend_image *image, uint64_t block)
{
    uint64_t low = 0, high = image->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (image->index[middle].block < block)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int read_checked(mend_image *image, uint64_t at, uint8_t *to, size_t count)
{
    uint64_t size = image->head.block, i = find_entry(image, at / size);

    while (count) {
        const struct disk_entry *e = i < image->count ? &image->index[i] : NULL;
        uint64_t start = e ? e->block * size : UINT64_MAX;
        size_t n;
        int rc;
        if (e && start <= at) {
            uint64_t end = start + block_bytes(&image->head, e->block);
            n = end - at < count ? (size_t)(end - at) : count;
            rc = read_from_block(image, e, at - start, to, n);
            i++;
        } else {
            n = start - at < count ? (size_t)(start - at) : count;
            if (!image->base)
                return mend_fail(MEND_ERR_DAMAGED, "version %lld needs its base, version %lld",
                                 (long long)image->head.version,
                                 (long long)image->head.base_version);
            rc = read_checked(image->base, at, to, n);
        }
        if (rc)
            return rc;
        at += n;
        to += n;
        count -= n;
    }
    return 0;
}

int mend_image_read(mend_image *image, uint64_t at, void *to, size_t count)
{
    if (count > image->head.stream_bytes || at > image->head.stream_bytes - count)
        return mend_fail(MEND_ERR_ARGUMENT, "the stream ends at %llu",
                         (unsigned long long)image->head.stream_bytes);
    return read_checked(image, at, to, count);
}

int mend_image_verify(mend_image *image)
{
    for (; image; image = image->base) {
        image->cached = UINT64_MAX;
        for (uint64_t i = 0; i < image->count; i++) {
            int rc = load_block(image, &image->index[i], image->raw);
            if (rc)
                return rc;
        }
        if (image->head.base_version >= 0 && !image->base)
            return mend_fail(MEND_ERR_DAMAGED, "version %lld needs its base, version %lld",
                             (long long)image->head.version, (long long)image->head.base_version);
    }
    return 0;
}
