/* faces/mpich.c - MPICH's C ABI (libmpi.so.12, libmpich.so.12; also Intel MPI, MVAPICH,
 * Cray MPICH): handles are ints. Compiled against MPICH's mpi.h.
 *
 * The top two bits of an MPICH handle mean: 00 null, 01 predefined, 10 or 11 created at run time. The
 * next four bits are the kind. Our run-time handles consist of 10, the kind, and the index in the core's
 * table. Indices start at FIRST_DYNAMIC, because the pair types 0x8c00000x are constants of the ABI. */
#include "comm/comm.h"
#include "core/core.h"
#include "core/face.h"
#include "io/io.h"
#include "messages/messages.h"
#include "types/types.h"
#include "windows/windows.h"
#include <mpi.h>

enum { THROWS = N_PREDEFINED }; /* MPI::ERRORS_THROW_EXCEPTIONS, which only this ABI has */
static struct object storage[N_PREDEFINED + 1];
static struct object *by_low_byte[N_KINDS][256], *pair_type[16];
static const int base_of[N_KINDS] = {
    [KIND_COMM] = (int)0x84000000,   [KIND_GROUP] = (int)0x88000000, [KIND_TYPE] = (int)0x8c000000,
    [KIND_ERRH] = (int)0x94000000,   [KIND_OP] = (int)0x98000000,    [KIND_INFO] = (int)0x9c000000,
    [KIND_WIN] = (int)0xa0000000,    [KIND_REQ] = (int)0xac000000,   [KIND_MSG] = (int)0xac000000,
    [KIND_SESSION] = (int)0xb8000000};
static struct object *null_of[N_KINDS];
static int handle_of_predef[N_PREDEFINED + 1];

static struct object *obj_of(int kind, int h)
{
    switch ((unsigned)h >> 30) {
    case 0: return null_of[kind];
    case 1: return by_low_byte[kind][h & 0xff];
    default: {
        int i = h & 0x03ffffff;
        return kind == KIND_TYPE && i < 16 ? pair_type[i] : object_at(kind, i);
    }
    }
}
static int handle_of(struct object *o)
{
    return o->predefined ? handle_of_predef[o - storage] : base_of[o->kind] | o->index;
}
#define IN_COMM(h)       obj_of(KIND_COMM, h)
#define IN_TYPE(h)       obj_of(KIND_TYPE, h)
#define IN_OP(h)         obj_of(KIND_OP, h)
#define IN_GROUP(h)      obj_of(KIND_GROUP, h)
#define IN_REQ(h)        obj_of(KIND_REQ, h)
#define IN_INFO(h)       obj_of(KIND_INFO, h)
#define IN_ERRH(h)       obj_of(KIND_ERRH, h)
#define OUT_COMM         handle_of
#define OUT_TYPE         handle_of
#define OUT_OP           handle_of
#define OUT_GROUP        handle_of
#define OUT_REQ          handle_of
#define OUT_INFO         handle_of
#define OUT_ERRH         handle_of
#define NULL_ERROR(kind) NEUTRAL_MPI_ERR_ARG
#define IN_WIN(h)        obj_of(KIND_WIN, h)
#define IN_MSG(h)        obj_of(KIND_MSG, h)
#define IN_SESSION(h)    obj_of(KIND_SESSION, h)
#define OUT_SESSION      handle_of
#define OUT_WIN          handle_of
#define OUT_MSG          handle_of
/* here file handles are pointers: to the object itself */
#define IN_FILE(h)  ((h) == MPI_FILE_NULL ? predef[PRE_MPI_FILE_NULL] : (struct object *)(h))
#define OUT_FILE(o) ((o) == predef[PRE_MPI_FILE_NULL] ? MPI_FILE_NULL : (MPI_File)(o))

/* any address that is not a handle */
struct MPIR_T_pvar_handle_s *const MPI_T_PVAR_ALL_HANDLES = (struct MPIR_T_pvar_handle_s *)storage;

