/* faces/openmpi.c - Open MPI's C ABI (libmpi.so.40): handles are pointers.
 * Compiled against Open MPI's mpi.h. A handle is the address of a struct object. Predefined handles are
 * data symbols, so these symbols are objects here. */
#include "comm/comm.h"
#include "core/core.h"
#include "core/face.h"
#include "io/io.h"
#include "messages/messages.h"
#include "types/types.h"
#include "windows/windows.h"
#include <mpi.h>

#define SAME_LAYOUT /* MPI_Status = struct status, MPI_Request = struct object **/
_Static_assert(sizeof(MPI_Status) == sizeof(struct status), "struct status has Open MPI's layout");
#define IN_COMM(h)                    ((struct object *)(h))
#define IN_TYPE(h)                    ((struct object *)(h))
#define IN_OP(h)                      ((struct object *)(h))
#define IN_GROUP(h)                   ((struct object *)(h))
#define IN_INFO(h)                    ((struct object *)(h))
#define IN_ERRH(h)                    ((struct object *)(h))
#define OUT_COMM(o)                   ((MPI_Comm)(o))
#define OUT_TYPE(o)                   ((MPI_Datatype)(o))
#define OUT_OP(o)                     ((MPI_Op)(o))
#define OUT_GROUP(o)                  ((MPI_Group)(o))
#define OUT_REQ(o)                    ((MPI_Request)(o))
#define OUT_INFO(o)                   ((MPI_Info)(o))
#define OUT_ERRH(o)                   ((MPI_Errhandler)(o))
#define NULL_ERROR(kind)              NEUTRAL_MPI_ERR_##kind
#define rank_in(r)                    (r) /* the neutral values are Open MPI's */
#define rank_out(r)                   (r)
#define buf_in(b)                     ((void *)(b))
#define split_in(s)                   (s)
#define order_in(o)                   (o)
#define typeclass_in(c)               (c)
#define IN_REQ(h)                     ((struct object *)(h))
#define IN_WIN(h)                     ((struct object *)(h))
#define IN_FILE(h)                    ((struct object *)(h))
#define IN_MSG(h)                     ((struct object *)(h))
#define IN_SESSION(h)                 ((struct object *)(h))
#define OUT_SESSION(o)                ((MPI_Session)(o))
#define OUT_WIN(o)                    ((MPI_Win)(o))
#define OUT_FILE(o)                   ((MPI_File)(o))
#define OUT_MSG(o)                    ((MPI_Message)(o))
#define lock_in(l)                    (l)
#define topo_out(t)                   (t)
#define combiner_out(c)               (c)
#define distrib_in(d)                 (d)
#define distrib_out(d)                (d)
#define darg_in(d)                    (d)
#define darg_out(d)                   (d)
#define order_out(o)                  (o)
#define error_in(e)                   (e)
#define error_out(e)                  (e)
#define STATUS_IN(from, to)           memcpy(to, from, sizeof(struct status))
#define STATUS_OUT(from, to)          memcpy(to, from, sizeof(struct status))
#define ERROR_CLASS(name, value, ...) _Static_assert(name == value, #name);
#include "table/errors.def"
#undef ERROR_CLASS
_Static_assert(MPI_LOCK_EXCLUSIVE == LOCK_EXCLUSIVE && MPI_LOCK_SHARED == LOCK_SHARED &&
                   MPI_CART == TOPOLOGY_CART && MPI_GRAPH == TOPOLOGY_GRAPH &&
                   MPI_DIST_GRAPH == TOPOLOGY_DIST_GRAPH && (int)MPI_COMBINER_RESIZED == 17 &&
                   (int)MPI_DISTRIBUTE_NONE == (int)NEUTRAL_DISTRIBUTE_NONE &&
                   MPI_WIN_FLAVOR_SHARED == FLAVOR_SHARED,
               "neutral values");
_Static_assert(MPI_PROC_NULL == NEUTRAL_PROC_NULL && MPI_ANY_SOURCE == NEUTRAL_ANY_SOURCE &&
                   MPI_ROOT == NEUTRAL_ROOT && MPI_ANY_TAG == NEUTRAL_ANY_TAG &&
                   (int)MPI_COMM_TYPE_SHARED == (int)NEUTRAL_SPLIT_SHARED &&
                   (int)MPI_ORDER_C == (int)NEUTRAL_ORDER_C && MPI_UNDEFINED == NEUTRAL_UNDEFINED,
               "neutral values");

/* Open MPI declares these objects with incomplete types. Complete and define them here, with Open MPI's
 * sizes, because a non-PIC program may copy-relocate them. */
#define PREDEF_STRUCT(t, size)                  \
    struct ompi_predefined_##t {                \
        struct object v;                        \
        char pad[size - sizeof(struct object)]; \
    };
