/* pagemap.c - which pages of a mapping were touched, and which were written, according to the kernel. */
#include "images/image.h"

#include <base/fail.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* PAGEMAP_SCAN of Linux 6.7 reports stretches of pages: reading one word per page takes several per cent of
 * the time of writing the pages. The headers of older systems do not have it. */
struct pagemap_stretch {
    uint64_t from, to, is;
};
struct pagemap_question {
    uint64_t size, flags, from, to, walked_to, answer, room, most_pages, inverted, all_of, any_of,
        tell;
};
enum { PAGE_OF_FILE = 1 << 2, PAGE_PRESENT = 1 << 3, PAGE_SWAPPED = 1 << 4 };
#define ASK_PAGEMAP _IOWR('f', 16, struct pagemap_question)

/* The words of /proc/self/pagemap. */
#define WORD_OF_FILE (1ull << 61)
#define WORD_TOUCHED (3ull << 62) /* present, swapped */

static int says(uint64_t word, enum pages which)
{
    return (word & WORD_TOUCHED) && (which == PAGES_TOUCHED || !(word & WORD_OF_FILE));
}

static int word_of(int pagemap, const void *address, uint64_t *word)
{
    off_t at = (off_t)((uint64_t)address / ground.page_size * sizeof *word);
    return pread(pagemap, word, sizeof *word, at) == sizeof *word;
}

/* Some systems hide it, some answer with zeros. So ask about two known pages: this function is a page of a
 * file, and a variable on the stack is a page that was written. */
int pagemap_open(void)
{
    uint64_t code, data = 1;
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (word_of(fd, (const void *)(uintptr_t)pagemap_open, &code) && word_of(fd, &data, &data) &&
        says(code, PAGES_TOUCHED) && !says(code, PAGES_WRITTEN) && says(data, PAGES_WRITTEN))
        return fd;
    close(fd);
    errno = ENODATA;
    return -1;
}

static int scan(int pagemap, uint64_t from, uint64_t to, enum pages which, pagemap_take *take,
                void *context)
{
    struct pagemap_stretch found[128];
    struct pagemap_question q = {.size = sizeof q,
                                 .from = from,
                                 .to = to,
                                 .answer = (uint64_t)found,
                                 .room = sizeof found / sizeof *found,
                                 .any_of = PAGE_PRESENT | PAGE_SWAPPED};
    if (which == PAGES_WRITTEN)
        q.inverted = q.all_of = PAGE_OF_FILE;
    uint64_t begin = 0, end = 0; /* not reported yet: the next may continue it */
    while (q.from < to) {
        int n = ioctl(pagemap, ASK_PAGEMAP, &q), rc = 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 || q.walked_to <= q.from)
            return q.from == from ? 1 : mend_fail_errno("cannot read /proc/self/pagemap");
        for (int i = 0; i < n && rc == 0; i++) {
            if (end && found[i].from != end)
                rc = take(context, begin, end);
            if (found[i].from != end)
                begin = found[i].from;
            end = found[i].to;
        }
        if (rc)
            return rc;
        q.from = q.walked_to;
    }
    return end ? take(context, begin, end) : 0;
}

/* Whether all of these pages (of an anonymous mapping) are in memory: then they were touched, and mincore() tells that in a
 * twentieth of the time that their words take. A page that was touched may be elsewhere: the words tell the rest. */
enum { CHUNK = 512 };
static int all_in_memory(uint64_t from, size_t pages)
{
    unsigned char in[CHUNK];
    return mincore((void *)from, pages * ground.page_size, in) == 0 && in[0] & 1 &&
           (pages == 1 || memcmp(in, in + 1, pages - 1) == 0);
}

static int read_words(int pagemap, uint64_t from, uint64_t to, enum pages which, pagemap_take *take,
                      void *context)
{
    uint64_t word[CHUNK], begin = 0;
    size_t pages = (to - from) / ground.page_size;
    for (size_t i = 0; i <= pages; i++) {
        if (i % CHUNK == 0 && i < pages) {
            size_t count = pages - i < CHUNK ? pages - i : CHUNK, want = count * sizeof *word;
            off_t at = (off_t)((from / ground.page_size + i) * sizeof *word);
            if (which == PAGES_TOUCHED && all_in_memory(from + i * ground.page_size, count))
                memset(word, 0xff, want);
            else if (pread(pagemap, word, want, at) != (ssize_t)want)
                return mend_fail_errno("cannot read /proc/self/pagemap");
        }
        int yes = i < pages && says(word[i % CHUNK], which), rc = 0;
        if (yes && !begin)
            begin = from + i * ground.page_size;
        if (!yes && begin) {
            rc = take(context, begin, from + i * ground.page_size);
            begin = 0;
        }
        if (rc)
            return rc;
    }
    return 0;
}

int pagemap_pages(int pagemap, uint64_t from, uint64_t to, enum pages which, pagemap_take *take,
                  void *context)
{
    int rc = scan(pagemap, from, to, which, take, context);
    return rc == 1 ? read_words(pagemap, from, to, which, take, context) : rc;
}
