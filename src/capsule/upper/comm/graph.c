/* graph.c - graph topologies, which the lower half does not see, and the neighbours of a rank in all
 * three kinds of topology. */
#include "comm/comm.h"
#include <stdlib.h>
#include <string.h>

void topology_free(struct topology *t)
{
    if (!t)
        return;
    free(t->index);
    free(t->edges);
    free(t->in);
    free(t->out);
    free(t->in_weights);
    free(t->out_weights);
    if (t->shadow)
        core_Comm_free(&t->shadow);
    free(t);
}
const int no_weights[1];
static int *copy_of(int n, const int *a)
{
    int *c = need(malloc(((size_t)n + 1) * sizeof(int)));
    if (a)
        memcpy(c, a, (size_t)n * sizeof(int));
    return c;
}
static struct topology *topology_of(object *c)
{
    return c->extra ? c->extra->topology : NULL;
}
static struct topology *new_topology(object *c, int kind)
{
    struct topology *t = need(calloc(1, sizeof *t));
    t->kind = kind;
    extra_of(c)->topology = t;
    return t;
}
/* A duplicate has the same neighbours. */
void topology_copy(object *from, object *to)
{
    struct topology *a = topology_of(from), *b;
    if (!a)
        return;
    b = new_topology(to, a->kind);
    *b = *a;
    b->shadow = NULL;
    b->index = a->index ? copy_of(a->nnodes, a->index) : NULL;
    b->edges = a->edges ? copy_of(a->nedges, a->edges) : NULL;
    b->in = a->in ? copy_of(a->n_in, a->in) : NULL;
    b->out = a->out ? copy_of(a->n_out, a->out) : NULL;
    b->in_weights = a->in_weights ? copy_of(a->n_in, a->in_weights) : NULL;
    b->out_weights = a->out_weights ? copy_of(a->n_out, a->out_weights) : NULL;
}

int core_Topo_test(object *c, int *kind)
{
    struct topology *t = topology_of(c);
    *kind = c->comm.has_topology ? TOPOLOGY_CART : t ? t->kind : NEUTRAL_UNDEFINED;
    return 0;
}
/* The rank that this process would have in a topology of `n` ranks. Open MPI leaves all ranks as they are. */
static int mapped(object *c, int n)
{
#ifndef MPICH_ABI
    if (!c->comm.has_topology && !topology_of(c))
        return c->comm.rank;
#endif
    return c->comm.rank < n ? c->comm.rank : NEUTRAL_UNDEFINED;
}
int core_Cart_map(object *c, int nd, const int *dims, const int *periods, int *rank)
{
    int n = 1;
    NEEDS_ARRAY(dims, nd);
    NEEDS_ARRAY(periods, nd);
    for (int i = 0; i < nd; i++)
        n *= dims[i];
    if (n > c->comm.size)
        return NEUTRAL_MPI_ERR_DIMS;
    *rank = mapped(c, n);
    return 0;
}
int core_Graph_map(object *c, int n, const int *index, const int *edges, int *rank)
{
    NEEDS_ARRAY(index, n);
    NEEDS_ARRAY(edges, n);
    *rank = mapped(c, n);
    return 0;
}
int core_Graph_create(object *c, int n, const int *index, const int *edges, int reorder,
                      object **out)
{
    (void)reorder;
    if (n > c->comm.size || n < 0)
        return NEUTRAL_MPI_ERR_ARG;
    NEEDS_ARRAY(index, n);
    NEEDS_ARRAY(edges, n);
    int rc = core_Comm_split(c, c->comm.rank < n ? 0 : NEUTRAL_UNDEFINED, c->comm.rank, out);
    if (rc || *out == predef[PRE_MPI_COMM_NULL])
        return rc;
    struct topology *t = new_topology(*out, TOPOLOGY_GRAPH);
    t->nnodes = n;
    t->nedges = n ? index[n - 1] : 0;
    t->index = copy_of(n, index);
    t->edges = copy_of(t->nedges, edges);
    return neighbour_comm(*out, &(object *){NULL});
}
int core_Graphdims_get(object *c, int *n, int *e)
{
    struct topology *t = topology_of(c);
    if (!t || t->kind != TOPOLOGY_GRAPH)
        return NEUTRAL_MPI_ERR_TOPOLOGY;
    *n = t->nnodes;
    *e = t->nedges;
    return 0;
}
int core_Graph_get(object *c, int maxindex, int maxedges, int *index, int *edges)
{
    struct topology *t = topology_of(c);
    if (!t || t->kind != TOPOLOGY_GRAPH)
        return NEUTRAL_MPI_ERR_TOPOLOGY;
    NEEDS_ARRAY(index, maxindex);
    NEEDS_ARRAY(edges, maxedges);
    memcpy(index, t->index, (maxindex < t->nnodes ? maxindex : t->nnodes) * sizeof(int));
    memcpy(edges, t->edges, (maxedges < t->nedges ? maxedges : t->nedges) * sizeof(int));
    return 0;
}
int core_Graph_neighbors_count(object *c, int rank, int *n)
{
    struct topology *t = topology_of(c);
    if (!t || t->kind != TOPOLOGY_GRAPH)
        return NEUTRAL_MPI_ERR_TOPOLOGY;
    if (rank < 0 || rank >= t->nnodes)
        return NEUTRAL_MPI_ERR_RANK;
    *n = t->index[rank] - (rank ? t->index[rank - 1] : 0);
    return 0;
}
int core_Graph_neighbors(object *c, int rank, int max, int *neighbors)
{
    int n, rc = core_Graph_neighbors_count(c, rank, &n);
    if (rc)
        return rc;
    NEEDS_ARRAY(neighbors, max);
    struct topology *t = topology_of(c);
    memcpy(neighbors, t->edges + t->index[rank] - n, (max < n ? max : n) * sizeof(int));
    return 0;
}

