/* The image reader: any bytes are refused or read, within bounds. As checksums stop nearly every mutation at the door, the
 * first byte says which of them are made right beforehand, so that the checks behind them are reached. */
#include <image/image.h>

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "../../src/image/format.h"

static void mend_head(uint8_t *file, size_t size, uint64_t index_offset)
{
    struct disk_head h;
    memcpy(&h, file, sizeof h);
    memcpy(h.magic, HEAD_MAGIC, sizeof h.magic);
    h.format = FORMAT;
    h.order = ORDER_MARK;
    h.region_count %= 8;
    h.head_bytes =
        (uint32_t)(sizeof h + h.region_count * sizeof(mend_image_region) + sizeof(uint64_t));
    if (h.head_bytes > index_offset || h.head_bytes > size)
        return;
    memcpy(file, &h, sizeof h);
    uint64_t sum = XXH3_64bits(file, h.head_bytes - sizeof sum);
    memcpy(file + h.head_bytes - sizeof sum, &sum, sizeof sum);
}

static void mend_foot(uint8_t *file, size_t size)
{
    struct disk_foot f;
    struct disk_head h;
    memcpy(&f, file + size - sizeof f, sizeof f);
    memcpy(&h, file, sizeof h);
    memcpy(f.magic, FOOT_MAGIC, sizeof f.magic);
    size_t room = (size - sizeof f) / sizeof(struct disk_entry);
    f.index_count %= room + 1;
    f.index_offset = size - sizeof f - f.index_count * sizeof(struct disk_entry);
    f.file_bytes = size;
    f.version = h.version;
    f.save_id = h.save_id;
    f.index_sum = XXH3_64bits(file + f.index_offset, f.index_count * sizeof(struct disk_entry));
    f.sum = XXH3_64bits(&f, offsetof(struct disk_foot, sum));
    memcpy(file + size - sizeof f, &f, sizeof f);
    mend_head(file, size, f.index_offset);
}

/* Blocks follow each other, with right sums: then decompression sees the bytes. */
static void mend_blocks(uint8_t *file, size_t size)
{
    struct disk_foot f;
    struct disk_head h;
    memcpy(&f, file + size - sizeof f, sizeof f);
    memcpy(&h, file, sizeof h);
    uint64_t at = h.head_bytes;
    for (uint64_t i = 0; i < f.index_count; i++) {
        struct disk_entry e;
        uint8_t *p = file + f.index_offset + i * sizeof e;
        memcpy(&e, p, sizeof e);
        e.block = i;
        e.offset = at;
        e.zstd &= 1;
        uint64_t left = f.index_offset > at ? f.index_offset - at : 0;
        e.stored = (uint32_t)(i + 1 == f.index_count ? left : e.stored % (left + 1));
        e.sum = mend_image_sum(h.save_id, e.block, file + (at < size ? at : 0),
                               e.stored <= left ? e.stored : 0);
        at += e.stored;
        memcpy(p, &e, sizeof e);
    }
    mend_foot(file, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mend_image *image = NULL;
    if (size < 1)
        return 0;
    size_t n = size - 1;
    uint8_t *file = malloc(n + 1), back[777];
    memcpy(file, data + 1, n);
    if (n >= sizeof(struct disk_head) + sizeof(struct disk_foot) + 8) {
        if (data[0] & 1)
            mend_foot(file, n);
        if ((data[0] & 3) == 3)
            mend_blocks(file, n);
    }
    if (mend_image_open(mend_source_memory(file, n), &image) == 0) {
        const mend_image_head *head = mend_image_info(image);
        mend_image_verify(image);
        for (uint64_t at = 0; at < head->stream_bytes && at < 100000; at += 555) {
            size_t want = head->stream_bytes - at < sizeof back ? (size_t)(head->stream_bytes - at)
                                                                : sizeof back;
            mend_image_read(image, at, back, want);
        }
        for (int id = -2; id < 5; id++)
            mend_image_find_region(image, id);
        mend_image_close(image);
    }
    free(file);
    return 0;
}
