/* comm/inter.c - inter-communicators, duplicates and parts with hints, MPI_Comm_idup, MPI_Comm_disconnect. */
#include "comm/comm.h"
#include "messages/messages.h"
#include <stdlib.h>
#include <string.h>

int core_Comm_remote_size(object *c, int *n)
{
#ifdef MPICH_ABI /* Open MPI reports a size of 0 */
    if (!c->comm.remote_size)
        return NEUTRAL_MPI_ERR_COMM;
#endif
    *n = c->comm.remote_size;
    return 0;
}
int core_Comm_remote_group(object *c, object **g)
{
    if (!c->comm.remote_size)
        return NEUTRAL_MPI_ERR_COMM;
    *g = new_group(c->comm.remote_size, c->comm.remote_ranks);
    return 0;
}
int core_Comm_dup_with_info(object *c, object *info, object **out)
{
    int rc = core_Comm_dup(c, out);
    if (!rc)
        info_take(*out, info);
    return rc;
}
int core_Comm_idup_with_info(object *c, object *info, object **out, object **request)
{
    int rc = core_Comm_idup(c, out, request);
    if (!rc)
        info_take(*out, info);
    return rc;
}
int core_Comm_split_type(object *c, int type, int key, object *info, object **out)
{
    handle_t h;
    struct gate g;
    char resource[SPLIT_RESOURCE] = "";
    int n = !info || info == predef[PRE_MPI_INFO_NULL] ? -1 : info->info.n;
    char *const *words = n < 0 ? NULL : info->info.words;
    creation_begin();
    collective_enter(c);
    int rc = gate_enter(c, &g);
    if (!rc)
        rc = LOWER(comm_split_type, c->real, type, key, n, words, resource, &h);
    if (!rc)
        rc = new_comm(h, c, 0, out);
    gate_leave(&g);
    creation_end();
    if (!rc && *out != predef[PRE_MPI_COMM_NULL])
        info_take(*out, info);
    if (!rc && *resource)
        rc = word_set(info, SPLIT_RESOURCE_KEY, resource);
    return rc;
}
int core_Comm_disconnect(object **c)
{
    return core_Comm_free(c);
}
int core_Comm_get_parent(object **parent)
{
    *parent = predef[PRE_MPI_COMM_NULL];
    return 0;
}
/* The lower half's handle appears when the request completes; everything else is known now. Draining
 * completes the request before an image is taken. An image taken at the door knows neither the request,
 * which does not exist below yet, nor the communicator, which other members may not have. */
int core_Comm_idup(object *c, object **out, object **request)
{
    collective_enter(c);
    object *n = new_comm_like(c);
    object *r = new_request(0, c, 0, TYPE_BYTE, NEUTRAL_PROC_NULL, TAG_MAKES_COMM, n);
    books.duplicates = 1;
    int rc = LOWER(comm_idup, c == COMM_WORLD ? core.duplication_channel->real : c->real, &n->real,
                   &r->real);
    if (rc) {
        retire_request(&r);
        unref_comm(n);
        return rc;
    }
    if (c->comm.has_topology)
        copy_topology(n, c->comm.ndims, c->comm.dims, c->comm.dims + c->comm.ndims);
    topology_copy(c, n);
    *out = n;
    *request = r;
    return attributes_copy(c, n);
}

static int is_duplicate(const object *r, const object *of)
{
    return r->req.live && !r->req.done && !r->req.special && r->req.tag == TAG_MAKES_COMM &&
           r->req.buf == of;
}
void duplicates_finish(object *c)
{
    if (!books.duplicates)
        return;
    EACH_REQUEST (r)
        while (is_duplicate(r, c) && !request_poll(r))
            wait_turn(COMM_SELF, NEUTRAL_ANY_SOURCE);
}

/* With several threads, the call takes the gates of all its members (comm/gate.c). When both sides have arrived, the
 * leaders exchange the lists of members, each behind the id of its side's communicator. When the members hold their gates,
 * the sides meet again.
 *
 * Several threads may be here with the same tag and the same members. The gates go by the ids of both sides: nobody else is in
 * a call with these two communicators.
 */