int core_Dist_graph_create_adjacent(object *c, int n_in, const int *in, const int *in_w, int n_out,
                                    const int *dest, const int *out_w, object *info, int reorder,
                                    object **out)
{
    (void)reorder;
    NEEDS_ARRAY(in, n_in);
    NEEDS_ARRAY(dest, n_out);
    if ((in_w == no_weights && n_in > 0) || (out_w == no_weights && n_out > 0))
        return NEUTRAL_MPI_ERR_ARG;
    int rc = core_Comm_split(c, 0, c->comm.rank, out);
    if (rc)
        return rc;
    struct topology *t = new_topology(*out, TOPOLOGY_DIST_GRAPH);
    t->n_in = n_in;
    t->n_out = n_out;
    t->in = copy_of(n_in, in);
    t->out = copy_of(n_out, dest);
    t->weighted = in_w || out_w;
    if (t->weighted) {
        t->in_weights = copy_of(n_in, in_w);
        t->out_weights = copy_of(n_out, out_w);
    }
    info_take(*out, info);
    return neighbour_comm(*out, &(object *){NULL});
}
/* Each rank may name edges anywhere in the graph. So all ranks exchange all edges (three collectives,
 * only at creation), and each keeps its own, in the order of the ranks that named them. */
int core_Dist_graph_create(object *c, int n, const int *sources, const int *degrees,
                           const int *destinations, const int *weights, object *info, int reorder,
                           object **out)
{
    int mine = 0, weighted = weights != NULL, size = c->comm.size, total = 0, rc;
    NEEDS_ARRAY(sources, n);
    NEEDS_ARRAY(degrees, n);
    for (int i = 0; i < n; i++)
        mine += degrees[i];
    NEEDS_ARRAY(destinations, mine);
    if (weights == no_weights && mine > 0)
        return NEUTRAL_MPI_ERR_ARG;
    /* need(): an error on one rank alone would leave the others in the collectives below */
    int *edges = need(malloc((3 * (size_t)mine + 1) * sizeof(int))),
        *counts = need(malloc(2 * ((size_t)size + 1) * sizeof(int))), *all = NULL;
    int *at = counts + size, words = 3 * mine, any;
    for (int i = 0, e = 0; i < n; i++)
        for (int k = 0; k < degrees[i]; k++, e++) {
            edges[3 * e] = sources[i];
            edges[3 * e + 1] = destinations[e];
            edges[3 * e + 2] = weights ? weights[e] : 1;
        }
    object *i = predef[PRE_MPI_INT];
    rc = core_Allgather(&words, 1, i, counts, 1, i, c);
    if (!rc)
        rc = core_Allreduce(&weighted, &any, 1, i, predef[PRE_MPI_MAX], c);
    for (int r = 0; !rc && r < size; r++) {
        at[r] = total;
        total += counts[r];
    }
    int n_in = 0, n_out = 0, e = total / 3;
    int *four = need(malloc((4 * (size_t)e + 1) * sizeof(int))), *in = four, *in_w = four + e,
        *dst = in_w + e, *out_w = dst + e;
    all = need(malloc(((size_t)total + 1) * sizeof(int)));
    if (!rc)
        rc = core_Allgatherv(edges, words, i, all, counts, at, i, c);
    for (int k = 0; !rc && k < e; k++) {
        if (all[3 * k + 1] == c->comm.rank) {
            in[n_in] = all[3 * k];
            in_w[n_in++] = all[3 * k + 2];
        }
        if (all[3 * k] == c->comm.rank) {
            dst[n_out] = all[3 * k + 1];
            out_w[n_out++] = all[3 * k + 2];
        }
    }
    if (!rc)
        rc = core_Dist_graph_create_adjacent(c, n_in, in, any ? in_w : NULL, n_out, dst,
                                             any ? out_w : NULL, info, reorder, out);
    free(four);
    free(all);
    free(counts);
    free(edges);
    return rc;
}
int core_Dist_graph_neighbors_count(object *c, int *n_in, int *n_out, int *weighted)
{
    struct topology *t = topology_of(c);
    if (!t || t->kind != TOPOLOGY_DIST_GRAPH)
        return NEUTRAL_MPI_ERR_TOPOLOGY;
    *n_in = t->n_in;
    *n_out = t->n_out;
    *weighted = t->weighted;
    return 0;
}
int core_Dist_graph_neighbors(object *c, int max_in, int *in, int *in_w, int max_out, int *out,
                              int *out_w)
{
    struct topology *t = topology_of(c);
    if (!t || t->kind != TOPOLOGY_DIST_GRAPH)
        return NEUTRAL_MPI_ERR_TOPOLOGY;
    NEEDS_ARRAY(in, max_in);
    NEEDS_ARRAY(out, max_out);
    for (int i = 0; i < max_in && i < t->n_in; i++) {
        in[i] = t->in[i];
        if (in_w && t->weighted)
            in_w[i] = t->in_weights[i];
    }
    for (int i = 0; i < max_out && i < t->n_out; i++) {
        out[i] = t->out[i];
        if (out_w && t->weighted)
            out_w[i] = t->out_weights[i];
    }
    return 0;
}

