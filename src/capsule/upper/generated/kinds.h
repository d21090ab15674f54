/* generated/kinds.h - the core's side of each kind of argument: code before the call of the lower
 * half (BEFORE), the argument itself (ARG), code after the call (AFTER). Kinds that occur only in
 * ABOVE and BYHAND rows need no entry.
 */
#include "generated/significant.h"
// clang-format off
#define BEFORE(kind, ...) BEFORE_##kind(__VA_ARGS__)
#define ARG(kind, ...) ARG_##kind(__VA_ARGS__)
#define AFTER(kind, ...) AFTER_##kind(__VA_ARGS__)
#define comm_size(c) ((c)->comm.remote_size ? (c)->comm.remote_size : (c)->comm.size)
#define SAME(x) x
#define NONE(...)
#define BEFORE_INT NONE
#define ARG_INT SAME
#define AFTER_INT NONE
#define BEFORE_RANK NONE
#define ARG_RANK SAME
#define AFTER_RANK NONE
#define BEFORE_CBUF NONE
#define ARG_CBUF SAME
#define AFTER_CBUF NONE
#define BEFORE_BUF NONE
#define ARG_BUF SAME
#define AFTER_BUF NONE
#define BEFORE_INTS NONE
#define ARG_INTS SAME
#define AFTER_INTS NONE
#define BEFORE_OINTS NONE
#define ARG_OINTS SAME
#define AFTER_OINTS NONE
#define BEFORE_OINT NONE
#define ARG_OINT SAME
#define AFTER_OINT NONE
#define BEFORE_IOINT NONE
#define ARG_IOINT SAME
#define AFTER_IOINT NONE
#define BEFORE_OAINT NONE
#define ARG_OAINT SAME
#define AFTER_OAINT NONE
#define BEFORE_COMM NONE
#define ARG_COMM real
#define AFTER_COMM NONE
#define BEFORE_TYPE NONE
#define ARG_TYPE real
#define AFTER_TYPE NONE
#define BEFORE_TYPEIF(x, condition)
#define ARG_TYPEIF(x, condition) ((condition) ? real(x) : predef[PRE_MPI_DATATYPE_NULL]->real)
#define AFTER_TYPEIF(x, condition)
#define BEFORE_OP NONE
#define ARG_OP real
#define AFTER_OP NONE
#define BEFORE_INFO NONE
#define ARG_INFO real
#define AFTER_INFO NONE
#define BEFORE_TYPES(x, n) ARRAY_OF(handle_t, x##_, n); for (int i_ = 0; i_ < n; i_++) x##_[i_] = real(x[i_]);
#define ARG_TYPES(x, n) x##_
#define AFTER_TYPES(x, n)
#define BEFORE_NEWCOMM(x) handle_t x##_;
#define ARG_NEWCOMM(x) &x##_
#define AFTER_NEWCOMM(x) if (!rc) new_comm(x##_, comm, 0, x);

#define BEFORE_NEWREQ(x) object *x##_ = new_request(0, NULL, 0, TYPE_BYTE, NEUTRAL_PROC_NULL, 0, comm);
#define ARG_NEWREQ(x) &x##_->real
#define AFTER_NEWREQ(x) if (rc) { retire_request(&x##_); } *x = x##_;

#define BEFORE_TAG NONE
#define ARG_TAG SAME
#define AFTER_TAG NONE
#define BEFORE_AINT NONE
#define ARG_AINT SAME
#define AFTER_AINT NONE
#define BEFORE_CONST NONE
#define ARG_CONST(x, which) x
#define AFTER_CONST NONE
#define BEFORE_OFFSET NONE
#define ARG_OFFSET SAME
#define AFTER_OFFSET NONE
#define BEFORE_FLAG NONE
#define ARG_FLAG SAME
#define AFTER_FLAG NONE
#define BEFORE_OOFFSET NONE
#define ARG_OOFFSET SAME
#define AFTER_OOFFSET NONE
#define BEFORE_OCOUNT NONE
#define ARG_OCOUNT SAME
#define AFTER_OCOUNT NONE
#define BEFORE_AINTS NONE
#define ARG_AINTS SAME
#define AFTER_AINTS NONE
#define BEFORE_IOAINT NONE
#define ARG_IOAINT SAME
#define AFTER_IOAINT NONE
#define BEFORE_STR NONE
#define ARG_STR SAME
#define AFTER_STR NONE
#define BEFORE_OADDR NONE
#define ARG_OADDR SAME
#define AFTER_OADDR NONE
#define BEFORE_STATUS NONE
#define ARG_STATUS SAME
#define AFTER_STATUS NONE
#define BEFORE_COUNT64 NONE
#define ARG_COUNT64 SAME
#define AFTER_COUNT64 NONE
#define BEFORE_WIN NONE
#define ARG_WIN real
#define AFTER_WIN NONE
#define BEFORE_FILE NONE
#define ARG_FILE real
#define AFTER_FILE NONE
#define BEFORE_OFLAG NONE
#define ARG_OFLAG SAME
#define AFTER_OFLAG NONE
// clang-format on
