/* image.h - the content of an image of the upper half, inside the format of the image layer:
 *
 *   region 1 "capsule"  struct image_meta, then its mappings, runs, files, and the names of these
 *   region 2 "memory"   the bytes of all runs that are stored here, one after the other
 *
 * A mapping is a piece of the upper half's address space; a run is a stretch of it with content.
 * A page in a mapping but in no run is as the mapping's file has it, or zero if the mapping has no file.
 * An incremental image has a base (named in the image's header): a run that is not stored here has the
 * same content in the base.
 */
#ifndef CAPSULE_IMAGE_H
#define CAPSULE_IMAGE_H
#include "start/start.h"

#include <base/track.h>
#include <mend/types.h>
#include <image/image.h>

enum { IMAGE_META = 1, IMAGE_MEMORY = 2 };
enum { IMAGE_BLOCK = 256 << 10 };
#define IMAGE_NAME "capsule"

struct image_meta {
    uint32_t border_version, mappings, rank, size;
    uint64_t runs, bytes; /* bytes: stored here */
    char arch[16];
    uint64_t machine[MACHINE_WORDS]; /* see machine_describe */
    uint64_t page_size;
    struct upper *upper;
    struct steering steering;
    int *tid_address;
    void *robust_list;
    uint64_t robust_length;
    int32_t thread_level;
    uint32_t files;
    uint64_t names; /* bytes */
};
struct mapping {
    uint64_t from, to;
    int32_t prot, shared;
    uint64_t offset, sum; /* where it begins in its file; the checksum of that part of the file */
    uint64_t file;        /* 1: the first one; 0: none is needed */
};
struct named_file { /* pages that nobody has written are mapped from it again, see images/files.c */
    uint64_t device, inode, bytes;
    int64_t modified[2], changed[2]; /* mtime and ctime: seconds, nanoseconds */
    uint64_t name;                   /* where its path begins in the names; each ends with a zero */
};
struct run {
    uint64_t from, to;
    uint64_t in_base; /* 1: not stored here */
};

/* Do these fit together? If not: MEND_ERR_DAMAGED, and mend_error_text() says why. */
int image_meta_check(const struct image_meta *meta, const struct mapping *mappings,
                     const struct run *runs, const struct named_file *files, const char *names);
/* The same for the state of the upper half that a restart relies on: every address that it would jump to,
 * stand on or write to must be in memory of the right kind. */
int image_upper_check(const struct image_meta *meta, const struct mapping *mappings,
                      const struct upper *upper);

/* --- survey.c: what there is to save, while the upper half stands still --- */
struct stretch { /* pages that were touched, inside one mapping */
    uint64_t from, to;
    uint32_t mapping;
    ptrdiff_t shift; /* from there to where the bytes can be read */
};
struct survey {
    struct image_meta meta;
    struct mapping *mappings;
    struct stretch *stretches;
    size_t mapping_room, count, room;
    uint64_t pages; /* in all stretches */
    struct named_file *files;
    char *names;
    size_t file_room, name_room;
    int last_anonymous;         /* the last mapping is anonymous */
    int tracked;                /* `written` is known */
    struct mend_range *written; /* since the last tracked survey (or maybe written); ascending */
    size_t written_count, written_room;
};
/* tracked: also find out what was written (images/track.c). */
int survey_take(struct survey *s, struct upper *upper, int tracked);
void survey_free(struct survey *s);
void survey_store_all(int yes); /* from now on leave no page to a file */

/* Make content behind PROT_NONE readable for a moment. */
void survey_reveal(const struct survey *s, int yes);
/* While we write an image, two pieces of the upper half's memory change: its stack below the point where it
 * stands, because we run there, and struct upper, which the agent's thread writes. None of that matters to
 * the program, but checksum and bytes must be of the same moment. */
int survey_is_moving(const struct survey *s, uint64_t from, size_t count);
int page_is_zero(const void *page); /* look.c */

/* --- pagemap.c --- */
enum pages {
    PAGES_TOUCHED,
    PAGES_WRITTEN
}; /* written: since a private mapping of a file was made */
typedef int pagemap_take(void *context, uint64_t from, uint64_t to); /* negative: stop */
int pagemap_open(void); /* -1 and errno: this system does not say */
int pagemap_pages(int pagemap, uint64_t from, uint64_t to, enum pages which, pagemap_take *take,
                  void *context);

/* --- files.c: pages that images leave to the files they come from --- */
struct mapped_file { /* as /proc/self/maps shows it */
    uint64_t inode, offset;
    const char *path;
};
void files_began(void);      /* the upper half may map files from now on */
void files_look_again(void); /* a survey begins */
/* 1: the mapping m names its file from now on. 0: its pages must be stored. Negative: an error. */
int files_name(struct survey *s, struct mapping *m, const struct mapped_file *file);
/* The checksum of a part of a file, up to its end. */
int files_sum(int fd, uint64_t offset, uint64_t bytes, uint64_t *sum);

/* --- selection.c: which pages go into this image --- */
struct page_sums { /* what an image held, page by page, to find later changes */
    mend_version_t version;
    uint64_t save_id;
    const struct run *runs;
    const uint64_t *sums; /* of the pages of all runs, in order; NULL: not known */
    uint64_t count;       /* of runs */
    void *memory;         /* holds all of the above */
    size_t bytes;
};
struct found { /* by the process that chose the pages and wrote the image */
    uint64_t runs, bytes, pages, written;
    int32_t code; /* 0 or MEND_ERR_* */
    char text[500];
};
struct selection {
    struct survey *survey;
    const struct page_sums *base; /* NULL: a full image */
    int want_sums;
    /* everything below lies in `memory`: allocated beforehand, used by the process that writes the image */
    uint8_t *memory;
    size_t bytes, used;
    struct found *found;
    struct run *runs;
    ptrdiff_t *shifts;       /* of each run */
    uint64_t *sums;          /* of the pages of all stretches; in the end, of those in a run */
    uint8_t *zero;           /* the same: 1: no content */
    uint8_t *head, *scratch; /* the image's first region, up to memory_offset */
    size_t head_bytes;
    uint64_t memory_offset;
    uint64_t run_now, run_at; /* position of the fetch */
};
/* Allocates room for everything, shared with a child process. */
int selection_prepare(struct selection *p, struct survey *s, const struct page_sums *base,
                      int want_sums);
/* Looks at every page, chooses, and builds the tables. alone: by one thread, in a child; then this function and the next
 * but one call no malloc. */
int selection_make(struct selection *p, int alone);
void selection_look(const struct selection *p, int alone); /* look.c: fills in `zero` and `sums` */
int selection_write(struct selection *p, mend_version_t version, uint64_t save_id, int fd,
                    const char *path, int alone, uint64_t *bytes);
/* Keeps what a later image needs to know about this one; `sums` takes over the memory. */
void selection_keep(struct selection *p, mend_version_t version, uint64_t save_id,
                    struct page_sums *sums);
void selection_free(struct selection *p);
void page_sums_free(struct page_sums *sums);
#endif
