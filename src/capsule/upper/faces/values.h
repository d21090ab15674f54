/* faces/values.h - a C face: constants whose values in its ABI differ from the neutral values of border.h. Include this after
 * its mpi.h: the names are the same in every ABI.
 */
#ifdef STANDARD_ABI /* values that are equal in Open MPI and MPICH, but not in the standard */

/* MPI_ANY_TAG is -2, and -1 is no tag. The two change places, so that every value survives the way there and back. */
static int tag_in(int t)
{
    return t == MPI_ANY_TAG ? NEUTRAL_ANY_TAG : t == NEUTRAL_ANY_TAG ? MPI_ANY_TAG : t;
}
#define tag_out tag_in

static const int modes[][2] = {{MPI_MODE_APPEND, NEUTRAL_MODE_APPEND},
                               {MPI_MODE_CREATE, NEUTRAL_MODE_CREATE},
                               {MPI_MODE_DELETE_ON_CLOSE, NEUTRAL_MODE_DELETE_ON_CLOSE},
                               {MPI_MODE_EXCL, NEUTRAL_MODE_EXCL},
                               {MPI_MODE_RDONLY, NEUTRAL_MODE_RDONLY},
                               {MPI_MODE_RDWR, NEUTRAL_MODE_RDWR},
                               {MPI_MODE_SEQUENTIAL, NEUTRAL_MODE_SEQUENTIAL},
                               {MPI_MODE_UNIQUE_OPEN, NEUTRAL_MODE_UNIQUE_OPEN},
                               {MPI_MODE_WRONLY, NEUTRAL_MODE_WRONLY}};
static int modes_of(int given, int from)
{
    int to = 0;
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++)
        if (given & modes[i][from])
            to |= modes[i][!from];
    return to;
}
static int amode_in(int mode)
{
    return modes_of(mode, 0);
}
static int amode_out(int mode)
{
    return modes_of(mode, 1);
}
static int whence_in(int w)
{
    return w == MPI_SEEK_SET   ? NEUTRAL_SEEK_SET
           : w == MPI_SEEK_CUR ? NEUTRAL_SEEK_CUR
           : w == MPI_SEEK_END ? NEUTRAL_SEEK_END
                               : 0;
}
static long disp_in(long d)
{
    return d == MPI_DISPLACEMENT_CURRENT ? NEUTRAL_DISPLACEMENT_CURRENT : d;
}
static int compare_out(int c)
{
    return c == NEUTRAL_IDENT       ? MPI_IDENT
           : c == NEUTRAL_CONGRUENT ? MPI_CONGRUENT
           : c == NEUTRAL_SIMILAR   ? MPI_SIMILAR
                                    : MPI_UNEQUAL;
}
static int thread_in(int t)
{
    return t >= MPI_THREAD_MULTIPLE     ? NEUTRAL_THREAD_MULTIPLE
           : t >= MPI_THREAD_SERIALIZED ? NEUTRAL_THREAD_SERIALIZED
           : t >= MPI_THREAD_FUNNELED   ? NEUTRAL_THREAD_FUNNELED
                                        : NEUTRAL_THREAD_SINGLE;
}
static int thread_out(int t)
{
    static const int of[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                             MPI_THREAD_MULTIPLE};
    return of[t & 3];
}
#endif

enum { NO_RANK = -9 }; /* neither a rank nor a special value of any ABI */
static int rank_in(int r)
{
    return r >= 0                ? r
           : r == MPI_ANY_SOURCE ? NEUTRAL_ANY_SOURCE
           : r == MPI_PROC_NULL  ? NEUTRAL_PROC_NULL
           : r == MPI_ROOT       ? NEUTRAL_ROOT
           : r > NO_RANK         ? NO_RANK
                                 : r;
}
static int rank_out(int r)
{
    return r >= 0                    ? r
           : r == NEUTRAL_ANY_SOURCE ? MPI_ANY_SOURCE
           : r == NEUTRAL_PROC_NULL  ? MPI_PROC_NULL
                                     : r;
}
static void *buf_in(const void *b)
{
    return b == MPI_IN_PLACE ? NEUTRAL_IN_PLACE : (void *)b;
}
static int split_in(int s)
{
    switch (s) {
    case MPI_UNDEFINED: return NEUTRAL_UNDEFINED;
    case MPI_COMM_TYPE_SHARED: return NEUTRAL_SPLIT_SHARED;
    case MPI_COMM_TYPE_HW_UNGUIDED: return NEUTRAL_SPLIT_HW_UNGUIDED;
    case MPI_COMM_TYPE_HW_GUIDED: return NEUTRAL_SPLIT_HW_GUIDED;
#if defined(MPI_COMM_TYPE_RESOURCE_GUIDED) || MPI_VERSION > 4 /* not in MPICH before 4.2 */
    case MPI_COMM_TYPE_RESOURCE_GUIDED: return NEUTRAL_SPLIT_RESOURCE_GUIDED;
#endif
#ifdef MPIX_COMM_TYPE_NEIGHBORHOOD
    case MPIX_COMM_TYPE_NEIGHBORHOOD: return NEUTRAL_SPLIT_NEIGHBORHOOD;
#endif
    }
    return NEUTRAL_SPLIT_NONE;
}
static int order_in(int o)
{
    return o == MPI_ORDER_C ? NEUTRAL_ORDER_C : o == MPI_ORDER_FORTRAN ? NEUTRAL_ORDER_FORTRAN : -1;
}
static int typeclass_in(int c)
{
    return c == MPI_TYPECLASS_INTEGER   ? NEUTRAL_TYPECLASS_INTEGER
           : c == MPI_TYPECLASS_REAL    ? NEUTRAL_TYPECLASS_REAL
           : c == MPI_TYPECLASS_COMPLEX ? NEUTRAL_TYPECLASS_COMPLEX
                                        : 0;
}
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
/* Error classes. Codes that the program adds are the same everywhere. */
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