#include "faces/values.h"
/* count_hi_and_cancelled: bit 0 is "cancelled", the other bits are the upper part of the byte count */
static void status_in(const MPI_Status *s, struct status *n)
{
    unsigned hi = s->count_hi_and_cancelled;
    *n = (struct status){rank_in(s->MPI_SOURCE), s->MPI_TAG, error_in(s->MPI_ERROR), hi & 1,
                         ((size_t)(hi >> 1) << 32) | (unsigned)s->count_lo};
}
/* Leaves the program's error field alone, except for the status of nothing; calls that complete several requests set it
 * (kinds_c.h). */
static void status_out(const struct status *n, MPI_Status *s)
{
    s->count_lo = (int)(n->bytes & 0xffffffff);
    s->count_hi_and_cancelled = (int)((n->bytes >> 32) << 1) | (n->cancelled != 0);
    s->MPI_SOURCE = rank_out(n->source);
    s->MPI_TAG = n->tag;
    if (!n->error)
        s->MPI_ERROR = MPI_SUCCESS;
}

#ifndef MPI_LOGICAL1 /* MPICH programs cannot name them, see table/predefined.def */
#define MPI_LOGICAL1 MPI_INT8_T
#define MPI_LOGICAL2 MPI_INT16_T
#define MPI_LOGICAL4 MPI_INT32_T
#define MPI_LOGICAL8 MPI_INT64_T
#endif
#ifndef MPI_2COMPLEX
#define MPI_2COMPLEX        MPI_BYTE
#define MPI_2DOUBLE_COMPLEX MPI_BYTE
#endif
void face_init(void)
{
#define PREDEFINED(kind, symbol, name, fortran)                                       \
    {                                                                                 \
        struct object *o = predef[PRE_##name] = &storage[PRE_##name];                 \
        int h = handle_of_predef[PRE_##name] = (int)(intptr_t)(name);                 \
        object_fix(o, KIND_##kind, PRE_##name < FIRST_DYNAMIC ? (int)PRE_##name : 0); \
        switch ((unsigned)h >> 30) {                                                  \
        case 0: null_of[KIND_##kind] = o; break;                                      \
        case 1: /* MPI_LOGICAL1 to 8 share their value with another type */           \
            if (!by_low_byte[KIND_##kind][h & 0xff])                                  \
                by_low_byte[KIND_##kind][h & 0xff] = o;                               \
            break;                                                                    \
        default: pair_type[h & 15] = o;                                               \
        }                                                                             \
    }
#include "table/predefined.def"
#undef PREDEFINED
    int h = handle_of_predef[THROWS] = (int)MPIR_ERRORS_THROW_EXCEPTIONS;
    struct object *o = by_low_byte[KIND_ERRH][h & 0xff] = &storage[THROWS];
    object_fix(o, KIND_ERRH, THROWS);
    o->errh.language = LANGUAGE_CXX;
}
_Static_assert(N_PREDEFINED < FIRST_DYNAMIC, "predefined indices");

#define STATUS_IN  status_in
#define STATUS_OUT status_out
#include "faces/c.h"

/* Fortran: handles are the same integers, so MPICH's own libmpichfort.so.12 stays in the upper
 * half and calls the C functions.  It wants these from the C library: */
MPI_Fint *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE; /* set by libmpichfort */
int *const MPI_UNWEIGHTED = (int *)&MPI_F_STATUS_IGNORE,
           *const MPI_WEIGHTS_EMPTY = (int *)&MPI_F_STATUSES_IGNORE; /* any two addresses */
#include "faces/mpich_languages.h"

void face_call_op(object *op, void *in_, void *inout, int *n, object *type)
{
    MPI_Datatype t = OUT_TYPE(type);
    MPI_Count many = *n;
    if (op->op.fortran == OP_LARGE)
        ((MPI_User_function_c *)op->op.fn)(in_, inout, &many, &t);
    else if (op->op.fortran == OP_CXX)
        cxx.call_op(in_, inout, *n, t, op->op.fn);
    else
        ((MPI_User_function *)op->op.fn)(in_, inout, n, &t);
}
#include "faces/large.h"
#include "faces/newer.h"
