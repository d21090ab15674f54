/* online/creation.c - communicators that are being made while ranks die.
 *
 * To make a communicator, Open MPI passes numbers around, in steps of a request of its own kind. Of the messages
 * of some steps (between the groups of intercommunicators, in MPI_Comm_create_group) it only asks whether
 * they are complete, never whether they can still become so: one from a rank that is dead, or has left for
 * the repair, is waited for until the end of days. If one fails, the library goes on with what it did not
 * get, tries again for as long, or frees memory twice. So
 *   1. while one is made for the application, its steps go through our hands: the library calls
 *      ompi_comm_request_schedule_append_w_flags() by name, and finds ours;
 *   2. at the library's turns (online/hear.c) we look whether a rank has died, or somebody has revoked
 *      the base communicator;
 *   3. then the call is left for good. Whatever step would come next, whenever, only fails, which is the end of
 *      its request. The communicators that were half made stay where they are: their numbers are not
 *      used again.
 *   4. A number for a new communicator is found for one old communicator after the other, the lowest first,
 *      and whoever fails leaves the others waiting for their turn. The lowest of all but the world is
 *      MPI_COMM_SELF, which cannot fail: making one from it before the repair ends that turn.
 *   5. If the call itself fails before we hear of it, the library gives the number back. Another rank, dead by
 *      now, may have sent messages under it already: they would be taken for messages on the next
 *      communicator of that number. So all numbers are used up that it can have been.
 *   6. The old communicator is left in the place that was kept for the new one, and MPI_Finalize would free
 *      it twice: after such a failure the process ends without.
 * In a meeting, no call can be left. There are no such communicators either; but some processes may fail where
 * others go on to the next call, and wait for them: there, step 3 is to revoke what the call is for. When a meeting takes
 * in a new process (online/join.c), there are such communicators: its calls are left as in step 3, by a jump, also when
 * the new process is gone, or does not come to an end.
 */
#include "online/online.h"

#ifdef OPEN_MPI
#include <base/event.h>
#include <ulfm/ulfm.h>

#include <dlfcn.h>
#include <setjmp.h>
#include <stdlib.h>

enum {
    REQUESTS = 64,   /* one call has three at most */
    HEAR_EVERY = 16, /* turns of the library */
    FAILED = -1,     /* its OMPI_ERROR */
    OTHERS = 8,      /* communicators that another rank may have more than this one */
};

typedef int step_function(MPI_Request request);

static struct {
    MPI_Comm in_meeting; /* MPI_COMM_NULL: not in one */
    sigjmp_buf *way_out; /* of a join: there the call is left, after any death */
    unsigned call;       /* of the application, that makes one */
    int highest;         /* number of a communicator */
    struct {
        MPI_Request request;
        step_function *step; /* the next */
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
        return FAILED;
    return making.running[i].step(request);
}

__attribute__((visibility("default"))) int ompi_comm_request_schedule_append_w_flags(
    MPI_Request request, step_function *step, MPI_Request *parts, int count, uint32_t flags);
int ompi_comm_request_schedule_append_w_flags(MPI_Request request, step_function *step,
                                              MPI_Request *parts, int count, uint32_t flags)
{
    static int next;
    static union {
        void *symbol;
        int (*append)(MPI_Request, step_function *, MPI_Request *, int, uint32_t);
    } library;
    if (!library.symbol &&
        !(library.symbol = dlsym(RTLD_NEXT, "ompi_comm_request_schedule_append_w_flags")))
        die("this Open MPI has no ompi_comm_request_schedule_append_w_flags");
    if (online.creating && making.in_meeting == MPI_COMM_NULL && step) {
        int i = find(request);
        if (i == REQUESTS)
            i = next++ % REQUESTS;
        making.running[i].request = request;
        making.running[i].step = step;
        making.running[i].call = making.call;
        step = step_if_wanted;
    }
    return library.append(request, step, parts, count, flags);
}

void creation_begin(void)
{
    online.creating = ground.recovering;
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
