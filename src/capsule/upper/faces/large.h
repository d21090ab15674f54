/* faces/large.h - the C ABIs of MPICH and of the standard: large-count functions (table/large.def), on top of the
 * ordinary ones.
 *
 * An element count beyond int becomes one element of a larger type, so messages, files and one-sided
 * transfers of any size work, and datatypes may have blocks of any size. Where that is impossible
 * (reductions of more than 2^31-1 elements, displacements beyond int in a collective), the function fails
 * with MPI_ERR_VALUE_TOO_LARGE and prints a sentence.
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
    if (!w && n > 0) /* the function without _c reports it */
        return NULL;
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
/* Make one element of *n elements of a type: blocks of 2^30, followed by the rest. */
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
/* length of an array that MPI ignores with MPI_IN_PLACE */
static int sent_to(const void *buf, MPI_Comm comm)
{
    return buf == MPI_IN_PLACE ? 0 : members(comm);
}
/* length of an array that only the root uses */
static int at_root(int root, MPI_Comm comm)
{
    object *c = IN_COMM(comm);
    if (c->comm.remote_size)
        return root == MPI_ROOT ? c->comm.remote_size : 0;
    return root == c->comm.rank ? c->comm.size : 0;
}

/* --- datatypes with counts or displacements beyond an int, of those within; MPI_Type_get_contents shows these --- */
static int wide_Type_contiguous(MPI_Count n, MPI_Datatype type, MPI_Datatype *newtype)
{
    return many(&n, &type, newtype);
}
struct bounds {
    MPI_Aint lb, ub;
};
static void bounds_add(struct bounds *b, int first, MPI_Aint lb, MPI_Aint ub)
{
    b->lb = first || lb < b->lb ? lb : b->lb;
    b->ub = first || ub > b->ub ? ub : b->ub;
}
/* What a struct leaves free at its end for the sake of alignment is not part of the type. */
static int without_padding(int rc, const struct bounds *b, MPI_Datatype *type)
{
    MPI_Datatype padded = *type;
    if (rc)
        return rc;
    rc = PMPI_Type_create_resized(padded, b->lb, b->ub - b->lb, type);
    PMPI_Type_free(&padded);
    return rc;
}
/* Blocks of lens[i] (NULL: of `len`) elements of types[i] (NULL: of `type`), each disps[i] times `unit` bytes away. */
struct blocks {
    MPI_Count n, len;
    const MPI_Count *lens, *disps;
    MPI_Aint unit;
    MPI_Datatype type;
    const MPI_Datatype *types;
};
static int wide_blocks(struct blocks b, MPI_Datatype *newtype)
{
    static const char name[] = "MPI_Type_create_struct_c";
    if (b.n > INT_MAX)
        return too_large(name);
    int negative = b.n < 0;
    for (MPI_Count i = 0; b.lens && i < b.n; i++)
        negative |= b.lens[i] < 0;
    if (negative)
        return raise_error(NEUTRAL_MPI_ERR_COUNT, NULL, name);
    ARRAY_OF(int, len, b.n + 1);
    ARRAY_OF(MPI_Aint, at, b.n + 1);
    ARRAY_OF(MPI_Datatype, type, b.n + 1);
    ARRAY_OF(MPI_Datatype, made, b.n + 1);
    struct bounds all = {0, 0};
    int rc = 0, used = 0;
    len[b.n] = 0; /* compilers do not see that the others are set */
    at[b.n] = 0;
    type[b.n] = MPI_DATATYPE_NULL;
    for (int i = 0; i < b.n; i++) {
        MPI_Count count = b.lens ? b.lens[i] : b.len;
        MPI_Aint lb = 0, extent = 0;
        type[i] = b.types ? b.types[i] : b.type;
        at[i] = b.disps[i] * b.unit;
        made[i] = MPI_DATATYPE_NULL;
        if (!rc && !b.types && count)
            rc = PMPI_Type_get_extent(type[i], &lb, &extent);
        if (count)
            bounds_add(&all, !used++, at[i] + lb, at[i] + lb + count * extent);
        if (!rc)
            rc = many(&count, &type[i], &made[i]);
        len[i] = (int)count;
    }
    if (!rc)
        rc = PMPI_Type_create_struct((int)b.n, len, at, type, newtype);
    for (int i = 0; i < b.n; i++)
        if (made[i] != MPI_DATATYPE_NULL)
            PMPI_Type_free(&made[i]);
    return b.types ? rc : without_padding(rc, &all, newtype);
}
static int wide_Type_create_struct(MPI_Count n, const MPI_Count *lens, const MPI_Count *disps,
                                   const MPI_Datatype *types, MPI_Datatype *newtype)
{
    return wide_blocks((struct blocks){n, 0, lens, disps, 1, MPI_DATATYPE_NULL, types}, newtype);
}
static int wide_Type_create_hindexed(MPI_Count n, const MPI_Count *lens, const MPI_Count *disps,
                                     MPI_Datatype type, MPI_Datatype *newtype)
{
    return wide_blocks((struct blocks){n, 0, lens, disps, 1, type, NULL}, newtype);
}
static int wide_Type_create_hindexed_block(MPI_Count n, MPI_Count len, const MPI_Count *disps,
                                           MPI_Datatype type, MPI_Datatype *newtype)
{
    return wide_blocks((struct blocks){n, len, NULL, disps, 1, type, NULL}, newtype);
}
static int wide_Type_indexed(MPI_Count n, const MPI_Count *lens, const MPI_Count *disps,
                             MPI_Datatype type, MPI_Datatype *newtype)
{
    MPI_Aint lb, extent;
    int rc = PMPI_Type_get_extent(type, &lb, &extent);
    return rc ? rc : wide_blocks((struct blocks){n, 0, lens, disps, extent, type, NULL}, newtype);
}
static int wide_Type_create_indexed_block(MPI_Count n, MPI_Count len, const MPI_Count *disps,
                                          MPI_Datatype type, MPI_Datatype *newtype)
{
    MPI_Aint lb, extent;
    int rc = PMPI_Type_get_extent(type, &lb, &extent);
    return rc ? rc : wide_blocks((struct blocks){n, len, NULL, disps, extent, type, NULL}, newtype);
}
/* One block, said to be `stride` long, and many of these; the type ends where the last block ends. */
static int wide_Type_create_hvector(MPI_Count n, MPI_Count len, MPI_Count stride, MPI_Datatype type,
                                    MPI_Datatype *newtype)
{
    MPI_Aint lb = 0, extent = 0, last = n ? (MPI_Aint)(n - 1) * stride : 0;
    MPI_Datatype block, one;
    struct bounds all;
    int rc = PMPI_Type_contiguous_c(len, type, &block);
    if (rc)
        return rc;
    rc = PMPI_Type_get_extent(block, &lb, &extent);
    if (!rc)
        rc = PMPI_Type_create_resized(block, lb, stride, &one);
    if (!rc) {
        rc = PMPI_Type_contiguous_c(n, one, newtype);
        PMPI_Type_free(&one);
    }
    PMPI_Type_free(&block);
    bounds_add(&all, 1, lb, lb + extent);
    bounds_add(&all, 0, lb + last, lb + last + extent);
    return without_padding(rc, &all, newtype);
}
static int wide_Type_vector(MPI_Count n, MPI_Count len, MPI_Count stride, MPI_Datatype type,
                            MPI_Datatype *newtype)
{
    MPI_Aint lb, extent;
    int rc = PMPI_Type_get_extent(type, &lb, &extent);
    return rc ? rc : wide_Type_create_hvector(n, len, stride * extent, type, newtype);
}
/* A vector of vectors, the fastest dimension first, put to its place in the whole array. */
static int wide_Type_create_subarray(int n, const MPI_Count *sizes, const MPI_Count *subsizes,
                                     const MPI_Count *starts, int order, MPI_Datatype type,
                                     MPI_Datatype *newtype)
{
    MPI_Aint lb, extent = 0, offset = 0;
    MPI_Datatype part = MPI_DATATYPE_NULL, placed;
    int rc = PMPI_Type_get_extent(type, &lb, &extent);
    for (int k = 0; k < n && !rc; k++) {
        int d = order == MPI_ORDER_FORTRAN ? k : n - 1 - k;
        MPI_Datatype inner = part, next;
        rc = wide_Type_create_hvector(subsizes[d], 1, extent, k ? inner : type, &next);
        if (k)
            PMPI_Type_free(&inner);
        part = rc ? MPI_DATATYPE_NULL : next;
        offset += (MPI_Aint)starts[d] * extent;
        extent *= (MPI_Aint)sizes[d];
    }
    if (rc)
        return rc;
    rc = PMPI_Type_create_hindexed(1, (int[]){1}, &offset, part, &placed);
    PMPI_Type_free(&part);
    if (rc)
        return rc;
    rc = PMPI_Type_create_resized(placed, 0, extent, newtype);
    PMPI_Type_free(&placed);
    return rc;
}

