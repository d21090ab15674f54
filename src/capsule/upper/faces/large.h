/* faces/large.h - the C ABIs of MPICH and of the standard: functions with large counts (table/large.def), on top of
 * those without.
 *
 * A count of elements that an int cannot hold becomes one element of a larger type, so messages,
 * files and one-sided transfers of any size work. What has no such way out (reductions of more than
 * 2^31-1 elements, displacements beyond an int) is refused with MPI_ERR_VALUE_TOO_LARGE and a
 * sentence.
 */
#include <limits.h>
#include <stdio.h>

struct narrowed {
    struct narrowed *next;
    int values[];
};
static int *narrow(struct narrowed **list, int n, const void *wide, int *bad)
{
    const long *w = wide;
    struct narrowed *a = calloc(1, sizeof *a + (n + 1) * sizeof(int));
    if (!a) {
        *bad = 1;
        return NULL;
    }
    a->next = *list;
    *list = a;
    for (int i = 0; i < n; i++) {
        *bad |= w[i] > INT_MAX || w[i] < INT_MIN;
        a->values[i] = (int)w[i];
    }
    return a->values;
}
static void narrowed_free(struct narrowed *list)
{
    for (struct narrowed *next; list; list = next) {
        next = list->next;
        free(list);
    }
}
static int too_large(const char *function)
{
    fprintf(stderr,
            "mend: rank %d: %s: a count or displacement beyond 2^31-1 that cannot be made into a "
            "larger type\n",
            upper.rank, function);
    return raise_error(NEUTRAL_MPI_ERR_VALUE_TOO_LARGE, NULL, function);
}
/* `n` elements of a type as one: blocks of 2^30, and the rest behind them */
static int many(MPI_Count *n, MPI_Datatype *type, MPI_Datatype *made)
{
    const long block = 1L << 30;
    MPI_Aint lb, extent;
    MPI_Datatype one, all;
    if (*n <= INT_MAX)
        return 0;
    long blocks = *n / block, rest = *n % block;
    int rc = PMPI_Type_get_extent(*type, &lb, &extent);
    if (!rc)
        rc = PMPI_Type_contiguous((int)block, *type, &one);
    if (!rc)
        rc = PMPI_Type_contiguous((int)blocks, one, &all);
    if (!rc && rest) {
        MPI_Datatype tail, parts[2];
        PMPI_Type_contiguous((int)rest, *type, &tail);
        parts[0] = all;
        parts[1] = tail;
        rc = PMPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, blocks * block * extent},
                                     parts, made);
        PMPI_Type_free(&tail);
        PMPI_Type_free(&all);
    } else
        *made = all;
    PMPI_Type_free(&one);
    *type = *made;
    *n = 1;
    return rc;
}
static int members(MPI_Comm comm)
{
    object *c = IN_COMM(comm);
    return c->comm.remote_size ? c->comm.remote_size : c->comm.size;
}
/* arrays that nobody looks at when the data lies in place */
static int sent_to(const void *buf, MPI_Comm comm)
{
    return buf == MPI_IN_PLACE ? 0 : members(comm);
}
/* arrays that only the root looks at */
static int at_root(int root, MPI_Comm comm)
{
    object *c = IN_COMM(comm);
    if (c->comm.remote_size)
        return root == MPI_ROOT ? c->comm.remote_size : 0;
    return root == c->comm.rank ? c->comm.size : 0;
}