int indegree_of(object *c)
{
    struct topology *t = topology_of(c);
    int n = 0;
    if (c->comm.has_topology)
        return 2 * c->comm.ndims;
    if (t && t->kind == TOPOLOGY_GRAPH)
        core_Graph_neighbors_count(c, c->comm.rank, &n);
    return t && t->kind == TOPOLOGY_DIST_GRAPH ? t->n_in : n;
}
int outdegree_of(object *c)
{
    struct topology *t = topology_of(c);
    return t && t->kind == TOPOLOGY_DIST_GRAPH ? t->n_out : indegree_of(c);
}
/* The k-th neighbour to receive from (or send to), and a tag that both ends of the edge use for its
 * message. In a grid, a message that leaves in one direction arrives from the opposite one. Several
 * edges between the same two ranks of a graph need no tags: messages between two ranks stay in order,
 * and so do the edges in the lists. */
int neighbour_in(object *c, int k, int *tag)
{
    struct topology *t = topology_of(c);
    int src, dst;
    *tag = 0;
    if (c->comm.has_topology) {
        core_Cart_shift(c, k / 2, 1, &src, &dst);
        *tag = k ^ 1;
        return k % 2 ? dst : src;
    }
    return t->kind == TOPOLOGY_GRAPH ? t->edges[t->index[c->comm.rank] - indegree_of(c) + k]
                                     : t->in[k];
}
int neighbour_out(object *c, int k, int *tag)
{
    struct topology *t = topology_of(c);
    if (c->comm.has_topology) {
        int r = neighbour_in(c, k, tag);
        *tag = k;
        return r;
    }
    *tag = 0;
    return t->kind == TOPOLOGY_GRAPH ? neighbour_in(c, k, tag) : t->out[k];
}
/* Neighbourhood collectives send their messages over a communicator of their own, created together
 * with the topology (after MPI_Comm_idup: at the first use). */
int neighbour_comm(object *c, object **shadow)
{
    if (!c->comm.has_topology && !topology_of(c))
        return NEUTRAL_MPI_ERR_TOPOLOGY;
    struct topology *t = topology_of(c);
    if (!t)
        t = new_topology(c, TOPOLOGY_CART);
    if (!t->shadow) {
        int rc = core_Comm_split(c, 0, c->comm.rank, &t->shadow);
        if (rc)
            return rc;
    }
    *shadow = t->shadow;
    return 0;
}
