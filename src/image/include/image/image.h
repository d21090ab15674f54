/* An image: one rank's part of one version, as a file. This layer is the only code that knows the
 * format.
 *
 *   header   magic, format, byte order, kind, version, save id, logical rank, number of ranks,
 *            base, block size, name, the job it belongs to
 *   regions  id, label, place in the stream, length, place in a global array
 *   sum      XXH3 of all that
 *   blocks   the stream's blocks that this image has, in order, each raw or zstd
 *   index    number, place, stored length, XXH3 of each block
 *   footer   where the index is, its XXH3, the file's length: a file that was cut short has none
 *
 * The stream is all regions' bytes in one address space: a region lies at its `offset`, gaps are
 * zeros. An image is whole, or a delta: then it has only the blocks that changed since its base,
 * and is read together with it. (An image may also have all of its own blocks and a base that its
 * owner knows how to combine with them; the two need not have the same layout then.) A save id is
 * one attempt to save a version. Parts of different attempts are never combined.
 *
 * Readers trust nothing: every length is checked against the file's before it is used, every byte
 * is covered by a sum.
 */
#ifndef IMAGE_IMAGE_H
#define IMAGE_IMAGE_H

#include <mend/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEND_IMAGE_NAME      72
#define MEND_IMAGE_LABEL     40
#define MEND_IMAGE_BLOCK_MIN 4096u
#define MEND_IMAGE_BLOCK_MAX (16u << 20)

/* The job that an image belongs to, as `mend run` named it at its first launch. An empty id: no job, as for a program
 * that uses the store alone. */
enum { MEND_JOB_ID = 36, MEND_JOB_PROGRAM = 40 };
typedef struct mend_image_job {
    char id[MEND_JOB_ID];           /* random */
    uint32_t abi;                   /* enum mend_abi, for people; 0: unknown */
    char program[MEND_JOB_PROGRAM]; /* the beginning of its name, for people */
    uint64_t build, arguments;      /* sums of the program and of its arguments; 0: unknown */
} mend_image_job;

enum mend_image_kind { MEND_IMAGE_DATA = 1, MEND_IMAGE_PARITY = 2 };

enum { /* flags of a region */
       MEND_REGION_GLOBAL = 1,
       MEND_REGION_DEVICE = 2, /* it was in a GPU's memory: for people only */
};

typedef struct mend_image_region {
    int32_t id;
    uint32_t flags;
    uint64_t offset; /* in the stream */
    uint64_t bytes;
    uint64_t global_offset, global_total;
    char label[MEND_IMAGE_LABEL];
} mend_image_region;

typedef struct mend_image_head {
    uint32_t kind;
    char name[MEND_IMAGE_NAME];
    mend_version_t version;
    uint64_t save_id;
    int32_t rank, ranks;
    mend_version_t base_version; /* -1: whole */
    uint64_t base_id;
    uint32_t block;
    uint32_t region_count;
    uint64_t stream_bytes;
    mend_image_region *regions; /* ascending offsets, no overlap */
    mend_image_job job;         /* when writing, no id means that of this process */
} mend_image_head;

/* ---- the job ---------------------------------------------------------------------------------- */

/* This process is part of a job: from now on it writes images of that job, and opens no others (MEND_ERR_ARCHITECTURE;
 * the text names the other job). No id: it belongs to no job, and opens all. Not thread-safe: call it at the start. */
void mend_image_belong_to(const mend_image_job *job);
/* A number for the job, for records that are too small for more; 0: no job. The ABI is not part of it: older images do not
 * name it. */
uint64_t mend_image_job_sum(const mend_image_job *job);
/* Compute its sums: of the program file (its build id, or all its bytes) and of the arguments after the program's
 * name. A file that cannot be read has the sum 0. */
uint64_t mend_image_job_build(const char *program);
uint64_t mend_image_job_arguments(char *const *arguments);
/* The job as one line of text, "ID BUILD ARGUMENTS PROGRAM", then " ABI" if it is known, and back: MEND_ERR_ARGUMENT if
 * the text is no such line. */
enum { MEND_JOB_TEXT = MEND_JOB_ID + MEND_JOB_PROGRAM + 60 };
void mend_image_job_text(const mend_image_job *job, char text[MEND_JOB_TEXT]);
int mend_image_job_parse(const char *text, mend_image_job *job);
/* The last part of a path, as much of it as fits; characters that a terminal cannot show are
 * replaced. */
void mend_image_job_name(mend_image_job *job, const char *program);

/* ---- writing --------------------------------------------------------------------------------- */

/* Where bytes go, in order. write returns 0 or a negative code, which stops the writer. */
typedef struct mend_sink {
    int (*write)(void *context, const void *bytes, size_t count);
    void *context;
} mend_sink;

