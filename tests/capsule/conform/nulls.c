/* nulls.c - null pointers where a call needs an array or a place for a result: an error, not a crash. What one of the
 * libraries itself does not survive is asked of the other only. */
#include "conform.h"

#ifdef OPEN_MPI
#define OF_OPEN_MPI(call) CALL(call)
#define OF_MPICH(call)
#else
#define OF_OPEN_MPI(call)
#define OF_MPICH(call) CALL(call)
#endif

static int one = 1, zero, n, m, flag;
static char text[8192]; /* longer than any string of the libraries */

static void groups(void)
{
    MPI_Group all, g;
    MPI_Comm_group(world, &all);
    CALL(MPI_Group_translate_ranks(all, 1, &zero, all, NULL));
    OF_OPEN_MPI(MPI_Group_translate_ranks(all, 1, NULL, all, &n));
    OF_OPEN_MPI(MPI_Group_incl(all, 1, NULL, &g));
    OF_OPEN_MPI(MPI_Group_excl(all, 1, NULL, &g));
    MPI_Group_free(&all);
}

static void types(void)
{
    MPI_Aint at = 0;
    MPI_Datatype t, part = MPI_INT;
    int ints[2];
    CALL(MPI_Type_indexed(1, NULL, &zero, MPI_INT, &t));
    CALL(MPI_Type_indexed(1, &one, NULL, MPI_INT, &t));
    CALL(MPI_Type_create_hindexed(1, NULL, &at, MPI_INT, &t));
    CALL(MPI_Type_create_hindexed(1, &one, NULL, MPI_INT, &t));
    CALL(MPI_Type_create_indexed_block(1, 1, NULL, MPI_INT, &t));
    CALL(MPI_Type_create_hindexed_block(1, 1, NULL, MPI_INT, &t));
    CALL(MPI_Type_create_struct(1, NULL, &at, &part, &t));
    CALL(MPI_Type_create_struct(1, &one, NULL, &part, &t));
    CALL(MPI_Type_create_struct(1, &one, &at, NULL, &t));
    OF_OPEN_MPI(MPI_Type_create_subarray(1, NULL, &one, &zero, MPI_ORDER_C, MPI_INT, &t));
    OF_OPEN_MPI(MPI_Type_create_subarray(1, &one, NULL, &zero, MPI_ORDER_C, MPI_INT, &t));
    CALL(MPI_Type_create_subarray(1, &one, &one, NULL, MPI_ORDER_C, MPI_INT, &t));
#ifndef OPEN_MPI
    MPI_Count large = 1;
    CALL(MPI_Type_indexed_c(1, NULL, &large, MPI_INT, &t));
    CALL(MPI_Type_create_hindexed_c(1, &large, NULL, MPI_INT, &t));
#endif
    MPI_Type_contiguous(2, MPI_INT, &t);
    CALL(MPI_Type_get_contents(t, 1, 0, 1, NULL, &at, &part));
    CALL(MPI_Type_get_contents(t, 1, 0, 1, ints, &at, NULL));
    CALL(MPI_Type_set_name(t, NULL));
    CALL(MPI_Type_get_name(t, NULL, &n));
    CALL(MPI_Comm_set_name(world, NULL));
    CALL(MPI_Comm_get_name(world, NULL, &n));
    MPI_Type_free(&t);
}

static void requests(void)
{
    MPI_Request q = MPI_REQUEST_NULL;
    MPI_Status s;
    void *buffer;
    CALL(MPI_Waitall(1, NULL, &s));
    CALL(MPI_Waitany(1, NULL, &n, &s));
    CALL(MPI_Waitsome(1, NULL, &n, &m, &s));
    CALL(MPI_Testall(1, NULL, &flag, &s));
    CALL(MPI_Testany(1, NULL, &n, &flag, &s));
    CALL(MPI_Testsome(1, NULL, &n, &m, &s));
    CALL(MPI_Startall(1, NULL));
    CALL(MPI_Waitsome(1, &q, &n, NULL, MPI_STATUSES_IGNORE));
    CALL(MPI_Testsome(1, &q, &n, NULL, MPI_STATUSES_IGNORE));
    OF_MPICH(MPI_Get_count(NULL, MPI_INT, &n));
    CALL(MPI_Get_elements(NULL, MPI_INT, &n));
    CALL(MPI_Test_cancelled(NULL, &flag));
    CALL(MPI_Status_set_elements(NULL, MPI_INT, 1));
    CALL(MPI_Status_set_cancelled(NULL, 1));
    CALL(MPI_Grequest_start(NULL, NULL, NULL, NULL, NULL));
    CALL(MPI_Buffer_detach(NULL, &n));
    CALL(MPI_Buffer_detach(&buffer, NULL));
}

