/* images/paged.h - an image in memory: its tables, and pages that it may share with other versions (images/pool.h).
 *
 * As a stream of bytes, on disk or on its way to another process:
 *   struct paged_prefix, tables (as in images/image.h), tail, sums of pages; from the next page on all pages
 * Every byte is covered: pages by their sums (XXH3), all else by the sum in the prefix.
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

struct page_range { /* pages that follow each other, by their numbers in an image */
    uint32_t first, count;
};
struct lent { /* pages that are still in the pool of another process of this machine */
    int fd; /* that pool: it is there as long as we have it open, whatever becomes of its process */
    uint32_t *slot; /* [pages]: where, for those that are told */
    struct page_range *told;
    uint64_t ranges;
};
struct paged {
    struct image_meta *head; /* with the tables behind it */
    size_t head_bytes;
    char *tail; /* of the owner: what was printed */
    size_t tail_bytes;
    uint32_t *slot; /* [pages], those of all runs, in order */
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
/* An image of the upper half, which stands still. What is as in `base` (may be NULL) is shared with it. */
int paged_capture(struct paged *p, struct upper *upper, const struct paged *base);
int paged_of_survey(struct paged *p, struct survey *survey, const struct paged *base);
int paged_set_tail(struct paged *p, const void *parts[], const size_t bytes[], int count);

/* --- images/compare.c --- */
struct piece { /* of a stretch of a survey: pages that must be looked at */
    uint64_t from, to;
    uint64_t number; /* of the first, in same[] */
    ptrdiff_t shift; /* to where the bytes can be read */
};
struct pieces { /* ascending */
    struct piece *list;
    size_t count;
    uint64_t pages;
    uint8_t *same; /* [pages]: whether the base has this page with this content */
};
/* What the survey knows to be written, or all of it. */
int pieces_make(struct pieces *p, const struct survey *survey, int all);
void pieces_free(struct pieces *p);
void pieces_compare(const struct pieces *p, const struct paged *base, uint64_t ranks);
/* Is memory as the image has it? For tests: that takes as long as comparing all. */
void survey_check(const struct survey *survey, const struct paged *p,
                  void (*wrong)(uint64_t address));
/* How many threads may work on so many bytes while as many ranks do the same. */
int threads_for(uint64_t bytes, uint64_t ranks);

/* --- images/paged.c --- */
void paged_free(struct paged *p);
/* Where it has the page at an address, asked for in ascending order; -1: nowhere. */
struct paged_cursor {
    const struct paged *p;
    uint64_t run, before; /* pages before this run */
};
int64_t paged_find(struct paged_cursor *c, uint64_t address);
/* How far from there on it has all pages; if it has none there, how far it has none. `to` at most. */
uint64_t paged_find_end(const struct paged_cursor *c, uint64_t address, uint64_t to);
/* Bytes of its pages, as if they followed each other. */
int paged_copy(const struct paged *p, uint64_t at, void *to, size_t count);
/* Pages of a run to where they belong, if their sums are right (checked: known to be). there: they may be there. */
int paged_put(const struct paged *p, uint64_t page, char *to, size_t count, int checked, int there);
/* Room for pages that the caller will fill, in `slot` and `sum`. */
int paged_make_room(struct paged *p, uint64_t pages);

/* --- images/paged_delta.c: what somebody who has an older one must be told --- */
struct paged_offer {
    uint64_t pages, new_pages, ranges; /* of the image, told, in so many stretches */
    uint64_t head_bytes, tail_bytes, packed_bytes;
    uint64_t head_sum;
};
struct paged_delta {
    struct paged_offer offer;
    char *notes; /* tables, tail, ranges, sums of the new pages */
    struct page_range *ranges;
};
size_t paged_notes_bytes(const struct paged_offer *offer);
/* base: NULL if the other one has none. */
int paged_delta_make(struct paged_delta *d, const struct paged *p, const struct paged *base);
/* The new image from offer and notes; the slots of its new pages are there, their content is yet to come.
 * MEND_ERR_DAMAGED if the notes do not fit, MEND_ERR_NO_MEMORY: nothing is left of it. */
int paged_delta_begin(struct paged_delta *d, struct paged *p, const struct paged *base);
void paged_delta_free(struct paged_delta *d);

/* --- images/lent.c --- */
/* The new pages of a delta are those slots, in this order, of the pool that is open as `fd` in process `pid`. */
int lent_open(struct paged *p, const struct paged_delta *d, int pid, int fd, const uint32_t *slots);
/* Bytes of pages that are all lent, as if they followed each other; from any thread. */
int lent_read(const struct paged *p, uint64_t at, void *to, size_t count);
/* As paged_put(). */
int lent_put(const struct paged *p, uint64_t page, char *to, size_t count, int checked);
/* All of them into slots of its own. MEND_ERR_DAMAGED: they are not what they should be. */
int lent_fetch(const struct paged *p);
void lent_free(struct paged *p); /* from now on its own slots count */

/* --- images/paged_stream.c --- */
uint64_t paged_bytes(const struct paged *p); /* of the stream */
/* A part of it; from any thread. */
int paged_read(const struct paged *p, uint64_t at, void *to, size_t count);
/* From a stream: a function that reads parts of it, which has `bytes`. Pages are not verified. */
typedef int paged_source(void *context, uint64_t at, void *to, size_t count);
int paged_from_stream(struct paged *p, paged_source *read, void *context, uint64_t bytes);
/* Does the head fit the number of pages? What has come from elsewhere is not believed. */
int paged_check(const struct paged *p);
#endif
