/* Copy on write without fork, by userfaultfd.
 *
 * The save call registers and write-protects the whole pages of all regions, and copies edges and small regions at
 * once. A thread of its own does the rest (not the engine's, which may be writing an older version):
 *   1. If somebody waits in a page fault, copy the piece around it, unless that is done, and lift its protection,
 *      which wakes the waiter.
 *   2. Otherwise copy the next stretch in order and lift its protection.
 *   3. When everything is copied, unregister the pages and tell the engine.
 * Between 1 and 3 the thread allocates nothing, takes no lock and prints nothing: whoever it would wait for might
 * itself wait in a page fault.
 *
 * The application must not unmap, move or give back memory meanwhile, but it may do so anyway. So the thread reads
 * memory with a system call, which fails where a load would kill. Lifting the protection fails if another mapping has
 * replaced the protected one, and the kernel reports memory that is given back (MADV_DONTNEED). Each of these fails
 * the save: a version never contains other data.
 *
 * Faults inside system calls (a read() or an MPI message into a protected page) need handling, too:
 * UFFD_USER_MODE_ONLY, which every process may use, would turn them into EFAULT. Where the kernel allows no more than
 * that, the store copies as usual and reports it (store.cow_refused).
 */
#include "copies/cow.h"
#include "copies/device.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define SMALL   ((size_t)16 * PAGE)
#define PIECE   ((size_t)16 * PAGE)  /* copied in one go for a waiter */
#define STRETCH ((size_t)512 * PAGE) /* released in one go: keeps a huge page whole */

struct range {
    uintptr_t start, end; /* whole pages */
    uint8_t *to;
    uint8_t *done; /* by piece */
};

struct cow {
    int uffd;
    pthread_t thread;
    bool running, stop;
    bool refused, told; /* never again for this store; the event was sent */
    bool busy;          /* guarded by the store's lock, as are running and stop */
    bool failed;
    struct range *ranges; /* disjoint, ascending */
    int count;
    uint8_t *done; /* all ranges' */
    size_t done_room;
};

static bool copy_bytes(uint8_t *to, uintptr_t from, size_t bytes)
{
    struct iovec into = {to, bytes}, out = {(void *)from, bytes};
    return process_vm_readv(getpid(), &into, 1, &out, 1, 0) == (ssize_t)bytes;
}

static bool may_copy(void)
{
    uint8_t from = 1, to = 0;
    return copy_bytes(&to, (uintptr_t)&from, 1) && to == from;
}

#if defined(UFFD_FEATURE_WP_UNPOPULATED)

static int open_uffd(void)
{
    struct uffdio_api api = {.api = UFFD_API,
                             .features =
                                 UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_UNPOPULATED |
                                 UFFD_FEATURE_WP_HUGETLBFS_SHMEM | UFFD_FEATURE_EVENT_REMOVE};
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
#ifdef USERFAULTFD_IOC_NEW
    int device = fd < 0 ? open("/dev/userfaultfd", O_RDWR | O_CLOEXEC) : -1;
    if (device >= 0) {
        fd = ioctl(device, USERFAULTFD_IOC_NEW, O_CLOEXEC | O_NONBLOCK);
        close(device);
    }
#endif
    if (fd >= 0 && (ioctl(fd, UFFDIO_API, &api) != 0 || sysconf(_SC_PAGESIZE) != PAGE)) {
        close(fd);
        return -1;
    }
    return fd;
}

#else

static int open_uffd(void)
{
    return -1;
}

#endif

static void tell_refusal(mend_store *store, struct cow *c, const char *why)
{
    if (!c->told)
        mend_event("store.cow_refused", ev_str("store", store->name), ev_str("why", why),
                   ev_str("error", strerror(errno)));
    c->told = true;
}

/* ---- one range ------------------------------------------------------------------------------- */

static int watch(const struct cow *c, const struct range *r)
{
    struct uffdio_register reg = {.range = {r->start, r->end - r->start},
                                  .mode = UFFDIO_REGISTER_MODE_WP};
    return ioctl(c->uffd, UFFDIO_REGISTER, &reg);
}

/* Lifts protection and wakes. */
static int unwatch(const struct cow *c, const struct range *r)
{
    struct uffdio_range range = {r->start, r->end - r->start};
    return ioctl(c->uffd, UFFDIO_UNREGISTER, &range);
}

static int protect(const struct cow *c, uintptr_t start, uintptr_t end, bool on)
{
    struct uffdio_writeprotect wp = {.range = {start, end - start},
                                     .mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0};
    return ioctl(c->uffd, UFFDIO_WRITEPROTECT, &wp);
}

