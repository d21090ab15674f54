/* group_more.c - set operations on groups, which are lists of world ranks. */
#include "core.h"
#include <stdlib.h>
#include <string.h>

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
/* ranges: triples first, last, stride; *ranks is the caller's to free */
static int unroll(const object *g, int n, const int *ranges, int *count, int **ranks)
{
    int m = 0, *r = malloc((g->group.size + 1) * sizeof(int));
    if (!r)
        return NEUTRAL_MPI_ERR_NO_MEM;
    *ranks = r;
    for (int i = 0; i < n; i++, ranges += 3) {
        int first = ranges[0], last = ranges[1], stride = ranges[2];
        if (!stride || first < 0 || first >= g->group.size)
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
