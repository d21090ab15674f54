/* group.c - groups: lists of world ranks. The lower half knows nothing of them. */
#include "comm/comm.h"
#include <stdlib.h>
#include <string.h>
object *new_group(int n, const int *world_ranks)
{
    if (n <= 0)
        return predef[PRE_MPI_GROUP_EMPTY];
    object *g = object_new(KIND_GROUP);
    g->group.size = n;
    g->group.ranks = need(malloc(n * sizeof(int)));
    memcpy(g->group.ranks, world_ranks, n * sizeof(int));
    return g;
}
int index_of(int n, const int *ranks, int r)
{
    for (int i = 0; i < n; i++)
        if (ranks[i] == r)
            return i;
    return NEUTRAL_UNDEFINED;
}
int core_Comm_group(object *c, object **g)
{
    *g = new_group(c->comm.size, c->comm.ranks);
    return 0;
}
int core_Group_size(object *g, int *n)
{
    *n = g->group.size;
    return 0;
}
int core_Group_rank(object *g, int *r)
{
    *r = index_of(g->group.size, g->group.ranks, upper.rank);
    return 0;
}
static int are_members(const object *g, int n, const int *ranks)
{
    for (int i = 0; i < n; i++)
        if (ranks[i] < 0 || ranks[i] >= g->group.size)
            return 0;
    return 1;
}
int core_Group_incl(object *g, int n, const int *ranks, object **out)
{
    if (n < 0)
        return NEUTRAL_MPI_ERR_ARG;
    NEEDS_ARRAY(ranks, n);
    if (!are_members(g, n, ranks))
        return NEUTRAL_MPI_ERR_RANK;
    ARRAY_OF(int, w, n + 1);
    w[n] = 0; /* for compilers, which do not see that new_group() reads nothing if n is 0 */
    for (int i = 0; i < n; i++)
        w[i] = g->group.ranks[ranks[i]];
    *out = new_group(n, w);
    return 0;
}
int core_Group_excl(object *g, int n, const int *ranks, object **out)
{
    if (n < 0)
        return NEUTRAL_MPI_ERR_ARG;
    NEEDS_ARRAY(ranks, n);
    if (!are_members(g, n, ranks))
        return NEUTRAL_MPI_ERR_RANK;
    ARRAY_OF(int, w, g->group.size + 1);
    int m = 0;
    for (int i = 0; i < g->group.size; i++)
        if (index_of(n, ranks, i) < 0)
            w[m++] = g->group.ranks[i];
    *out = new_group(m, w);
    return 0;
}
int core_Group_translate_ranks(object *a, int n, const int *ra, object *b, int *rb)
{
#ifdef MPICH_ABI
    if (n < 0)
        return NEUTRAL_MPI_ERR_ARG;
#else
    if (n < 0)
        return NEUTRAL_MPI_ERR_GROUP;
#endif
    for (int i = 0; i < n; i++)
        if (ra[i] != NEUTRAL_PROC_NULL && !are_members(a, 1, &ra[i]))
            return NEUTRAL_MPI_ERR_RANK;
    for (int i = 0; i < n; i++)
        rb[i] = ra[i] == NEUTRAL_PROC_NULL
                    ? NEUTRAL_PROC_NULL
                    : index_of(b->group.size, b->group.ranks, a->group.ranks[ra[i]]);
    return 0;
}
int compare_members(int na, const int *a, int nb, const int *b)
{
    if (na != nb)
        return NEUTRAL_UNEQUAL;
    if (!memcmp(a, b, na * sizeof *a))
        return NEUTRAL_IDENT;
    for (int i = 0; i < na; i++)
        if (index_of(nb, b, a[i]) < 0)
            return NEUTRAL_UNEQUAL;
    return NEUTRAL_SIMILAR;
}
int core_Group_compare(object *a, object *b, int *r)
{
    *r = compare_members(a->group.size, a->group.ranks, b->group.size, b->group.ranks);
    return 0;
}
int core_Group_free(object **g)
{
    if (*g == predef[PRE_MPI_GROUP_NULL])
        return NEUTRAL_MPI_ERR_GROUP;
    if (!(*g)->predefined) {
        free((*g)->group.ranks);
        object_delete(*g);
    }
    *g = predef[PRE_MPI_GROUP_NULL];
    return 0;
}

/* --- set operations --- */
static int has(const object *g, int world_rank)
{
    return index_of(g->group.size, g->group.ranks, world_rank) >= 0;
}
int core_Group_union(object *a, object *b, object **out)
{
    int *w = malloc((a->group.size + b->group.size + 1) * sizeof(int)), n = 0;
    if (!w)
        return NEUTRAL_MPI_ERR_NO_MEM;
    for (int i = 0; i < a->group.size; i++)
        w[n++] = a->group.ranks[i];
    for (int i = 0; i < b->group.size; i++)
        if (!has(a, b->group.ranks[i]))
            w[n++] = b->group.ranks[i];
    *out = new_group(n, w);
    free(w);
    return 0;
}
static int sieve(object *a, object *b, int wanted, object **out)
{
    int *w = malloc((a->group.size + 1) * sizeof(int)), n = 0;
    if (!w)
        return NEUTRAL_MPI_ERR_NO_MEM;
    for (int i = 0; i < a->group.size; i++)
        if (has(b, a->group.ranks[i]) == wanted)
            w[n++] = a->group.ranks[i];
    *out = new_group(n, w);
    free(w);
    return 0;
}
int core_Group_intersection(object *a, object *b, object **out)
{
    return sieve(a, b, 1, out);
}
int core_Group_difference(object *a, object *b, object **out)
{
    return sieve(a, b, 0, out);
}
/* ranges: triples of first, last, stride. The caller frees *ranks. */
static int unroll(const object *g, int n, const int *ranges, int *count, int **ranks)
{
    int m = 0, *r = malloc((g->group.size + 1) * sizeof(int));
    if (!r)
        return NEUTRAL_MPI_ERR_NO_MEM;
    *ranks = r;
    for (int i = 0; i < n; i++, ranges += 3) {
        int first = ranges[0], last = ranges[1], stride = ranges[2];
        if (!stride || first < 0 || first >= g->group.size || last < 0 || last >= g->group.size ||
            (stride > 0 ? first > last : first < last))
            return NEUTRAL_MPI_ERR_ARG;
        for (int k = first; stride > 0 ? k <= last : k >= last; k += stride) {
            if (k < 0 || k >= g->group.size || m == g->group.size)
                return NEUTRAL_MPI_ERR_RANK;
            r[m++] = k;
        }
    }
    *count = m;
    return 0;
}
int core_Group_range_incl(object *g, int n, const int *ranges, object **out)
{
    int m, *r = NULL, rc = unroll(g, n, ranges, &m, &r);
    if (!rc)
        rc = core_Group_incl(g, m, r, out);
    free(r);
    return rc;
}
int core_Group_range_excl(object *g, int n, const int *ranges, object **out)
{
    int m, *r = NULL, rc = unroll(g, n, ranges, &m, &r);
    if (!rc)
        rc = core_Group_excl(g, m, r, out);
    free(r);
    return rc;
}
