/* core/gate.c - the order of calls that keep the baton while they wait for other processes (baton.h, 3).
 *
 * Thread A of two processes calls MPI_Comm_split on X, thread B on Y. If A went in first here and B there, each
 * would keep its baton and wait for the other for ever. So all who share a process go in by one order (Skeen's total
 * order of messages):
 *
 *   1. Each member of a call proposes a time that is later than all it has seen, and notes the call as pending.
 *   2. The members agree on the latest proposal, by a non-blocking reduction: that is the time of the call. All
 *      members are in the call then.
 *   3. A call goes in when no pending one has an earlier time. One that is not agreed on yet has its proposal,
 *      and cannot become earlier than that. Of equal times the smaller id of the communicator is the earlier one.
 *
 * The earliest pending call of all processes is never held up, so one always goes on. The time after it is seen by all
 * of its members, so nobody proposes an earlier one later. The call itself is within creation_begin() and
 * creation_end(), so that no checkpoint finds one member inside and another before it.
 */
#include "messages/messages.h"

static struct gate *pending;
static uint64_t clock_of_gates;

static int before(const struct gate *a, const struct gate *b)
{
    return a->time != b->time ? a->time < b->time : a->id < b->id;
}

static int latest(object *comm, uint64_t *time)
{
    uint64_t mine = *time;
    object *type = predef[PRE_MPI_UINT64_T], *max = predef[PRE_MPI_MAX];
    object *r = new_request(0, NULL, 0, TYPE_BYTE, NEUTRAL_PROC_NULL, 0, comm);
    int rc = LOWER(Iallreduce, &mine, time, 1, type->real, max->real, comm->real, &r->real);
    if (rc) {
        retire_request(&r);
        return rc;
    }
    return core_Wait(&r, NULL);
}

/* On an inter-communicator a reduction tells what the others have: ask twice. */
static int agree(object *comm, uint64_t *time)
{
    int rc = latest(comm, time);
    if (rc || !comm->comm.remote_size)
        return rc;
    uint64_t theirs = *time;
    rc = latest(comm, time);
    if (theirs > *time)
        *time = theirs;
    return rc;
}

uint64_t gate_propose(struct gate *g, uint64_t id)
{
    *g = (struct gate){pending, ++clock_of_gates, id, 1};
    pending = g;
    return g->time;
}

void gate_wait(struct gate *g, uint64_t agreed)
{
    g->time = agreed;
    if (clock_of_gates < agreed)
        clock_of_gates = agreed;
    for (;;) {
        int first = 1;
        for (const struct gate *other = pending; other; other = other->next)
            first &= other == g || before(g, other);
        if (first)
            return;
        baton_rest();
    }
}

int gate_enter(object *comm, struct gate *g)
{
    g->used = 0;
    if (!upper.several || comm->comm.size + comm->comm.remote_size == 1)
        return 0;
    uint64_t time = gate_propose(g, comm->comm.card->id);
    int rc = agree(comm, &time);
    if (rc)
        gate_leave(g);
    else
        gate_wait(g, time);
    return rc;
}

void gate_leave(struct gate *g)
{
    if (!g->used)
        return;
    g->used = 0;
    for (struct gate **p = &pending; *p; p = &(*p)->next)
        if (*p == g) {
            *p = g->next;
            return;
        }
}

int exclusive_enter(object *comm, struct gate *g)
{
    if (upper.several)
        creation_begin();
    collective_enter(comm);
    return gate_enter(comm, g);
}

void exclusive_leave(struct gate *g)
{
    gate_leave(g);
    if (upper.several)
        creation_end();
}
