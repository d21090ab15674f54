/* GPU memory, through the driver that the program has loaded.
 *
 * We look up the functions of CUDA's driver library at run time: Mend needs nothing of CUDA to build or to run. If
 * the process has not loaded the library, every address is host memory, and the question costs a microsecond. The
 * setting device.driver names another library with the same functions.
 *
 * Failures are MEND_ERR_DEVICE, or MEND_ERR_NO_MEMORY if the device has none left. The message has the driver's
 * function and its name for the error. Any thread may call these functions; the thread's current context is the same
 * afterwards. */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEND_DEVICE_PAGE 4096u /* the unit of one sum */

enum mend_device_kind {
    MEND_DEVICE_HOST,    /* the driver does not know it */
    MEND_DEVICE_PINNED,  /* host memory that devices may be writing to */
    MEND_DEVICE_MEMORY,  /* on a device: cudaMalloc, pools, cuMemMap */
    MEND_DEVICE_MANAGED, /* moves between host and device (cudaMallocManaged) */
};

typedef struct mend_device_place {
    enum mend_device_kind kind;
    int device;    /* ordinal; -1: host */
    void *context; /* NULL: no context, or host */
} mend_device_place;

/* Find out where the memory is. Checks both ends: a range that ends in other memory is MEND_ERR_ARGUMENT. */
int mend_device_where(const void *address, size_t bytes, mend_device_place *place);

/* Does it take the driver to move these bytes? */
static inline bool mend_device_holds(const mend_device_place *place)
{
    return place->kind >= MEND_DEVICE_MEMORY;
}

/* Copy between any two places, host or device, and wait for the copy. For small copies and rare cases. First waits
 * for the application's work on the device. */
int mend_device_copy(void *to, const void *from, size_t bytes);

/* ---- one context, with a stream of our own --------------------------------------------------- */

typedef struct mend_device mend_device;

int mend_device_open(const mend_device_place *place, mend_device **device);
void mend_device_close(mend_device *device); /* waits; frees the stream, but not allocations */
bool mend_device_is(const mend_device *device, const mend_device_place *place);

/* Wait for the application's queued work: in all streams of the context (NULL), or in one. */
int mend_device_settle(mend_device *device, void *stream);

int mend_device_alloc(mend_device *device, size_t bytes, uint64_t *address);
void mend_device_free(mend_device *device, uint64_t address);
/* Free bytes, and total bytes. */
int mend_device_room(mend_device *device, size_t *left, size_t *all);

/* These start a copy and return. The host and device memory must stay valid until mend_device_wait(). With pageable
 * host memory they are slow, and done when they return. */
int mend_device_copy_inside(mend_device *device, uint64_t to, uint64_t from, size_t bytes);
int mend_device_fetch(mend_device *device, void *to, uint64_t from, size_t bytes);
int mend_device_put(mend_device *device, uint64_t to, const void *from, size_t bytes);
int mend_device_zero(mend_device *device, uint64_t at, size_t bytes);
int mend_device_wait(mend_device *device);
/* The same after an operation that may have failed: keeps that failure (rc) and its message. */
int mend_device_end(mend_device *device, int rc);

/* The same through pinned buffers, for pageable host memory; done when they return. Several threads share large
 * copies, because one cannot saturate the bus. */
int mend_device_fetch_slowly(mend_device *device, void *to, uint64_t from, size_t bytes);
int mend_device_put_slowly(mend_device *device, uint64_t to, const void *from, size_t bytes);

/* Pin host memory, so that copies run at the full speed of the bus. *seen: its address for kernels. */
int mend_device_pin(mend_device *device, void *memory, size_t bytes, uint64_t *seen);
void mend_device_unpin(mend_device *device, void *memory);

/* ---- sums of pages, by kernels of ours (kernels.cu) ------------------------------------------ */

typedef struct mend_device_sum {
    uint64_t low, high; /* never both 0 */
} mend_device_sum;

/* Whole pages to check, all in device memory. */
typedef struct mend_device_pages {
    uint64_t pages, count; /* aligned to a page */
    uint64_t copy;         /* where to copy them; 0: nowhere */
    uint64_t sums;         /* in: the old sums; out: the new ones */
    uint64_t found;        /* a counter: the kernel adds the number of pages whose sum differs */
    uint64_t most;         /* how many of them to list, at most */
    uint64_t list, news;   /* their numbers, in any order, and their sums */
} mend_device_pages;

/* Starts the kernel and does not wait. MEND_ERR_UNSUPPORTED: the device cannot run Mend's kernels. */
int mend_device_look(mend_device *device, const mend_device_pages *pages);
/* Copy pages from `from` to the same offsets at `to` in host memory. Their numbers are in device memory at `there`,
 * and also at `list`. Done when it returns. The device gathers the pages, the bus copies them in pieces, and host
 * threads put them in place, so no kernel waits for the bus. */
int mend_device_gather(mend_device *device, uint64_t from, uint64_t there, const uint64_t *list,
                       uint64_t count, void *to);
/* The same sum on the host, for tests and checks. */
mend_device_sum mend_device_sum_page(const void *page);

/* ---- for people ------------------------------------------------------------------------------ */

typedef struct mend_device_facts {
    char name[128];
    size_t memory, memory_free;
    double inside, to_host, to_device; /* bytes per second; 0: not measured */
} mend_device_facts;

/* Load and initialise the driver, if there is one. *count: devices; *version: 13000 is 13.0. MEND_ERR_NOT_FOUND: no
 * driver library. Not for use in libraries: a program that does not use a GPU must not open it. */
int mend_device_survey(int *count, int *version);
/* Does the driver have the functions that move a process's device state into host memory, so that an image can hold it?
 * Call mend_device_survey() first. */
bool mend_device_holds_processes(void);
/* Call mend_device_survey() first. speed: measure copies, which takes 128 MiB on the device. */
int mend_device_describe(int number, bool speed, mend_device_facts *facts);

#endif