#include "faces/kinds_large.h"
// clang-format off
#define LARGE_BODY(Name, OTHERWISE, KEEP, ...) \
    int PMPI_##Name##_c(LIST(L_PARAM, __VA_ARGS__)) \
    { \
        struct narrowed *list_ = NULL; \
        int bad_ = 0; \
        EACH(L_BEFORE, __VA_ARGS__) \
        if (bad_) { narrowed_free(list_); return OTHERWISE; } \
        int rc = PMPI_##Name(LIST(L_ARG, __VA_ARGS__)); \
        EACH(L_AFTER, __VA_ARGS__) \
        KEEP \
        return rc; \
    } \
    WEAK(Name##_c)
/* The arrays must live as long as the request, which frees them. */
static void keep_with(struct narrowed *list, int rc, MPI_Request *request)
{
    object *r = rc ? NULL : IN_REQ(*request);
    if (!list) return;
    if (!r || r->predefined) { narrowed_free(list); return; }
    extra_of(r)->kept = list;
    extra_of(r)->free_kept = (void (*)(void *))narrowed_free;
}
#define LARGE(Name, ...) LARGE_BODY(Name, too_large("MPI_" #Name "_c"), narrowed_free(list_);, __VA_ARGS__)
#define LARGE_REQUEST(Name, ...) LARGE_BODY(Name, too_large("MPI_" #Name "_c"), keep_with(list_, rc, request);, __VA_ARGS__)
#define LARGE_TYPE(Name, ...) LARGE_BODY(Name, wide_##Name(LIST(L_SELF, __VA_ARGS__)), narrowed_free(list_);, __VA_ARGS__)
#include "table/large.def"
// clang-format on

/* functions with large results */
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
    int rc = INSIDE(core_Type_size_x(IN_TYPE(type), &size));
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
    int rc = core_buffer_attach(NULL, BUFFER_IN(buf), size);
    return FACE_RAISE(rc, NULL, Buffer_attach_c);
}
WEAK(Buffer_attach_c)
int PMPI_Buffer_detach_c(void *buf, MPI_Count *size)
{
    long n = 0;
    int rc = detach_buffer(NULL, buf, &n);
    if (!rc)
        *size = n;
    return FACE_RAISE(rc, NULL, Buffer_detach_c);
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
static int at_most_int(MPI_Count n)
{
    return n > INT_MAX ? INT_MAX : (int)n;
}
int PMPI_Type_get_contents_c(MPI_Datatype type, MPI_Count ni, MPI_Count na, MPI_Count nl,
                             MPI_Count nt, int *ints, MPI_Aint *addresses, MPI_Count *large,
                             MPI_Datatype *types)
{
    (void)nl;
    (void)large;
    return PMPI_Type_get_contents(type, at_most_int(ni), at_most_int(na), at_most_int(nt), ints,
                                  addresses, types);
}
WEAK(Type_get_contents_c)
int PMPI_Op_create_c(MPI_User_function_c *fn, int commute, MPI_Op *op)
{
    object *o = NULL;
    int rc = INSIDE(core_Op_create((void *)fn, commute, OP_LARGE, &o));
    if (o)
        *op = OUT_OP(o);
    return FACE_RAISE(rc, NULL, Op_create_c);
}
WEAK(Op_create_c)
