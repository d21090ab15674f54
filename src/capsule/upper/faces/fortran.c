/* faces/fortran.c - Fortran on top of Open MPI's ABI: mpi_name_() for each row of table/functions.def.
 *
 * Replaces Debian's libmpi_mpifh.so.40, which needs internals of Open MPI. Debian's module libraries
 * libmpi_usempif08.so.40 and libmpi_usempi_ignore_tkr.so.40 stay as they are: they call ompi_name_f and
 * pmpi_name_, which are other names of the same functions here.
 * gfortran's conventions: all arguments by reference, LOGICAL is 0/1, string lengths last. */
#include "comm/comm.h"
#include "core/core.h"
#include "core/face.h"
#include "io/io.h"
#include "messages/messages.h"
#include "types/types.h"
#include "windows/windows.h"

#include "faces/inside.h"
#include "faces/fortran_names.h"
#include <stdlib.h>
#include <string.h>

/* The special addresses are common blocks. The program's own definition prevails; this library is -fPIC
 * and finds it through the GOT. */
int mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_argv_null_, mpi_fortran_argvs_null_,
    mpi_fortran_errcodes_ignore_, mpi_fortran_unweighted_, mpi_fortran_weights_empty_,
    mpi_fortran_status_ignore_[6], mpi_fortran_statuses_ignore_[6];

static void *buf_in(const void *b)
{
    return b == &mpi_fortran_in_place_ ? NEUTRAL_IN_PLACE
           : b == &mpi_fortran_bottom_ ? NEUTRAL_BOTTOM
                                       : (void *)b;
}
static int ignored(const void *s)
{
    return s == mpi_fortran_status_ignore_ || s == mpi_fortran_statuses_ignore_;
}
/* NULL for an invalid handle, which must not crash here: the core sees what C would pass. */
static object *at(int kind, int f)
{
    return object_at(kind, f);
}
/* Strips the blanks on both sides of a string, like Open MPI. */
static char *str_in(const char *s, size_t n)
{
    while (n && s[n - 1] == ' ')
        n--;
    for (; n && *s == ' '; n--)
        s++;
    char *c = need(malloc(n + 1));
    memcpy(c, s, n);
    c[n] = 0;
    return c;
}
static void str_out(const char *c, char *s, size_t n)
{
    size_t l = strlen(c);
    if (l > n)
        l = n;
    memcpy(s, c, l); /* padded, not ended: NOLINT(bugprone-not-null-terminated-result) */
    memset(s + l, ' ', n - l);
}

#include "faces/kinds_fortran.h"

#define ALIAS(name, ...) OTHER_NAMES(void, name, (__VA_ARGS__))
#define FACE(class, Name, name, ...)                                                  \
    void mpi_##name##_(LIST(PARAM, __VA_ARGS__), int *ierr EACH(LENGTH, __VA_ARGS__)) \
    {                                                                                 \
        object *holder_ = NULL;                                                       \
        int bad_ = 0;                                                                 \
        EACH(HOLDER, __VA_ARGS__)                                                     \
        EACH(BEFORE, __VA_ARGS__)                                                     \
        int none_ = no_holder(holder_);                                               \
        if (none_)                                                                    \
            bad_ = none_;                                                             \
        int rc = bad_ ? bad_ : ENTER(class)(core_##Name(LIST(ARG, __VA_ARGS__)));     \
        EACH(AFTER, __VA_ARGS__)                                                      \
        if (__builtin_expect(rc, 0))                                                  \
            rc = raise_error(rc, holder_, "MPI_" #Name);                              \
        if (ierr)                                                                     \
            *ierr = rc;                                                               \
    }                                                                                 \
    ALIAS(name, LIST(PARAM, __VA_ARGS__), int *ierr EACH(LENGTH, __VA_ARGS__))
#define indegree(c)  indegree_of(at(KIND_COMM, *c))
#define outdegree(c) outdegree_of(at(KIND_COMM, *c))
#define FUNCTION     FACE
#include "table/functions.def"
#undef FUNCTION

/* by hand */
void mpi_init_thread_(int *required, int *provided, int *ierr)
{
    int rc = INSIDE(core_Init_thread(*required, provided));
    if (ierr)
        *ierr = rc;
}
ALIAS(init_thread, int *required, int *provided, int *ierr)
void mpi_init_(int *ierr)
{
    int req = 0, p;
    mpi_init_thread_(&req, &p, ierr);
}
ALIAS(init, int *ierr)
void mpi_finalize_(int *ierr)
{
    int rc = INSIDE(core_Finalize());
    if (ierr)
        *ierr = rc;
}
ALIAS(finalize, int *ierr)
double mpi_wtime_(void)
{
    return core_Wtime();
}
OTHER_NAMES(double, wtime, (void))
double mpi_wtick_(void)
{
    return 1e-9;
}
OTHER_NAMES(double, wtick, (void))
void mpi_op_create_(void *fn, int *commute, int *op, int *ierr)
{
    object *o = NULL;
    int rc = INSIDE(core_Op_create(fn, *commute, 1, &o));
    if (o)
        *op = o->index;
    if (rc)
        rc = raise_error(rc, NULL, "MPI_Op_create");
    if (ierr)
        *ierr = rc;
}
ALIAS(op_create, void *fn, int *commute, int *op, int *ierr)
void mpi_alloc_mem_(long *size, int *info, void **base, int *ierr)
{
    (void)info;
    *base = malloc(*size);
    int rc = *base || !*size ? 0 : raise_error(NEUTRAL_MPI_ERR_NO_MEM, NULL, "MPI_Alloc_mem");
    if (ierr)
        *ierr = rc;
}
ALIAS(alloc_mem, long *size, int *info, void **base, int *ierr)
void mpi_alloc_mem_cptr_(long *size, int *info, void **base, int *ierr)
{
    mpi_alloc_mem_(size, info, base, ierr);
}
ALIAS(alloc_mem_cptr, long *size, int *info, void **base, int *ierr)
void mpi_free_mem_(void *base, int *ierr)
{
    free(base);
    if (ierr)
        *ierr = 0;
}
ALIAS(free_mem, void *base, int *ierr)
