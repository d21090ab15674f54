/* Watching pages for writes, by the kernel: userfaultfd in asynchronous write-protect mode, read by PAGEMAP_SCAN
 * (Linux 6.7). A write costs a fault once, whoever makes it: the program, a system call, another process. What writes
 * to memory past the page tables (a network card, another process that has mapped the same page) is not seen.
 * Numbers below zero are failures, with errno. */
#ifndef BASE_TRACK_H
#define BASE_TRACK_H

#include <stdbool.h>
#include <stdint.h>

struct mend_range {
    uintptr_t start, end; /* whole pages */
};

/* Self-test, once: what the kernel promises it does. */
bool mend_track_works(void);

int mend_track_open(void); /* a file descriptor */
int mend_track_watch(int uffd, const struct mend_range *r);
void mend_track_unwatch(int uffd, const struct mend_range *r);
/* On: writes are noted from now on. */
int mend_track_protect(int uffd, const struct mend_range *r, bool on);

/* Called with runs of pages, ascending; `is`: bits of the following. Negative: no more. */
enum { TRACK_WRITTEN = 1 << 1, TRACK_OF_FILE = 1 << 2 };
typedef int mend_track_take(void *context, uintptr_t start, uintptr_t end, unsigned is);

/* Every run of pages that were written to since, or are not there; all of them are protected again. */
int mend_track_changed(int pagemap, const struct mend_range *r, mend_track_take *take,
                       void *context);
/* Every run of pages that are there, with WRITTEN if they were written to since the last call, and with OF_FILE (only if
 * `files`) if they are the file's; protect: the former are protected again, in the same step. EPERM: the range is not
 * watched. Nothing is taken then. */
int mend_track_pages(int pagemap, const struct mend_range *r, bool files, bool protect,
                     mend_track_take *take, void *context);

#endif
