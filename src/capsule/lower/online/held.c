/* online/held.c - images of upper halves in memory: this rank's own and its partner's.
 *
 * Each is a memfd: the image as snapshot.c writes it, then the output that was held back. Two
 * versions of two ranks are kept, and a few more while a repair moves them.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "online/online.h"
#include "images/load.h"
#include "images/snapshot.h"
#include "output/output.h"

struct held_image held[IMAGES_HELD];

struct trailer {
    struct output_state output;
    uint64_t magic;
};
#define TRAILER_MAGIC 0x646e656d74757074ull

struct held_image *held_find(int rank, mend_version_t version)
{
    for (int i = 0; i < IMAGES_HELD; i++)
        if (held[i].version == version && held[i].rank == rank && version)
            return &held[i];
    return NULL;
}

struct held_image *held_new(void)
{
    struct held_image *image = NULL;
    for (int i = 0; i < IMAGES_HELD && !image; i++)
        if (!held[i].version && !held[i].busy)
            image = &held[i];
    if (!image)
        die("more than %d images at once", IMAGES_HELD);
    if (!image->fd && (image->fd = memfd_create("mend-image", MFD_CLOEXEC)) < 0)
        die("cannot keep an image in memory: %s", strerror(errno));
    lseek(image->fd, 0, SEEK_SET);
    image->checked = 0;
    return image;
}

static void map_anew(struct held_image *image, size_t size, int flags)
{
    if (image->bytes)
        munmap(image->bytes, image->mapped);
    image->mapped = size + size / 8;
    image->bytes =
        mmap(NULL, image->mapped, PROT_READ | PROT_WRITE, MAP_SHARED | flags, image->fd, 0);
    if (image->bytes == MAP_FAILED)
        die("cannot map an image: %s", strerror(errno));
}

/* The mapping stays: making one of all its pages takes longer than copying them. It is a little longer than
 * asked for, as images grow by a few bytes. */
char *held_bytes(struct held_image *image, size_t size)
{
    if (size > image->mapped)
        map_anew(image, size, MAP_POPULATE);
    return image->bytes;
}

static size_t wanted; /* room in each of the first two */
void held_reserve(size_t size)
{
    wanted = size;
}

/* Part by part, each page touched once: the ranks beside us need the core. */
int held_reserve_more(void)
{
    enum { PART = 16 << 20 };
    static size_t done[2];
    for (int i = 0; i < 2; i++) {
        struct stat now;
        if (held[i].version || held[i].busy || done[i] >= wanted)
            continue;
        if (!held[i].fd && (held[i].fd = memfd_create("mend-image", MFD_CLOEXEC)) < 0)
            die("cannot keep an image in memory: %s", strerror(errno));
        if (wanted > held[i].mapped) {
            map_anew(&held[i], wanted, 0);
            done[i] = 0;
        }
        size_t part = wanted - done[i] < PART ? wanted - done[i] : PART;
        if (fstat(held[i].fd, &now) ||
            ((size_t)now.st_size < done[i] + part &&
             ftruncate(held[i].fd, (off_t)(done[i] + part))) ||
            madvise(held[i].bytes + done[i], part, MADV_POPULATE_WRITE))
            part = wanted - done[i]; /* without it all works, only slower */
        done[i] += part;
        return 1;
    }
    return 0;
}

void held_keep(mend_version_t version, mend_version_t copied, int rank, int other_rank)
{
    for (int i = 0; i < IMAGES_HELD; i++) {
        int own = held[i].rank == rank, theirs = held[i].rank == other_rank;
        if (!(own || theirs) || (held[i].version != version && held[i].version != copied))
            held[i].version = held[i].rank = 0;
    }
}

static void write_all(int fd, const void *p, size_t n)
{
    while (n) {
        ssize_t w = write(fd, p, n);
        if (w < 0 && errno == EINTR)
            continue;
        if (w <= 0)
            die("cannot keep an image in memory: %s", strerror(errno));
        p = (const char *)p + w;
        n -= (size_t)w;
    }
}

size_t held_write(struct held_image *image, struct upper *upper)
{
    struct trailer t = {output_state(), TRAILER_MAGIC};
    image->size = snapshot_to(upper, image->fd);
    image->checked = 1;
    for (int i = 0; i < 2; i++) {
        write_all(image->fd, output_bytes(i), t.output.to[i] - t.output.from[i]);
        image->size += t.output.to[i] - t.output.from[i];
    }
    write_all(image->fd, &t, sizeof t);
    return image->size += sizeof t;
}

void held_load(struct held_image *image)
{
    struct trailer t;
    const char *bytes = held_bytes(image, image->size), *end = bytes + image->size - sizeof t;
    memcpy(&t, end, sizeof t);
    if (t.magic != TRAILER_MAGIC)
        die("an image in memory is incomplete");
    size_t out = t.output.to[0] - t.output.from[0], err = t.output.to[1] - t.output.from[1];
    output_restore(&t.output, end - err - out, end - err);
    image_load(bytes, image->size, image->checked, "an image in memory");
    image->checked = 1;
}

/* Files only grow: pages that are there are not given back. */
int held_room(int fd, size_t size)
{
    struct stat st;
    return fstat(fd, &st) || ((size_t)st.st_size < size && ftruncate(fd, (off_t)size));
}

/* Send and/or receive an image; 0 if a peer failed. */
int held_move(struct held_image *out, int to, struct held_image *in, int from, MPI_Comm comm)
{
    enum { PIECE = 16 << 20, TAG = 1 };
    unsigned long size_out = out ? out->size : 0, size_in = 0;
    to = out ? to : MPI_PROC_NULL;
    from = in ? from : MPI_PROC_NULL;
    if (MPI_Sendrecv(&size_out, 1, MPI_UNSIGNED_LONG, to, TAG, &size_in, 1, MPI_UNSIGNED_LONG, from,
                     TAG, comm, MPI_STATUS_IGNORE))
        return 0;
    if (in && held_room(in->fd, size_in))
        die("cannot keep an image of %lu bytes in memory: %s", size_in, strerror(errno));
    char *bytes_out = out ? held_bytes(out, size_out) : NULL;
    char *bytes_in = in ? held_bytes(in, size_in) : NULL;
    int ok = 1;
    for (size_t at = 0; ok && (at < size_out || at < size_in); at += PIECE) {
        size_t s = at >= size_out ? 0 : size_out - at < PIECE ? size_out - at : PIECE;
        size_t r = at >= size_in ? 0 : size_in - at < PIECE ? size_in - at : PIECE;
        ok = MPI_Sendrecv(bytes_out + at, (int)s, MPI_BYTE, s ? to : MPI_PROC_NULL, TAG,
                          bytes_in + at, (int)r, MPI_BYTE, r ? from : MPI_PROC_NULL, TAG, comm,
                          MPI_STATUS_IGNORE) == MPI_SUCCESS;
    }
    if (in)
        in->size = size_in;
    return ok;
}
