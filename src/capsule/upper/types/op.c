/* op.c - user-defined operations: called from below through one of MAX_USER_OPS slots. */
#include "core/face.h"
#include "types/types.h"
static void user_op(int slot, void *in, void *inout, int *n, handle_t type)
{
    object *t = NULL;
    for (int i = 0; i < N_PREDEFINED && !t; i++)
        if (predef[i]->kind == KIND_TYPE && predef[i]->real == type)
            t = predef[i];
    if (!t)
        EACH_LIVE (o, KIND_TYPE)
            if (o->real == type) {
                t = o;
                break;
            }
    face_call_op(core.user_op[slot], in, inout, n, t ? t : predef[PRE_MPI_DATATYPE_NULL]);
}
/* Called from below, maybe by a function that has not set in_library: no image is taken here. */
FAST_CODE void run_user_op(int slot, void *in, void *inout, int *n, handle_t type)
{
    in_library++;
    user_op(slot, in, inout, n, type);
    in_library--;
}
void rebind_ops(void)
{
    EACH_LIVE (o, KIND_OP)
        LOWER(op_create, o->op.slot, o->op.commute, &o->real);
}
int core_Op_create(void *fn, int commute, int fortran, object **out)
{
    int slot = 0;
    while (slot < MAX_USER_OPS && core.user_op[slot])
        slot++;
    if (slot == MAX_USER_OPS)
        return refuse("MPI_Op_create", "more than 1024 operations at once are not supported");
    object *o = core.user_op[slot] = object_new(KIND_OP);
    o->op.fn = fn;
    o->op.commute = commute;
    o->op.fortran = fortran;
    o->op.slot = slot;
    *out = o;
    return LOWER(op_create, slot, commute, &o->real);
}
int core_Op_free(object **o)
{
    if ((*o)->predefined)
        return NEUTRAL_MPI_ERR_OP;
    int rc = LOWER(Op_free, (*o)->real);
    core.user_op[(*o)->op.slot] = NULL;
    object_delete(*o);
    *o = predef[PRE_MPI_OP_NULL];
    return rc;
}
