/* types/contents.c - the contents of datatypes, from their recipes; counting the elements of a
 * message. */
#include "types/types.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The neutral values are Open MPI's. */
static const int combiner_of[] = {
    [RECIPE_NAMED] = 0,          [RECIPE_DUP] = 1,           [RECIPE_CONTIGUOUS] = 2,
    [RECIPE_VECTOR] = 3,         [RECIPE_HVECTOR] = 5,       [RECIPE_INDEXED] = 6,
    [RECIPE_HINDEXED] = 8,       [RECIPE_INDEXED_BLOCK] = 9, [RECIPE_STRUCT] = 11,
    [RECIPE_SUBARRAY] = 12,      [RECIPE_DARRAY] = 13,       [RECIPE_F90_REAL] = 14,
    [RECIPE_F90_COMPLEX] = 15,   [RECIPE_F90_INTEGER] = 16,  [RECIPE_RESIZED] = 17,
    [RECIPE_HINDEXED_BLOCK] = 18};

/* The integers in MPI's order. Our recipes keep the count apart, and a subarray's `order` in front. */
static int list_ints(const struct recipe *r, int *i)
{
    int n = 0;
    switch (r->how) {
    case RECIPE_DUP:
    case RECIPE_RESIZED: return 0;
    case RECIPE_F90_REAL:
    case RECIPE_F90_COMPLEX:
    case RECIPE_F90_INTEGER: break;
    case RECIPE_DARRAY:
        i[0] = r->ints[0];
        i[1] = r->ints[1];
        i[2] = r->n;
        memcpy(i + 3, r->ints + 2, (4 * r->n + 1) * sizeof(int));
        return 4 * r->n + 4;
    case RECIPE_SUBARRAY:
        i[0] = r->n;
        memcpy(i + 1, r->ints + 1, 3 * r->n * sizeof(int));
        i[3 * r->n + 1] = r->ints[0];
        return 3 * r->n + 2;
    default: i[n++] = r->n;
    }
    memcpy(i + n, r->ints, r->n_ints * sizeof(int));
    return n + r->n_ints;
}
int core_Type_get_envelope(object *t, int *ni, int *na, int *nt, int *how)
{
    const struct recipe *r = t->predefined ? NULL : t->type.recipe;
    *ni = *na = *nt = 0;
    *how = combiner_of[r ? r->how : RECIPE_NAMED];
    if (!r)
        return 0;
    int *i = malloc((r->n_ints + 4) * sizeof(int));
    if (!i)
        return NEUTRAL_MPI_ERR_NO_MEM;
    *ni = list_ints(r, i);
    *na = r->n_addresses;
    *nt = r->n_types;
    free(i);
    return 0;
}
int core_Type_get_contents(object *t, int max_i, int max_a, int max_t, int *i, long *a,
                           object **types, int *how, int *n_dims)
{
    const struct recipe *r = t->predefined ? NULL : t->type.recipe;
    if (!r)
        return NEUTRAL_MPI_ERR_TYPE;
    int *all = malloc((r->n_ints + 4) * sizeof(int));
    if (!all)
        return NEUTRAL_MPI_ERR_NO_MEM;
    int n = list_ints(r, all), rc = 0;
    if (n > max_i || r->n_addresses > max_a || r->n_types > max_t || (n && !i) ||
        (r->n_addresses && !a))
        rc = NEUTRAL_MPI_ERR_ARG;
    else {
        memcpy(i, all, n * sizeof(int));
        memcpy(a, r->addresses, r->n_addresses * sizeof(long));
        for (int k = 0; k < r->n_types; k++) {
            types[k] = r->types[k];
            if (!types[k]->predefined)
                types[k]->refs++;
        }
        *how = r->how;
        *n_dims = r->n;
    }
    free(all);
    return rc;
}

int core_Type_size_x(object *t, long *size)
{
    int rc = 0;
    *size = 0;
    if (t == predef[PRE_MPI_DATATYPE_NULL])
        return NEUTRAL_MPI_ERR_TYPE;
    if (t->type.bytes < 0)
        rc = LOWER(type_bytes, t->real, &t->type.bytes);
    *size = t->type.bytes;
    return rc;
}
int count_elements(const struct status *s, object *t, long *count)
{
    return LOWER(elements, t->real, s->bytes, count);
}
int core_Get_elements_x(const struct status *s, object *t, long *count)
{
    return count_elements(s, t, count);
}
int core_Get_elements(const struct status *s, object *t, int *count)
{
    long n;
    int rc = count_elements(s, t, &n);
    *count = n > INT_MAX ? NEUTRAL_UNDEFINED : (int)n;
    return rc;
}
int core_Status_set_elements_x(struct status *s, object *t, long count)
{
    long size;
    int rc = core_Type_size_x(t, &size);
    if (!s) /* only in Open MPI, where it is MPI_STATUS_IGNORE */
        return rc;
    s->bytes = (size_t)count * (size_t)size;
    return rc;
}
int core_Status_set_elements(struct status *s, object *t, int count)
{
    return core_Status_set_elements_x(s, t, count);
}
int core_Status_set_cancelled(struct status *s, int flag)
{
    NEEDS_ARRAY(s, 1);
    s->cancelled = flag != 0;
    return 0;
}
int core_Op_commutative(object *op, int *commute)
{
    if (op->predefined)
        *commute = op != predef[PRE_MPI_REPLACE] && op != predef[PRE_MPI_NO_OP];
    else
        *commute = op->op.commute;
    return 0;
}