struct side { /* two integers, and the members */
    uint64_t id;
    int ranks[];
};
enum { ID_INTS = sizeof(uint64_t) / sizeof(int) };
static struct side *new_side(const object *comm, int n)
{
    struct side *side = need(malloc(sizeof *side + (size_t)n * sizeof(int)));
    if (comm) {
        side->id = comm->comm.card->id;
        memcpy(side->ranks, comm->comm.ranks, (size_t)n * sizeof(int));
    }
    return side;
}
static int sides_meet(object *local, int leader, object *peer, int remote_leader, int tag, int *n)
{
    int rc = core_Barrier(local);
    *n = local->comm.size;
    if (!rc && local->comm.rank == leader)
        rc = core_Sendrecv(&local->comm.size, 1, predef[PRE_MPI_INT], remote_leader, tag, n, 1,
                           predef[PRE_MPI_INT], remote_leader, tag, peer, NULL);
    return rc ? rc : core_Bcast(n, 1, predef[PRE_MPI_INT], leader, local);
}
static int sides_take_gates(object *local, int leader, object *peer, int remote_leader, int tag,
                            struct gate *g)
{
    int there, here = local->comm.size;
    object *type = predef[PRE_MPI_INT];
    int rc = sides_meet(local, leader, peer, remote_leader, tag, &there);
    if (rc)
        return rc;
    struct side *ours = new_side(local, here), *theirs = new_side(NULL, there);
    int *members = need(malloc((size_t)(here + there) * sizeof *members));
    if (local->comm.rank == leader)
        rc = core_Sendrecv(ours, ID_INTS + here, type, remote_leader, tag, theirs, ID_INTS + there,
                           type, remote_leader, tag, peer, NULL);
    if (!rc)
        rc = core_Bcast(theirs, ID_INTS + there, type, leader, local);
    if (!rc) {
        memcpy(members, ours->ranks, (size_t)here * sizeof *members);
        memcpy(members + here, theirs->ranks, (size_t)there * sizeof *members);
        rc = gates_take(here + there, members, ours->id ^ theirs->id, g);
    }
    free(members);
    free(ours);
    free(theirs);
    return rc ? rc : sides_meet(local, leader, peer, remote_leader, tag, &there);
}

/* First the two leaders meet by messages, and then each side by a broadcast from its leader; a checkpoint may
 * come there. After that all members have arrived, and the call waits for nobody who is elsewhere. */
int core_Intercomm_create(object *local, int leader, object *peer, int remote_leader, int tag,
                          object **out)
{
    handle_t h;
    int rc = 0, ready = 1, there = 0;
    if (local->comm.rank == leader) {
        rc = core_Sendrecv(NULL, 0, TYPE_BYTE, remote_leader, tag, NULL, 0, TYPE_BYTE,
                           remote_leader, tag, peer, NULL);
        if (!rc)
            there = (peer->comm.remote_size ? peer->comm.remote_ranks
                                            : peer->comm.ranks)[remote_leader];
    }
    if (!rc)
        rc = core_Bcast(&ready, 1, predef[PRE_MPI_INT], leader, local);
    if (rc)
        return rc;
    struct gate g = {.used = 0};
    creation_begin();
    collective_enter(local);
    if (upper.several)
        rc = sides_take_gates(local, leader, peer, remote_leader, tag, &g);
    if (!rc)
        rc = LOWER(Intercomm_create, local->real, leader, core.creation_channel->real, there, tag,
                   &h);
    if (!rc) {
        rc = new_intercomm(h, 0, tag, out);
        errhandler_attach(*out, local->comm.errh);
    }
    gate_leave(&g);
    creation_end();
    return rc;
}
int core_Intercomm_merge(object *c, int high, object **out)
{
    handle_t h;
    if (!c->comm.remote_size)
        return NEUTRAL_MPI_ERR_COMM;
    struct gate g;
    creation_begin();
    collective_enter(c);
    int rc = gate_enter(c, &g);
    if (!rc)
        rc = LOWER(Intercomm_merge, c->real, high, &h);
    if (!rc)
        rc = new_merged(h, c, out);
    gate_leave(&g);
    creation_end();
    return rc;
}
