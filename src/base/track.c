/* The kernel's part of write tracking: see base/track.h. Headers of older systems lack most of these numbers, so they
 * are defined here. */
#include <base/track.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { USER_MODE_ONLY = 1, UNPOPULATED = 1 << 13, ASYNCHRONOUS = 1 << 15 };
struct found_pages {
    uint64_t start, end, is;
};
struct question { /* struct pm_scan_arg */
    uint64_t size, flags, start, end, walked_to, answer, room, most_pages, inverted, all_of, any_of,
        tell;
};
#define ASK_PAGEMAP _IOWR('f', 16, struct question)
enum { PROTECT = 1 << 0, MUST_BE_WATCHED = 1 << 1 };
enum { PRESENT = 1 << 3, SWAPPED = 1 << 4 };
enum { FOUND_MAX = 256 };

int mend_track_open(void)
{
    struct uffdio_api api = {.api = UFFD_API, .features = ASYNCHRONOUS | UNPOPULATED};
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY);
    if (fd >= 0 && ioctl(fd, UFFDIO_API, &api) != 0) {
        int why = errno;
        close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

int mend_track_watch(int uffd, const struct mend_range *r)
{
    struct uffdio_register reg = {.range = {r->start, r->end - r->start},
                                  .mode = UFFDIO_REGISTER_MODE_WP};
    return ioctl(uffd, UFFDIO_REGISTER, &reg);
}

void mend_track_unwatch(int uffd, const struct mend_range *r)
{
    struct uffdio_range range = {r->start, r->end - r->start};
    ioctl(uffd, UFFDIO_UNREGISTER, &range);
}

int mend_track_protect(int uffd, const struct mend_range *r, bool on)
{
    struct uffdio_writeprotect wp = {.range = {r->start, r->end - r->start},
                                     .mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0};
    return ioctl(uffd, UFFDIO_WRITEPROTECT, &wp);
}

/* Scan the whole range, in as many calls as the answers need. */
static int ask(int pagemap, const struct mend_range *r, struct question q, mend_track_take *take,
               void *context)
{
    struct found_pages found[FOUND_MAX];
    q.size = sizeof q;
    q.start = r->start;
    q.end = r->end;
    q.answer = (uintptr_t)found;
    q.room = FOUND_MAX;
    while (q.start < r->end) {
        int rc = 0, n = ioctl(pagemap, ASK_PAGEMAP, &q);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        for (int i = 0; i < n && rc >= 0; i++)
            rc = take(context, found[i].start, found[i].end, (unsigned)found[i].is);
        if (rc < 0 || q.walked_to <= q.start)
            return -1;
        q.start = q.walked_to;
    }
    return 0;
}

int mend_track_changed(int pagemap, const struct mend_range *r, mend_track_take *take,
                       void *context)
{
    struct question q = {.flags = PROTECT | MUST_BE_WATCHED,
                         .inverted = PRESENT,
                         .any_of = TRACK_WRITTEN | PRESENT,
                         .tell = TRACK_WRITTEN};
    return ask(pagemap, r, q, take, context);
}

int mend_track_pages(int pagemap, const struct mend_range *r, bool files, bool protect,
                     mend_track_take *take, void *context)
{
    struct question q = {.flags = MUST_BE_WATCHED | (protect ? PROTECT : 0),
                         .any_of = PRESENT | SWAPPED,
                         .tell = TRACK_WRITTEN | (files ? TRACK_OF_FILE : 0)};
    return ask(pagemap, r, q, take, context);
}

static int count_pages(void *context, uintptr_t start, uintptr_t end, unsigned is)
{
    if (is & TRACK_WRITTEN)
        *(size_t *)context += (end - start) / (size_t)sysconf(_SC_PAGESIZE);
    return 0;
}

/* Take eight pages, write to one directly and to one by a system call: the scan must find exactly
 * these two, and only once. */
static bool finds_two(int uffd, int pagemap, uint8_t *p, size_t page, const int pipes[2])
{
    size_t first = 0, n = 0, again = 0;
    struct mend_range r = {(uintptr_t)p, (uintptr_t)(p + 8 * page)};
    memset(p, 1, 8 * page);
    if (mend_track_watch(uffd, &r) || mend_track_pages(pagemap, &r, 0, 1, count_pages, &first) ||
        first != 8)
        return false;
    p[2 * page + 5] = 7;
    if (write(pipes[1], "x", 1) != 1 || read(pipes[0], p + 6 * page, 1) != 1)
        return false;
    return mend_track_pages(pagemap, &r, 0, 0, count_pages, &first) == 0 && first == 8 + 2 &&
           mend_track_changed(pagemap, &r, count_pages, &n) == 0 && n == 2 &&
           mend_track_changed(pagemap, &r, count_pages, &again) == 0 && again == 0;
}

static bool self_test(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int pipes[2] = {-1, -1};
    int uffd = mend_track_open(), pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    uint8_t *p = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool good = uffd >= 0 && pagemap >= 0 && p != MAP_FAILED && pipe2(pipes, O_CLOEXEC) == 0 &&
                finds_two(uffd, pagemap, p, page, pipes);
    if (p != MAP_FAILED)
        munmap(p, 8 * page);
    int fds[] = {uffd, pagemap, pipes[0], pipes[1]};
    for (int i = 0; i < 4; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return good;
}

static bool test_result;

static void run_self_test(void)
{
    test_result = self_test();
}

bool mend_track_works(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, run_self_test);
    return test_result;
}
