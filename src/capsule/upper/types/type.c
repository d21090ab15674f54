/* type.c - datatypes: each keeps the recipe that made it. */
#include "types/types.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
void unref_type(object *t)
{
    if (t->predefined || --t->refs)
        return;
    struct recipe *r = t->type.recipe;
    for (int k = 0; k < r->n_types; k++)
        unref_type(r->types[k]);
    free(r->ints);
    free(r->addresses);
    free(r->types);
    free(r);
    if (t->real)
        LOWER(Type_free, t->real);
    object_delete(t);
}
static int build_type(object *t)
{
    struct recipe *r = t->type.recipe;
    /* no malloc: after a restart the program may be inside it */
    handle_t few[ARRAY_ON_STACK], *h = few;
    if (r->n_types > ARRAY_ON_STACK)
        h = keep_alloc((size_t)r->n_types * sizeof *h);
    for (int k = 0; k < r->n_types; k++)
        h[k] = r->types[k]->real;
    int rc = LOWER(type_build, r->how, r->n, r->ints, r->addresses, h, &t->real);
    if (h != few)
        keep_free(h);
    return rc || !t->type.committed ? rc : LOWER(Type_commit, t->real);
}
void rebind_types(void)
{
    EACH_LIVE (t, KIND_TYPE) /* oldest first: a type's parts come before it */
        if (build_type(t)) {
            file_say("a datatype cannot be made again: its use is an error", "resume");
            t->real = upper.lower->predef[PRE_MPI_DATATYPE_NULL];
        }
}
static object *cook(int how, int n, int ni, int na, int nt)
{
    struct recipe *r = need(malloc(sizeof *r));
    *r = (struct recipe){how,
                         n,
                         ni,
                         na,
                         nt,
                         need(calloc(ni + 2, sizeof(int))),
                         need(malloc((na + 1) * sizeof(long))),
                         need(malloc((nt + 1) * sizeof(object *)))};
    object *t = object_new(KIND_TYPE);
    t->type.recipe = r;
    t->type.bytes = -1;
    return t;
}
static int served(object *t, object **out)
{
    struct recipe *r = t->type.recipe;
    int rc = 0;
    for (int k = 0; k < r->n_types; k++)
        if (!r->types[k]) { /* a handle that was never given */
            rc = NEUTRAL_MPI_ERR_TYPE;
            r->n_types = k;
        } else {
            r->types[k]->refs++;
        }
    if (!rc)
        rc = build_type(t);
    if (rc) {
        t->real = 0; /* nothing below to free */
        unref_type(t);
    } else
        *out = t;
    return rc;
}
#define INTS      t->type.recipe->ints
#define ADDRESSES t->type.recipe->addresses
#define TYPES     t->type.recipe->types
int core_Type_size(object *t, int *size)
{
    long bytes;
    int rc = core_Type_size_x(t, &bytes);
    *size = bytes > INT_MAX ? NEUTRAL_UNDEFINED : (int)bytes;
    return rc;
}
int core_Type_contiguous(int n, object *o, object **out)
{
    if (n < 0)
        return NEUTRAL_MPI_ERR_COUNT;
    object *t = cook(RECIPE_CONTIGUOUS, n, 0, 0, 1);
    TYPES[0] = o;
    return served(t, out);
}
int core_Type_vector(int n, int len, int stride, object *o, object **out)
{
    if (n < 0)
        return NEUTRAL_MPI_ERR_COUNT;
    object *t = cook(RECIPE_VECTOR, n, 2, 0, 1);
    INTS[0] = len;
    INTS[1] = stride;
    TYPES[0] = o;
    return served(t, out);
}
int core_Type_create_hvector(int n, int len, long stride, object *o, object **out)
{
    if (n < 0)
        return NEUTRAL_MPI_ERR_COUNT;
    object *t = cook(RECIPE_HVECTOR, n, 1, 1, 1);
    INTS[0] = len;
    ADDRESSES[0] = stride;
    TYPES[0] = o;
    return served(t, out);
}
int core_Type_indexed(int n, const int *lens, const int *disps, object *o, object **out)
{
    NEEDS_ARRAY(lens, n);
    NEEDS_ARRAY(disps, n);
    if (n < 0)
        return NEUTRAL_MPI_ERR_COUNT;
    object *t = cook(RECIPE_INDEXED, n, 2 * n, 0, 1);
    memcpy(INTS, lens, n * sizeof(int));
    memcpy(INTS + n, disps, n * sizeof(int));
    TYPES[0] = o;
    return served(t, out);
}
int core_Type_create_hindexed(int n, const int *lens, const long *disps, object *o, object **out)
{
    NEEDS_ARRAY(lens, n);
    NEEDS_ARRAY(disps, n);
    if (n < 0)
        return NEUTRAL_MPI_ERR_COUNT;
    object *t = cook(RECIPE_HINDEXED, n, n, n, 1);
    memcpy(INTS, lens, n * sizeof(int));
    memcpy(ADDRESSES, disps, n * sizeof(long));
    TYPES[0] = o;
    return served(t, out);
}
int core_Type_create_indexed_block(int n, int len, const int *disps, object *o, object **out)
{
    NEEDS_ARRAY(disps, n);
    if (n < 0)
        return NEUTRAL_MPI_ERR_COUNT;
    object *t = cook(RECIPE_INDEXED_BLOCK, n, n + 1, 0, 1);
    INTS[0] = len;
    memcpy(INTS + 1, disps, n * sizeof(int));
    TYPES[0] = o;
    return served(t, out);
}
int core_Type_create_struct(int n, const int *lens, const long *disps, object *const *types,
                            object **out)
{
    NEEDS_ARRAY(lens, n);
    NEEDS_ARRAY(disps, n);
    NEEDS_ARRAY(types, n);
    if (n < 0)
        return NEUTRAL_MPI_ERR_COUNT;
    object *t = cook(RECIPE_STRUCT, n, n, n, n);
    memcpy(INTS, lens, n * sizeof(int));
    memcpy(ADDRESSES, disps, n * sizeof(long));
    memcpy(TYPES, types, n * sizeof(object *));
    return served(t, out);
}
int core_Type_create_subarray(int n, const int *sizes, const int *sub, const int *starts, int order,
                              object *o, object **out)
{
    NEEDS_ARRAY(sizes, n);
    NEEDS_ARRAY(sub, n);
    NEEDS_ARRAY(starts, n);
    if (n < 0)
        return NEUTRAL_MPI_ERR_COUNT;
    if (order != NEUTRAL_ORDER_C && order != NEUTRAL_ORDER_FORTRAN)
        return NEUTRAL_MPI_ERR_ARG;
    object *t = cook(RECIPE_SUBARRAY, n, 3 * n + 1, 0, 1);
    INTS[0] = order;
    memcpy(INTS + 1, sizes, n * sizeof(int));
    memcpy(INTS + 1 + n, sub, n * sizeof(int));
    memcpy(INTS + 1 + 2 * n, starts, n * sizeof(int));
    TYPES[0] = o;
    return served(t, out);
}
int core_Type_create_resized(object *o, long lb, long extent, object **out)
{
    object *t = cook(RECIPE_RESIZED, 0, 0, 2, 1);
    ADDRESSES[0] = lb;
    ADDRESSES[1] = extent;
    TYPES[0] = o;
    return served(t, out);
}
int core_Type_dup(object *o, object **out)
{
    object *t = cook(RECIPE_DUP, 0, 0, 0, 1);
    TYPES[0] = o;
    t->type.committed = o->predefined || o->type.committed;
    int rc = served(t, out);
    if (!rc)
        rc = attributes_copy(o, t);
    if (rc && *out == t)
        core_Type_free(out);
    return rc;
}
int core_Type_create_hindexed_block(int n, int len, const long *disps, object *o, object **out)
{
    NEEDS_ARRAY(disps, n);
    if (n < 0)
        return NEUTRAL_MPI_ERR_COUNT;
    object *t = cook(RECIPE_HINDEXED_BLOCK, n, 1, n, 1);
    INTS[0] = len;
    memcpy(ADDRESSES, disps, n * sizeof(long));
    TYPES[0] = o;
    return served(t, out);
}
int core_Type_create_darray(int size, int rank, int n, const int *gsizes, const int *distribs,
                            const int *dargs, const int *psizes, int order, object *o, object **out)
{
    NEEDS_ARRAY(gsizes, n);
    NEEDS_ARRAY(distribs, n);
    NEEDS_ARRAY(dargs, n);
    NEEDS_ARRAY(psizes, n);
    if (n < 0 || (order != NEUTRAL_ORDER_C && order != NEUTRAL_ORDER_FORTRAN))
        return NEUTRAL_MPI_ERR_ARG;
    object *t = cook(RECIPE_DARRAY, n, 4 * n + 3, 0, 1);
    const int *parts[4] = {gsizes, distribs, dargs, psizes};
    INTS[0] = size;
    INTS[1] = rank;
    for (int k = 0; k < 4; k++)
        memcpy(INTS + 2 + k * n, parts[k], n * sizeof(int));
    INTS[2 + 4 * n] = order;
    TYPES[0] = o;
    return served(t, out);
}
/* Equal arguments give the same type, which is never freed. */
static int f90_type(int how, int p, int r, object **out)
{
    EACH_LIVE (o, KIND_TYPE)
        if (o->type.recipe->how == how && o->type.recipe->ints[0] == p &&
            (how == RECIPE_F90_INTEGER || o->type.recipe->ints[1] == r)) {
            *out = o;
            return 0;
        }
    object *t = cook(how, 0, how == RECIPE_F90_INTEGER ? 1 : 2, 0, 0);
    INTS[0] = p;
    if (how != RECIPE_F90_INTEGER)
        INTS[1] = r;
    t->refs++;
    return served(t, out);
}
int core_Type_create_f90_real(int p, int r, object **out)
{
    return f90_type(RECIPE_F90_REAL, p, r, out);
}
int core_Type_create_f90_complex(int p, int r, object **out)
{
    return f90_type(RECIPE_F90_COMPLEX, p, r, out);
}
int core_Type_create_f90_integer(int r, object **out)
{
    return f90_type(RECIPE_F90_INTEGER, r, 0, out);
}
int core_Type_match_size(int class, int size, object **out)
{
    static const struct {
        int class, size, type;
    } known[] = {{NEUTRAL_TYPECLASS_INTEGER, 1, PRE_MPI_INTEGER1},
                 {NEUTRAL_TYPECLASS_INTEGER, 2, PRE_MPI_INTEGER2},
                 {NEUTRAL_TYPECLASS_INTEGER, 4, PRE_MPI_INTEGER4},
                 {NEUTRAL_TYPECLASS_INTEGER, 8, PRE_MPI_INTEGER8},
                 {NEUTRAL_TYPECLASS_REAL, 4, PRE_MPI_REAL4},
                 {NEUTRAL_TYPECLASS_REAL, 8, PRE_MPI_REAL8},
                 {NEUTRAL_TYPECLASS_REAL, 16, PRE_MPI_REAL16},
                 {NEUTRAL_TYPECLASS_COMPLEX, 8, PRE_MPI_COMPLEX8},
                 {NEUTRAL_TYPECLASS_COMPLEX, 16, PRE_MPI_COMPLEX16},
                 {NEUTRAL_TYPECLASS_COMPLEX, 32, PRE_MPI_COMPLEX32}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].class == class && known[i].size == size) {
            *out = predef[known[i].type];
            return 0;
        }
    return NEUTRAL_MPI_ERR_ARG;
}
object *pair_with_int(const object *value)
{
    static const int pairs[][2] = {
        {PRE_MPI_FLOAT, PRE_MPI_FLOAT_INT}, {PRE_MPI_DOUBLE, PRE_MPI_DOUBLE_INT},
        {PRE_MPI_LONG, PRE_MPI_LONG_INT},   {PRE_MPI_INT, PRE_MPI_2INT},
        {PRE_MPI_SHORT, PRE_MPI_SHORT_INT}, {PRE_MPI_LONG_DOUBLE, PRE_MPI_LONG_DOUBLE_INT}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (predef[pairs[i][0]] == value)
            return predef[pairs[i][1]];
    return NULL;
}
int core_Type_commit(object **t)
{
    if ((*t)->predefined || (*t)->type.committed)
        return *t == predef[PRE_MPI_DATATYPE_NULL] ? NEUTRAL_MPI_ERR_TYPE : 0;
    int rc = LOWER(Type_commit, (*t)->real);
    (*t)->type.committed = !rc;
    return rc;
}
int core_Type_free(object **t)
{
    if ((*t)->predefined)
        return NEUTRAL_MPI_ERR_TYPE;
    int rc = attributes_delete_all(*t);
    if (rc)
        return rc;
    unref_type(*t);
    *t = predef[PRE_MPI_DATATYPE_NULL];
    return 0;
}
