/* group.c - groups are lists of world ranks: nothing of them is below. */
#include "core.h"
#include <stdlib.h>
#include <string.h>
object *new_group(int n, const int *world_ranks)
{
    if (!n)
        return predef[PRE_MPI_GROUP_EMPTY];
    object *g = object_new(KIND_GROUP);
    g->group.size = n;
    g->group.ranks = malloc(n * sizeof(int));
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
int core_Group_incl(object *g, int n, const int *ranks, object **out)
{
    int w[n + 1];
    for (int i = 0; i < n; i++)
        w[i] = g->group.ranks[ranks[i]];
    *out = new_group(n, w);
    return 0;
}
int core_Group_excl(object *g, int n, const int *ranks, object **out)
{
    int w[g->group.size + 1], m = 0;
    for (int i = 0; i < g->group.size; i++)
        if (index_of(n, ranks, i) < 0)
            w[m++] = g->group.ranks[i];
    *out = new_group(m, w);
    return 0;
}
int core_Group_translate_ranks(object *a, int n, const int *ra, object *b, int *rb)
{
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
    if (!(*g)->predefined) {
        free((*g)->group.ranks);
        object_delete(*g);
    }
    *g = predef[PRE_MPI_GROUP_NULL];
    return 0;
}
