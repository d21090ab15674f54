/* wide/types.c - functions with large counts that take pointers to them: datatypes, packing, what a status tells, buffers. */
#include "conform.h"

#ifdef MPICH
static void say_type(const char *what, int rc, MPI_Datatype *t)
{
    MPI_Count size = -1, lb = -1, extent = -1, low = -1, whole = -1;
    if (!rc) {
        MPI_Type_size_c(*t, &size);
        MPI_Type_get_extent_c(*t, &lb, &extent);
        MPI_Type_get_true_extent_c(*t, &low, &whole);
        rc = MPI_Type_commit(t);
        MPI_Type_free(t);
    }
    say("%s: %s, size %ld, %ld %ld, true %ld %ld", what, name_of(rc), (long)size, (long)lb,
        (long)extent, (long)low, (long)whole);
}
#define TYPE(call)                                 \
    do {                                           \
        MPI_Datatype t = MPI_DATATYPE_NULL, *made; \
        made = &t;                                 \
        int rc_ = call;                            \
        say_type(#call, rc_, made);                \
    } while (0)

static void types(void)
{
    MPI_Count lens[2] = {1, 2}, places[2] = {0, 4}, bytes[2] = {0, 16}, sizes[2] = {4, 6};
    MPI_Count parts[2] = {2, 3}, starts[2] = {1, 2};
    MPI_Datatype two[2] = {MPI_INT, MPI_DOUBLE};
    int distribs[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE};
    int dargs[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, grid[2] = {3, 1};
    TYPE(MPI_Type_contiguous_c(3, MPI_INT, made));
    TYPE(MPI_Type_contiguous_c(0, MPI_INT, made));
    TYPE(MPI_Type_contiguous_c(-1, MPI_INT, made));
    TYPE(MPI_Type_vector_c(2, 1, 3, MPI_INT, made));
    TYPE(MPI_Type_create_hvector_c(2, 1, 24, MPI_INT, made));
    TYPE(MPI_Type_indexed_c(2, lens, places, MPI_INT, made));
    TYPE(MPI_Type_indexed_c(0, NULL, NULL, MPI_INT, made));
    TYPE(MPI_Type_create_hindexed_c(2, lens, bytes, MPI_INT, made));
    TYPE(MPI_Type_create_indexed_block_c(2, 2, places, MPI_INT, made));
    TYPE(MPI_Type_create_hindexed_block_c(2, 2, bytes, MPI_INT, made));
    TYPE(MPI_Type_create_struct_c(2, lens, bytes, two, made));
    TYPE(MPI_Type_create_resized_c(MPI_INT, -4, 32, made));
    TYPE(MPI_Type_create_subarray_c(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, made));
    TYPE(MPI_Type_create_darray_c(3, me, 2, sizes, distribs, dargs, grid, MPI_ORDER_C, MPI_INT,
                                  made));
}

/* Counts and places that an int does not hold. */
static void larger(void)
{
    MPI_Count much = 3000000001, lens[2] = {1, much}, places[2] = {0, much}, short_lens[2] = {1, 2};
    MPI_Count bytes[2] = {8, 8 * much}, sizes[2] = {much, 4}, parts[2] = {much - 2, 2};
    MPI_Count starts[2] = {1, 2}, small_parts[2] = {3, 2}, far[2] = {much - 10, 1};
    MPI_Count negative[2] = {-much, 1};
    MPI_Datatype two[2] = {MPI_INT, MPI_DOUBLE};
    TYPE(MPI_Type_contiguous_c(much, MPI_INT, made));
    TYPE(MPI_Type_vector_c(2, much, much + 5, MPI_INT, made));
    TYPE(MPI_Type_vector_c(much, 1, 3, MPI_SHORT, made));
    TYPE(MPI_Type_vector_c(2, 1, much, MPI_SHORT, made));
    TYPE(MPI_Type_create_hvector_c(2, much, -8 * much, MPI_INT, made));
    TYPE(MPI_Type_indexed_c(2, lens, places, MPI_INT, made));
    TYPE(MPI_Type_indexed_c(2, short_lens, places, MPI_SHORT, made));
    TYPE(MPI_Type_create_hindexed_c(2, lens, bytes, MPI_CHAR, made));
    TYPE(MPI_Type_create_indexed_block_c(2, 3, places, MPI_INT, made));
    TYPE(MPI_Type_create_hindexed_block_c(2, much, bytes, MPI_CHAR, made));
    TYPE(MPI_Type_create_struct_c(2, lens, bytes, two, made));
    CALL(MPI_Type_create_hindexed_block_c(-1, much, bytes, MPI_CHAR, two));
    CALL(MPI_Type_create_hindexed_c(2, negative, bytes, MPI_CHAR, two));
    TYPE(MPI_Type_create_subarray_c(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, made));
    TYPE(MPI_Type_create_subarray_c(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, made));
    TYPE(MPI_Type_create_subarray_c(2, sizes, small_parts, far, MPI_ORDER_C, MPI_SHORT, made));
}

/* What a type was made of: counts of its own only where it was made with large ones. */
static void recipes(void)
{
    MPI_Datatype t, parts[2];
    MPI_Count ni = -1, na = -1, nl = -1, nt = -1, large[8];
    MPI_Aint places[4];
    int combiner = -1, whole[8];
    MPI_Type_vector(2, 1, 3, MPI_INT, &t);
    CALL(MPI_Type_get_envelope_c(t, &ni, &na, &nl, &nt, &combiner));
    say("%ld %ld %ld %ld, vector %d", (long)ni, (long)na, (long)nl, (long)nt,
        combiner == MPI_COMBINER_VECTOR);
    CALL(MPI_Type_get_contents_c(t, ni, na, nl, nt, whole, places, large, parts));
    say("%d %d %d", whole[0], whole[1], whole[2]);
    MPI_Type_free(&t);
}

static void packs(void)
{
    double in[3] = {1.5, -2.5, 3.25}, out[3] = {0};
    MPI_Count position = 0, n = -1;
    char room[64];
    CALL(MPI_Pack_size_c(3, MPI_DOUBLE, world, &n));
    say("%ld", (long)n);
    CALL(MPI_Pack_c(in, 3, MPI_DOUBLE, room, sizeof room, &position, world));
    say("%ld", (long)position);
    position = 0;
    CALL(MPI_Unpack_c(room, sizeof room, &position, out, 3, MPI_DOUBLE, world));
    say("%ld %g %g %g", (long)position, out[0], out[1], out[2]);
    CALL(MPI_Pack_external_size_c("external32", 3, MPI_DOUBLE, &n));
    say("%ld", (long)n);
    position = 0;
    CALL(MPI_Pack_external_c("external32", in, 3, MPI_DOUBLE, room, sizeof room, &position));
    say("%ld", (long)position);
    position = 0;
    memset(out, 0, sizeof out);
    CALL(MPI_Unpack_external_c("external32", room, sizeof room, &position, out, 3, MPI_DOUBLE));
    say("%ld %g %g %g", (long)position, out[0], out[1], out[2]);
}

static void add(void *in, void *inout, MPI_Count *n, MPI_Datatype *t)
{
    (void)t;
    for (MPI_Count i = 0; i < *n; i++)
        ((int *)inout)[i] += 2 * ((int *)in)[i];
}
static void statuses(void)
{
    MPI_Status s = FRESH;
    MPI_Count n = -1;
    MPI_Op op;
    static char buffer[4096], *back;
    int in = 3, inout = 4, x = -1;
    CALL(MPI_Status_set_elements_c(&s, MPI_INT, 7));
    CALL(MPI_Get_count_c(&s, MPI_INT, &n));
    say("%ld", (long)n);
    CALL(MPI_Get_count_c(&s, MPI_DOUBLE, &n));
    say("undefined %d", n == MPI_UNDEFINED);
    CALL(MPI_Get_elements_c(&s, MPI_INT, &n));
    say("%ld", (long)n);
    CALL(MPI_Status_set_source(&s, 5));
    CALL(MPI_Status_set_tag(&s, 6));
    CALL(MPI_Status_set_error(&s, MPI_ERR_TRUNCATE));
    CALL(MPI_Status_get_source(&s, &x));
    say("%d", x);
    CALL(MPI_Status_get_tag(&s, &x));
    say("%d", x);
    CALL(MPI_Status_get_error(&s, &x));
    say("%s", name_of(x));
    CALL(MPI_Op_create_c(add, 1, &op));
    CALL(MPI_Reduce_local_c(&in, &inout, 1, MPI_INT, op));
    say("%d", inout);
    MPI_Op_free(&op);
    CALL(MPI_Buffer_attach_c(buffer, sizeof buffer));
    CALL(MPI_Buffer_detach_c(&back, &n));
    say("ours %d, %ld bytes", back == buffer, (long)n);
}

static void windows(void)
{
    MPI_Win w;
    MPI_Aint size = -1, unit = -1;
    int *base, word = 0;
    void *place;
    CALL(MPI_Win_allocate_shared_c(16, 4, MPI_INFO_NULL, world, &base, &w));
    CALL(MPI_Win_shared_query_c(w, 0, &size, &unit, &place));
    say("%ld %ld", (long)size, (long)unit);
    MPI_Win_free(&w);
    CALL(MPI_Win_create_c(&word, sizeof word, 1, MPI_INFO_NULL, world, &w));
    MPI_Win_free(&w);
}

static void extents(void)
{
    MPI_File f;
    MPI_Count extent = -1;
    char name[512];
    snprintf(name, sizeof name, "%s.extent.%d", getenv("CONFORM_FILE"), me);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &f);
    CALL(MPI_File_get_type_extent_c(f, MPI_INT, &extent));
    say("%ld", (long)extent);
    MPI_File_close(&f);
}

void part_wide_types(void)
{
    types();
    larger();
    recipes();
    packs();
    statuses();
    windows();
    extents();
}
#endif
