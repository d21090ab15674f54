/* pool.c - pages of images, in a memfd that is mapped at one place for good.
 *
 * Free slots are of two kinds: warm ones have a page and are taken first; cold ones have none. A thread
 * returns pages that nobody holds to the system (pool_trim): meanwhile it owns the slots; afterwards they are
 * cold.
 */
#include "images/pool.h"
#include "ground/ground.h"

#include <base/fail.h>
#include <base/fault.h>
#include <base/io.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

struct stack {
    uint32_t *slot;
    size_t count;
};

static struct {
    int fd;
    char *at;
    size_t most;     /* slots that we have addresses for */
    size_t slots;    /* of the file */
    uint16_t *users; /* [slots] */
    size_t room;     /* of the arrays */
    struct stack warm, cold, leaving;
    int trimming;
    pthread_mutex_t lock; /* protects the stacks, which the trimming thread uses */
} pool = {.fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

/* Addresses for as many pages as the machine has or, if a limit forbids that, for as many as possible. */
static int open_pool(void)
{
    if (pool.fd >= 0)
        return 0;
    size_t bytes = (size_t)sysconf(_SC_PHYS_PAGES) * ground.page_size;
    void *at = MAP_FAILED;
    for (; bytes > ground.page_size; bytes = ROUND_DOWN(bytes / 2, ground.page_size)) {
        at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at != MAP_FAILED)
            break;
    }
    if (at == MAP_FAILED)
        return mend_fail_errno("cannot keep images in memory");
    if ((pool.fd = memfd_create("mend-image", MFD_CLOEXEC)) < 0) {
        int rc = mend_fail_errno("cannot keep images in memory");
        munmap(at, bytes);
        return rc;
    }
    pool.at = at;
    pool.most = bytes / ground.page_size < UINT32_MAX ? bytes / ground.page_size : UINT32_MAX - 1;
    return 0;
}

static int grow_array(void *array, size_t one, size_t room)
{
    void **place = array, *more = realloc(*place, one * room);
    if (!more)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a table of %zu pages", room);
    *place = more;
    return 0;
}

static int grow_arrays(size_t slots)
{
    if (slots <= pool.room)
        return 0;
    size_t room = slots + slots / 4 + 4096;
    int rc = grow_array(&pool.users, sizeof *pool.users, room);
    if (rc == 0)
        rc = grow_array(&pool.warm.slot, sizeof *pool.warm.slot, room);
    if (rc == 0)
        rc = grow_array(&pool.cold.slot, sizeof *pool.cold.slot, room);
    if (rc == 0)
        pool.room = room;
    return rc;
}

/* Adds cold slots, the lowest on top. */
static int grow(size_t count)
{
    size_t least = pool.slots / 16 + 1024, left = pool.most - pool.slots;
    if (count < least)
        count = least < left ? least : left;
    if (count > left)
        return mend_fail(MEND_ERR_NO_MEMORY, "no room for %zu more pages of images", count);
    size_t slots = pool.slots + count;
    int rc = grow_arrays(slots);
    if (rc)
        return rc;
    if (ftruncate(pool.fd, (off_t)(slots * ground.page_size)) ||
        mmap(pool.at + pool.slots * ground.page_size, count * ground.page_size,
             PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, pool.fd,
             (off_t)(pool.slots * ground.page_size)) == MAP_FAILED)
        return mend_fail_errno("cannot keep %zu more pages of images in memory", count);
    memset(pool.users + pool.slots, 0, count * sizeof *pool.users);
    memmove(pool.cold.slot + count, pool.cold.slot, pool.cold.count * sizeof *pool.cold.slot);
    for (size_t i = 0; i < count; i++)
        pool.cold.slot[i] = (uint32_t)(slots - 1 - i);
    pool.cold.count += count;
    pool.slots = slots;
    return 0;
}

static int get_locked(uint32_t *slots, size_t count)
{
    size_t there = pool.warm.count + pool.cold.count;
    int rc = there < count ? grow(count - there) : 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct stack *from = pool.warm.count ? &pool.warm : &pool.cold;
        slots[i] = from->slot[--from->count];
        pool.users[slots[i]] = 1;
    }
    return rc;
}

int pool_get(uint32_t *slots, size_t count)
{
    int rc = open_pool();
    if (rc)
        return rc;
    pthread_mutex_lock(&pool.lock);
    rc = get_locked(slots, count);
    pthread_mutex_unlock(&pool.lock);
    return rc;
}

void *pool_page(uint32_t slot)
{
    return pool.at + slot * ground.page_size;
}

enum { PARTS = 64 }; /* for one system call */

static int write_parts(uint32_t slot, const struct iovec *part, int parts, size_t bytes)
{
    off_t at = (off_t)(slot * ground.page_size);
    int rc = 0;
    if (!mend_fault_armed && pwritev(pool.fd, part, parts, at) == (ssize_t)bytes)
        return 0;
    for (int i = 0; i < parts && rc == 0; at += (off_t)part[i++].iov_len)
        rc = mend_io_pwrite(pool.fd, part[i].iov_base, part[i].iov_len, at, "an image in memory");
    return rc;
}

