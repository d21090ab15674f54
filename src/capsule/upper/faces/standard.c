/* faces/standard.c - the C ABI of the standard itself (MPI-5.0: libmpi_abi.so.1; .so.0 before it was final). Compiled against
 * an mpi.h that the tables make (table/standard.in). For C only: the standard has no ABI for Fortran.
 *
 * A handle is a pointer. Predefined handles are small integers, which are no object's address; all others are the address
 * of a struct object. Where the standard leaves the library a choice, this face behaves like MPICH (MPICH_ABI).
 */
#include "comm/comm.h"
#include "core/core.h"
#include "core/face.h"
#include "io/io.h"
#include "messages/messages.h"
#include "types/types.h"
#include "windows/windows.h"
#include <mpi.h>

enum { RESERVED = 0x1000 }; /* the standard owns the integers below this */
static struct object storage[N_PREDEFINED];
static struct object *by_value[0x300], *null_of[N_KINDS];
static uintptr_t value_of[N_PREDEFINED];

/* A value that the standard does not define, or a type that we do not have, counts as the null handle. */
static struct object *obj_of(int kind, const void *handle)
{
    uintptr_t h = (uintptr_t)handle;
    if (h >= RESERVED)
        return (struct object *)h;
    struct object *o = h < sizeof by_value / sizeof *by_value ? by_value[h] : NULL;
    return o && o->kind == kind ? o : null_of[kind];
}
static void *handle_of(const struct object *o)
{
    return o->predefined ? (void *)value_of[o - storage] : (void *)o;
}
#define IN_COMM(h)       obj_of(KIND_COMM, h)
#define IN_TYPE(h)       obj_of(KIND_TYPE, h)
#define IN_OP(h)         obj_of(KIND_OP, h)
#define IN_GROUP(h)      obj_of(KIND_GROUP, h)
#define IN_REQ(h)        obj_of(KIND_REQ, h)
#define IN_INFO(h)       obj_of(KIND_INFO, h)
#define IN_ERRH(h)       obj_of(KIND_ERRH, h)
#define IN_WIN(h)        obj_of(KIND_WIN, h)
#define IN_FILE(h)       obj_of(KIND_FILE, h)
#define IN_MSG(h)        obj_of(KIND_MSG, h)
#define IN_SESSION(h)    obj_of(KIND_SESSION, h)
#define OUT_COMM(o)      ((MPI_Comm)handle_of(o))
#define OUT_TYPE(o)      ((MPI_Datatype)handle_of(o))
#define OUT_OP(o)        ((MPI_Op)handle_of(o))
#define OUT_GROUP(o)     ((MPI_Group)handle_of(o))
#define OUT_REQ(o)       ((MPI_Request)handle_of(o))
#define OUT_INFO(o)      ((MPI_Info)handle_of(o))
#define OUT_ERRH(o)      ((MPI_Errhandler)handle_of(o))
#define OUT_WIN(o)       ((MPI_Win)handle_of(o))
#define OUT_FILE(o)      ((MPI_File)handle_of(o))
#define OUT_MSG(o)       ((MPI_Message)handle_of(o))
#define OUT_SESSION(o)   ((MPI_Session)handle_of(o))
#define NULL_ERROR(kind) NEUTRAL_MPI_ERR_ARG
#include "faces/values.h"

/* Of the words that the standard leaves to the library, we use three: the byte count, low and high, and "cancelled". */
static void status_in(const MPI_Status *s, struct status *n)
{
    const int *more = s->MPI_internal;
    *n = (struct status){rank_in(s->MPI_SOURCE), tag_in(s->MPI_TAG), error_in(s->MPI_ERROR),
                         more[2], (size_t)(unsigned)more[1] << 32 | (unsigned)more[0]};
}
/* Leaves the program's error field alone, except for the status of nothing; calls that complete several requests set it
 * (kinds_c.h). */
static void status_out(const struct status *n, MPI_Status *s)
{
    int *more = s->MPI_internal;
    more[0] = (int)(n->bytes & 0xffffffff);
    more[1] = (int)(n->bytes >> 32);
    more[2] = n->cancelled;
    s->MPI_SOURCE = rank_out(n->source);
    s->MPI_TAG = tag_out(n->tag);
    if (!n->error)
        s->MPI_ERROR = MPI_SUCCESS;
}

/* of one library each */
#define MPI_2COMPLEX        MPI_BYTE
#define MPI_2DOUBLE_COMPLEX MPI_BYTE
#define MPI_LB              MPI_BYTE
#define MPI_UB              MPI_BYTE
void face_init(void)
{
#define PREDEFINED(kind, symbol, name, fortran)                                       \
    {                                                                                 \
        struct object *o = predef[PRE_##name] = &storage[PRE_##name];                 \
        uintptr_t h = value_of[PRE_##name] = (uintptr_t)(name);                       \
        object_fix(o, KIND_##kind, PRE_##name < FIRST_DYNAMIC ? (int)PRE_##name : 0); \
        if (!by_value[h])                                                             \
            by_value[h] = o;                                                          \
        if (!null_of[KIND_##kind]) /* the table lists it first of its kind */         \
            null_of[KIND_##kind] = o;                                                 \
    }
#include "table/predefined.def"
#undef PREDEFINED
}
_Static_assert(N_PREDEFINED <= FIRST_DYNAMIC, "predefined indices");

#define STATUS_IN  status_in
#define STATUS_OUT status_out
#include "faces/c.h"

#include "faces/large.h"
#include "faces/newer.h"
#include "faces/standard_by_hand.h"
