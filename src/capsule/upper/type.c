/* type.c - datatypes: each keeps the recipe it was made from. */
#include "core.h"
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
    LOWER(Type_free, t->real);
    object_delete(t);
}
static int build_type(object *t)
{
    struct recipe *r = t->type.recipe;
    handle_t h[r->n_types];
    for (int k = 0; k < r->n_types; k++)
        h[k] = r->types[k]->real;
    return LOWER(type_build, r->how, r->n, r->ints, r->addresses, h, &t->real);
}
void rebind_types(void)
{
    EACH_LIVE(t, KIND_TYPE) build_type(t); /* oldest first: parts before the whole */
}
static object *cook(int how, int n, int ni, int na, int nt)
{
    struct recipe *r = malloc(sizeof *r);
    *r = (struct recipe){how,
                         n,
                         ni,
                         na,
                         nt,
                         malloc((ni + 1) * sizeof(int)),
                         malloc((na + 1) * sizeof(long)),
                         malloc((nt + 1) * sizeof(object *))};
    object *t = object_new(KIND_TYPE);
    t->type.recipe = r;
    t->type.bytes = -1;
    return t;
}
static int served(object *t, object **out)
{
    struct recipe *r = t->type.recipe;
    for (int k = 0; k < r->n_types; k++)
        r->types[k]->refs++;
    *out = t;
    return build_type(t);
}
#define INTS      t->type.recipe->ints
#define ADDRESSES t->type.recipe->addresses
#define TYPES     t->type.recipe->types
int core_Type_size(object *t, int *size)
{
    int rc = 0;
    if (t->type.bytes < 0)
        rc = LOWER(Type_size, t->real, &t->type.bytes);
    *size = t->type.bytes;
    return rc;
}
int core_Type_contiguous(int n, object *o, object **out)
{
    object *t = cook(RECIPE_CONTIGUOUS, n, 0, 0, 1);
    TYPES[0] = o;
    return served(t, out);
}
int core_Type_vector(int n, int len, int stride, object *o, object **out)
{
    object *t = cook(RECIPE_VECTOR, n, 2, 0, 1);
    INTS[0] = len;
    INTS[1] = stride;
    TYPES[0] = o;
    return served(t, out);
}
int core_Type_create_hvector(int n, int len, long stride, object *o, object **out)
{
    object *t = cook(RECIPE_HVECTOR, n, 1, 1, 1);
    INTS[0] = len;
    ADDRESSES[0] = stride;
    TYPES[0] = o;
    return served(t, out);
}
int core_Type_indexed(int n, const int *lens, const int *disps, object *o, object **out)
{
    object *t = cook(RECIPE_INDEXED, n, 2 * n, 0, 1);
    memcpy(INTS, lens, n * sizeof(int));
    memcpy(INTS + n, disps, n * sizeof(int));
    TYPES[0] = o;
    return served(t, out);
}
int core_Type_create_hindexed(int n, const int *lens, const long *disps, object *o, object **out)
{
    object *t = cook(RECIPE_HINDEXED, n, n, n, 1);
    memcpy(INTS, lens, n * sizeof(int));
    memcpy(ADDRESSES, disps, n * sizeof(long));
    TYPES[0] = o;
    return served(t, out);
}
int core_Type_create_indexed_block(int n, int len, const int *disps, object *o, object **out)
{
    object *t = cook(RECIPE_INDEXED_BLOCK, n, n + 1, 0, 1);
    INTS[0] = len;
    memcpy(INTS + 1, disps, n * sizeof(int));
    TYPES[0] = o;
    return served(t, out);
}
int core_Type_create_struct(int n, const int *lens, const long *disps, object *const *types,
                            object **out)
{
    object *t = cook(RECIPE_STRUCT, n, n, n, n);
    memcpy(INTS, lens, n * sizeof(int));
    memcpy(ADDRESSES, disps, n * sizeof(long));
    memcpy(TYPES, types, n * sizeof(object *));
    return served(t, out);
}
int core_Type_create_subarray(int n, const int *sizes, const int *sub, const int *starts, int order,
                              object *o, object **out)
{
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
    return served(t, out);
}
int core_Type_match_size(int class, int size, object **out)
{
    *out = class == NEUTRAL_TYPECLASS_INTEGER ? predef[size == 1   ? PRE_MPI_INTEGER1
                                                       : size == 2 ? PRE_MPI_INTEGER2
                                                       : size == 4 ? PRE_MPI_INTEGER4
                                                                   : PRE_MPI_INTEGER8]
           : class == NEUTRAL_TYPECLASS_REAL  ? predef[size == 4   ? PRE_MPI_REAL4
                                                       : size == 8 ? PRE_MPI_REAL8
                                                                   : PRE_MPI_REAL16]
                                              : predef[size == 8    ? PRE_MPI_COMPLEX8
                                                       : size == 16 ? PRE_MPI_COMPLEX16
                                                                    : PRE_MPI_COMPLEX32];
    return 0;
}
int core_Type_commit(object **t)
{
    (void)t;
    return 0;
} /* every type is committed when it is built */
int core_Type_free(object **t)
{
    unref_type(*t);
    *t = predef[PRE_MPI_DATATYPE_NULL];
    return 0;
}