#include "faces/kinds_large.h"
// clang-format off
#define LARGE_BODY(Name, KEEP, ...) \
    int PMPI_##Name##_c(LIST(L_PARAM, __VA_ARGS__)) \
    { \
        struct narrowed *list_ = NULL; \
        int bad_ = 0; \
        EACH(L_BEFORE, __VA_ARGS__) \
        if (bad_) { narrowed_free(list_); return too_large("MPI_" #Name "_c"); } \
        int rc = PMPI_##Name(LIST(L_ARG, __VA_ARGS__)); \
        EACH(L_AFTER, __VA_ARGS__) \
        KEEP \
        return rc; \
    } \
    WEAK(Name##_c)
/* The arrays must live until the request is complete: they are freed with it. */
static void keep_with(struct narrowed *list, int rc, MPI_Request *request)
{
    object *r = rc ? NULL : IN_REQ(*request);
    if (!list) return;
    if (!r || r->predefined) { narrowed_free(list); return; }
    extra_of(r)->kept = list;
    extra_of(r)->free_kept = (void (*)(void *))narrowed_free;
}
#define LARGE(Name, ...) LARGE_BODY(Name, narrowed_free(list_);, __VA_ARGS__)
#define LARGE_REQUEST(Name, ...) LARGE_BODY(Name, keep_with(list_, rc, request);, __VA_ARGS__)
#include "table/large.def"
// clang-format on

/* answers that are large by nature */
int PMPI_Type_size_c(MPI_Datatype type, MPI_Count *size)
{
    return PMPI_Type_size_x(type, size);
}
WEAK(Type_size_c)
int PMPI_Type_get_extent_c(MPI_Datatype type, MPI_Count *lb, MPI_Count *extent)
{
    return PMPI_Type_get_extent_x(type, lb, extent);
}
WEAK(Type_get_extent_c)
int PMPI_Type_get_true_extent_c(MPI_Datatype type, MPI_Count *lb, MPI_Count *extent)
{
    return PMPI_Type_get_true_extent_x(type, lb, extent);
}
WEAK(Type_get_true_extent_c)
int PMPI_Get_elements_c(const MPI_Status *status, MPI_Datatype type, MPI_Count *count)
{
    return PMPI_Get_elements_x(status, type, count);
}
WEAK(Get_elements_c)
int PMPI_Get_count_c(const MPI_Status *status, MPI_Datatype type, MPI_Count *count)
{
    struct status s;
    long size;
    status_in(status, &s);
    int rc = core_Type_size_x(IN_TYPE(type), &size);
    *count = !size ? 0 : s.bytes % size ? MPI_UNDEFINED : (MPI_Count)(s.bytes / size);
    return FACE_RAISE(rc, NULL, Get_count_c);
}
WEAK(Get_count_c)
int PMPI_Status_set_elements_c(MPI_Status *status, MPI_Datatype type, MPI_Count count)
{
    return PMPI_Status_set_elements_x(status, type, count);
}
WEAK(Status_set_elements_c)
int PMPI_File_get_type_extent_c(MPI_File file, MPI_Datatype type, MPI_Count *extent)
{
    return PMPI_File_get_type_extent(file, type, (MPI_Aint *)extent);
}
WEAK(File_get_type_extent_c)
int PMPI_Buffer_attach_c(void *buf, MPI_Count size)
{
    return PMPI_Buffer_attach(buf, size > INT_MAX ? INT_MAX : (int)size);
}
WEAK(Buffer_attach_c)
int PMPI_Buffer_detach_c(void *buf, MPI_Count *size)
{
    int n = 0, rc = PMPI_Buffer_detach(buf, &n);
    *size = n;
    return rc;
}
WEAK(Buffer_detach_c)
int PMPI_Type_get_envelope_c(MPI_Datatype type, MPI_Count *ni, MPI_Count *na, MPI_Count *nl,
                             MPI_Count *nt, int *combiner)
{
    int i, a, t, rc = PMPI_Type_get_envelope(type, &i, &a, &t, combiner);
    *ni = i;
    *na = a;
    *nl = 0;
    *nt = t;
    return rc;
}
WEAK(Type_get_envelope_c)
int PMPI_Type_get_contents_c(MPI_Datatype type, MPI_Count ni, MPI_Count na, MPI_Count nl,
                             MPI_Count nt, int *ints, MPI_Aint *addresses, MPI_Count *large,
                             MPI_Datatype *types)
{
    (void)nl;
    (void)large;
    return PMPI_Type_get_contents(type, (int)ni, (int)na, (int)nt, ints, addresses, types);
}
WEAK(Type_get_contents_c)
int PMPI_Op_create_c(MPI_User_function_c *fn, int commute, MPI_Op *op)
{
    object *o = NULL;
    int rc = core_Op_create((void *)fn, commute, OP_LARGE, &o);
    if (o)
        *op = OUT_OP(o);
    return FACE_RAISE(rc, NULL, Op_create_c);
}
WEAK(Op_create_c)
