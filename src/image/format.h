/* The bytes on disk, as they are. Little-endian machines only: the order mark refuses others. */
#ifndef IMAGE_FORMAT_H
#define IMAGE_FORMAT_H

#include <image/image.h>

#define HEAD_MAGIC "MENDIMG"
#define FOOT_MAGIC "MENDEND"
#define FORMAT     2u /* 1: without the job */
#define ORDER_MARK 0x01020304u

struct disk_head {
    char magic[8];
    uint32_t format, order;
    uint32_t kind, head_bytes; /* header, regions and sum */
    int64_t version;
    uint64_t save_id;
    int32_t rank, ranks;
    int64_t base_version;
    uint64_t base_id;
    uint64_t stream_bytes;
    uint32_t block, region_count;
    char name[MEND_IMAGE_NAME];
    mend_image_job job;
};

struct disk_entry {
    uint64_t block;
    uint64_t offset;
    uint32_t stored;
    uint32_t zstd; /* 0 or 1 */
    uint64_t sum;  /* of the stored bytes */
};

struct disk_foot {
    char magic[8];
    uint64_t index_offset, index_count, index_sum;
    uint64_t file_bytes;
    int64_t version;
    uint64_t save_id;
    uint64_t sum; /* of the footer up to here */
};

_Static_assert(sizeof(struct disk_head) == 248, "no hidden padding");
_Static_assert(sizeof(struct disk_entry) == 32, "no hidden padding");
_Static_assert(sizeof(struct disk_foot) == 64, "no hidden padding");
_Static_assert(sizeof(mend_image_region) == 80, "written as it is");

/* The header's length on disk; and its bytes, into zeroed memory of that length. */
size_t packed_head_bytes(const mend_image_head *head);
void pack_head_into(const mend_image_head *head, uint8_t *bytes);

/* job.c: the job that this process belongs to; may this process open an image of `job`? */
const mend_image_job *job_here(void);
int job_check(const mend_image_job *job);

static inline uint64_t block_count(const mend_image_head *head)
{
    return head->stream_bytes / head->block + (head->stream_bytes % head->block != 0);
}

static inline size_t block_bytes(const mend_image_head *head, uint64_t block)
{
    uint64_t left = head->stream_bytes - block * head->block;
    return left < head->block ? (size_t)left : head->block;
}

#endif
