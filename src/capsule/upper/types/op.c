/* op.c - user-defined operations. The lower half calls each through one of MAX_USER_OPS slots. */
#include "core/face.h"
#include "messages/messages.h"
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
/* The lower half calls this, perhaps from a function that has not set in_library. No image may be taken here. */
FAST_CODE void run_user_op(int slot, void *in, void *inout, int *n, handle_t type)
{
    in_library++;
    user_op(slot, in, inout, n, type);
    in_library--;
}
void rebind_ops(void)
{
    EACH_LIVE (o, KIND_OP) {
        int rc = LOWER(op_create, o->op.slot, o->op.commute, &o->real);
        if (rc) {
            file_say("an operation cannot be made again: its use is an error", "resume");
            o->real = upper.lower->predef[PRE_MPI_OP_NULL];
        }
    }
}
/* MPI_Op_free only marks an operation: persistent requests may hold it (o->refs), and a pending non-blocking
 * reduction may still call it. */
static int may_be_called(void)
{
    EACH_REQUEST (r)
        if (!r->req.done && !r->req.is_recv && !r->req.special)
            return 1;
    return 0;
}
static int release(object *o)
{
    int rc = LOWER(Op_free, o->real);
    core.user_op[o->op.slot] = NULL;
    object_delete(o);
    return rc;
}
static int release_unused(void)
{
    int rc = 0, called = -1;
    for (int slot = 0; slot < MAX_USER_OPS; slot++)
        if (core.user_op[slot] && !core.user_op[slot]->refs) {
            called = called < 0 ? may_be_called() : called;
            rc = called ? rc : release(core.user_op[slot]);
        }
    return rc;
}
void unref_op(object *o)
{
    if (!o->predefined && !--o->refs)
        release_unused();
}
int core_Op_create(void *fn, int commute, int fortran, object **out)
{
    int slot = 0;
    NEEDS_ARRAY(fn, 1);
    release_unused();
    while (slot < MAX_USER_OPS && core.user_op[slot])
        slot++;
    if (slot == MAX_USER_OPS)
        return refuse("MPI_Op_create", "more than 1024 operations at once are not supported");
    object *o = core.user_op[slot] = object_new(KIND_OP);
    o->op.fn = fn;
    o->op.commute = commute;
    o->op.fortran = fortran;
    o->op.slot = slot;
    int rc = LOWER(op_create, slot, commute, &o->real);
    if (rc) {
        core.user_op[slot] = NULL;
        object_delete(o);
    } else
        *out = o;
    return rc;
}
int core_Op_free(object **o)
{
    if ((*o)->predefined)
        return NEUTRAL_MPI_ERR_OP;
    (*o)->refs--;
    *o = predef[PRE_MPI_OP_NULL];
    return release_unused();
}
