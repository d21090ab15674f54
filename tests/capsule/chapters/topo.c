/* Chapter 7 of MPI-3.1: topologies, and the neighbourhood collectives over each of them. */
#include "chapter.h"

static MPI_Comm cart, row, grid, graph, dist, adj;

static int sixes[2]; /* what 72 ranks are differs between the libraries, but not for a program */

static void make(void)
{
    int dims[2] = {0, 0}, three[3] = {0, 1, 0};
    MPI_Dims_create(72, 2, sixes);
    MPI_Dims_create(ranks, 2, dims);
    CHECK(dims[0] * dims[1] == ranks && dims[0] >= dims[1]);
    MPI_Dims_create(12, 3, three);
    SAME(three[0] * 100 + three[1] * 10 + three[2], 413);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, (int[]){1, 0}, 0, &cart);
    MPI_Cart_sub(cart, (int[]){1, 0}, &row);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, (int[]){0, 0}, 0, &grid);
    /* graph: a chain, each with the one before and the one behind it */
    int index[8], edges[16], n = 0;
    for (int i = 0; i < ranks; i++) {
        if (i > 0)
            edges[n++] = i - 1;
        if (i < ranks - 1)
            edges[n++] = i + 1;
        index[i] = n;
    }
    MPI_Graph_create(MPI_COMM_WORLD, ranks, index, edges, 0, &graph);
    /* the same ring, one direction, each rank telling about its own out-edge */
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, (int[]){me}, (int[]){1}, (int[]){(me + 1) % ranks},
                          (int[]){me + 5}, MPI_INFO_NULL, 0, &dist);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, (int[]){(me + ranks - 1) % ranks, me},
                                   MPI_UNWEIGHTED, 2, (int[]){(me + 1) % ranks, me}, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &adj);
}

static void ask(void)
{
    int nd, dims[2], per[2], at[2], r, src, dst, kind, n, e, idx[8], edges[16], nb[2], rank;
    int again[2] = {0, 0};
    MPI_Dims_create(72, 2, again);
    CHECK(again[0] == sixes[0] && again[1] == sixes[1] && again[0] * again[1] == 72);
    MPI_Topo_test(cart, &kind);
    SAME(kind == MPI_CART, 1);
    MPI_Topo_test(graph, &kind);
    SAME(kind == MPI_GRAPH, 1);
    MPI_Topo_test(dist, &kind);
    SAME(kind == MPI_DIST_GRAPH, 1);
    MPI_Topo_test(MPI_COMM_WORLD, &kind);
    SAME(kind == MPI_UNDEFINED, 1);
    MPI_Cartdim_get(cart, &nd);
    SAME(nd, 2);
    MPI_Cart_get(cart, 2, dims, per, at);
    SAME(per[0] * 2 + per[1], 2);
    MPI_Comm_rank(cart, &rank);
    MPI_Cart_rank(cart, at, &r);
    SAME(r, rank);
    int wrap[2] = {at[0] + dims[0], at[1]};
    MPI_Cart_rank(cart, wrap, &r);
    SAME(r, rank);
    MPI_Cart_coords(cart, rank, 2, nb);
    SAME(nb[1], at[1]);
    MPI_Cart_shift(cart, 0, 1, &src, &dst);
    SAME(dst, ((at[0] + 1) % dims[0]) * dims[1] + at[1]);
    MPI_Cart_shift(cart, 1, 1, &src, &dst);
    SAME(dst == MPI_PROC_NULL ? -1 : dst, at[1] + 1 < dims[1] ? rank + 1 : -1);
    MPI_Cart_map(MPI_COMM_WORLD, 2, dims, per, &r);
    CHECK(r >= 0 && r < ranks);
    MPI_Comm_size(row, &n);
    SAME(n, dims[0]);
    MPI_Cartdim_get(row, &nd);
    SAME(nd, 1);
    MPI_Graphdims_get(graph, &n, &e);
    SAME(n, ranks);
    SAME(e, 2 * ranks - 2);
    MPI_Graph_get(graph, ranks, 2 * ranks - 2, idx, edges);
    SAME(idx[ranks - 1], 2 * ranks - 2);
    SAME(edges[0], 1);
    MPI_Graph_neighbors_count(graph, me, &n);
    SAME(n, me == 0 || me == ranks - 1 ? 1 : 2);
    MPI_Graph_neighbors(graph, me, n, nb);
    SAME(nb[0], me ? me - 1 : 1);
    MPI_Graph_map(MPI_COMM_WORLD, ranks, idx, edges, &r);
    CHECK(r >= 0 && r < ranks);
    int in, out, weighted, from[2], fw[2], to[2], tw[2];
    MPI_Dist_graph_neighbors_count(dist, &in, &out, &weighted);
    SAME(in * 10 + out, 11);
    SAME(weighted != 0, 1);
    MPI_Dist_graph_neighbors(dist, 1, from, fw, 1, to, tw);
    SAME(from[0], (me + ranks - 1) % ranks);
    SAME(to[0], (me + 1) % ranks);
    SAME(fw[0], (me + ranks - 1) % ranks + 5);
    SAME(tw[0], me + 5);
    MPI_Dist_graph_neighbors_count(adj, &in, &out, &weighted);
    SAME(in * 10 + out, 22);
    SAME(weighted, 0);
    MPI_Dist_graph_neighbors(adj, 2, from, MPI_UNWEIGHTED, 2, to, MPI_UNWEIGHTED);
    SAME(from[1], me);
}