static void serve(struct cow *c);

/* Sets `failed` if another mapping has replaced the protected one. */
static void lift(struct cow *c, uintptr_t start, uintptr_t end)
{
    while (protect(c, start, end, false) != 0) {
        if (errno != EAGAIN) { /* EAGAIN: a thread changes mappings and waits for us */
            c->failed = true;
            return;
        }
        serve(c);
    }
}

/* Copy a piece, unless that is done. */
static void copy_piece(struct cow *c, struct range *r, size_t piece)
{
    size_t at = piece * PIECE, bytes = r->end - r->start - at;
    if (r->done[piece])
        return;
    r->done[piece] = 1;
    if (!copy_bytes(r->to + at, r->start + at, bytes < PIECE ? bytes : PIECE))
        c->failed = true;
}

static struct range *find_range(struct cow *c, uintptr_t address)
{
    int low = 0, high = c->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (c->ranges[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->count && c->ranges[low].start <= address ? &c->ranges[low] : NULL;
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void serve_fault(struct cow *c, uintptr_t address)
{
    struct range *r = find_range(c, address);
    if (!r)
        return;
    size_t piece = (address - r->start) / PIECE;
    uintptr_t start = r->start + piece * PIECE;
    copy_piece(c, r, piece);
    lift(c, start, start + PIECE < r->end ? start + PIECE : r->end);
}

/* Pages are about to be given back: have we copied all of them? */
static void serve_removal(struct cow *c, uintptr_t start, uintptr_t end)
{
    for (int i = 0; i < c->count; i++) {
        const struct range *r = &c->ranges[i];
        uintptr_t a = start > r->start ? start : r->start, b = end < r->end ? end : r->end;
        for (size_t p = a < b ? (a - r->start) / PIECE : 1; a < b && p * PIECE < b - r->start; p++)
            if (!r->done[p])
                c->failed = true;
    }
}

static void serve(struct cow *c)
{
    struct uffd_msg m[16];
    ssize_t n = read(c->uffd, m, sizeof m);
    for (size_t i = 0; n > 0 && i < (size_t)n / sizeof *m; i++) {
        if (m[i].event == UFFD_EVENT_PAGEFAULT)
            serve_fault(c, (uintptr_t)m[i].arg.pagefault.address);
        else if (m[i].event == UFFD_EVENT_REMOVE)
            serve_removal(c, (uintptr_t)m[i].arg.remove.start, (uintptr_t)m[i].arg.remove.end);
    }
}

static void copy_range(struct cow *c, struct range *r)
{
    for (uintptr_t at = r->start; at < r->end;) {
        uintptr_t end = (at / STRETCH + 1) * STRETCH;
        if (end > r->end)
            end = r->end;
        /* Pieces count from the range's start, so a stretch may end inside one. */
        for (size_t p = (at - r->start) / PIECE; p * PIECE < end - r->start; p++) {
            copy_piece(c, r, p);
            if (p % 4 == 3)
                serve(c);
        }
        lift(c, at, end);
        at = end;
    }
}

/* Nothing may stay protected. If a range now contains another kind of mapping, the kernel refuses to unregister any
 * of it. Then we close the whole descriptor, which ends all protection. */
static void end_copy(struct cow *c)
{
    int failed = 0;
    for (int i = 0; i < c->count; i++)
        failed |= unwatch(c, &c->ranges[i]);
    serve(c); /* somebody may wait until we read of a removal */
    if (!failed)
        return;
    close(c->uffd);
    c->failed = true;
    c->uffd = open_uffd();
    c->refused = c->uffd < 0;
}

static void *copier(void *argument)
{
    mend_store *store = argument;
    struct cow *c = store->cow;

    pthread_mutex_lock(&store->lock);
    for (;;) {
        while (!c->busy && !c->stop)
            pthread_cond_wait(&store->changed, &store->lock);
        if (!c->busy)
            break;
        pthread_mutex_unlock(&store->lock);
        for (int i = 0; i < c->count; i++)
            copy_range(c, &c->ranges[i]);
        end_copy(c);
        pthread_mutex_lock(&store->lock);
        c->busy = false;
        pthread_cond_broadcast(&store->changed);
    }
    pthread_mutex_unlock(&store->lock);
    return NULL;
}

static int start_thread(mend_store *store, struct cow *c)
{
    sigset_t all, old;
    if (c->running)
        return 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int error = pthread_create(&c->thread, NULL, copier, store);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    c->running = error == 0;
    errno = error;
    return error;
}

/* ---- in a save ------------------------------------------------------------------------------- */

bool cow_inner(const struct region *r, size_t *from, size_t *to)
{
    uintptr_t start = ((uintptr_t)r->address + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    uintptr_t end = ((uintptr_t)r->address + r->bytes) & ~(uintptr_t)(PAGE - 1);
    if (r->bytes < SMALL || end <= start)
        return false;
    *from = start - (uintptr_t)r->address;
    *to = end - (uintptr_t)r->address;
    return true;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* The ranges of this save, with room for their pieces. False: they overlap, or no memory. */
static bool make_ranges(mend_store *store, struct cow *c, struct slot *slot,
                        const mend_image_head *head, int registered, const struct drain *drain)
{
    struct range *ranges = realloc(c->ranges, ((size_t)registered + 1) * sizeof *ranges);
    size_t pieces = 0, at = 0;

    if (!ranges)
        return false;
    c->ranges = ranges;
    c->count = 0;
    for (int i = 0; i < registered; i++) {
        const mend_image_region *to = &head->regions[i];
        const struct region *r = region_find(store, to->id);
        size_t from = 0, end = 0;
        if (device_has(drain, r->id) || !cow_inner(r, &from, &end))
            continue;
        ranges[c->count++] =
            (struct range){(uintptr_t)r->address + from, (uintptr_t)r->address + end,
                           slot->memory + to->offset + from, NULL};
        pieces += (end - from + PIECE - 1) / PIECE;
    }
    if (pieces > c->done_room) {
        uint8_t *done = realloc(c->done, pieces);
        if (!done)
            return false;
        c->done = done;
        c->done_room = pieces;
    }
    if (pieces)
        memset(c->done, 0, pieces);
    qsort(ranges, (size_t)c->count, sizeof *ranges, compare_ranges);
    for (int i = 0; i < c->count; i++) {
        if (i && ranges[i].start < ranges[i - 1].end)
            return false;
        ranges[i].done = c->done + at;
        at += (ranges[i].end - ranges[i].start + PIECE - 1) / PIECE;
    }
    return c->count > 0;
}

static bool protect_all(struct cow *c)
{
    for (int i = 0; i < c->count; i++)
        if (watch(c, &c->ranges[i]) || protect(c, c->ranges[i].start, c->ranges[i].end, true)) {
            int why = errno;
            for (int j = 0; j <= i; j++)
                unwatch(c, &c->ranges[j]);
            errno = why;
            return false;
        }
    return true;
}

bool cow_protect(mend_store *store, struct slot *slot, const mend_image_head *head, int registered,
                 const struct drain *drain)
{
    if (!store->options.copy_on_write)
        return false;
    if (!store->cow && !(store->cow = calloc(1, sizeof *store->cow)))
        return false;
    struct cow *c = store->cow;
    if (c->refused)
        return false;
    if (!c->running) {
        c->uffd = may_copy() ? open_uffd() : -1;
        if (c->uffd < 0 || start_thread(store, c)) {
            tell_refusal(
                store, c,
                "the kernel does not let this process handle page faults, or read its own memory");
            c->refused = true;
            return false;
        }
    }
    c->failed = false;
    errno = 0;
    if (!make_ranges(store, c, slot, head, registered, drain))
        return false; /* overlapping or only small regions: nothing to report */
    if (!protect_all(c)) {
        tell_refusal(store, c, "some memory cannot be write-protected");
        return false;
    }
    return true;
}

void cow_start(mend_store *store)
{
    pthread_mutex_lock(&store->lock);
    store->cow->busy = true;
    pthread_cond_broadcast(&store->changed);
    pthread_mutex_unlock(&store->lock);
}

int cow_wait(mend_store *store)
{
    struct cow *c = store->cow;
    if (!c)
        return 0;
    pthread_mutex_lock(&store->lock);
    while (c->busy)
        pthread_cond_wait(&store->changed, &store->lock);
    pthread_mutex_unlock(&store->lock);
    return c->failed
               ? mend_fail(MEND_ERR_STATE,
                           "memory of a region was freed, moved or unmapped before it was copied")
               : 0;
}

void cow_free(mend_store *store)
{
    struct cow *c = store->cow;
    if (!c)
        return;
    if (c->running) {
        pthread_mutex_lock(&store->lock);
        c->stop = true;
        pthread_cond_broadcast(&store->changed);
        pthread_mutex_unlock(&store->lock);
        pthread_join(c->thread, NULL);
    }
    if (c->running && c->uffd >= 0)
        close(c->uffd);
    free(c->ranges);
    free(c->done);
    free(c);
}
