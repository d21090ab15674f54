/* core/collectives.c - collectives, and waiting in general, with regard to checkpoints.
 *
 * A blocking collective of the real library cannot be left half-way, so all ranks must stop at
 * places where each has begun the same number of collectives on each communicator that it shares
 * with others. No barrier is added to normal work: collective_enter() counts, and looks at one
 * variable.
 *
 *   1. When a checkpoint is wanted, every rank's agent (lower/round/agent.c) sets stop_phase to
 *      STOP_COLLECTING and reports the counts on its cards.
 *   2. The coordinator (lower/round/coordinator.c) finds the target of each communicator: the
 *      largest count.
 *   3. A rank that has reached all its targets waits at the door of the next collective. Others go
 *      on, through further collectives if need be: that raises the targets of these. A rank inside a
 *      call that makes a communicator may be behind on one that it does not know yet: nothing is
 *      decided until it is out.
 *   4. When all are even, the phase becomes STOP_HERE, and each MPI call is a place to stop (stop.c).
 *
 * Several threads of a rank (baton.h) may stand at several doors. Which of them would reach a target is not known:
 * one whose own communicator is behind goes on at once, another one when nothing has moved for a while.
 *
 * The agent may read a count between our increment and our look at the phase: then it was reported,
 * and agent_door() lets us pass, as if we had come a moment earlier.
 */
#include "core/core.h"

#include <sched.h>

/* With several threads `creating` is odd while any is inside a call that makes a communicator and does not stand at
 * its door. All of this with the baton in hand.
 */
/* Of this thread: how often it counts in core.creations. */
static __thread int creates;
static void count_creations(int more)
{
    int some = core.creations > 0;
    core.creations += more;
    if (some != (core.creations > 0))
        __atomic_store_n(&upper.creating, upper.creating + 1, __ATOMIC_SEQ_CST);
}
void creations_of_several(int begins)
{
    creates = begins;
    count_creations(begins ? 1 : -1);
}

/* This thread is not counted on the card while it waits here; the others go on. */
static void wait_at_door(struct comm_card *card)
{
    count_creations(-creates);
    baton_rest();
    count_creations(creates);
    __atomic_fetch_sub(&card->at_door, 1, __ATOMIC_SEQ_CST);
}

void collective_door(struct comm_card *card)
{
    if (upper.request_at && --upper.request_at == 0) {
        upper.request_at = upper.request_again;
        LOWER_VOID(agent_request);
    }
    for (;;) {
        int door = LOWER(agent_door, card);
        if (door == DOOR_IN)
            return; /* counted, and free to enter */
        if (door == DOOR_WAIT)
            wait_at_door(card);
        else
            stop_now();
        __atomic_store_n(&card->begun, card->begun + 1, __ATOMIC_RELAXED);
        if (upper.stop_phase <= STOP_WATCH)
            return;
    }
}

/* One turn of a loop that waits for a message from `source`: a checkpoint may happen in it. */
void wait_turn(const object *comm, int source)
{
    upper.waiting_for = source >= 0 ? comm->comm.peers[source] : WAITING_FOR_ANY;
    if (++upper.turns % 64 == 0)
        sched_yield();
    if (__builtin_expect(upper.stop_phase == STOP_HERE || upper.wanted, 0))
        stop_now();
}
