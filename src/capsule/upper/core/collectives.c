/* core/collectives.c - collectives, and waiting in general, with regard to checkpoints.
 *
 * A rank cannot leave a blocking collective of the real library half-way. So all ranks must stop at
 * places where the members of each communicator have begun the same number of collectives on it.
 * Normal work gets no extra barrier: collective_enter() counts, and looks at one variable.
 *
 *   1. For a checkpoint, every rank's agent (lower/round/agent.c) sets stop_phase to STOP_COLLECTING
 *      and reports the counts on its cards.
 *   2. The coordinator (lower/round/coordinator.c) sets the target of each communicator: the largest
 *      count.
 *   3. A rank that has reached all its targets waits at the door of its next collective. The others
 *      continue, if necessary through more collectives, which raises the targets of those. A rank
 *      inside a call that creates a communicator may be behind on one that it does not know yet, so
 *      nothing is decided until it is out.
 *   4. When all counts are even, the phase becomes STOP_HERE, and a rank may stop in any MPI call
 *      (life/stop.c).
 *
 * Several threads of a rank (baton.h) may stand at several doors, and nobody knows which of them would reach a
 * target. A thread whose own communicator is behind goes in at once; another goes in when nothing has moved for a
 * while.
 *
 * The agent may read a count between our increment and our look at the phase. Then the count was
 * reported, and agent_door() lets us pass, as if we had come a moment earlier.
 */
#include "core/core.h"

#include <sched.h>

/* With several threads, `creating` is odd while any of them is inside a call that creates a communicator and does not
 * stand at its door. The caller holds the baton.
 */
/* This thread's share of core.creations: 0 or 1. */
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

/* The card does not count this thread while it waits here; the others continue. */
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
            return; /* counted, and allowed to enter */
        if (door == DOOR_WAIT)
            wait_at_door(card);
        else
            stop_now();
        __atomic_store_n(&card->begun, card->begun + 1, __ATOMIC_RELAXED);
        if (upper.stop_phase <= STOP_WATCH)
            return;
    }
}

void wait_turn(const object *comm, int source)
{
    upper.waiting_for = source >= 0 ? comm->comm.peers[source] : WAITING_FOR_ANY;
    if (++upper.turns % 64 == 0)
        sched_yield();
    if (__builtin_expect(upper.stop_phase == STOP_HERE || upper.wanted, 0))
        stop_now();
}
