/* The kernel watches pages for writes: userfaultfd in asynchronous write-protect mode, read by PAGEMAP_SCAN (Linux
 * 6.7). The first write to a page costs a fault, whoever makes it: the program, a system call, another process. The
 * kernel does not see writes that bypass the page tables (by a network card, or by another process that has mapped the
 * same page). Negative results are failures, with errno. */
#ifndef BASE_TRACK_H
#define BASE_TRACK_H

#include <stdbool.h>
#include <stdint.h>

struct mend_range {
    uintptr_t start, end; /* whole pages */
};

/* Test once whether the kernel does what it promises. */
bool mend_track_works(void);

int mend_track_open(void); /* a file descriptor */
int mend_track_watch(int uffd, const struct mend_range *r);
void mend_track_unwatch(int uffd, const struct mend_range *r);
/* On: note writes from now on. */
int mend_track_protect(int uffd, const struct mend_range *r, bool on);

/* Called with runs of pages in ascending order; `is`: bits of the following. A negative result
 * ends the scan. */
enum { TRACK_WRITTEN = 1 << 1, TRACK_OF_FILE = 1 << 2 };
typedef int mend_track_take(void *context, uintptr_t start, uintptr_t end, unsigned is);

/* Report every run of pages that were written to since the last call, or are not present, and protect all of them
 * again. */
int mend_track_changed(int pagemap, const struct mend_range *r, mend_track_take *take,
                       void *context);
/* Report every run of pages that are present: with WRITTEN if they were written to since the last call, with OF_FILE
 * (only if `files`) if they are the file's. protect: protect the written ones again in the same step. EPERM: the range
 * is not watched; then nothing is reported. */
int mend_track_pages(int pagemap, const struct mend_range *r, bool files, bool protect,
                     mend_track_take *take, void *context);

#endif
