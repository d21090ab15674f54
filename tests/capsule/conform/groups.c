/* groups.c - groups and topologies: empty ones, wrong ranks, wrong kinds. */
#include "conform.h"

static void groups(void)
{
    MPI_Group all, g, h;
    int ranks_out[4], n = -1, bad[2] = {0, 99}, twice[2] = {1, 1}, back[2] = {1, 0};
    int range[1][3] = {{0, 1, 1}}, bad_range[1][3] = {{0, 1, 0}}, far_range[1][3] = {{0, 99, 1}},
        down[1][3] = {{1, 0, -1}}, empty_range[1][3] = {{1, 0, 1}};
    MPI_Comm_group(world, &all);
    CALL(MPI_Group_incl(all, 0, NULL, &g));
    say("empty: %d", g == MPI_GROUP_EMPTY);
    CALL(MPI_Group_excl(all, 0, NULL, &g));
    MPI_Group_compare(all, g, &n);
    say("the same: %d", n == MPI_IDENT);
    MPI_Group_free(&g);
    CALL(MPI_Group_incl(all, 2, bad, &g));
    CALL(MPI_Group_incl(all, 2, twice, &g));
    FAILS(MPI_Group_incl(all, -1, bad, &g));
    CALL(MPI_Group_excl(all, 2, bad, &g));
    CALL(MPI_Group_excl(all, 2, twice, &g));
    CALL(MPI_Group_incl(MPI_GROUP_NULL, 0, NULL, &g));
    CALL(MPI_Group_incl(MPI_GROUP_EMPTY, 1, back, &g));
    CALL(MPI_Group_size(MPI_GROUP_NULL, &n));
    CALL(MPI_Group_rank(MPI_GROUP_NULL, &n));
    CALL(MPI_Group_size(MPI_GROUP_EMPTY, &n));
    CALL(MPI_Group_rank(MPI_GROUP_EMPTY, &n));
    say("no rank: %d", n == MPI_UNDEFINED);
    CALL(MPI_Group_compare(MPI_GROUP_NULL, all, &n));
    CALL(MPI_Group_compare(MPI_GROUP_EMPTY, MPI_GROUP_EMPTY, &n));
    say("ident: %d", n == MPI_IDENT);
    CALL(MPI_Group_union(MPI_GROUP_EMPTY, MPI_GROUP_EMPTY, &g));
    say("empty: %d", g == MPI_GROUP_EMPTY);
    CALL(MPI_Group_union(MPI_GROUP_NULL, all, &g));
    CALL(MPI_Group_difference(all, all, &g));
    say("empty: %d", g == MPI_GROUP_EMPTY);
    CALL(MPI_Group_intersection(all, MPI_GROUP_EMPTY, &g));
    CALL(MPI_Group_range_incl(all, 0, NULL, &g));
    say("empty: %d", g == MPI_GROUP_EMPTY);
    FAILS(MPI_Group_range_incl(all, 1, bad_range, &g));
    FAILS(MPI_Group_range_incl(all, 1, far_range, &g));
    FAILS(MPI_Group_range_excl(all, 1, bad_range, &g));
    FAILS(MPI_Group_range_excl(all, 1, far_range, &g));
    CALL(MPI_Group_range_incl(all, 1, down, &g));
    MPI_Group_incl(all, 2, back, &h);
    MPI_Group_compare(g, h, &n);
    say("the same: %d", n == MPI_IDENT);
    MPI_Group_free(&g);
    MPI_Group_free(&h);
    FAILS(MPI_Group_range_incl(all, 1, empty_range, &g));
    MPI_Group_range_incl(all, 1, range, &h);
    CALL(MPI_Group_translate_ranks(all, 0, NULL, h, NULL));
    back[0] = MPI_PROC_NULL;
    back[1] = ranks - 1;
    CALL(MPI_Group_translate_ranks(all, 2, back, h, ranks_out));
    say("nobody: %d, no member: %d", ranks_out[0] == MPI_PROC_NULL, ranks_out[1] == MPI_UNDEFINED);
    MPI_Group_free(&h);
    CALL(MPI_Group_free(&all));
    CALL(MPI_Group_free(&all));
}

