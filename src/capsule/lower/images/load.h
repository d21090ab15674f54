/* images/load.h - an image becomes the upper half of this process. */
#ifndef CAPSULE_IMAGES_LOAD_H
#define CAPSULE_IMAGES_LOAD_H
#include "images/image.h"
#include "images/paged.h"

/* An image with its tables, and (further down the list) those that it is based on. */
struct loaded {
    mend_image *image;
    struct image_meta meta;
    struct mapping *mappings;
    struct run *runs;
    struct named_file *files;
    char *names;
    uint64_t memory_offset, memory_bytes;
    char *kept;         /* [mappings]: already there, see images/wipe.c */
    void **ready;       /* [mappings]: their files, checked and mapped, not in their places yet */
    char refusal[1024]; /* of a file that only mappings which are kept may need; "": none */
    uint32_t mapped;    /* mappings that are in their places */
    const struct paged *paged; /* in memory, instead of `image`; else NULL */
    int checked;               /* nobody has to verify that any more */
    const struct paged *was;   /* what memory was like, see images/track.h; NULL: not known */
    struct mend_range *clean;  /* not written since that; ascending */
    size_t clean_count, clean_room;
    struct loaded *base;
};
/* The tables of l->image and of its bases, checked. */
int loaded_tables(struct loaded *l, const char *path);
void loaded_free(struct loaded *l);
/* The files that it needs are what they were (images/files.c). going_back: in a process that may have them
 * mapped already; if it has not, loaded_fill() refuses. */
int files_open(struct loaded *l, int going_back);
void files_close(struct loaded *l);
/* The memory is mapped and filled, and every byte of it verified. Not 0: some of it may be there, see the next. */
int loaded_fill(struct loaded *l);
void loaded_unmap(const struct loaded *l);     /* in a process that had no upper half before */
struct upper *loaded_become(struct loaded *l); /* it is there; l is freed */

/* --- images/clean.c: what is in memory already --- */
void clean_find(struct loaded *l); /* in mappings that are kept */
/* How far the pages from `from` on are there as l->paged has them (*there: 1), or may not be (0); `to` at most. `page`: the
 * number of the first; was: in l->was, asked for in ascending order. */
uint64_t clean_until(const struct loaded *l, struct paged_cursor *was, uint64_t from, uint64_t to,
                     uint64_t page, int *there);
void clean_check(const struct loaded *l); /* for tests: is all as it should be? */

/* --- images/wipe.c --- */
void upper_silence(void);
void upper_unmap(struct loaded *l);

/* --- images/load.c, images/wipe.c --- */
/* In two steps: put the image into memory in place of whatever upper half was there; run it. */
/* checked: this process has written or verified these bytes itself. was: the image that this process' memory was like
 * when writes began to be noted (images/track.h); NULL: not known. An error ends the process: there is nothing to go
 * back to. 1: it is known what is written from now on. */
int image_load(const struct paged *image, int checked, const struct paged *was, const char *name);
void image_resume(void) __attribute__((noreturn));
void bring_back_threads(struct upper *upper);
/* Nothing of an upper half remains in this process: memory, files, handlers, timers. Its threads
 * must be gone already, and the caller on a stack of the lower half. */
void upper_wipe(void);
void signals_ignore_broken_pipes(void);
void signals_default(uint64_t except); /* as an application expects them at its start */
#endif
