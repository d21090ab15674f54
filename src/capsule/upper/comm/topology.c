/* topology.c - Cartesian topologies: arithmetic, which the lower half does not see. */
#include "comm/comm.h"
#include "core/face.h"
#include <stdlib.h>
#include <string.h>
void copy_topology(object *to, int nd, const int *dims, const int *periods)
{
    to->comm.has_topology = 1;
    to->comm.ndims = nd;
    to->comm.dims = need(malloc((2 * nd + 1) * sizeof(int)));
    memcpy(to->comm.dims, dims, nd * sizeof(int));
    memcpy(to->comm.dims + nd, periods, nd * sizeof(int));
}
int core_Cart_create(object *c, int nd, const int *dims, const int *periods, int reorder,
                     object **out)
{
    int n = 1;
    handle_t h;
    (void)reorder;
    if (nd < 0)
        return NEUTRAL_MPI_ERR_ARG;
    NEEDS_ARRAY(dims, nd);
    NEEDS_ARRAY(periods, nd);
    for (int i = 0; i < nd; i++) {
        if (dims[i] < 1 ||
            dims[i] > c->comm.size / n) /* the grid must not exceed the communicator */
            return NEUTRAL_MPI_ERR_ARG;
        n *= dims[i];
    }
    struct gate g;
    creation_begin();
    collective_enter(c);
    int rc = gate_enter(c, &g);
    if (!rc)
        rc = LOWER(Comm_split, c->real, c->comm.rank < n ? 0 : NEUTRAL_UNDEFINED, c->comm.rank, &h);
    if (!rc)
        new_comm(h, c, 0, out);
    gate_leave(&g);
    creation_end();
    if (rc)
        return rc;
    if (*out != predef[PRE_MPI_COMM_NULL])
        copy_topology(*out, nd, dims, periods);
    return *out == predef[PRE_MPI_COMM_NULL] ? 0 : neighbour_comm(*out, &(object *){NULL});
}
/* The libraries choose differently: 72 ranks are 9 x 8 to MPICH, and 12 x 6 to Open MPI. A program may ask again where it
 * needs the grid, so what it has been told stays true when it resumes on the other library. Only one thread at a time is here: all
 * calls are within INSIDE, which takes the baton if several threads may be inside MPI (core/baton.h), and nothing below passes it on. */
enum { REMEMBERED_DIMS = 8, REMEMBERED_GRIDS = 256 };
static struct {
    struct grid {
        int n, nd, asked[REMEMBERED_DIMS], told[REMEMBERED_DIMS];
    } *list;
    int known;
} grids;
int core_Dims_create(int n, int nd, int *dims)
{
    struct grid new = {n, nd, {0}, {0}};
    size_t bytes = (size_t)nd * sizeof *dims;
    if (nd < 1 || nd > REMEMBERED_DIMS || !dims)
        return LOWER(Dims_create, n, nd, dims);
    memcpy(new.asked, dims, bytes);
    for (struct grid *g = grids.list; g < grids.list + grids.known; g++)
        if (g->n == n && g->nd == nd && !memcmp(g->asked, dims, bytes)) {
            memcpy(dims, g->told, bytes);
            return 0;
        }
    int rc = LOWER(Dims_create, n, nd, dims);
    if (rc || grids.known == REMEMBERED_GRIDS)
        return rc;
    memcpy(new.told, dims, bytes);
    if (!grids.list)
        grids.list = need(malloc(REMEMBERED_GRIDS * sizeof *grids.list));
    grids.list[grids.known++] = new;
    return 0;
}
#define NEEDS_CART(c)                        \
    do {                                     \
        if (!(c)->comm.has_topology)         \
            return NEUTRAL_MPI_ERR_TOPOLOGY; \
    } while (0)
static void coords_of(object *c, int r, int *at)
{
    for (int i = c->comm.ndims; i-- > 0; r /= c->comm.dims[i])
        at[i] = r % c->comm.dims[i];
}
int core_Cartdim_get(object *c, int *nd)
{
    NEEDS_CART(c);
    *nd = c->comm.ndims;
    return 0;
}
int core_Cart_rank(object *c, const int *at, int *r)
{
    NEEDS_CART(c);
    NEEDS_ARRAY(at, c->comm.ndims);
    for (int i = 0; i < c->comm.ndims; i++)
        if (!c->comm.dims[c->comm.ndims + i] && (at[i] < 0 || at[i] >= c->comm.dims[i]))
            return NEUTRAL_MPI_ERR_ARG;
    *r = 0;
    for (int i = 0; i < c->comm.ndims; i++) {
        int d = c->comm.dims[i];
        *r = *r * d + ((at[i] % d) + d) % d;
    }
    return 0;
}
int core_Cart_coords(object *c, int r, int max, int *at)
{
    NEEDS_CART(c);
    if (r < 0 || r >= c->comm.size)
        return NEUTRAL_MPI_ERR_RANK;
    NEEDS_ARRAY(at, max);
    ARRAY_OF(int, all, c->comm.ndims);
    coords_of(c, r, all);
    for (int i = 0; i < max && i < c->comm.ndims; i++)
        at[i] = all[i];
    return 0;
}
int core_Cart_get(object *c, int max, int *dims, int *periods, int *at)
{
    NEEDS_CART(c);
    NEEDS_ARRAY(dims, max);
    NEEDS_ARRAY(periods, max);
    NEEDS_ARRAY(at, max);
    for (int i = 0; i < max && i < c->comm.ndims; i++) {
        dims[i] = c->comm.dims[i];
        periods[i] = c->comm.dims[c->comm.ndims + i];
    }
    return core_Cart_coords(c, c->comm.rank, max, at);
}
static int neighbour(object *c, int dir, int by)
{
    int r = NEUTRAL_PROC_NULL; /* beyond an edge there is nobody */
    ARRAY_OF(int, at, c->comm.ndims);
    coords_of(c, c->comm.rank, at);
    at[dir] += by;
    core_Cart_rank(c, at, &r);
    return r;
}
int core_Cart_shift(object *c, int dir, int disp, int *src, int *dst)
{
    NEEDS_CART(c);
    if (dir < 0 || dir >= c->comm.ndims)
        return NEUTRAL_MPI_ERR_DIMS;
    *src = neighbour(c, dir, -disp);
    *dst = neighbour(c, dir, disp);
    return 0;
}
int core_Cart_sub(object *c, const int *remain, object **out)
{
    int color = 0, nd = 0;
    handle_t h;
    NEEDS_CART(c);
    NEEDS_ARRAY(remain, c->comm.ndims);
    ARRAY_OF(int, at, c->comm.ndims);
    ARRAY_OF(int, dims, c->comm.ndims);
    ARRAY_OF(int, per, c->comm.ndims);
    coords_of(c, c->comm.rank, at);
    for (int i = 0; i < c->comm.ndims; i++)
        if (remain[i]) {
            dims[nd] = c->comm.dims[i];
            per[nd++] = c->comm.dims[c->comm.ndims + i];
        } else
            color = color * c->comm.dims[i] + at[i];
    if (!nd && face_leaves_out_of_empty_grid())
        return core_Cart_create(c, 0, dims, per, 0, out);
    struct gate g;
    creation_begin();
    collective_enter(c);
    int rc = gate_enter(c, &g);
    if (!rc)
        rc = LOWER(Comm_split, c->real, color, c->comm.rank, &h);
    if (!rc)
        new_comm(h, c, 0, out);
    gate_leave(&g);
    creation_end();
    if (rc)
        return rc;
    copy_topology(*out, nd, dims, per);
    return neighbour_comm(*out, &(object *){NULL});
}
