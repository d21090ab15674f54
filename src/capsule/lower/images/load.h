/* images/load.h - an image becomes the upper half of this process. */
#ifndef CAPSULE_IMAGES_LOAD_H
#define CAPSULE_IMAGES_LOAD_H
#include "images/image.h"
#include "images/paged.h"

/* An image with its tables and, further down the list, the images that it is based on. */
struct loaded {
    mend_image *image;
    struct image_meta meta;
    struct mapping *mappings;
    struct run *runs;
    struct named_file *files;
    char *names;
    uint64_t memory_offset, memory_bytes;
    char *kept;         /* [mappings]: already in place, see images/wipe.c */
    void **ready;       /* [mappings]: their files, checked and mapped, but not in place yet */
    char refusal[1024]; /* of a file that perhaps only kept mappings need; "": none */
    uint32_t mapped;    /* mappings that are in place */
    const struct paged *paged; /* the image in memory, instead of `image`; or NULL */
    int checked;               /* already verified */
    const struct paged *was;   /* what memory was like, see images/track.h; NULL: unknown */
    struct mend_range *clean;  /* not written since then; ascending */
    size_t clean_count, clean_room;
    struct loaded *base;
};
/* Reads and checks the tables of l->image and of its bases. */
int loaded_tables(struct loaded *l, const char *path);
void loaded_free(struct loaded *l);
/* Checks that the files it needs are unchanged (images/files.c). going_back: this process may have them
 * mapped already; if it has not, loaded_fill() refuses. */
int files_open(struct loaded *l, int going_back);
void files_close(struct loaded *l);
/* Maps and fills the memory, and verifies every byte. Nonzero: some of it may be mapped, see the next
 * function. */
int loaded_fill(struct loaded *l);
void loaded_unmap(const struct loaded *l);     /* for a process that had no upper half before */
struct upper *loaded_become(struct loaded *l); /* the memory is in place; frees l */

/* --- images/clean.c: pages that memory already holds --- */
void clean_find(struct loaded *l); /* in mappings that are kept */
/* How far the pages from `from` on, `to` at most, are already as l->paged has them (*there: 1), or may not be
 * (0). `page`: the number of the first page. was: the position in l->was; ask in ascending order. */
uint64_t clean_until(const struct loaded *l, struct paged_cursor *was, uint64_t from, uint64_t to,
                     uint64_t page, int *there);
void clean_check(const struct loaded *l); /* for tests: is everything as it should be? */

/* --- images/wipe.c --- */
void upper_silence(void);
void upper_unmap(struct loaded *l);

/* --- images/load.c, images/wipe.c --- */
/* In two steps: put the image into memory in place of any upper half; run it. */
/* checked: this process has written or verified these bytes itself. was: the image that this process' memory
 * was like when the kernel began to record writes (images/track.h); NULL: unknown. An error ends the process:
 * there is nothing to go back to. 1: writes from now on are known. */
int image_load(const struct paged *image, int checked, const struct paged *was, const char *name);
void image_resume(void) __attribute__((noreturn));
void bring_back_threads(struct upper *upper);
/* Removes everything of an upper half from this process: memory, files, handlers, timers. Its threads must
 * have ended already, and the caller must be on a stack of the lower half. */
void upper_wipe(void);
void signals_ignore_broken_pipes(void);
void signals_default(uint64_t except); /* as an application expects them at its start */
#endif
