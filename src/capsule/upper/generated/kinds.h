/* kinds_core.h - the core's side of each kind of argument: what is done before the call of the
 * lower half (BEFORE), what is passed (ARG), what is done after it (AFTER). Only kinds that occur
 * in FORWARD, COLLECTIVE and NONBLOCKING rows need an entry.
 */
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
#define BEFORE_SPLIT NONE
#define ARG_SPLIT SAME
#define AFTER_SPLIT NONE
#define BEFORE_CBUF NONE
#define ARG_CBUF SAME
#define AFTER_CBUF NONE
#define BEFORE_BUF NONE
#define ARG_BUF SAME
#define AFTER_BUF NONE
#define BEFORE_INTS NONE
#define ARG_INTS SAME
#define AFTER_INTS NONE
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
#define BEFORE_OP NONE
#define ARG_OP real
#define AFTER_OP NONE
#define BEFORE_INFO NONE
#define ARG_INFO real
#define AFTER_INFO NONE
#define BEFORE_TYPES(x, n) handle_t x##_[n]; for (int i_ = 0; i_ < n; i_++) x##_[i_] = real(x[i_]);
#define ARG_TYPES(x, n) x##_
#define AFTER_TYPES(x, n)
#define BEFORE_NEWCOMM(x) handle_t x##_;
#define ARG_NEWCOMM(x) &x##_
#define AFTER_NEWCOMM(x) if (!rc) new_comm(x##_, comm, 0, x);

#define BEFORE_NEWREQ(x) object *x##_ = new_request(0, NULL, 0, TYPE_BYTE, NEUTRAL_PROC_NULL, 0, comm);
#define ARG_NEWREQ(x) &x##_->real
#define AFTER_NEWREQ(x) *x = x##_;
// clang-format on
#include "kinds_core_more.h"