enum { PLAIN, NONBLOCKING, PERSISTENT, WAYS };
#define RUN(name, ...)                                                   \
    do {                                                                 \
        MPI_Request q_;                                                  \
        if (way == PLAIN)                                                \
            MPI_Neighbor_##name(__VA_ARGS__);                            \
        else if (way == NONBLOCKING) {                                   \
            MPI_Ineighbor_##name(__VA_ARGS__, &q_);                      \
            MPI_Wait(&q_, MPI_STATUS_IGNORE);                            \
        } else {                                                         \
            MPI_Neighbor_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &q_); \
            MPI_Start(&q_);                                              \
            MPI_Wait(&q_, MPI_STATUS_IGNORE);                            \
            MPI_Request_free(&q_);                                       \
        }                                                                \
    } while (0)

static void neighbours(MPI_Comm c, int way, int r)
{
    int out[8], in[8], counts[4] = {1, 1, 1, 1}, disps[4] = {0, 1, 2, 3};
    MPI_Aint bytes[4] = {0, sizeof(int), 2 * sizeof(int), 3 * sizeof(int)};
    MPI_Datatype ts[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    for (int i = 0; i < 8; i++)
        out[i] = me * 100 + i + r;
    memset(in, 0xff, sizeof in);
    RUN(allgather, out, 1, MPI_INT, in, 1, MPI_INT, c);
    mix(in, sizeof in);
    for (int i = 0; i < 4; i++)
        CHECK(in[i] == -1 || (in[i] - r) % 100 == 0);
    memset(in, 0xff, sizeof in);
    RUN(allgatherv, out, 1, MPI_INT, in, counts, disps, MPI_INT, c);
    mix(in, sizeof in);
    memset(in, 0xff, sizeof in);
    RUN(alltoall, out, 1, MPI_INT, in, 1, MPI_INT, c);
    mix(in, sizeof in);
    memset(in, 0xff, sizeof in);
    RUN(alltoallv, out, counts, disps, MPI_INT, in, counts, disps, MPI_INT, c);
    mix(in, sizeof in);
    memset(in, 0xff, sizeof in);
    RUN(alltoallw, out, counts, bytes, ts, in, counts, bytes, ts, c);
    mix(in, sizeof in);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    chapter_begin(argc, argv);
    make();
    for (int r = 0; chapter_round(&r); r++) {
        ask();
        for (int way = 0; way < WAYS; way++) {
            /* not over a ring of two: libraries differ on which of two messages from the same
             * neighbour comes first */
            neighbours(grid, way, r);
            neighbours(graph, way, r);
            neighbours(dist, way, r);
            neighbours(adj, way, r);
        }
        MPI_Comm again;
        int kind;
        MPI_Comm_dup(cart, &again);
        MPI_Topo_test(again, &kind);
        SAME(kind == MPI_CART, 1);
        MPI_Comm_free(&again);
        MPI_Comm_dup(dist, &again);
        MPI_Topo_test(again, &kind);
        SAME(kind == MPI_DIST_GRAPH, 1);
        neighbours(again, PLAIN, r);
        MPI_Comm_free(&again);
        MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){ranks - 1}, (int[]){0}, 1, &again);
        SAME(again == MPI_COMM_NULL, me == ranks - 1);
        if (again != MPI_COMM_NULL)
            MPI_Comm_free(&again);
    }
    MPI_Comm_free(&cart);
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&graph);
    MPI_Comm_free(&dist);
    MPI_Comm_free(&adj);
    return chapter_end("topo");
}
