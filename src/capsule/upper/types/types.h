/* types/types.h - datatypes and operations. */
#ifndef CAPSULE_TYPES_H
#define CAPSULE_TYPES_H
#include "core/core.h"
#pragma GCC visibility push(hidden)

/* --- type.c, op.c --- */
void rebind_types(void);
void rebind_ops(void);
void run_user_op(int slot, void *in, void *inout, int *n, handle_t type);

/* --- datatypes --- */
int core_Type_get_contents(object *t, int max_i, int max_a, int max_t, int *i, long *a,
                           object **types, int *how, int *n_dims);
object *pair_with_int(const object *value); /* the predefined pair; NULL: there is none */
int count_elements(const struct status *s, object *t, long *count);

enum { OP_LARGE = 2, OP_CXX }; /* op.fortran: the function counts in MPI_Count; is of C++ */

#pragma GCC visibility pop
#endif
