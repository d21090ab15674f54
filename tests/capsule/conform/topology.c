/* topology.c - topologies: what they tell, and collectives between neighbours: on a ring that is not closed, where an end has
 * no neighbour, and with counts of nothing.
 */
#include "conform.h"

static int from[16], to[16];
#ifdef WIDE /* wide/wide.h */
static MPI_Count counts[4], zeros[4];
static MPI_Aint places[4];
#else
static int counts[4], zeros[4], places[4];
#endif
static MPI_Aint wide[4];
static MPI_Datatype ints[4];

static void told(void)
{
    MPI_Comm grid, graph;
    int dims[2] = {ranks, 1}, periods[2] = {1, 0}, coords[2] = {-1, -1}, rank = -1, n = -1;
    int index[3] = {1, 3, 4}, edges[4] = {1, 0, 2, 1}, two[4] = {0};
    CALL(MPI_Cart_create(world, 2, dims, periods, 0, &grid));
    CALL(MPI_Cart_get(grid, 2, dims, periods, coords));
    say("%d %d, %d %d, %d %d", dims[0], dims[1], periods[0], periods[1], coords[0], coords[1]);
#ifdef OPEN_MPI /* MPICH looks behind its objects */
    FAILS(MPI_Cart_get(world, 2, dims, periods, coords));
#endif
    CALL(MPI_Cart_map(world, 2, dims, periods, &rank));
    say("%d", rank);
    dims[0] = 1;
    CALL(MPI_Cart_map(world, 2, dims, periods, &rank));
    say("%d", rank == MPI_UNDEFINED ? -1 : rank);
    MPI_Comm_free(&grid);
    CALL(MPI_Graph_create(world, 3, index, edges, 0, &graph));
    CALL(MPI_Graph_get(graph, 3, 4, index, edges));
    say("%d %d %d; %d %d %d %d", index[0], index[1], index[2], edges[0], edges[1], edges[2],
        edges[3]);
    CALL(MPI_Graph_neighbors_count(graph, 1, &n));
    CALL(MPI_Graph_neighbors(graph, 1, n, two));
    say("%d: %d %d", n, two[0], two[1]);
    CALL(MPI_Graph_neighbors(graph, 1, 1, two));
    FAILS(MPI_Graph_neighbors(graph, 99, 1, two));
    CALL(MPI_Graph_map(world, 3, index, edges, &rank));
    say("%d", rank);
    CALL(MPI_Graph_map(world, 2, (int[]){1, 2}, (int[]){1, 0}, &rank));
    say("%d", rank == MPI_UNDEFINED ? -1 : rank);
#ifdef OPEN_MPI
    FAILS(MPI_Graph_get(world, 3, 4, index, edges));
#endif
    MPI_Comm_free(&graph);
}

static void fill(void)
{
    for (int i = 0; i < 16; i++) {
        from[i] = 100 * me + i;
        to[i] = -1;
    }
}
static void say_result(const char *what, int rc)
{
    say("%s: %s: %d %d %d %d", what, name_of(rc), to[0], to[1], to[2], to[3]);
}
#define NEIGHBORS(call)                                        \
    do {                                                       \
        fill();                                                \
        MPI_Request q = MPI_REQUEST_NULL;                      \
        int rc_ = call;                                        \
        if (!rc_ && q != MPI_REQUEST_NULL) {                   \
            if (strstr(#call, "_init("))                       \
                rc_ = MPI_Start(&q);                           \
            rc_ = rc_ ? rc_ : MPI_Wait(&q, MPI_STATUS_IGNORE); \
        }                                                      \
        say_result(#call, rc_);                                \
        if (q != MPI_REQUEST_NULL)                             \
            MPI_Request_free(&q);                              \
    } while (0)
#define EACH_WAY(comm, n, counts)                                                                  \
    NEIGHBORS(MPI_Neighbor_allgather(from, n, MPI_INT, to, n, MPI_INT, comm));                     \
    NEIGHBORS(MPI_Neighbor_allgatherv(from, n, MPI_INT, to, counts, places, MPI_INT, comm));       \
    NEIGHBORS(MPI_Neighbor_alltoall(from, n, MPI_INT, to, n, MPI_INT, comm));                      \
    NEIGHBORS(                                                                                     \
        MPI_Neighbor_alltoallv(from, counts, places, MPI_INT, to, counts, places, MPI_INT, comm)); \
    NEIGHBORS(MPI_Neighbor_alltoallw(from, counts, wide, ints, to, counts, wide, ints, comm));     \
    NEIGHBORS(MPI_Ineighbor_allgather(from, n, MPI_INT, to, n, MPI_INT, comm, &q));                \
    NEIGHBORS(MPI_Ineighbor_allgatherv(from, n, MPI_INT, to, counts, places, MPI_INT, comm, &q));  \
    NEIGHBORS(MPI_Ineighbor_alltoall(from, n, MPI_INT, to, n, MPI_INT, comm, &q));                 \
    NEIGHBORS(MPI_Ineighbor_alltoallv(from, counts, places, MPI_INT, to, counts, places, MPI_INT,  \
                                      comm, &q));                                                  \
    NEIGHBORS(MPI_Ineighbor_alltoallw(from, counts, wide, ints, to, counts, wide, ints, comm, &q))
#define EACH_INIT(comm, n, counts)                                                                \
    NEIGHBORS(                                                                                    \
        MPI_Neighbor_allgather_init(from, n, MPI_INT, to, n, MPI_INT, comm, MPI_INFO_NULL, &q));  \
    NEIGHBORS(MPI_Neighbor_allgatherv_init(from, n, MPI_INT, to, counts, places, MPI_INT, comm,   \
                                           MPI_INFO_NULL, &q));                                   \
    NEIGHBORS(MPI_Neighbor_alltoallv_init(from, counts, places, MPI_INT, to, counts, places,      \
                                          MPI_INT, comm, MPI_INFO_NULL, &q));                     \
    NEIGHBORS(MPI_Neighbor_alltoallw_init(from, counts, wide, ints, to, counts, wide, ints, comm, \
                                          MPI_INFO_NULL, &q))

void part_topology(void)
{
    MPI_Comm line;
    for (int i = 0; i < 4; i++) {
        counts[i] = 1;
        places[i] = i;
        wide[i] = i * (MPI_Aint)sizeof(int);
        ints[i] = MPI_INT;
    }
    told();
    MPI_Cart_create(world, 1, &ranks, (int[]){0}, 0, &line);
    MPI_Comm_set_errhandler(line, MPI_ERRORS_RETURN);
    EACH_WAY(line, 1, counts);
    EACH_WAY(line, 0, zeros);
    EACH_INIT(line, 1, counts);
    EACH_INIT(line, 0, zeros);
    MPI_Comm_free(&line);
}
