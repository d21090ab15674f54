/* online/lend.c - a process takes an image from another one on its machine: the job continues now, and the pages are
 * copied later.
 *
 *   1. In a version, or in a meeting, the giver has sent the tables (delta.c). It says where in its pool the new pages
 *      are. The receiver opens that pool (/proc/PID/fd/N) and says whether it could. If not, the pages are sent.
 *   2. If the receiver is to play that rank, it fills its memory straight from there (images/fill.c). All resume.
 *   3. A thread of the receiver copies the pages to slots of its own, and verifies them. The next version, and the next
 *      meeting, first wait for that thread.
 *   4. Until all have come to one of these, the giver keeps the image: nobody writes to its slots.
 * A pool that somebody has open outlives its process. So from 1 on the receiver has the image as surely as if it had
 * copied it. If the giver dies
 *   before the end of 1: the version or meeting has failed, and what was taken of the image is freed;
 *   after that: the receiver keeps reading; the slots of a dead process stay as they are.
 * If the receiver dies, the giver still has the image.
 */
#include "online/online.h"
#include "images/pool.h"

#include <base/event.h>
#include <base/fault.h>
#include <mend/error.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TAG = 6 };

static struct {
    pthread_t thread;
    int running;
    int code[IMAGES_HELD]; /* of those that were fetched */
} lend;

struct place {
    int pid, fd;
    uint64_t device, inode; /* in another pid namespace the same number is another process */
};

static struct place place_here(void)
{
    struct stat file = {0};
    struct place here = {.pid = getpid(), .fd = pool_file()};
    if (fstat(here.fd, &file) == 0)
        here.device = file.st_dev, here.inode = file.st_ino;
    return here;
}

/* Opens what is lent; returns whether that worked and it is what the giver has. */
static int take(const struct lend_side *in, const struct place *there, const uint32_t *slots)
{
    struct paged *pages = &in->image->pages;
    struct stat file;
    if (lent_open(pages, in->delta, there->pid, there->fd, slots))
        return 0;
    if (fstat(pages->lent->fd, &file) == 0 && file.st_dev == there->device &&
        file.st_ino == there->inode)
        return 1;
    lent_free(pages);
    return 0;
}

/* Where the new pages are, in their order. */
static uint32_t *slots_of(const struct lend_side *out)
{
    const struct paged_delta *d = out->delta;
    uint32_t *slots = need(malloc(d->offer.new_pages * sizeof *slots + 1)), *to = slots;
    for (uint64_t i = 0; i < d->offer.ranges; i++) {
        memcpy(to, out->image->pages.slot + d->ranges[i].first, d->ranges[i].count * sizeof *to);
        to += d->ranges[i].count;
    }
    return slots;
}

/* Step 1. */
static int exchange(struct lend_side *out, struct lend_side *in, const uint32_t *ours,
                    uint32_t *theirs, MPI_Comm comm)
{
    struct place here = place_here(), there = {0};
    int count =
        ours ? (int)out->delta->offer.new_pages : 0; /* MPI refuses no buffer, even to nobody */
    if (!TRY(MPI_Sendrecv(&here, sizeof here, MPI_BYTE, out->peer, TAG, &there, sizeof there,
                          MPI_BYTE, in->peer, TAG, comm, MPI_STATUS_IGNORE)) ||
        !TRY(MPI_Sendrecv(ours, count, MPI_UINT32_T, out->peer, TAG, theirs,
                          (int)in->delta->offer.new_pages, MPI_UINT32_T, in->peer, TAG, comm,
                          MPI_STATUS_IGNORE)))
        return 0;
    MEND_FAULT_POINT(recover_lend_told);
    in->done = in->peer != MPI_PROC_NULL &&
               MEND_FAULT_POINT(recover_lend_taken) == MEND_FAULT_NONE && take(in, &there, theirs);
    return TRY(MPI_Sendrecv(&in->done, 1, MPI_INT, in->peer, TAG, &out->done, 1, MPI_INT, out->peer,
                            TAG, comm, MPI_STATUS_IGNORE));
}

int lend_exchange(struct lend_side *out, struct lend_side *in, MPI_Comm comm)
{
    if (out->peer == MPI_PROC_NULL && in->peer == MPI_PROC_NULL)
        return 1;
    uint32_t *ours = out->peer == MPI_PROC_NULL ? NULL : slots_of(out);
    uint32_t *theirs = need(malloc(in->delta->offer.new_pages * sizeof *theirs + 1));
    int ok = exchange(out, in, ours, theirs, comm);
    free(ours);
    free(theirs);
    if (!ok && in->image)
        lent_free(&in->image->pages);
    if (ok && out->done)
        out->image->lending = 1;
    return ok;
}

static void *fetch(void *none)
{
    (void)none;
    for (int i = 0; i < IMAGES_HELD; i++)
        if (online.held[i].pages.lent) {
            MEND_FAULT_POINT(recover_lend_copy);
            lend.code[i] = lent_fetch(&online.held[i].pages);
        }
    return NULL;
}

static int any(void)
{
    for (int i = 0; i < IMAGES_HELD; i++)
        if (online.held[i].pages.lent)
            return 1;
    return 0;
}

void lend_begin(void)
{
    sigset_t all, before; /* the application's handlers must not run in this thread */
    if (!any())
        return;
    sigfillset(&all);
    sigdelset(&all, SIGNAL_LEAVE);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    lend.running = !pthread_create(&lend.thread, NULL, fetch, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void lend_end(void)
{
    if (!any())
        return;
    if (lend.running)
        pthread_join(lend.thread, NULL);
    else
        fetch(NULL);
    lend.running = 0;
    for (int i = 0; i < IMAGES_HELD; i++) {
        struct held_image *image = &online.held[i];
        if (!image->pages.lent)
            continue;
        lent_free(&image->pages);
        if (!lend.code[i])
            continue;
        mend_event("recover.damaged", ev_int("version", image->version),
                   ev_str("why", mend_error_sentence(lend.code[i])));
        image->version = image->rank = 0; /* freed by held_new() */
    }
}

void lend_all_back(void)
{
    for (int i = 0; i < IMAGES_HELD; i++)
        online.held[i].lending = 0;
}
