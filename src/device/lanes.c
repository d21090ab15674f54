/* Copies between the device and pageable host memory.
 *
 * The bytes go in pieces through pinned buffers. A lane has two of them, each with a stream: while one crosses the
 * bus, the lane's thread fills or empties the other. One thread copies more slowly than the bus, so large copies use
 * several lanes, which take the pieces in turn. Single pages are first gathered on the device, so that the bus copies
 * them as one. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <base/copy.h>
#include <base/fail.h>
#include <device/device.h>

#include "driver.h"

#define PIECE  ((size_t)4 << 20)
#define BESIDE ((size_t)1 << 20) /* bytes of gathered pages */

struct way {
    mend_device *device;
    uint64_t there;
    uint8_t *to; /* one of the two */
    const uint8_t *from;
    size_t bytes, piece;
    const uint64_t *list; /* page numbers, and the same on the device; NULL: all bytes */
    uint64_t list_there;
    int lanes;
};

struct walker {
    const struct way *way;
    int number, rc;
    char text[300];
    pthread_t thread;
    bool running;
};

/* Call it inside the context. */
static int make_lane(mend_device *device, struct lane *lane, bool beside)
{
    int rc = 0;
    for (int i = 0; rc == 0 && i < 2; i++) {
        if (!lane->buffer[i])
            rc = CHECKED(device->driver, cuMemAllocHost, (void **)&lane->buffer[i], PIECE);
        if (rc == 0 && !lane->stream[i])
            rc = CHECKED(device->driver, cuStreamCreate, &lane->stream[i], STREAM_NON_BLOCKING);
        if (rc == 0 && beside && !lane->beside[i])
            rc = CHECKED(device->driver, cuMemAlloc, &lane->beside[i], BESIDE);
    }
    return rc;
}

void lanes_free(mend_device *device)
{
    const struct driver *d = device->driver;
    for (int n = 0; n < LANES; n++)
        for (int i = 0; i < 2; i++) {
            struct lane *lane = &device->lanes[n];
            if (lane->stream[i]) {
                d->cuStreamSynchronize(lane->stream[i]);
                d->cuStreamDestroy(lane->stream[i]);
            }
            if (lane->buffer[i])
                d->cuMemFreeHost(lane->buffer[i]);
            if (lane->beside[i])
                d->cuMemFree(lane->beside[i]);
        }
}

static size_t piece(const struct way *w, size_t at)
{
    return w->bytes - at < w->piece ? w->bytes - at : w->piece;
}

static int put_piece(const struct way *w, const struct lane *lane, int half, size_t at)
{
    const struct driver *d = w->device->driver;
    int rc = CHECKED(d, cuStreamSynchronize, lane->stream[half]); /* until the buffer is free */
    if (rc)
        return rc;
    mend_copy(lane->buffer[half], w->from + at, piece(w, at));
    return CHECKED(d, cuMemcpyHtoDAsync, w->there + at, lane->buffer[half], piece(w, at),
                   lane->stream[half]);
}

/* Empty a buffer that was filled from `at`; SIZE_MAX: none was. */
static int empty(const struct way *w, const struct lane *lane, int half, size_t at)
{
    if (at == SIZE_MAX)
        return 0;
    int rc = CHECKED(w->device->driver, cuStreamSynchronize, lane->stream[half]);
    if (rc)
        return rc;
    if (!w->list)
        mend_copy(w->to + at, lane->buffer[half], piece(w, at));
    for (size_t i = 0; w->list && i < piece(w, at); i += MEND_DEVICE_PAGE)
        memcpy(w->to + w->list[(at + i) / MEND_DEVICE_PAGE] * MEND_DEVICE_PAGE,
               lane->buffer[half] + i, MEND_DEVICE_PAGE);
    return 0;
}

/* Start to fill a buffer. */
static int fetch_piece(const struct way *w, const struct lane *lane, int half, size_t at)
{
    address from = w->there + at;
    int rc = 0;
    if (w->list) {
        from = lane->beside[half];
        rc = sums_gather(w->device, lane->stream[half], w->there,
                         w->list_there + at / MEND_DEVICE_PAGE * sizeof *w->list,
                         piece(w, at) / MEND_DEVICE_PAGE, from);
    }
    return rc ? rc
              : CHECKED(w->device->driver, cuMemcpyDtoHAsync, lane->buffer[half], from,
                        piece(w, at), lane->stream[half]);
}

