/* A readable part of a version: an image (file, bundle, message), or a copy in our own memory. */
#include <stdlib.h>

#include <base/copy.h>

#include "copies/device.h"

int part_read(struct part *part, uint64_t at, void *to, size_t count)
{
    if (part->image)
        return mend_image_read(part->image, at, to, count);
    if (count > part->head->stream_bytes || at > part->head->stream_bytes - count)
        return mend_fail(MEND_ERR_SIZE, "the saved data ends at %llu",
                         (unsigned long long)part->head->stream_bytes);
    mend_copy(to, part->slot->memory + at, count);
    return 0;
}

void part_close(mend_store *store, struct part *part)
{
    if (!part)
        return;
    device_unstage(store, part->staged);
    mend_image_close(part->image);
    if (part->slot) {
        pthread_mutex_lock(&store->lock);
        part->slot->users--;
        pthread_mutex_unlock(&store->lock);
    }
    free(part->buffer);
    free(part);
}

const mend_image_region *part_region(const struct part *part, int id)
{
    for (uint32_t i = 0; i < part->head->region_count; i++)
        if (part->head->regions[i].id == id)
            return &part->head->regions[i];
    return NULL;
}