/* By a system call: through the mapping, each new page would cost a fault. */
int pool_write(uint32_t slot, const void *const *pages, size_t count)
{
    struct iovec part[PARTS];
    int rc = 0;
    for (size_t n, done = 0; done < count && rc == 0; done += n, slot += (uint32_t)n) {
        int parts = 0;
        for (n = 0; done + n < count; n++) {
            char *page = (char *)pages[done + n];
            struct iovec *last = parts ? &part[parts - 1] : NULL;
            if (last && (char *)last->iov_base + last->iov_len == page)
                last->iov_len += ground.page_size;
            else if (parts < PARTS)
                part[parts++] = (struct iovec){page, ground.page_size};
            else
                break;
        }
        rc = write_parts(slot, part, parts, n * ground.page_size);
    }
    return rc;
}

int pool_read(uint32_t slot, size_t from, void *to, size_t bytes)
{
    return mend_io_pread(pool.fd, to, bytes, (off_t)(slot * ground.page_size + from),
                         "an image in memory");
}

void pool_share(const uint32_t *slots, size_t count)
{
    for (size_t i = 0; i < count; i++)
        pool.users[slots[i]]++;
}

/* From the last to the first, so that they are handed out in order again. */
void pool_drop(const uint32_t *slots, size_t count)
{
    pthread_mutex_lock(&pool.lock);
    while (count--)
        if (--pool.users[slots[count]] == 0)
            pool.warm.slot[pool.warm.count++] = slots[count];
    pthread_mutex_unlock(&pool.lock);
}

int pool_file(void)
{
    return pool.fd;
}

size_t pool_in_order(const uint32_t *slots, size_t count)
{
    size_t n = count > 0;
    while (n < count && slots[n] == slots[n - 1] + 1)
        n++;
    return n;
}

static void *trim(void *none)
{
    (void)none;
    const uint32_t *slot = pool.leaving.slot;
    for (size_t i = 0, n; i < pool.leaving.count; i += n) {
        n = pool_in_order(slot + i, pool.leaving.count - i);
        fallocate(pool.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)(slot[i] * ground.page_size), (off_t)(n * ground.page_size));
    }
    pthread_mutex_lock(&pool.lock);
    while (pool.leaving.count)
        pool.cold.slot[pool.cold.count++] = pool.leaving.slot[--pool.leaving.count];
    free(pool.leaving.slot);
    pool.leaving.slot = NULL;
    pool.trimming = 0;
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

/* The top of the stack, in the order in which the slots would be taken. */
static int choose_leaving(void)
{
    size_t cold = pool.cold.count + pool.warm.count, used = pool.slots - cold;
    size_t keep = used / 16 + 64;
    if (pool.trimming || pool.warm.count <= keep)
        return 0;
    size_t count = pool.warm.count - keep;
    pool.leaving.slot = malloc(count * sizeof *pool.leaving.slot);
    if (!pool.leaving.slot)
        return 0;
    for (; pool.leaving.count < count; pool.leaving.count++)
        pool.leaving.slot[pool.leaving.count] = pool.warm.slot[--pool.warm.count];
    return pool.trimming = 1;
}

void pool_trim(void)
{
    pthread_t thread;
    pthread_mutex_lock(&pool.lock);
    int some = choose_leaving();
    pthread_mutex_unlock(&pool.lock);
    if (!some)
        return;
    sigset_t all, before; /* the application's handlers must not run in this thread */
    sigfillset(&all);
    sigdelset(&all, SIGNAL_LEAVE);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, trim, NULL))
        trim(NULL);
    else
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int pool_reserve(size_t pages)
{
    enum { PART = 16 << 20 };
    if (open_pool())
        return 0;
    pthread_mutex_lock(&pool.lock);
    size_t part = pages > pool.warm.count ? pages - pool.warm.count : 0, there = pool.cold.count;
    part = part < PART / ground.page_size ? part : PART / ground.page_size;
    int rc = part > there ? grow(part - there) : 0;
    size_t n = 0;
    while (rc == 0 && n < part) { /* consecutive slots: the last comes first */
        const uint32_t *top = pool.cold.slot + pool.cold.count - part;
        size_t same = 1;
        while (n + same < part && top[n + same] == top[n] - same)
            same++;
        uint32_t first = top[n] - (uint32_t)(same - 1);
        if (madvise(pool_page(first), same * ground.page_size, MADV_POPULATE_WRITE))
            rc = 1; /* works without it, only slower */
        n += same;
    }
    if (rc == 0 && part) {
        pool.cold.count -= part;
        memmove(pool.warm.slot + part, pool.warm.slot, pool.warm.count * sizeof *pool.warm.slot);
        memcpy(pool.warm.slot, pool.cold.slot + pool.cold.count, part * sizeof *pool.warm.slot);
        pool.warm.count += part;
    }
    pthread_mutex_unlock(&pool.lock);
    return rc == 0 && part;
}