/* Copy the lane's pieces, and finish what is in progress at the end. Keeps the first failure and its message. */
static int walk(const struct way *w, int number)
{
    const struct driver *d = w->device->driver;
    const struct lane *lane = &w->device->lanes[number];
    size_t filled[2] = {SIZE_MAX, SIZE_MAX}, step = w->piece * (size_t)w->lanes;
    int rc = 0, half = 0;

    for (size_t at = w->piece * (size_t)number; rc == 0 && at < w->bytes;
         at += step, half = !half) {
        if (w->from) {
            rc = put_piece(w, lane, half, at);
            continue;
        }
        rc = empty(w, lane, half, filled[half]);
        filled[half] = SIZE_MAX;
        if (rc == 0)
            rc = fetch_piece(w, lane, half, at);
        if (rc == 0)
            filled[half] = at;
    }
    for (int i = 0; i < 2; i++, half = !half) {
        if (rc == 0)
            rc = empty(w, lane, half, filled[half]);
        result code = d->cuStreamSynchronize(lane->stream[half]);
        if (rc == 0)
            rc = driver_check(d, code, "cuStreamSynchronize");
    }
    return rc;
}

static void *walk_alone(void *argument)
{
    struct walker *k = argument;
    k->rc = device_enter(k->way->device);
    if (k->rc == 0) {
        k->rc = walk(k->way, k->number);
        device_leave(k->way->device);
    }
    if (k->rc)
        snprintf(k->text, sizeof k->text, "%s", mend_error_text());
    return NULL;
}

/* Use as many lanes as this process has cores and the copy has pieces for, as far as we can make them. */
static int make_lanes(const struct way *w, int *lanes)
{
    cpu_set_t set;
    int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    size_t pieces = (w->bytes + 4 * w->piece - 1) / (4 * w->piece); /* a thread must have a few */
    int most = cores < LANES ? cores : LANES;
    most = pieces < (size_t)most ? (int)pieces : most;
    int rc = make_lane(w->device, &w->device->lanes[0], w->list);
    for (*lanes = 1; rc == 0 && *lanes < most; ++*lanes)
        if (make_lane(w->device, &w->device->lanes[*lanes], w->list) != 0)
            break;
    return rc;
}

static void start(struct walker *walkers, const struct way *w)
{
    sigset_t all, old;
    sigfillset(&all); /* these threads must not take the application's signals */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    for (int i = 0; i < w->lanes; i++) {
        walkers[i] = (struct walker){.way = w, .number = i};
        walkers[i].running =
            i > 0 && pthread_create(&walkers[i].thread, NULL, walk_alone, &walkers[i]) == 0;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Run all lanes to their ends, even if one fails. Call it inside the context. */
static int walk_all(struct way *w)
{
    struct walker walkers[LANES];
    int rc = make_lanes(w, &w->lanes);
    if (rc)
        return rc;
    start(walkers, w);
    for (int i = 0; i < w->lanes; i++)
        if (!walkers[i].running)
            walk_alone(&walkers[i]);
    for (int i = 0; i < w->lanes; i++) {
        if (walkers[i].running)
            pthread_join(walkers[i].thread, NULL);
        if (walkers[i].rc && !rc)
            rc = mend_fail(walkers[i].rc, "%s", walkers[i].text);
    }
    return rc;
}

static int go(struct way *w)
{
    int rc = w->bytes ? device_enter(w->device) : 0;
    if (rc || !w->bytes)
        return rc;
    if (w->list)
        rc = sums_load(w->device);
    if (rc == 0)
        rc = walk_all(w);
    device_leave(w->device);
    return rc;
}

int mend_device_fetch_slowly(mend_device *device, void *to, uint64_t from, size_t bytes)
{
    return go(
        &(struct way){.device = device, .there = from, .to = to, .bytes = bytes, .piece = PIECE});
}

int mend_device_put_slowly(mend_device *device, uint64_t to, const void *from, size_t bytes)
{
    return go(
        &(struct way){.device = device, .there = to, .from = from, .bytes = bytes, .piece = PIECE});
}

int mend_device_gather(mend_device *device, uint64_t from, uint64_t there, const uint64_t *list,
                       uint64_t count, void *to)
{
    return go(&(struct way){.device = device,
                            .there = from,
                            .to = to,
                            .bytes = (size_t)count * MEND_DEVICE_PAGE,
                            .piece = BESIDE,
                            .list = list,
                            .list_there = there});
}
