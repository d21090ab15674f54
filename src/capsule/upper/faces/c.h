/* faces/c.h - a C face: MPI_Name() of one ABI for each row of table/functions.def.
 *
 * faces/openmpi.c, faces/mpich.c and faces/standard.c include this after their ABI's mpi.h. They define how to
 * convert handles (IN_COMM(h) -> struct object *, OUT_COMM(o) -> MPI_Comm, ...), statuses (status_in,
 * status_out) and special values (rank_in, rank_out, buf_in, split_in, order_in, ...).
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "faces/inside.h"
#include "faces/kinds_c.h"

#ifndef STANDARD_ABI /* these values are the same in Open MPI, in MPICH and in border.h */
#define tag_in(t)      (t)
#define amode_in(a)    (a)
#define amode_out(a)   (a)
#define whence_in(w)   (w)
#define disp_in(d)     (d)
#define compare_out(c) (c)
#define thread_in(t)   (t)
#define thread_out(t)  (t)
_Static_assert(MPI_ANY_TAG == NEUTRAL_ANY_TAG && (int)MPI_IDENT == NEUTRAL_IDENT &&
                   (int)MPI_UNEQUAL == NEUTRAL_UNEQUAL && MPI_SEEK_SET == NEUTRAL_SEEK_SET &&
                   MPI_DISPLACEMENT_CURRENT == NEUTRAL_DISPLACEMENT_CURRENT &&
                   MPI_MODE_CREATE == NEUTRAL_MODE_CREATE &&
                   MPI_MODE_SEQUENTIAL == NEUTRAL_MODE_SEQUENTIAL &&
                   (int)MPI_THREAD_MULTIPLE == NEUTRAL_THREAD_MULTIPLE,
               "neutral values");
#endif

/* PMPI_Name is the function. MPI_Name is a weak alias, which profiling tools may replace. */
#define WEAK(Name) \
    extern __typeof__(PMPI_##Name) MPI_##Name __attribute__((weak, alias("PMPI_" #Name)));
#define FACE(class, Name, name, ...)                                              \
    int PMPI_##Name(LIST(PARAM, __VA_ARGS__))                                     \
    {                                                                             \
        object *holder_ = NULL;                                                   \
        int bad_ = 0;                                                             \
        EACH(HOLDER, __VA_ARGS__)                                                 \
        EACH(BEFORE, __VA_ARGS__)                                                 \
        int none_ = no_holder(holder_);                                           \
        if (__builtin_expect(none_, 0))                                           \
            bad_ = none_;                                                         \
        int rc = bad_ ? bad_ : ENTER(class)(core_##Name(LIST(ARG, __VA_ARGS__))); \
        if (__builtin_expect(!bad_, 1)) {                                         \
            EACH(AFTER, __VA_ARGS__)                                              \
        }                                                                         \
        if (__builtin_expect(rc, 0))                                              \
            rc = raise_error(rc, holder_, "MPI_" #Name);                          \
        return rc;                                                                \
    }                                                                             \
    WEAK(Name)
#define indegree(c)  indegree_of(IN_COMM(c))
#define outdegree(c) outdegree_of(IN_COMM(c))
#define FUNCTION     FACE
#include "table/functions.def"
#undef FUNCTION

/* written by hand: functions that the table cannot describe */
int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)argc;
    (void)argv;
    int rc = INSIDE(core_Init_thread(thread_in(required), provided));
    *provided = thread_out(*provided);
    return rc;
}
WEAK(Init_thread)
int PMPI_Init(int *argc, char ***argv)
{
    int p;
    return PMPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, &p);
}
WEAK(Init)
int PMPI_Finalize(void)
{
    return INSIDE(core_Finalize());
}
WEAK(Finalize)
double PMPI_Wtime(void)
{
    return core_Wtime();
}
WEAK(Wtime)
double PMPI_Wtick(void)
{
    return 1e-9;
}
WEAK(Wtick)
int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *base)
{
    (void)info;
    if (!base || size < 0)
        return raise_error(NEUTRAL_MPI_ERR_ARG, NULL, "MPI_Alloc_mem");
    *(void **)base = malloc(size);
    return *(void **)base || !size ? 0 : raise_error(NEUTRAL_MPI_ERR_NO_MEM, NULL, "MPI_Alloc_mem");
}
WEAK(Alloc_mem)
int PMPI_Free_mem(void *base)
{
    free(base);
    return 0;
}
WEAK(Free_mem)
int PMPI_Op_create(MPI_User_function *fn, int commute, MPI_Op *op)
{
    object *o = NULL;
    int rc = op ? INSIDE(core_Op_create((void *)fn, commute, 0, &o)) : NULL_ERROR(OP);
    if (o)
        *op = OUT_OP(o);
    return rc ? raise_error(rc, NULL, "MPI_Op_create") : 0;
}
WEAK(Op_create)

#include "faces/c_by_hand.h"
