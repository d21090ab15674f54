/* packing.c - more of datatypes: extents, names, attributes, the types of Fortran, packing in both forms; operations. */
#include "conform.h"

static void extents(void)
{
    MPI_Datatype t, made;
    MPI_Aint lb = -1, extent = -1;
    MPI_Count a = -1, b = -1;
    int n = -1, blocks[2] = {1, 1}, ni, na, nt, combiner, whole[16];
    MPI_Aint at[2] = {8, 32}, places[4];
    MPI_Datatype kinds[2] = {MPI_INT, MPI_DOUBLE}, parts[4];
    MPI_Type_create_struct(2, blocks, at, kinds, &t);
    CALL(MPI_Type_get_true_extent(t, &lb, &extent));
    say("%ld %ld", (long)lb, (long)extent);
    CALL(MPI_Type_size_x(t, &a));
    say("%ld", (long)a);
    CALL(MPI_Type_get_extent_x(t, &a, &b));
    say("%ld %ld", (long)a, (long)b);
    CALL(MPI_Type_get_true_extent_x(t, &a, &b));
    say("%ld %ld", (long)a, (long)b);
    CALL(MPI_Type_get_envelope(t, &ni, &na, &nt, &combiner));
    CALL(MPI_Type_get_contents(t, ni, na, nt, whole, places, parts));
    say("%d %d %d; %ld %ld; %d %d", whole[0], whole[1], whole[2], (long)places[0], (long)places[1],
        parts[0] == MPI_INT, parts[1] == MPI_DOUBLE);
    FAILS(MPI_Type_get_contents(t, 0, 0, 0, whole, places, parts));
    FAILS(MPI_Type_get_contents(MPI_INT, 1, 1, 1, whole, places, parts));
    MPI_Type_free(&t);
    int sizes[2] = {6, 8}, distribs[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    int dargs[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, grid[2] = {3, 1};
    CALL(MPI_Type_create_darray(3, me, 2, sizes, distribs, dargs, grid, MPI_ORDER_C, MPI_INT,
                                &made));
    MPI_Type_size(made, &n);
    MPI_Type_get_true_extent(made, &lb, &extent);
    say("%d %ld %ld", n, (long)lb, (long)extent);
    MPI_Type_free(&made);
    FAILS(MPI_Type_create_darray(3, 99, 2, sizes, distribs, dargs, grid, MPI_ORDER_C, MPI_INT,
                                 &made));
}

static int copies, deletes;
static int copy(MPI_Datatype t, int key, void *extra, void *in, void *out, int *flag)
{
    (void)t, (void)key, (void)extra;
    copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}
static int delete(MPI_Datatype t, int key, void *value, void *extra)
{
    (void)t, (void)key, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}
static void names(void)
{
    MPI_Datatype t, other;
    char name[MPI_MAX_OBJECT_NAME] = "";
    int n = -1, key, flag = -1;
    void *value = NULL;
    CALL(MPI_Type_get_name(MPI_INT, name, &n));
    say("%d %s", n, name);
    CALL(MPI_Type_get_name(MPI_DATATYPE_NULL, name, &n));
    MPI_Type_contiguous(2, MPI_INT, &t);
    CALL(MPI_Type_get_name(t, name, &n));
    say("%d %s", n, name);
    CALL(MPI_Type_set_name(t, "two of them"));
    CALL(MPI_Type_get_name(t, name, &n));
    say("%d %s", n, name);
    CALL(MPI_Type_create_keyval(copy, delete, &key, NULL));
    CALL(MPI_Type_set_attr(t, key, (void *)7));
    CALL(MPI_Type_dup(t, &other));
    CALL(MPI_Type_get_attr(other, key, &value, &flag));
    say("%ld %d, %d copies", (long)value, flag, copies);
    CALL(MPI_Type_delete_attr(other, key));
    MPI_Type_free(&other);
    MPI_Type_free(&t);
    say("%d deletes", deletes);
    CALL(MPI_Type_free_keyval(&key));
    CALL(MPI_Type_create_f90_real(6, 30, &t));
    MPI_Type_size(t, &n);
    say("%d", n);
    CALL(MPI_Type_create_f90_complex(12, MPI_UNDEFINED, &t));
    MPI_Type_size(t, &n);
    say("%d", n);
    CALL(MPI_Type_create_f90_integer(9, &t));
    MPI_Type_size(t, &n);
    say("%d", n);
    FAILS(MPI_Type_create_f90_integer(99, &t));
}

static void packs(void)
{
    double in[3] = {1.5, -2.5, 3.25}, out[3] = {0};
    int position = 0, n = -1;
    char room[64];
    MPI_Aint at = 0, size = -1;
    CALL(MPI_Pack_size(3, MPI_DOUBLE, world, &n));
    say("%d", n);
    CALL(MPI_Pack(in, 3, MPI_DOUBLE, room, sizeof room, &position, world));
    say("%d", position);
    position = 0;
    CALL(MPI_Unpack(room, sizeof room, &position, out, 3, MPI_DOUBLE, world));
    say("%d %g %g %g", position, out[0], out[1], out[2]);
    FAILS(MPI_Pack(in, 3, MPI_DOUBLE, room, 4, &position, world));
    CALL(MPI_Unpack(room, sizeof room, &position, NULL, 0, MPI_DOUBLE, world));
    CALL(MPI_Pack_external_size("external32", 3, MPI_DOUBLE, &size));
    say("%ld", (long)size);
    CALL(MPI_Pack_external("external32", in, 3, MPI_DOUBLE, room, sizeof room, &at));
    say("%ld", (long)at);
    at = 0;
    memset(out, 0, sizeof out);
    CALL(MPI_Unpack_external("external32", room, sizeof room, &at, out, 3, MPI_DOUBLE));
    say("%ld %g %g %g", (long)at, out[0], out[1], out[2]);
}

static void add(void *in, void *inout, int *n, MPI_Datatype *t)
{
    (void)t;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += 2 * ((int *)in)[i];
}
static void operations(void)
{
    MPI_Op op, sum = MPI_SUM, none = MPI_OP_NULL;
    MPI_Status s = FRESH;
    int flag = -1, in = 3, inout = 4, n = -1, result = -1;
    CALL(MPI_Op_create(add, 0, &op));
    CALL(MPI_Op_commutative(op, &flag));
    say("%d", flag);
    CALL(MPI_Op_commutative(MPI_SUM, &flag));
    say("%d", flag != 0);
    CALL(MPI_Reduce_local(&in, &inout, 1, MPI_INT, op));
    say("%d", inout);
    CALL(MPI_Reduce(&me, &result, 1, MPI_INT, op, 0, world));
    say("%d", result);
    CALL(MPI_Op_free(&op));
    say("%s", op == MPI_OP_NULL ? "null" : "not null");
    FAILS(MPI_Op_free(&sum));
    FAILS(MPI_Op_free(&none));
    CALL(MPI_Status_set_elements_x(&s, MPI_INT, 7));
    MPI_Get_count(&s, MPI_INT, &n);
    say("%d", n);
}

void part_packing(void)
{
    extents();
    names();
    packs();
    operations();
}
