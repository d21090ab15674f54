/* The kernel's part of write tracking: userfaultfd and PAGEMAP_SCAN, where they exist and do what they
 * promise. */
#include "copies/pages.h"
#include "copies/track.h"

#include <fcntl.h>
/* the kernel's and the C library's headers define RWF_* alike, in different words */
#undef RWF_HIPRI
#undef RWF_DSYNC
#undef RWF_SYNC
#undef RWF_NOWAIT
#undef RWF_APPEND
#undef RWF_NOAPPEND
#undef RWF_ATOMIC
#include <linux/fs.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(UFFD_FEATURE_WP_ASYNC) && defined(PAGEMAP_SCAN)
#define TRACKING 1
#else
#define TRACKING 0
#endif

#define FOUND_MAX 1024

#if TRACKING

int track_open(void)
{
    struct uffdio_api api = {.api = UFFD_API,
                             .features = UFFD_FEATURE_WP_ASYNC | UFFD_FEATURE_WP_UNPOPULATED};
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
    if (fd >= 0 && ioctl(fd, UFFDIO_API, &api) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

int track_watch(int uffd, const struct range *r)
{
    struct uffdio_register reg = {.range = {r->start, r->end - r->start},
                                  .mode = UFFDIO_REGISTER_MODE_WP};
    return ioctl(uffd, UFFDIO_REGISTER, &reg);
}

void track_unwatch(int uffd, const struct range *r)
{
    struct uffdio_range range = {r->start, r->end - r->start};
    ioctl(uffd, UFFDIO_UNREGISTER, &range);
}

int track_protect(int uffd, const struct range *r, bool on)
{
    struct uffdio_writeprotect wp = {.range = {r->start, r->end - r->start},
                                     .mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0};
    return ioctl(uffd, UFFDIO_WRITEPROTECT, &wp);
}

/* Call `mark` for every run of changed pages, and protect them again, in one step per run. */
int track_scan(int pagemap, const struct range *r, void (*mark)(void *, uintptr_t, uintptr_t),
               void *context)
{
    struct page_region found[FOUND_MAX];
    uint64_t at = r->start;

    while (at < r->end) {
        struct pm_scan_arg arg = {
            .size = sizeof arg,
            .flags = PM_SCAN_WP_MATCHING | PM_SCAN_CHECK_WPASYNC,
            .start = at,
            .end = r->end,
            .vec = (uintptr_t)found,
            .vec_len = FOUND_MAX,
            .category_inverted = PAGE_IS_PRESENT,
            .category_anyof_mask = PAGE_IS_WRITTEN | PAGE_IS_PRESENT,
            .return_mask = PAGE_IS_WRITTEN,
        };
        long n = ioctl(pagemap, PAGEMAP_SCAN, &arg);
        if (n < 0)
            return -1;
        for (long i = 0; i < n; i++)
            mark(context, (uintptr_t)found[i].start, (uintptr_t)found[i].end);
        if (arg.walk_end <= at)
            return -1;
        at = arg.walk_end;
    }
    return 0;
}

static void count_run(void *context, uintptr_t start, uintptr_t end)
{
    *(size_t *)context += (end - start) / PAGE;
}

/* Three pages, one of them written, one by a system call: exactly these two must be found, once. */
static bool self_test(void)
{
    bool good = false;
    size_t n = 0, again = 0;
    int uffd = track_open(), pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC),
        pipes[2] = {-1, -1};
    uint8_t *p = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (uffd < 0 || pagemap < 0 || p == MAP_FAILED || sysconf(_SC_PAGESIZE) != PAGE ||
        pipe2(pipes, O_CLOEXEC))
        goto out;
    struct range r = {(uintptr_t)p, (uintptr_t)(p + 8 * PAGE)};
    memset(p, 1, 8 * PAGE);
    if (track_watch(uffd, &r) || track_protect(uffd, &r, true) ||
        track_scan(pagemap, &r, count_run, &n) || n != 0)
        goto out;
    p[2 * PAGE + 5] = 7;
    if (write(pipes[1], "x", 1) != 1 || read(pipes[0], p + 6 * PAGE, 1) != 1)
        goto out;
    good = track_scan(pagemap, &r, count_run, &n) == 0 && n == 2 &&
           track_scan(pagemap, &r, count_run, &again) == 0 && again == 0;
out:
    if (p != MAP_FAILED)
        munmap(p, 8 * PAGE);
    int fds[] = {uffd, pagemap, pipes[0], pipes[1]};
    for (int i = 0; i < 4; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return good;
}

#else

int track_open(void)
{
    return -1;
}
int track_watch(int uffd, const struct range *r)
{
    (void)uffd, (void)r;
    return -1;
}
void track_unwatch(int uffd, const struct range *r)
{
    (void)uffd, (void)r;
}
int track_protect(int uffd, const struct range *r, bool on)
{
    (void)uffd, (void)r, (void)on;
    return -1;
}
int track_scan(int pagemap, const struct range *r, void (*mark)(void *, uintptr_t, uintptr_t),
               void *context)
{
    (void)pagemap, (void)r, (void)mark, (void)context;
    return -1;
}
static bool self_test(void)
{
    return false;
}

#endif

static bool test_result;

static void run_self_test(void)
{
    test_result = self_test();
}

bool pages_work(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, run_self_test);
    return test_result;
}