static void carts(void)
{
    MPI_Comm c = MPI_COMM_NULL, d;
    int dims[3] = {0, 0, 0}, periods[3] = {1, 0, 0}, at[3] = {0, 0, 0}, n = -1, m = -1;
    int wrong[1] = {99}, odd[2] = {2, 0};
    CALL(MPI_Dims_create(12, 2, dims));
    say("%d x %d", dims[0], dims[1]);
    dims[0] = dims[1] = 0;
    CALL(MPI_Dims_create(24, 3, dims));
    say("%d x %d x %d", dims[0], dims[1], dims[2]);
    CALL(MPI_Dims_create(7, 2, odd));
    CALL(MPI_Dims_create(4, 1, (int[]){-1}));
    CALL(MPI_Cart_create(world, 1, wrong, periods, 0, &c));
    CALL(MPI_Cart_create(world, 1, (int[]){ranks}, periods, 0, &c));
    CALL(MPI_Cartdim_get(c, &n));
    CALL(MPI_Cart_rank(c, (int[]){-1}, &n));
    say("rank %d", n);
    CALL(MPI_Cart_coords(c, 99, 1, at));
    CALL(MPI_Cart_coords(c, -1, 1, at));
    CALL(MPI_Cart_shift(c, 0, 1, &n, &m));
    FAILS(MPI_Cart_shift(c, -1, 1, &n, &m));
    CALL(MPI_Cart_shift(c, 0, 0, &n, &m));
    CALL(MPI_Cart_sub(c, (int[]){0}, &d)); /* MPICH leaves all but one rank out */
    say("%s", d == MPI_COMM_NULL ? "left out" : "a member");
    if (d != MPI_COMM_NULL) {
        CALL(MPI_Cartdim_get(d, &n));
        CALL(MPI_Comm_size(d, &m));
        say("%d dimensions, %d ranks", n, m);
        MPI_Comm_free(&d);
    }
    CALL(MPI_Graphdims_get(c, &n, &m));
    CALL(MPI_Dist_graph_neighbors_count(c, &n, &m, &n));
    MPI_Comm_free(&c);
    CALL(MPI_Cart_create(world, 1, (int[]){2}, (int[]){0}, 0, &c));
    say("%s", c == MPI_COMM_NULL ? "left out" : "a member");
    if (c != MPI_COMM_NULL) {
        CALL(MPI_Cart_rank(c, (int[]){2}, &n));
        CALL(MPI_Cart_shift(c, 0, 1, &n, &m));
        say("from %d to %d", n == MPI_PROC_NULL ? -1 : n, m == MPI_PROC_NULL ? -1 : m);
        MPI_Comm_free(&c);
    }
    CALL(MPI_Cartdim_get(world, &n));
    CALL(MPI_Cart_rank(world, at, &n));
    CALL(MPI_Cart_coords(world, 0, 1, at));
    CALL(MPI_Cart_shift(world, 0, 1, &n, &m));
    CALL(MPI_Cart_sub(world, (int[]){1}, &d));
    CALL(MPI_Topo_test(world, &n));
    say("none: %d", n == MPI_UNDEFINED);
    CALL(MPI_Topo_test(MPI_COMM_NULL, &n));
    CALL(MPI_Neighbor_alltoall(&n, 1, MPI_INT, &m, 1, MPI_INT, world));
}

static void graphs(void)
{
    MPI_Comm c;
    int in = -1, out = -1, weighted = -1, next = (me + 1) % ranks,
        before = (me + ranks - 1) % ranks;
    int one = 1, w = 7, got[2] = {-1, -1}, weight[2] = {-1, -1}, got_out[2], weight_out[2];
#define COUNT(comm)                                                   \
    CALL(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted)); \
    say("in %d, out %d, weighted %d", in, out, weighted)
    CALL(MPI_Dist_graph_create_adjacent(world, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
                                        MPI_INFO_NULL, 0, &c));
    COUNT(c);
    CALL(MPI_Dist_graph_neighbors(c, 1, got, MPI_UNWEIGHTED, 1, got_out, MPI_UNWEIGHTED));
    say("from %d to %d", got[0], got_out[0]);
    MPI_Comm_free(&c);
    CALL(MPI_Dist_graph_create_adjacent(world, 1, &before, &w, 1, &next, &w, MPI_INFO_NULL, 0, &c));
    COUNT(c);
    CALL(MPI_Dist_graph_neighbors(c, 1, got, weight, 1, got_out, weight_out));
    say("weights %d %d", weight[0], weight_out[0]);
    MPI_Comm_free(&c);
    CALL(MPI_Dist_graph_create_adjacent(world, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL,
                                        MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &c));
    COUNT(c);
    MPI_Comm_free(&c);
    CALL(MPI_Dist_graph_create_adjacent(world, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED,
                                        MPI_INFO_NULL, 0, &c));
    COUNT(c);
    MPI_Comm_free(&c);
    /* one rank tells of the edges of all; the others of none */
    int sources[4] = {0, 1, 2, 3}, degrees[4] = {1, 1, 1, 1}, to[4] = {1, 2, 0, 0},
        weights[4] = {5, 6, 7, 8}, n = me == 0 ? 3 : 0;
    CALL(MPI_Dist_graph_create(world, n, sources, degrees, to, n ? weights : MPI_WEIGHTS_EMPTY,
                               MPI_INFO_NULL, 0, &c));
    COUNT(c);
    MPI_Comm_free(&c);
    CALL(MPI_Dist_graph_create(world, n, sources, degrees, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                               &c));
    COUNT(c);
    MPI_Comm_free(&c);
    CALL(
        MPI_Dist_graph_create(world, 0, NULL, NULL, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &c));
    COUNT(c);
    MPI_Comm_free(&c);
    CALL(MPI_Dist_graph_create(world, 0, NULL, NULL, NULL, NULL, MPI_INFO_NULL, 0, &c));
    COUNT(c);
    MPI_Comm_free(&c);
    CALL(MPI_Dist_graph_create_adjacent(world, 0, NULL, NULL, 0, NULL, NULL, MPI_INFO_NULL, 0, &c));
    COUNT(c);
    MPI_Comm_free(&c);
    CALL(MPI_Graph_create(world, 0, NULL, NULL, 0, &c));
    say("%s", c == MPI_COMM_NULL ? "null" : "not null");
    CALL(MPI_Graph_create(world, 99, &one, &one, 0, &c));
    CALL(MPI_Dist_graph_neighbors_count(world, &in, &out, &weighted));
    CALL(MPI_Graph_neighbors_count(world, 0, &in));
}

void part_groups(void)
{
    groups();
    carts();
    graphs();
}
