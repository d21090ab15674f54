/* types.c - datatypes: of nothing, of null types, wrong counts, what is told of them. */
#include "conform.h"

static void say_type(const char *what, int rc, MPI_Datatype *t)
{
    int size = -1, ni = -1, na = -1, nt = -1, combiner = -1;
    MPI_Aint lb = -1, extent = -1;
    if (!rc) {
        MPI_Type_size(*t, &size);
        MPI_Type_get_extent(*t, &lb, &extent);
        MPI_Type_get_envelope(*t, &ni, &na, &nt, &combiner);
        rc = MPI_Type_commit(t);
        MPI_Type_free(t);
    }
    say("%s: %s, size %d, lb %ld, extent %ld, envelope %d %d %d", what, name_of(rc), size, (long)lb,
        (long)extent, ni, na, nt);
}
/* Two names for one type: it has the one that the library gave it. */
static void names(void)
{
    const MPI_Datatype named[] = {MPI_C_COMPLEX, MPI_C_FLOAT_COMPLEX, MPI_LONG_LONG,
                                  MPI_LONG_LONG_INT};
    char name[MPI_MAX_OBJECT_NAME];
    int len = -1;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        MPI_Type_get_name(named[i], name, &len);
        say("name %s", name);
    }
}
#define TYPE(call)                \
    do {                          \
        MPI_Datatype t;           \
        int rc_ = call;           \
        say_type(#call, rc_, &t); \
    } while (0)

void part_types(void)
{
    int n = -1, one = 1, zero = 0, minus = -1;
    MPI_Aint at = 0, lb, extent;
    MPI_Datatype type = MPI_INT, null = MPI_DATATYPE_NULL, made;
    MPI_Status s = FRESH;
    MPI_Count large;
    names();
    TYPE(MPI_Type_contiguous(0, MPI_INT, &t));
    TYPE(MPI_Type_contiguous(-1, MPI_INT, &t));
    TYPE(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &t));
    TYPE(MPI_Type_vector(0, 1, 1, MPI_INT, &t));
    TYPE(MPI_Type_vector(2, 0, 1, MPI_INT, &t));
    TYPE(MPI_Type_vector(-1, 1, 1, MPI_INT, &t));
    TYPE(MPI_Type_vector(1, -1, 1, MPI_INT, &t));
    TYPE(MPI_Type_create_hvector(0, 1, 1, MPI_INT, &t));
    TYPE(MPI_Type_create_hvector(-1, 1, 1, MPI_INT, &t));
    TYPE(MPI_Type_indexed(0, NULL, NULL, MPI_INT, &t));
    TYPE(MPI_Type_indexed(1, &zero, &one, MPI_INT, &t));
    TYPE(MPI_Type_indexed(1, &minus, &one, MPI_INT, &t));
    TYPE(MPI_Type_indexed(-1, &one, &one, MPI_INT, &t));
    TYPE(MPI_Type_create_hindexed(0, NULL, NULL, MPI_INT, &t));
    TYPE(MPI_Type_create_hindexed(-1, &one, &at, MPI_INT, &t));
    TYPE(MPI_Type_create_indexed_block(0, 1, NULL, MPI_INT, &t));
    TYPE(MPI_Type_create_indexed_block(-1, 1, &one, MPI_INT, &t));
    TYPE(MPI_Type_create_hindexed_block(0, 1, NULL, MPI_INT, &t));
    TYPE(MPI_Type_create_struct(0, NULL, NULL, NULL, &t));
    TYPE(MPI_Type_create_struct(1, &zero, &at, &type, &t));
    TYPE(MPI_Type_create_struct(-1, &one, &at, &type, &t));
    TYPE(MPI_Type_create_struct(1, &one, &at, &null, &t));
    TYPE(MPI_Type_create_resized(MPI_INT, -4, 16, &t));
    TYPE(MPI_Type_create_subarray(1, &one, &one, &zero, MPI_ORDER_C, MPI_INT, &t));
    FAILS(MPI_Type_create_subarray(-1, &one, &one, &zero, MPI_ORDER_C, MPI_INT, &made));
    TYPE(MPI_Type_dup(MPI_INT, &t));
    TYPE(MPI_Type_dup(MPI_DATATYPE_NULL, &t));
    CALL(MPI_Type_free(&null));
    CALL(MPI_Type_free(&type));
    CALL(MPI_Type_commit(&null));
    CALL(MPI_Type_size(MPI_DATATYPE_NULL, &n));
    CALL(MPI_Type_get_extent(MPI_DATATYPE_NULL, &lb, &extent));
    MPI_Type_contiguous(3, MPI_INT, &made);
    CALL(MPI_Send(&n, 1, made, MPI_PROC_NULL, 0, world)); /* not committed */
    MPI_Type_free(&made);
    CALL(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, &made));
    CALL(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &made));
    CALL(MPI_Type_match_size(999, 4, &made));
#ifdef OPEN_MPI
    TYPE(MPI_Type_contiguous(2, MPI_2COMPLEX, &t));
    TYPE(MPI_Type_contiguous(2, MPI_2DOUBLE_COMPLEX, &t));
#endif
#ifdef MPICH
    CALL(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &made));
    say("%d", made == MPI_DOUBLE_INT);
    CALL(MPI_Type_get_value_index(MPI_INT, MPI_INT, &made));
    say("%d", made == MPI_2INT);
    CALL(MPI_Type_get_value_index(MPI_BYTE, MPI_INT, &made));
    say("%d", made == MPI_DATATYPE_NULL);
#endif
    /* counts */
    MPI_Status_set_elements(&s, MPI_INT, 3);
    CALL(MPI_Get_count(&s, MPI_INT, &n));
    say("%d", n);
    CALL(MPI_Get_count(&s, MPI_DOUBLE, &n));
    say("undefined: %d", n == MPI_UNDEFINED);
    CALL(MPI_Get_elements(&s, MPI_DOUBLE, &n));
    say("%d", n == MPI_UNDEFINED ? -1 : n);
    CALL(MPI_Get_elements_x(&s, MPI_INT, &large));
    say("%ld", (long)large);
    CALL(MPI_Get_count(&s, MPI_DATATYPE_NULL, &n));
    MPI_Type_contiguous(0, MPI_INT, &made);
    MPI_Type_commit(&made);
    CALL(MPI_Get_count(&s, made, &n));
    say("%d", n == MPI_UNDEFINED ? -1 : n);
    MPI_Status_set_elements(&s, MPI_INT, 0);
    CALL(MPI_Get_count(&s, made, &n));
    say("%d", n == MPI_UNDEFINED ? -1 : n);
    MPI_Type_free(&made);
    /* packing */
    int position = 0;
    char room[16];
    CALL(MPI_Pack(NULL, 0, MPI_INT, room, 16, &position, world));
    CALL(MPI_Pack(&n, -1, MPI_INT, room, 16, &position, world));
    CALL(MPI_Pack_size(1, MPI_DATATYPE_NULL, world, &n));
    CALL(MPI_Reduce_local(&one, &one, 0, MPI_INT, MPI_SUM));
    CALL(MPI_Reduce_local(&one, &n, 1, MPI_INT, MPI_OP_NULL));
}