typedef struct mend_image_write_options {
    const uint64_t *blocks; /* bit set: the blocks to store, for a delta; NULL: all */
    int compress;           /* zstd level, 0: none */
    /* For a stream that is not contiguous in memory: returns the `count` bytes at `at` as a
     * pointer that is valid until the next call, or NULL, which stops the writer with
     * MEND_ERR_STREAM. Without this function the stream itself is given. The writer asks for
     * blocks in order. */
    const uint8_t *(*fetch)(void *context, uint64_t at, size_t count);
    void *fetch_context;
    /* For a writer that must not call malloc: zeroed memory for the header and the index; it stays
     * the caller's. NULL: malloc. */
    void *(*allocate)(void *context, size_t bytes);
    void *allocate_context;
    /* Another thread computes the checksums meanwhile; not with `compress`. */
    bool second_thread;
    /* Blocks stay as they are until all is written, except those that fetch returns in this buffer: so neighbours are
     * written together. NULL with fetch: none stays. */
    const uint8_t *reused;
} mend_image_write_options;

/* Write head, the chosen blocks of `stream` and the rest. *written = bytes of the file.
 * Errors: MEND_ERR_NO_MEMORY, MEND_ERR_ARGUMENT, those of the sink. */
int mend_image_write(const mend_image_head *head, const uint8_t *stream,
                     const mend_image_write_options *options, mend_sink sink, uint64_t *written);

/* Length of the file before the first block, for so many regions. */
size_t mend_image_head_bytes(uint32_t region_count);

/* Upper bound for the length of a whole image's file. */
uint64_t mend_image_bound(const mend_image_head *head);

/* ---- reading --------------------------------------------------------------------------------- */

/* Where bytes come from. read moves exactly `count` bytes or returns a negative code. */
typedef struct mend_source {
    int (*read)(void *context, uint64_t at, void *to, size_t count);
    void (*close)(void *context); /* may be NULL */
    void *context;
    uint64_t bytes;
} mend_source;

typedef struct mend_image mend_image;

/* Open: read and check header, index and footer; the blocks are checked as they are read. The
 * source belongs to the image from now on, even if opening fails. Errors: MEND_ERR_FORMAT,
 * MEND_ERR_TRUNCATED, MEND_ERR_DAMAGED, MEND_ERR_NO_MEMORY, those of the source. */
int mend_image_open(mend_source source, mend_image **image);

/* The same on a file: owned by this user, regular, links not followed (MEND_ERR_PERMISSION,
 * MEND_ERR_NOT_FOUND). */
int mend_image_open_file(const char *path, mend_image **image);

/* A source on a file, or on a part of it (bytes = UINT64_MAX: up to its end). */
int mend_source_file(const char *path, uint64_t offset, uint64_t bytes, mend_source *source);

/* A source on memory that outlives it. */
mend_source mend_source_memory(const void *bytes, uint64_t count);

/* Closes the bases too. */
void mend_image_close(mend_image *image);

const mend_image_head *mend_image_info(const mend_image *image);
uint64_t mend_image_file_bytes(const mend_image *image);
uint64_t mend_image_stored_blocks(const mend_image *image);

/* Give a delta its base, which belongs to it from now on. MEND_ERR_DAMAGED: the base is not the
 * one that the delta names, or has another layout (then it stays the caller's). */
int mend_image_set_base(mend_image *image, mend_image *base);

/* The base that it was given, or NULL. */
mend_image *mend_image_base(const mend_image *image);

/* The number of bases, one below the other. */
int mend_image_chain(const mend_image *image);

/* Read a piece of the stream through all bases; checked. MEND_ERR_DAMAGED names the block. */
int mend_image_read(mend_image *image, uint64_t at, void *to, size_t count);

/* Another reader of the same image and its bases, for another thread: each reader decodes its own block. The image
 * outlives it; mend_image_close() ends it. MEND_ERR_NO_MEMORY. */
int mend_image_share(const mend_image *image, mend_image **reader);

/* Where the stream begins in the file, if it is contiguous there; 0: it is not. */
uint64_t mend_image_raw_at(const mend_image *image);

/* Read and check every block of this image and its bases. */
int mend_image_verify(mend_image *image);

const mend_image_region *mend_image_find_region(const mend_image *image, int id);

/* ---- helpers for those who keep copies in memory --------------------------------------------- */

/* The sum of a block, as in the index. */
uint64_t mend_image_sum(uint64_t save_id, uint64_t block, const void *bytes, size_t count);

/* Check a head by itself (layout, bounds): the same rule for writers, readers and heads that
 * arrive in messages. */
int mend_image_check_head(const mend_image_head *head);

/* A head as bytes, as it stands at the start of the file, and back. pack allocates; unpack copies
 * the regions into memory that the caller frees (head->regions). */
int mend_image_pack_head(const mend_image_head *head, uint8_t **bytes, size_t *count);
int mend_image_unpack_head(const uint8_t *bytes, size_t count, mend_image_head *head);

#endif
