/* core/face.h - what a face (one ABI of the application) provides to the other rooms. */
#ifndef CAPSULE_CORE_FACE_H
#define CAPSULE_CORE_FACE_H
#include "core/core.h"
#pragma GCC visibility push(hidden)

void face_init(void); /* start_core() calls it once, before any MPI function */
void face_call_op(object *op, void *in, void *inout, int *n, object *type);

/* these call the program's function */
int face_call_copy(struct keyval *k, object *o, int keyval, long value, enum language set_in,
                   long *out, int *flag);
int face_call_delete(struct keyval *k, object *o, int keyval, long value, enum language set_in);
int face_error_out(int code);
int face_error_in(int code); /* of a function of the program */
void face_version(int *version, int *subversion);
void face_window_constants(int flavor, int *flavor_out, int *model);
void face_call_errhandler(object *errh, object *holder, int code);
extern const int
    no_weights[]; /* NULL as weights: weights of no edges, while MPI_UNWEIGHTED is NULL here */
int face_leaves_out_of_empty_grid(void); /* MPI_Cart_sub without a dimension: all but rank 0 */
struct special_request;
int face_call_query(struct special_request *s, struct status *st);
int face_call_free(struct special_request *s);
int face_call_cancel(struct special_request *s, int complete);

#pragma GCC visibility pop
#endif
