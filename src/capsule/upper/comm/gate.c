/* comm/gate.c - calls that keep the baton while they wait for other processes (baton.h, 3).
 *
 * In two processes, thread A calls MPI_Comm_split on X and thread B on Y. If A came first in one process and B in
 * the other, each would keep its baton and wait for the other forever. So each process has one gate, and a call begins
 * only when it holds the gates of all its members:
 *
 *   1. All members meet, without waiting below: nobody takes a gate for a call that some member has not reached yet.
 *   2. The members take their gates one after the other, in the order of their world ranks. Each waits for a message
 *      from the one before it, then for its own gate, and then sends the message on. A call that waits for a gate
 *      holds only gates of lower ranks, so there is no cycle.
 *   3. All meet again. Now the call holds all gates, and the members make the call. Each opens its own gate when it returns.
 *
 * All this lies between creation_begin() and creation_end(), so a checkpoint waits for it.
 */
#include "comm/comm.h"
#include "messages/messages.h"

#include <stdlib.h>
#include <string.h>

static int meet(object *comm)
{
    duplicates_finish(comm);
    object *r = new_request(0, NULL, 0, TYPE_BYTE, NEUTRAL_PROC_NULL, 0, comm);
    int rc = LOWER(Ibarrier, comm->real, &r->real);
    if (rc) {
        retire_request(&r);
        return rc;
    }
    return core_Wait(&r, NULL);
}

static int by_rank(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

int gates_take(int n, int *members, uint64_t id, struct gate *g)
{
    enum { TAG = 0x40000 }; /* tags stay below 0x80000, which every library allows */
    int tag = TAG | (int)((id ^ id >> 18 ^ id >> 36) % TAG), at = 0, rc = 0;
    qsort(members, (size_t)n, sizeof *members, by_rank);
    while (at < n - 1 && members[at] != upper.rank)
        at++;
    if (at)
        rc = core_Recv(NULL, 0, TYPE_BYTE, members[at - 1], tag, core.own_channel, NULL);
    while (core.gate_closed)
        baton_rest();
    core.gate_closed = g->used = 1;
    if (!rc && at < n - 1)
        rc = core_Send(NULL, 0, TYPE_BYTE, members[at + 1], tag, core.own_channel);
    return rc;
}

static int gates_of(object *comm, struct gate *g)
{
    int here = comm->comm.size, there = comm->comm.remote_size;
    int *members = need(malloc((size_t)(here + there) * sizeof *members));
    memcpy(members, comm->comm.ranks, (size_t)here * sizeof *members);
    if (there)
        memcpy(members + here, comm->comm.remote_ranks, (size_t)there * sizeof *members);
    int rc = gates_take(here + there, members, comm->comm.card->id, g);
    free(members);
    return rc;
}

int gate_enter(object *comm, struct gate *g)
{
    g->used = 0;
    if (!upper.several || comm->comm.size + comm->comm.remote_size == 1)
        return 0;
    int rc = meet(comm);
    if (!rc)
        rc = gates_of(comm, g);
    if (!rc)
        rc = meet(comm);
    return rc;
}

void gate_leave(struct gate *g)
{
    if (g->used)
        core.gate_closed = g->used = 0;
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
