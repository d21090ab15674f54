/* online/creation.c - communicators under construction while ranks die.
 *
 * To make a communicator, Open MPI agrees on a number for it, in the steps of a special request. In some steps (between
 * the groups of an intercommunicator, in MPI_Comm_create_group) it only tests whether messages are complete, not whether
 * they can still complete. So it waits forever for a message from a rank that is dead or has left for the repair. If a
 * message fails, the library continues with data that it did not get, retries forever, or frees memory twice. So
 *   1. While the application makes a communicator, we see each step that the library adds (ulfm/making.c).
 *   2. In the library's progress loop (online/hear.c) we check whether a rank has died, or the base communicator was
 *      revoked.
 *   3. Then we leave the call for good. Any later step of it fails at once, which ends its request. We never free the
 *      half-made communicator, so its number is not used again.
 *   4. The library chooses numbers for one parent communicator after the other, the lowest first. A process that fails
 *      leaves the others waiting for their turn. The lowest parent, apart from the world, is MPI_COMM_SELF, which cannot
 *      fail: making a communicator from it before the repair ends that turn.
 *   5. If the call fails before we notice, the library reuses the number. Another rank, dead by now, may already have sent
 *      messages under it, which would arrive on the next communicator with that number. So we use up all numbers that it
 *      can have been.
 *   6. The library leaves the parent in the slot of the new communicator, and MPI_Finalize would free it twice. So after
 *      such a failure the process ends without MPI_Finalize.
 * In a meeting, no call can be left. No such communicators are made there, but some processes may fail while others
 * continue with the next call and wait for them. There, step 3 revokes the communicator of the call. When a meeting adds a
 * new process (online/join.c), it does make such communicators: those calls we leave by a jump, also if the new process is
 * gone or does not finish.
 */
#include "online/online.h"

#ifdef OPEN_MPI
#include <base/event.h>
#include <ulfm/making.h>
#include <ulfm/ulfm.h>

#include <dlfcn.h>
#include <setjmp.h>
#include <stdlib.h>

enum {
    REQUESTS = 64,   /* one call has at most three */
    HEAR_EVERY = 16, /* turns of the library */
    OTHERS = 8,      /* communicators that another rank may have in addition to ours */
};

static struct {
    MPI_Comm in_meeting; /* MPI_COMM_NULL: not in one */
    sigjmp_buf *way_out; /* of a join: jump there to leave the call, after any death */
    unsigned call;       /* counts calls that make a communicator */
    int highest;         /* number of a communicator */
    struct {
        MPI_Request request;
        mend_making_step *step; /* the next one */
        unsigned call;
    } running[REQUESTS];
} making = {.in_meeting = MPI_COMM_NULL, .call = 1};

static int find(MPI_Request request)
{
    int i = 0;
    while (i < REQUESTS && making.running[i].request != request)
        i++;
    return i;
}

static int step_if_wanted(MPI_Request request)
{
    int i = find(request);
    if (i == REQUESTS || making.running[i].call != making.call)
        return MAKING_FAILED;
    return making.running[i].step(request);
}

static int see(MPI_Request request, mend_making_step *step, MPI_Request *parts, int count,
               uint32_t flags)
{
    static int next;
    if (!online.creating || making.in_meeting != MPI_COMM_NULL || !step)
        return 0;
    int i = find(request);
    if (i == REQUESTS)
        i = next++ % REQUESTS;
    making.running[i].request = request;
    making.running[i].step = step;
    making.running[i].call = making.call;
    return mend_making_append(request, step_if_wanted, parts, count, flags) == 0;
}

void creation_begin(void)
{
    online.creating = ground.recovering;
    mend_making_show(see);
    making.call++;
}

void creation_begin_in_meeting(MPI_Comm comm)
{
    creation_begin();
    making.in_meeting = comm;
}

void creation_begin_in_join(sigjmp_buf *out)
{
    creation_begin();
    making.way_out = out;
}

void creation_end(void)
{
    online.creating = 0;
    making.way_out = NULL;
    making.in_meeting = MPI_COMM_NULL;
}

static int number_of(MPI_Comm comm)
{
    static union {
        void *symbol;
        const char *(*print)(MPI_Comm comm);
    } library;
    if (!library.symbol)
        library.symbol = dlsym(RTLD_DEFAULT, "ompi_comm_print_cid");
    return library.symbol ? atoi(library.print(comm)) : 0;
}

void creation_note(MPI_Comm comm)
{
    int number = number_of(comm);
    if (number > making.highest)
        making.highest = number;
}

void creation_settle(void)
{
    MPI_Comm one;
    int failed = online.creating, last = failed && making.highest ? making.highest + OTHERS : 0;
    online.creations_failed += failed;
    creation_end();
    while (MPI_Comm_dup(MPI_COMM_SELF, &one) == MPI_SUCCESS)
        if (number_of(one) >= last) {
            MPI_Comm_free(&one);
            return;
        }
}

static void leave_join(void)
{
    const char *why = connect_reason();
    if (!why)
        return;
    making.call++;
    mend_event("recover.unjoined", ev_str("how", why));
    siglongjmp(*making.way_out, 1);
}

void creation_hear(MPI_Comm base)
{
    static int turns;
    int revoked = 0;
    if ((online.leaving && making.in_meeting == MPI_COMM_NULL && !making.way_out) ||
        ++turns < HEAR_EVERY)
        return;
    turns = 0;
    if (making.way_out) {
        leave_join();
        return;
    }
    revoked = mend_ulfm_is_revoked(base);
    int died = a_player_died();
    if (!revoked && !died)
        return;
    if (making.in_meeting != MPI_COMM_NULL) {
        mend_ulfm_revoke(making.in_meeting);
        return;
    }
    making.call++;
    mend_event("recover.noticed", ev_str("how", died ? "failure" : "revoke"),
               ev_str("call", "making a communicator"));
    leave_now();
}
#endif
