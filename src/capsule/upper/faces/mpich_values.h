/* faces/mpich_values.h - MPICH's C ABI: constants that it spells differently, windows, files,
 * messages. Included by faces/mpich.c before the functions are made.
 */
#define IN_WIN(h)     obj_of(KIND_WIN, h)
#define IN_MSG(h)     obj_of(KIND_MSG, h)
#define IN_SESSION(h) obj_of(KIND_SESSION, h)
#define OUT_SESSION   handle_of
#define OUT_WIN       handle_of
#define OUT_MSG       handle_of
/* files are pointers here, too: the object itself */
#define IN_FILE(h)  ((h) == MPI_FILE_NULL ? predef[PRE_MPI_FILE_NULL] : (struct object *)(h))
#define OUT_FILE(o) ((o) == predef[PRE_MPI_FILE_NULL] ? MPI_FILE_NULL : (MPI_File)(o))

/* any address that is no handle */
struct MPIR_T_pvar_handle_s *const MPI_T_PVAR_ALL_HANDLES = (struct MPIR_T_pvar_handle_s *)storage;

static int lock_in(int l)
{
    return l == MPI_LOCK_EXCLUSIVE ? LOCK_EXCLUSIVE : l == MPI_LOCK_SHARED ? LOCK_SHARED : 0;
}
static int topo_out(int t)
{
    return t == TOPOLOGY_CART         ? MPI_CART
           : t == TOPOLOGY_GRAPH      ? MPI_GRAPH
           : t == TOPOLOGY_DIST_GRAPH ? MPI_DIST_GRAPH
                                      : MPI_UNDEFINED;
}
static int combiner_out(int c)
{
    static const int of[] = {[0] = MPI_COMBINER_NAMED,        [1] = MPI_COMBINER_DUP,
                             [2] = MPI_COMBINER_CONTIGUOUS,   [3] = MPI_COMBINER_VECTOR,
                             [5] = MPI_COMBINER_HVECTOR,      [6] = MPI_COMBINER_INDEXED,
                             [8] = MPI_COMBINER_HINDEXED,     [9] = MPI_COMBINER_INDEXED_BLOCK,
                             [11] = MPI_COMBINER_STRUCT,      [12] = MPI_COMBINER_SUBARRAY,
                             [13] = MPI_COMBINER_DARRAY,      [14] = MPI_COMBINER_F90_REAL,
                             [15] = MPI_COMBINER_F90_COMPLEX, [16] = MPI_COMBINER_F90_INTEGER,
                             [17] = MPI_COMBINER_RESIZED,     [18] = MPI_COMBINER_HINDEXED_BLOCK};
    return of[c];
}
static int distrib_in(int d)
{
    return d == MPI_DISTRIBUTE_BLOCK    ? NEUTRAL_DISTRIBUTE_BLOCK
           : d == MPI_DISTRIBUTE_CYCLIC ? NEUTRAL_DISTRIBUTE_CYCLIC
                                        : NEUTRAL_DISTRIBUTE_NONE;
}
static int distrib_out(int d)
{
    return d == NEUTRAL_DISTRIBUTE_BLOCK    ? MPI_DISTRIBUTE_BLOCK
           : d == NEUTRAL_DISTRIBUTE_CYCLIC ? MPI_DISTRIBUTE_CYCLIC
                                            : MPI_DISTRIBUTE_NONE;
}
static int darg_in(int d)
{
    return d == MPI_DISTRIBUTE_DFLT_DARG ? NEUTRAL_DISTRIBUTE_DFLT_DARG : d;
}
static int darg_out(int d)
{
    return d == NEUTRAL_DISTRIBUTE_DFLT_DARG ? MPI_DISTRIBUTE_DFLT_DARG : d;
}
static int order_out(int o)
{
    return o == NEUTRAL_ORDER_C ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
}
/* error classes; codes of the program's own are the same everywhere */
static int error_in(int code)
{
    switch (code) {
#define ERROR_CLASS(name, value, ...) \
    case name: return value;
#include "table/errors.def"
#undef ERROR_CLASS
    }
    return code;
}
static int error_out(int code)
{
    switch (code) {
#define ERROR_CLASS(name, value, ...) \
    case value: return name;
#include "table/errors.def"
#undef ERROR_CLASS
    }
    return code == 0 || code >= FIRST_USER_ERROR ? code : MPI_ERR_OTHER;
}
