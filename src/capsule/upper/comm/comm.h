/* comm/comm.h - communicators, groups, topologies. */
#ifndef CAPSULE_COMM_H
#define CAPSULE_COMM_H
#include "core/core.h"
#pragma GCC visibility push(hidden)

/* --- comm.c, group.c, topology.c --- */
/* Make the object for a communicator that the lower half has just created. All members compute the
 * same id, without communication, from the parent's id, `salt` (the tag, if the call has one) and the
 * members.
 */
int new_comm(handle_t h, const object *parent, int salt, object **out);
void know_comm(object *c, uint64_t id);
int open_channels(void);       /* collective */
void forget_freed_comms(void); /* those that all ranks have freed */
int compare_members(int na, const int *a, int nb, const int *b);
int index_of(int n, const int *ranks, int r);
object *new_group(int n, const int *world_ranks);
void copy_topology(object *to, int ndims, const int *dims, const int *periods);

/* --- topologies --- */
enum { TOPOLOGY_CART = 1, TOPOLOGY_GRAPH, TOPOLOGY_DIST_GRAPH };
struct topology {
    int kind, nnodes, nedges, *index, *edges;                        /* graph */
    int n_in, n_out, *in, *out, *in_weights, *out_weights, weighted; /* dist graph */
    object *shadow; /* for the messages of neighbourhood collectives */
};
void topology_copy(object *from, object *to);
/* With several threads, before the non-blocking form of a blocking collective on `c`. Open MPI begins parts of an
 * MPI_Comm_idup later, whenever it makes progress, and these draw on the same counter of the communicator as our collective:
 * its numbers would differ between the ranks. All members have called MPI_Comm_idup before they come to a later collective
 * that blocks, so this waits for nobody for whom that collective would not wait. */
void duplicates_finish(object *c);
int indegree_of(object *comm);
int outdegree_of(object *comm);
int neighbour_in(object *comm, int k, int *tag);
int neighbour_out(object *comm, int k, int *tag);
int neighbour_comm(object *comm, object **shadow);

/* --- comm.c --- */
object *new_comm_like(const object *parent);
int new_intercomm(handle_t h, uint64_t parent, int salt, object **out);
int new_merged(handle_t h, const object *inter, object **out);

/* --- channels.c --- */
int channel_take(object *comm, object **channel);

/* --- groups --- */
int group_members(const object *g, const int **ranks);

#pragma GCC visibility pop
#endif
