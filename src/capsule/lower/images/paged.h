/* images/paged.h - an image in memory: its tables, and pages that it may share with other versions
 * (images/pool.h).
 *
 * As a stream of bytes, on disk or on the way to another process:
 *   struct paged_prefix, tables (as in images/image.h), tail, sums of pages; from the next page on all pages
 * Checksums cover every byte: the sums (XXH3) cover the pages, the sum in the prefix covers everything else.
 */
#ifndef CAPSULE_PAGED_H
#define CAPSULE_PAGED_H
#include <stddef.h>
#include <stdint.h>

struct image_meta;
struct mapping;
struct run;
struct survey;
struct upper;

struct page_range { /* consecutive pages, by their numbers in an image */
    uint32_t first, count;
};
struct lent { /* pages that are still in the pool of another process of this machine */
    int fd;   /* that pool: it exists while we have it open, whatever happens to its process */
    uint32_t *slot; /* [pages]: the slots, for pages in `told` */
    struct page_range *told;
    uint64_t ranges;
};
struct paged {
    struct image_meta *head; /* followed by the tables */
    size_t head_bytes;
    char *tail; /* of the owner: held-back output */
    size_t tail_bytes;
    uint32_t *slot; /* [pages], of all runs, in order */
    uint64_t *sum;  /* [pages] */
    uint64_t pages;
    uint64_t serial;   /* of an image of this process' memory, see images/track.h; else 0 */
    struct lent *lent; /* NULL: all pages are in their slots */
};
struct paged_prefix {
    uint64_t magic, head_bytes, tail_bytes, pages, sum;
};
#define PAGED_MAGIC 0x7367706d6964656eull

/* The tables behind the head. */
const struct mapping *paged_mappings(const struct paged *p);
const struct run *paged_runs(const struct paged *p);

/* --- images/capture.c --- */
/* Takes an image of the upper half, which stands still. Shares unchanged pages with `base` (may be NULL). */
int paged_capture(struct paged *p, struct upper *upper, const struct paged *base);
int paged_of_survey(struct paged *p, struct survey *survey, const struct paged *base);
int paged_set_tail(struct paged *p, const void *parts[], const size_t bytes[], int count);

/* --- images/compare.c --- */
struct piece { /* pages that must be looked at, inside one stretch of a survey */
    uint64_t from, to;
    uint64_t number; /* of the first page, in same[] */
    ptrdiff_t shift; /* to where the bytes can be read */
};
struct pieces { /* ascending */
    struct piece *list;
    size_t count;
    uint64_t pages;
    uint8_t *same; /* [pages]: 1: the base has this page with this content */
};
/* Lists what the survey says was written, or everything. */
int pieces_make(struct pieces *p, const struct survey *survey, int all);
void pieces_free(struct pieces *p);
void pieces_compare(const struct pieces *p, const struct paged *base, uint64_t ranks);
/* Is memory as the image has it? For tests: this takes as long as comparing everything. */
void survey_check(const struct survey *survey, const struct paged *p,
                  void (*wrong)(uint64_t address));

/* --- images/paged.c --- */
void paged_free(struct paged *p);
/* Where the image has the page at an address, asked for in ascending order; -1: nowhere. */
struct paged_cursor {
    const struct paged *p;
    uint64_t run, before; /* pages before this run */
};
int64_t paged_find(struct paged_cursor *c, uint64_t address);
/* How far from there on the image has all pages; or, if it lacks the first, how far it has none. `to` at
 * most. */
uint64_t paged_find_end(const struct paged_cursor *c, uint64_t address, uint64_t to);
/* Bytes of its pages, as if the pages were consecutive. */
int paged_copy(const struct paged *p, uint64_t at, void *to, size_t count);
/* Puts pages of a run where they belong and verifies their sums (checked: skip that). there: they may be
 * there already. */
int paged_put(const struct paged *p, uint64_t page, char *to, size_t count, int checked, int there);
/* Makes room for pages that the caller will fill, in `slot` and `sum`. */
int paged_make_room(struct paged *p, uint64_t pages);

/* --- images/paged_delta.c: the changes that a holder of an older image needs --- */
struct paged_offer {
    uint64_t pages, new_pages, ranges; /* of the image; of the delta; stretches of the latter */
    uint64_t head_bytes, tail_bytes, packed_bytes;
    uint64_t head_sum;
};
struct paged_delta {
    struct paged_offer offer;
    char *notes; /* tables, tail, ranges, sums of the new pages */
    struct page_range *ranges;
};
size_t paged_notes_bytes(const struct paged_offer *offer);
/* base: NULL if the receiver has none. */
int paged_delta_make(struct paged_delta *d, const struct paged *p, const struct paged *base);
/* Begins the new image from offer and notes: the slots of its new pages exist, their content is yet to come.
 * On an error nothing is left of it. MEND_ERR_DAMAGED: the notes do not fit. MEND_ERR_NO_MEMORY. */
int paged_delta_begin(struct paged_delta *d, struct paged *p, const struct paged *base);
void paged_delta_free(struct paged_delta *d);

/* --- images/lent.c --- */
/* The new pages of a delta are those slots, in this order, of the pool that process `pid` has open as `fd`.
 */
int lent_open(struct paged *p, const struct paged_delta *d, int pid, int fd, const uint32_t *slots);
/* Bytes of pages that are all lent, as if the pages were consecutive; from any thread. */
int lent_read(const struct paged *p, uint64_t at, void *to, size_t count);
/* As paged_put(). */
int lent_put(const struct paged *p, uint64_t page, char *to, size_t count, int checked);
/* Copies all of them into slots of our own. MEND_ERR_DAMAGED: a checksum is wrong. */
int lent_fetch(const struct paged *p);
void lent_free(struct paged *p); /* from now on our own slots count */

/* --- images/paged_stream.c --- */
uint64_t paged_bytes(const struct paged *p); /* of the stream */
/* A part of it; from any thread. */
int paged_read(const struct paged *p, uint64_t at, void *to, size_t count);
/* From a stream of `bytes` bytes, through a function that reads parts of it. Does not verify pages. */
typedef int paged_source(void *context, uint64_t at, void *to, size_t count);
int paged_from_stream(struct paged *p, paged_source *read, void *context, uint64_t bytes);
/* Does the head fit the number of pages? Never trust data from another process. */
int paged_check(const struct paged *p);
#endif