static void topologies(void)
{
    MPI_Comm c, cart, graph, dist;
    int dim = ranks, *index = malloc((size_t)ranks * sizeof *index);
    for (int i = 0; i < ranks; i++)
        index[i] = 1;
    CALL(MPI_Cart_create(world, 1, NULL, &zero, 0, &c));
    CALL(MPI_Cart_create(world, 1, &one, NULL, 0, &c));
    CALL(MPI_Cart_map(world, 1, NULL, &zero, &n));
    MPI_Cart_create(world, 1, &dim, &zero, 0, &cart);
    MPI_Comm_set_errhandler(cart, MPI_ERRORS_RETURN);
    CALL(MPI_Cart_get(cart, 1, NULL, &n, &m));
    CALL(MPI_Cart_get(cart, 1, &n, NULL, &m));
    CALL(MPI_Cart_get(cart, 1, &n, &m, NULL));
    CALL(MPI_Cart_rank(cart, NULL, &n));
    CALL(MPI_Cart_coords(cart, 0, 1, NULL));
    OF_MPICH(MPI_Cart_sub(cart, NULL, &c));
    MPI_Comm_free(&cart);
    CALL(MPI_Graph_map(world, 1, NULL, NULL, &n));
    CALL(MPI_Graph_create(world, 1, NULL, &zero, 0, &c));
    CALL(MPI_Graph_create(world, 1, &one, NULL, 0, &c));
    MPI_Graph_create(world, ranks, index, &zero, 0, &graph);
    MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
    CALL(MPI_Graph_get(graph, 1, 1, NULL, &n));
    CALL(MPI_Graph_get(graph, 1, 1, &n, NULL));
    CALL(MPI_Graph_neighbors(graph, 0, 1, NULL));
    MPI_Comm_free(&graph);
    free(index);
    CALL(MPI_Dist_graph_create_adjacent(world, 1, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED,
                                        MPI_INFO_NULL, 0, &c));
    CALL(MPI_Dist_graph_create(world, 1, &zero, &one, &zero, NULL, MPI_INFO_NULL, 0, &c));
    CALL(MPI_Dist_graph_create(world, 1, NULL, &one, &zero, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c));
    CALL(MPI_Dist_graph_create(world, 1, &zero, NULL, &zero, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c));
    CALL(MPI_Dist_graph_create(world, 1, &zero, &one, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c));
    MPI_Dist_graph_create_adjacent(world, 1, &me, MPI_UNWEIGHTED, 1, &me, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &dist);
    MPI_Comm_set_errhandler(dist, MPI_ERRORS_RETURN);
    CALL(MPI_Dist_graph_neighbors(dist, 1, NULL, MPI_UNWEIGHTED, 1, &n, MPI_UNWEIGHTED));
    CALL(MPI_Dist_graph_neighbors(dist, 1, &n, MPI_UNWEIGHTED, 1, NULL, MPI_UNWEIGHTED));
    MPI_Comm_free(&dist);
}

static void hints(void)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    CALL(MPI_Info_set(info, NULL, "value"));
    CALL(MPI_Info_set(info, "key", NULL));
    CALL(MPI_Info_get(info, NULL, 9, text, &flag));
    CALL(MPI_Info_get(info, "key", 9, NULL, &flag));
    CALL(MPI_Info_delete(info, NULL));
    CALL(MPI_Info_get_nthkey(info, 0, NULL));
    CALL(MPI_Info_get_valuelen(info, NULL, &n, &flag));
    n = 9;
    CALL(MPI_Info_get_string(info, NULL, &n, text, &flag));
    CALL(MPI_Info_get_string(info, "key", &n, NULL, &flag));
    CALL(MPI_Info_get_string(info, "key", NULL, text, &flag));
    CALL(MPI_Info_get_string(info, "key", &n, text, NULL));
    MPI_Info_free(&info);
}

static void operation(void *in, void *inout, int *len, MPI_Datatype *t)
{
    (void)in, (void)inout, (void)len, (void)t;
}
static void handler(MPI_Comm *c, int *code, ...)
{
    (void)c, (void)code;
}
static void places(void)
{
    MPI_Errhandler e;
    MPI_Op op;
    MPI_Win win;
    MPI_Info no_info __attribute__((unused)) = MPI_INFO_NULL;
    void *base;
    int key;
    CALL(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, NULL, NULL));
    CALL(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, NULL, NULL));
    CALL(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, NULL, NULL));
    CALL(MPI_Comm_free_keyval(NULL));
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    CALL(MPI_Comm_get_attr(world, key, NULL, &flag));
    CALL(MPI_Comm_get_attr(world, key, &base, NULL));
    CALL(MPI_Comm_get_attr(world, MPI_TAG_UB, NULL, &flag));
    MPI_Comm_free_keyval(&key);
    CALL(MPI_Comm_create_errhandler(NULL, &e));
    CALL(MPI_Comm_create_errhandler(handler, NULL));
    CALL(MPI_Op_create(NULL, 1, &op));
    CALL(MPI_Op_create(operation, 1, NULL));
    CALL(MPI_Alloc_mem(8, MPI_INFO_NULL, NULL));
    CALL(MPI_Alloc_mem(-8, MPI_INFO_NULL, &base));
    CALL(MPI_Get_processor_name(NULL, &n));
    CALL(MPI_Get_library_version(NULL, &n));
    OF_MPICH(MPI_Error_string(1, NULL, &n));
    OF_MPICH(MPI_Win_allocate(8, 1, no_info, world, NULL, &win));
}

/* Whose handler hears of an error on a communicator or window that was given none, or that was freed: with MPICH that
 * of MPI_COMM_WORLD, as it is now. In Open MPI a freed handle is a stray pointer. */
static void heirs(void)
{
#ifndef OPEN_MPI
    MPI_Comm dup, freed;
    MPI_Win win;
    MPI_Comm_dup(world, &dup);
    freed = dup;
    MPI_Comm_free(&dup);
    CALL(MPI_Barrier(freed));
    CALL(MPI_Comm_size(freed, &n));
    CALL(MPI_Send(&one, 1, MPI_INT, 99, 0, early));
    CALL(MPI_Comm_split(early, 0, 0, NULL));
    MPI_Win_create(&n, sizeof n, 1, MPI_INFO_NULL, early, &win);
    CALL(MPI_Win_lock(MPI_LOCK_SHARED, 99, 0, win));
    MPI_Win_free(&win);
#endif
}

void part_nulls(void)
{
    groups();
    types();
    requests();
    topologies();
    hints();
    places();
    heirs();
}
