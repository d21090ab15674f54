/* Watching pages for writes, by the kernel. Numbers below zero are failures. */
#ifndef STORE_TRACK_H
#define STORE_TRACK_H

#include <stdbool.h>
#include <stdint.h>

struct range {
    uintptr_t start, end; /* whole pages */
};

int track_open(void); /* a file descriptor */
int track_watch(int uffd, const struct range *r);
void track_unwatch(int uffd, const struct range *r);
/* On: writes are noted from now on. */
int track_protect(int uffd, const struct range *r, bool on);
/* Calls mark() for every run of pages that were written to since, and protects them again. */
int track_scan(int pagemap, const struct range *r, void (*mark)(void *, uintptr_t, uintptr_t),
               void *context);

#endif
