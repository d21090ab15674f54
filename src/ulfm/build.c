/* The communicator of an attempt's members, step 2 of hall.c: Open MPI's MPI_Comm_create_group, which needs messages
 * between the members only, with a way out of each wait.
 *
 * In a wait of the library (making.c) a step of ours takes the place of the library's. It runs at every turn of the
 * library, and looks whether the messages are complete:
 *   1. If they are, the library's step runs.
 *   2. If the attempt is over (cards.c), it gives up the receives, and the call fails.
 * The tag stands for the members and the attempt, so what is left of a call that failed never meets a later one.
 *
 * Any thread may run the step, but only one at a time; and while this process waits in the call, nobody else uses the
 * hall. The steps of another thread that makes a communicator meanwhile come here, too, and fail if the attempt is over. */
#include "inside.h"

#include <base/fault.h>
#include <ulfm/making.h>
#include <ulfm/ulfm.h>

#include <pthread.h>

enum {
    REQUESTS = 64, /* of calls in progress */
    PARTS = 2,     /* the library's limit */
    LOOK = 8       /* turns between two looks at a member */
};

struct wait {
    MPI_Request request; /* the call's, or a part of it */
    mend_making_step *step;
    MPI_Request part[PARTS];
    int parts;
};

static struct {
    pthread_mutex_t lock;
    struct mend_hall *hall;
    struct wait list[REQUESTS];
    unsigned next, turns;
} waits = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct wait *find(MPI_Request request)
{
    for (int i = 0; i < REQUESTS; i++)
        if (waits.list[i].request == request)
            return &waits.list[i];
    return NULL;
}

/* False: it is pending. */
static bool ended(MPI_Request *part, bool over, bool *failed)
{
    int flag = 1;
    if (*part == MPI_REQUEST_NULL)
        return true;
    if (over)
        PMPI_Cancel(
            part); /* does nothing to a send, which is complete as soon as it is on its way */
    if (PMPI_Test(part, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS)
        return flag;
    *part = MPI_REQUEST_NULL;
    *failed = true;
    return true;
}

/* Runs at a turn of the library, instead of a step of its own. */
static int look(MPI_Request request)
{
    bool over = false, open = false, failed = false;
    pthread_mutex_lock(&waits.lock);
    struct wait *wait = find(request);
    struct mend_hall *h = waits.hall;
    pthread_mutex_unlock(&waits.lock);
    if (!wait)
        return MAKING_FAILED;
    if (h && (h->over || ++waits.turns % LOOK == 0))
        over = mend_cards_over(h);
    for (int i = 0; i < wait->parts; i++)
        if (over || !open)
            open |= !ended(&wait->part[i], over, &failed);
    if (over || failed)
        return MAKING_FAILED;
    if (open)
        return mend_making_append(request, look, NULL, 0, 0);
    return wait->step ? wait->step(request) : 0;
}

/* A step that waits for messages; the parts of the others are requests that we know. */
static int see(MPI_Request request, mend_making_step *step, MPI_Request *parts, int count,
               uint32_t flags)
{
    MEND_FAULT_POINT(ulfm_step);
    pthread_mutex_lock(&waits.lock);
    struct wait *wait = find(request);
    if (!wait)
        wait = &waits.list[waits.next++ % REQUESTS];
    *wait = (struct wait){.request = request, .step = step};
    bool messages = flags == 0 && count > 0 && count <= PARTS && !find(parts[0]);
    if (messages)
        wait->parts = count;
    for (int i = 0; messages && i < count; i++)
        wait->part[i] = parts[i];
    pthread_mutex_unlock(&waits.lock);
    return messages && mend_making_append(request, look, NULL, 0, 0) == 0;
}

static void watch(struct mend_hall *h)
{
    pthread_mutex_lock(&waits.lock);
    waits.hall = h;
    pthread_mutex_unlock(&waits.lock);
}

int mend_build(struct mend_hall *h, MPI_Comm *made)
{
    MPI_Group all, group;
    int tag = TAG_BUILD | (h->round & 0x3f) << 16 | (int)(h->hash & 0xffff);
    PMPI_Comm_group(h->channel, &all);
    PMPI_Group_incl(all, h->members, h->member, &group);
    mend_making_end_turn(); /* of a call of the program that a death has ended */
    watch(h);
    mend_making_see *before = mend_making_show(see);
    int rc = mend_making_of_group(h->channel, group, tag, made);
    mend_making_show(before);
    watch(NULL);
    PMPI_Group_free(&group);
    PMPI_Group_free(&all);
    if (rc != MPI_SUCCESS || *made == MPI_COMM_NULL) {
        *made = MPI_COMM_NULL;
        mend_making_end_turn();
        return rc != MPI_SUCCESS ? rc : MPI_ERR_INTERN;
    }
    PMPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN);
    return MPI_SUCCESS;
}
