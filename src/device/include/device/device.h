/* Memory of GPUs, by the driver that the program has loaded.
 *
 * The functions of CUDA's driver library are looked up at run time: nothing of CUDA is needed to
 * build or to run Mend. Without the library in the process every address is host memory, and asking
 * costs a microsecond. The setting device.driver names another library with the same functions.
 *
 * Failures are MEND_ERR_DEVICE, or MEND_ERR_NO_MEMORY if the device has none left; the message has
 * the driver's function and its name of the error. Functions may be called by any thread; the
 * thread's current context is the same afterwards. */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEND_DEVICE_PAGE 4096u /* what one sum is for */

enum mend_device_kind {
    MEND_DEVICE_HOST,    /* the driver does not know it */
    MEND_DEVICE_PINNED,  /* host memory that devices may be writing to */
    MEND_DEVICE_MEMORY,  /* on a device: cudaMalloc, pools, cuMemMap */
    MEND_DEVICE_MANAGED, /* moves between host and device (cudaMallocManaged) */
};

typedef struct mend_device_place {
    enum mend_device_kind kind;
    int device;    /* ordinal; -1: host */
    void *context; /* NULL: of no context, or host */
} mend_device_place;

/* Where the memory is. Both ends are looked at: a range that ends in no or other memory is
 * MEND_ERR_ARGUMENT. */
int mend_device_where(const void *address, size_t bytes, mend_device_place *place);

/* Must the bytes be moved by the driver? */
static inline bool mend_device_holds(const mend_device_place *place)
{
    return place->kind >= MEND_DEVICE_MEMORY;
}

/* Copy between any two places, host or device, and wait for it: for small things and rare ways.
 * The application's work on the device is waited for first. */
int mend_device_copy(void *to, const void *from, size_t bytes);

/* ---- one context, with a stream of our own --------------------------------------------------- */

typedef struct mend_device mend_device;

int mend_device_open(const mend_device_place *place, mend_device **device);
void mend_device_close(mend_device *device); /* waits; frees the stream, not what was allocated */
bool mend_device_is(const mend_device *device, const mend_device_place *place);

/* Wait for what the application has queued: in all streams of the context (NULL), or in one. */
int mend_device_settle(mend_device *device, void *stream);

int mend_device_alloc(mend_device *device, size_t bytes, uint64_t *address);
void mend_device_free(mend_device *device, uint64_t address);
/* Bytes that are free and in all. */
int mend_device_room(mend_device *device, size_t *left, size_t *all);

/* These begin; the host memory and the device memory must stay until mend_device_wait(). Host
 * memory that is not pinned may be used: then they are slow, and over when they return. */
int mend_device_copy_inside(mend_device *device, uint64_t to, uint64_t from, size_t bytes);
int mend_device_fetch(mend_device *device, void *to, uint64_t from, size_t bytes);
int mend_device_put(mend_device *device, uint64_t to, const void *from, size_t bytes);
int mend_device_zero(mend_device *device, uint64_t at, size_t bytes);
int mend_device_wait(mend_device *device);
/* The same at the end of something that may have failed: that failure (rc) and its message stay. */
int mend_device_end(mend_device *device, int rc);

/* The same through pinned buffers, for host memory that is not pinned; over when they return. Much
 * is copied by several threads, for one cannot keep the bus busy. */
int mend_device_fetch_slowly(mend_device *device, void *to, uint64_t from, size_t bytes);
int mend_device_put_slowly(mend_device *device, uint64_t to, const void *from, size_t bytes);

/* Make host memory known to the device: copies go at the full speed of the bus. *seen: its address
 * for kernels. */
int mend_device_pin(mend_device *device, void *memory, size_t bytes, uint64_t *seen);
void mend_device_unpin(mend_device *device, void *memory);

/* ---- sums of pages, by kernels of ours (kernels.cu) ------------------------------------------ */

typedef struct mend_device_sum {
    uint64_t low, high; /* never both 0 */
} mend_device_sum;

/* Whole pages to be looked at, all in device memory. */
typedef struct mend_device_pages {
    uint64_t pages, count; /* aligned to a page */
    uint64_t copy;         /* where to copy them; 0: nowhere */
    uint64_t sums;         /* in: of what was there; out: of what is */
    uint64_t found;        /* one number, to which the pages whose sum differed are added */
    uint64_t most;         /* how many of them, at most, are written to */
    uint64_t list, news;   /* their numbers, in any order, and their sums */
} mend_device_pages;

/* Begins; fails with MEND_ERR_UNSUPPORTED where the kernels cannot be loaded. */
int mend_device_look(mend_device *device, const mend_device_pages *pages);
/* Bring pages from `from` to the same places at `to` in host memory: those whose numbers are both in
 * device memory at `there` and at `list`. Over when it returns. They are gathered on the device, copied
 * in pieces and put to their places by threads of the host, so that no kernel waits for the bus. */
int mend_device_gather(mend_device *device, uint64_t from, uint64_t there, const uint64_t *list,
                       uint64_t count, void *to);
/* The same sum on the host, for tests and for checks. */
mend_device_sum mend_device_sum_page(const void *page);

/* ---- for people ------------------------------------------------------------------------------ */

typedef struct mend_device_facts {
    char name[128];
    size_t memory, memory_free;
    double inside, to_host, to_device; /* bytes per second; 0: not measured */
} mend_device_facts;

/* Load and initialise the driver, if there is one. *count: devices; *version: 13000 is 13.0.
 * MEND_ERR_NOT_FOUND: no driver library. Not for libraries: a program that has no use for a GPU
 * must not open it. */
int mend_device_survey(int *count, int *version);
/* Can the driver bring a process' state on its devices into host memory, for an image of it? Needs
 * mend_device_survey(). */
bool mend_device_holds_processes(void);
/* Needs mend_device_survey(). speed: measure copies, which takes some 100 MiB on the device. */
int mend_device_describe(int number, bool speed, mend_device_facts *facts);

#endif