PREDEF_STRUCT(communicator_t, 512)
PREDEF_STRUCT(datatype_t, 512)
PREDEF_STRUCT(op_t, 2048)
PREDEF_STRUCT(request_t, 256)
PREDEF_STRUCT(group_t, 256)
PREDEF_STRUCT(errhandler_t, 1024)
PREDEF_STRUCT(info_t, 256)
PREDEF_STRUCT(win_t, 512)
PREDEF_STRUCT(file_t, 1536)
PREDEF_STRUCT(message_t, 256)
PREDEF_STRUCT(instance_t, 512)
#define TYPE_OF_COMM    struct ompi_predefined_communicator_t
#define TYPE_OF_TYPE    struct ompi_predefined_datatype_t
#define TYPE_OF_OP      struct ompi_predefined_op_t
#define TYPE_OF_REQ     struct ompi_predefined_request_t
#define TYPE_OF_GROUP   struct ompi_predefined_group_t
#define TYPE_OF_ERRH    struct ompi_predefined_errhandler_t
#define TYPE_OF_INFO    struct ompi_predefined_info_t
#define TYPE_OF_WIN     struct ompi_predefined_win_t
#define TYPE_OF_MSG     struct ompi_predefined_message_t
#define TYPE_OF_FILE    struct ompi_predefined_file_t
#define TYPE_OF_SESSION struct ompi_predefined_instance_t
#undef MPI_LB /* removed from MPI: programs that were built for an older Open MPI have them */
#undef MPI_UB
#define MPI_LB                                  (&ompi_mpi_lb)
#define MPI_UB                                  (&ompi_mpi_ub)
#define PREDEFINED(kind, symbol, name, fortran) TYPE_OF_##kind symbol;
#include "table/predefined.def"
#undef PREDEFINED

/* The address of such a symbol may be that of a copy in the application's .bss; the GOT has it (this file is -fPIC). */
void face_init(void)
{
#define PREDEFINED(kind, symbol, name, fortran)   \
    predef[PRE_##name] = (struct object *)(name); \
    object_fix(predef[PRE_##name], KIND_##kind, fortran);
#include "table/predefined.def"
#undef PREDEFINED
}

/* Each hand-written function (fast.h) falls back to slow_Name(), which the table makes. */
#define PMPI_Send      slow_Send
#define PMPI_Isend     slow_Isend
#define PMPI_Recv      slow_Recv
#define PMPI_Irecv     slow_Irecv
#define PMPI_Wait      slow_Wait
#define PMPI_Barrier   slow_Barrier
#define PMPI_Bcast     slow_Bcast
#define PMPI_Reduce    slow_Reduce
#define PMPI_Allreduce slow_Allreduce
#pragma GCC visibility push(hidden)
__typeof__(MPI_Send) slow_Send;
__typeof__(MPI_Isend) slow_Isend;
__typeof__(MPI_Recv) slow_Recv;
__typeof__(MPI_Irecv) slow_Irecv;
__typeof__(MPI_Wait) slow_Wait;
__typeof__(MPI_Barrier) slow_Barrier;
__typeof__(MPI_Bcast) slow_Bcast;
__typeof__(MPI_Reduce) slow_Reduce;
__typeof__(MPI_Allreduce) slow_Allreduce;
#pragma GCC visibility pop
#include "faces/c.h"
#undef PMPI_Send
#undef PMPI_Isend
#undef PMPI_Recv
#undef PMPI_Irecv
#undef PMPI_Wait
#undef PMPI_Barrier
#undef PMPI_Bcast
#undef PMPI_Reduce
#undef PMPI_Allreduce
#include "faces/fast.h"

void face_call_op(object *op, void *in, void *inout, int *n, object *type)
{
    MPI_Datatype t = OUT_TYPE(type);
    MPI_Fint ft = type->index;
    if (op->op.fortran)
        ((void (*)(void *, void *, MPI_Fint *, MPI_Fint *))op->op.fn)(in, inout, n, &ft);
    else
        ((MPI_User_function *)op->op.fn)(in, inout, n, &t);
}

/* Fortran handles are indices; see faces/fortran.c */
#define F2C(What, Type, kind)            \
    MPI_Fint PMPI_##What##_c2f(Type h)   \
    {                                    \
        return ((object *)h)->index;     \
    }                                    \
    WEAK(What##_c2f)                     \
    Type PMPI_##What##_f2c(MPI_Fint f)   \
    {                                    \
        return (Type)object_at(kind, f); \
    }                                    \
    WEAK(What##_f2c)
F2C(Comm, MPI_Comm, KIND_COMM)
F2C(Type, MPI_Datatype, KIND_TYPE)
F2C(Op, MPI_Op, KIND_OP)
F2C(Request, MPI_Request, KIND_REQ)
F2C(Group, MPI_Group, KIND_GROUP)
F2C(Info, MPI_Info, KIND_INFO)
F2C(Errhandler, MPI_Errhandler, KIND_ERRH)
F2C(Session, MPI_Session, KIND_SESSION)
F2C(Win, MPI_Win, KIND_WIN) F2C(File, MPI_File, KIND_FILE) F2C(Message, MPI_Message, KIND_MSG)

#include "faces/openmpi_by_hand.h"
