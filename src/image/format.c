#include "format.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include <base/fail.h>
#include <base/sum.h>

#define REGIONS_MAX (1u << 22)

uint64_t mend_image_sum(uint64_t save_id, uint64_t block, const void *bytes, size_t count)
{
    /* the seed ties a block to its place and attempt: a block in the wrong place does not pass */
    return mend_sum(bytes, count, save_id ^ (block + 1) * 0x9E3779B97F4A7C15u);
}

static bool name_ends(const char *text, size_t room)
{
    return memchr(text, 0, room) != NULL;
}

int mend_image_check_head(const mend_image_head *head)
{
    if (head->kind != MEND_IMAGE_DATA && head->kind != MEND_IMAGE_PARITY)
        return mend_fail(MEND_ERR_FORMAT, "an image of unknown kind %u", head->kind);
    if (head->block < MEND_IMAGE_BLOCK_MIN || head->block > MEND_IMAGE_BLOCK_MAX ||
        (head->block & (head->block - 1)))
        return mend_fail(MEND_ERR_DAMAGED, "an image with blocks of %u bytes", head->block);
    if (head->version < 0 || head->ranks < 1 || head->rank < 0 || head->rank >= head->ranks)
        return mend_fail(MEND_ERR_DAMAGED, "an image of version %lld, rank %d of %d",
                         (long long)head->version, head->rank, head->ranks);
    if (head->base_version < -1 || head->base_version >= head->version)
        return mend_fail(MEND_ERR_DAMAGED, "version %lld is based on version %lld",
                         (long long)head->version, (long long)head->base_version);
    if (head->stream_bytes > INT64_MAX / 2 || head->region_count > REGIONS_MAX ||
        !name_ends(head->name, sizeof head->name))
        return mend_fail(MEND_ERR_DAMAGED, "an image header out of bounds");

    uint64_t end = 0;
    for (uint32_t i = 0; i < head->region_count; i++) {
        const mend_image_region *r = &head->regions[i];
        if (r->offset < end || r->bytes > head->stream_bytes ||
            r->offset > head->stream_bytes - r->bytes || !name_ends(r->label, sizeof r->label))
            return mend_fail(MEND_ERR_DAMAGED, "region %d is outside its image", r->id);
        if ((r->flags & MEND_REGION_GLOBAL) &&
            (r->bytes > r->global_total || r->global_offset > r->global_total - r->bytes))
            return mend_fail(MEND_ERR_DAMAGED, "region %d is outside its global array", r->id);
        end = r->offset + r->bytes;
    }
    return 0;
}

size_t mend_image_head_bytes(uint32_t region_count)
{
    return sizeof(struct disk_head) + region_count * sizeof(mend_image_region) + sizeof(uint64_t);
}

size_t packed_head_bytes(const mend_image_head *head)
{
    return mend_image_head_bytes(head->region_count);
}

void pack_head_into(const mend_image_head *head, uint8_t *p)
{
    size_t table = head->region_count * sizeof(mend_image_region), n = packed_head_bytes(head);
    struct disk_head d = {
        .magic = HEAD_MAGIC,
        .format = FORMAT,
        .order = ORDER_MARK,
        .kind = head->kind,
        .head_bytes = (uint32_t)n,
        .version = head->version,
        .save_id = head->save_id,
        .rank = head->rank,
        .ranks = head->ranks,
        .base_version = head->base_version,
        .base_id = head->base_id,
        .stream_bytes = head->stream_bytes,
        .block = head->block,
        .region_count = head->region_count,
    };
    memcpy(d.name, head->name, sizeof d.name);
    d.job = head->job.id[0] ? head->job : *job_here();
    memcpy(p, &d, sizeof d);
    if (table)
        memcpy(p + sizeof d, head->regions, table);
    uint64_t sum = XXH3_64bits(p, n - sizeof sum);
    memcpy(p + n - sizeof sum, &sum, sizeof sum);
}

int mend_image_pack_head(const mend_image_head *head, uint8_t **bytes, size_t *count)
{
    int rc = mend_image_check_head(head);
    if (rc)
        return rc;
    size_t n = packed_head_bytes(head);
    uint8_t *p = calloc(1, n);
    if (!p)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for an image header of %zu bytes", n);
    pack_head_into(head, p);
    *bytes = p;
    *count = n;
    return 0;
}

static int check_disk_head(const struct disk_head *d, size_t count)
{
    if (memcmp(d->magic, HEAD_MAGIC, sizeof d->magic) != 0)
        return mend_fail(MEND_ERR_FORMAT, "not an image");
    if (d->order != ORDER_MARK)
        return mend_fail(MEND_ERR_ARCHITECTURE, "an image of a machine with another byte order");
    if (d->format != FORMAT)
        return mend_fail(MEND_ERR_FORMAT, "an image of format %u; this library reads format %u",
                         d->format, FORMAT);
    if (d->region_count > REGIONS_MAX ||
        d->head_bytes != sizeof *d + d->region_count * sizeof(mend_image_region) + sizeof(uint64_t))
        return mend_fail(MEND_ERR_DAMAGED, "an image header of the wrong length");
    if (d->head_bytes > count)
        return mend_fail(MEND_ERR_TRUNCATED, "the image header is truncated");
    return 0;
}

int mend_image_unpack_head(const uint8_t *bytes, size_t count, mend_image_head *head)
{
    struct disk_head d;

    if (count < sizeof d)
        return mend_fail(MEND_ERR_TRUNCATED, "the image header is truncated");
    memcpy(&d, bytes, sizeof d);
    int rc = check_disk_head(&d, count);
    if (rc)
        return rc;
    uint64_t sum;
    memcpy(&sum, bytes + d.head_bytes - sizeof sum, sizeof sum);
    if (sum != XXH3_64bits(bytes, d.head_bytes - sizeof sum))
        return mend_fail(MEND_ERR_DAMAGED, "the image header's checksum is wrong");

    size_t table = d.region_count * sizeof(mend_image_region);
    *head = (mend_image_head){
        .kind = d.kind,
        .version = d.version,
        .save_id = d.save_id,
        .rank = d.rank,
        .ranks = d.ranks,
        .base_version = d.base_version,
        .base_id = d.base_id,
        .block = d.block,
        .region_count = d.region_count,
        .stream_bytes = d.stream_bytes,
        .job = d.job,
        .regions = calloc(d.region_count + 1, sizeof *head->regions),
    };
    if (!head->regions)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %u regions", d.region_count);
    memcpy(head->name, d.name, sizeof head->name);
    memcpy(head->regions, bytes + sizeof d, table);
    rc = mend_image_check_head(head);
    if (rc == 0)
        rc = job_check(&head->job);
    if (rc) {
        free(head->regions);
        head->regions = NULL;
    }
    return rc;
}
