/* online/held.c - images of upper halves in memory: this rank's own and its partner's.
 *
 * Each is a paged image (images/paged.h) whose tail is the held-back output. We keep two versions of two
 * ranks while a version is written, and a few more while a repair moves them. Versions share equal pages, so
 * two take little more memory than one.
 */
#include <string.h>

#include "online/online.h"
#include "images/load.h"
#include "images/pool.h"
#include "images/track.h"
#include "output/output.h"

#include <mend/error.h>

struct trailer {
    struct output_state output;
    uint64_t magic;
};
#define TRAILER_MAGIC 0x646e656d74757074ull

struct held_image *held_find(int rank, mend_version_t version)
{
    for (int i = 0; i < IMAGES_HELD; i++)
        if (online.held[i].version == version && online.held[i].rank == rank && version)
            return &online.held[i];
    return NULL;
}

/* An image that is being written to disk stays until that is done. */
static void release(void)
{
    for (int i = 0; i < IMAGES_HELD; i++)
        if (!online.held[i].version && !__atomic_load_n(&online.held[i].busy, __ATOMIC_ACQUIRE))
            paged_free(&online.held[i].pages);
}

struct held_image *held_new(void)
{
    release();
    for (int i = 0; i < IMAGES_HELD; i++)
        if (!online.held[i].version && !__atomic_load_n(&online.held[i].busy, __ATOMIC_ACQUIRE)) {
            online.held[i].checked = 0;
            return &online.held[i];
        }
    die("more than %d images at once", IMAGES_HELD);
}

void held_reserve(size_t size)
{
    online.pages_wanted = 2 * size / ground.page_size;
}

int held_reserve_more(void)
{
    return online.pages_wanted && pool_reserve(online.pages_wanted);
}

void held_keep(mend_version_t version, mend_version_t copied, int rank, int other_rank)
{
    for (int i = 0; i < IMAGES_HELD; i++) {
        int own = online.held[i].rank == rank, theirs = online.held[i].rank == other_rank;
        if (online.held[i].lending)
            continue;
        if (!(own || theirs) ||
            (online.held[i].version != version && online.held[i].version != copied))
            online.held[i].version = online.held[i].rank = 0;
    }
    release();
    if (rank >= 0) /* a spare keeps what it has made ready */
        pool_trim();
}

size_t held_write(struct held_image *image, struct upper *upper, const struct held_image *base)
{
    struct trailer t = {output_state(), TRAILER_MAGIC};
    const void *part[3] = {output_bytes(0), output_bytes(1), &t};
    const size_t bytes[3] = {t.output.to[0] - t.output.from[0], t.output.to[1] - t.output.from[1],
                             sizeof t};
    if (paged_capture(&image->pages, upper, base ? &base->pages : NULL) ||
        paged_set_tail(&image->pages, part, bytes, 3))
        die("rank %d: no image: %s", upper->rank, mend_error_text());
    image->checked = 1;
    return image->size = paged_bytes(&image->pages);
}

/* The image that this process' memory was like when the kernel began to record writes. */
static const struct paged *held_in_memory(void)
{
    for (int i = 0; i < IMAGES_HELD && track_image(); i++)
        if (online.held[i].pages.serial == track_image())
            return &online.held[i].pages;
    return NULL;
}

void held_load(struct held_image *image)
{
    struct trailer t;
    const struct paged *p = &image->pages;
    if (p->tail_bytes < sizeof t)
        die("an image in memory is incomplete");
    const char *end = p->tail + p->tail_bytes - sizeof t;
    memcpy(&t, end, sizeof t);
    size_t out = t.output.to[0] - t.output.from[0], err = t.output.to[1] - t.output.from[1];
    if (t.magic != TRAILER_MAGIC || out + err != p->tail_bytes - sizeof t)
        die("an image in memory is incomplete");
    output_restore(&t.output, end - err - out, end - err);
    int known = image_load(p, image->checked, held_in_memory(), "an image in memory");
    image->checked = 1;
    image->pages.serial = track_new_serial();
    track_memory_is(known ? image->pages.serial : 0);
}
