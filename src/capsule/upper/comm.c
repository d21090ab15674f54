/* comm.c - communicators: made below, remembered by the world ranks of their members. */
#include "core.h"
#include <stdlib.h>
#include <string.h>
void know_comm(object *c)
{
    LOWER(Comm_size, c->real, &c->comm.size);
    LOWER(Comm_rank, c->real, &c->comm.rank);
    c->comm.ranks = malloc(c->comm.size * sizeof(int));
    LOWER(comm_world_ranks, c->real, c->comm.ranks);
}
/* The id is the tag of the collective call that rebuilds the communicator after a restart:
 * its members must agree on it, and they may have made different numbers of others before. */
static int next_comm_id = 1;
int new_comm(handle_t h, object **out)
{
    if (h == upper.lower->predef[PRE_MPI_COMM_NULL]) {
        *out = predef[PRE_MPI_COMM_NULL];
        return 0;
    }
    object *c = object_new(KIND_COMM);
    c->real = h;
    know_comm(c);
    LOWER(comm_agree_max, h, &next_comm_id);
    c->comm.id = next_comm_id++;
    *out = c;
    return 0;
}

void unref_comm(object *c)
{
    if (c->predefined || --c->refs)
        return;
    free(c->comm.ranks);
    free(c->comm.dims);
    object_delete(c);
}

void rebind_comms(void)
{
    int n = 0, i = 0;
    EACH_LIVE(c, KIND_COMM) n += !c->predefined;
    struct comm_spec *spec = malloc((n + 1) * sizeof *spec);
    handle_t *made = malloc((n + 1) * sizeof *made);
    EACH_LIVE(c, KIND_COMM)
    if (!c->predefined)
        spec[i++] = (struct comm_spec){(unsigned long)c->comm.id << 1, c->comm.size, c->comm.ranks};
    LOWER(comms_rebuild, n, spec, made);
    i = 0;
    EACH_LIVE(c, KIND_COMM)
    if (!c->predefined)
        c->real = made[i++];
    free(spec);
    free(made);
}
int core_Comm_rank(object *c, int *r)
{
    *r = c->comm.rank;
    return 0;
}
int core_Comm_size(object *c, int *n)
{
    *n = c->comm.size;
    return 0;
}
int core_Comm_test_inter(object *c, int *flag)
{
    (void)c;
    *flag = 0;
    return 0;
}
int core_Comm_compare(object *a, object *b, int *r)
{
    *r = compare_members(a->comm.size, a->comm.ranks, b->comm.size, b->comm.ranks);
    if (*r == NEUTRAL_IDENT && a != b)
        *r = NEUTRAL_CONGRUENT;
    return 0;
}
int core_Comm_dup(object *c, object **out)
{
    handle_t n;
    int rc = LOWER(Comm_dup, c->real, &n);
    if (rc)
        return rc;
    new_comm(n, out);
    if (c->comm.has_topology)
        copy_topology(*out, c->comm.ndims, c->comm.dims, c->comm.dims + c->comm.ndims);
    topology_copy(c, *out);
    errhandler_attach(*out, errhandler_of(c));
    return attributes_copy(c, *out);
}
int core_Comm_create(object *c, object *g, object **out)
{
    handle_t n;
    int rc = LOWER(comm_create, c->real, g->group.size, g->group.ranks, &n);
    return rc ? rc : new_comm(n, out);
}
int core_Comm_create_group(object *c, object *g, int tag, object **out)
{
    handle_t n;
    int rc = LOWER(comm_from_ranks, g->group.size, g->group.ranks, tag, &n);
    (void)c;
    return rc ? rc : new_comm(n, out);
}
int core_Comm_free(object **c)
{
    int rc = attributes_delete_all(*c);
    if (rc)
        return rc;
    errhandler_attach(*c, NULL);
    rc = LOWER(Comm_free, (*c)->real);
    unref_comm(*c); /* pending requests may still hold it */
    *c = predef[PRE_MPI_COMM_NULL];
    return rc;
}
