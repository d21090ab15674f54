/* kinds_fortran.h - Fortran's side of each kind of argument: its parameter (PARAM), code before the
 * call of the core (BEFORE), the argument itself (ARG), code after the call (AFTER), and the hidden
 * length of a string at the end of the parameter list (LENGTH).
 */
// clang-format off
#undef PARAM
#define PARAM(kind, ...) FACE_##kind(__VA_ARGS__)
#define BEFORE(kind, ...) BEFORE_##kind(__VA_ARGS__)
#define ARG(kind, ...) ARG_##kind(__VA_ARGS__)
#define AFTER(kind, ...) AFTER_##kind(__VA_ARGS__)
#define LENGTH(kind, ...) LENGTH_##kind(__VA_ARGS__)
#define SAME(x) x
#define FIRST(x, ...) x
#define DEREF(x) *x
#define NONE(...)
#define REF(x) int *x
#define REF2(x, n) int *x
#define comm_size(c) others_in(at(KIND_COMM, *c))
#define COUNT_OF(n) _Generic((n), int *: *(int *)(intptr_t)(n), default: (n))    /* `n` or comm_size(comm) */

#define FACE_INT REF
#define BEFORE_INT NONE
#define ARG_INT DEREF
#define AFTER_INT NONE
#define LENGTH_INT NONE
#define FACE_FLAG REF
#define BEFORE_FLAG NONE
#define ARG_FLAG DEREF
#define AFTER_FLAG NONE
#define LENGTH_FLAG NONE
#define FACE_RANK REF
#define BEFORE_RANK NONE
#define ARG_RANK DEREF
#define AFTER_RANK NONE
#define LENGTH_RANK NONE
#define FACE_TAG REF
#define BEFORE_TAG NONE
#define ARG_TAG DEREF
#define AFTER_TAG NONE
#define LENGTH_TAG NONE
#define FACE_SPLIT REF
#define BEFORE_SPLIT NONE
#define ARG_SPLIT DEREF
#define AFTER_SPLIT NONE
#define LENGTH_SPLIT NONE
#define FACE_ORDER REF
#define BEFORE_ORDER NONE
#define ARG_ORDER DEREF
#define AFTER_ORDER NONE
#define LENGTH_ORDER NONE
#define FACE_TYPECLASS REF
#define BEFORE_TYPECLASS NONE
#define ARG_TYPECLASS DEREF
#define AFTER_TYPECLASS NONE
#define LENGTH_TYPECLASS NONE
#define FACE_AINT(x) long *x
#define BEFORE_AINT NONE
#define ARG_AINT DEREF
#define AFTER_AINT NONE
#define LENGTH_AINT NONE
#define FACE_ADDR(x) const void *x
#define BEFORE_ADDR NONE
#define ARG_ADDR SAME
#define AFTER_ADDR NONE
#define LENGTH_ADDR NONE
#define FACE_CBUF(x) const void *x
#define BEFORE_CBUF NONE
#define ARG_CBUF buf_in
#define AFTER_CBUF NONE
#define LENGTH_CBUF NONE
#define FACE_BUF(x) void *x
#define BEFORE_BUF NONE
#define ARG_BUF buf_in
#define AFTER_BUF NONE
#define LENGTH_BUF NONE
#define FACE_INTS REF
#define BEFORE_INTS NONE
#define ARG_INTS SAME
#define AFTER_INTS NONE
#define LENGTH_INTS NONE
#define FACE_PARTS REF
#define BEFORE_PARTS NONE
#define ARG_PARTS SAME
#define AFTER_PARTS NONE
#define LENGTH_PARTS NONE
#define FACE_FLAGS REF
#define BEFORE_FLAGS NONE
#define ARG_FLAGS SAME
#define AFTER_FLAGS NONE
#define LENGTH_FLAGS NONE
#define FACE_OINTS REF
#define BEFORE_OINTS NONE
#define ARG_OINTS SAME
#define AFTER_OINTS NONE
#define LENGTH_OINTS NONE
#define FACE_OFLAGS REF
#define BEFORE_OFLAGS NONE
#define ARG_OFLAGS SAME
#define AFTER_OFLAGS NONE
#define LENGTH_OFLAGS NONE
#define FACE_OINT REF
#define BEFORE_OINT NONE
#define ARG_OINT SAME
#define AFTER_OINT NONE
#define LENGTH_OINT NONE
#define FACE_IOINT REF
#define BEFORE_IOINT NONE
#define ARG_IOINT SAME
#define AFTER_IOINT NONE
#define LENGTH_IOINT NONE
#define FACE_OFLAG REF
#define BEFORE_OFLAG NONE
#define ARG_OFLAG SAME
#define AFTER_OFLAG NONE
#define LENGTH_OFLAG NONE
#define FACE_ORANK REF
#define BEFORE_ORANK NONE
#define ARG_ORANK SAME
#define AFTER_ORANK NONE
#define LENGTH_ORANK NONE
#define FACE_RANKS REF2
#define BEFORE_RANKS NONE
#define ARG_RANKS FIRST
#define AFTER_RANKS NONE
#define LENGTH_RANKS NONE
#define FACE_ORANKS REF2
#define BEFORE_ORANKS NONE
#define ARG_ORANKS FIRST
#define AFTER_ORANKS NONE
#define LENGTH_ORANKS NONE
#define FACE_AINTS(x) long *x
#define BEFORE_AINTS NONE
#define ARG_AINTS SAME
#define AFTER_AINTS NONE
#define LENGTH_AINTS NONE
#define FACE_OAINT(x) long *x
#define BEFORE_OAINT NONE
#define ARG_OAINT SAME
#define AFTER_OAINT NONE
#define LENGTH_OAINT NONE
#define FACE_OINDEX REF
#define BEFORE_OINDEX NONE
#define ARG_OINDEX SAME
#define AFTER_OINDEX(x) if (!bad_ && *x != NEUTRAL_UNDEFINED) ++*x;
#define LENGTH_OINDEX NONE
#define FACE_OINDEXES REF2
#define BEFORE_OINDEXES NONE
#define ARG_OINDEXES FIRST
#define AFTER_OINDEXES(x, n) for (int i_ = 0; !bad_ && i_ < *outcount; i_++) x[i_]++;
#define LENGTH_OINDEXES NONE
/* handles */
#define FACE_COMM REF
#define BEFORE_COMM NONE
#define ARG_COMM(x) at(KIND_COMM, *x)
#define AFTER_COMM NONE
#define LENGTH_COMM NONE
#define FACE_ANYCOMM REF
#define BEFORE_ANYCOMM NONE
#define ARG_ANYCOMM(x) at(KIND_COMM, *x)
#define AFTER_ANYCOMM NONE
#define LENGTH_ANYCOMM NONE
#define FACE_TYPE REF
#define BEFORE_TYPE NONE
#define ARG_TYPE(x) at(KIND_TYPE, *x)
#define AFTER_TYPE NONE
#define LENGTH_TYPE NONE
#define FACE_OP REF
#define BEFORE_OP NONE
#define ARG_OP(x) at(KIND_OP, *x)
#define AFTER_OP NONE
#define LENGTH_OP NONE
#define FACE_GROUP REF
#define BEFORE_GROUP(x) if (!at(KIND_GROUP, *x) || at(KIND_GROUP, *x) == predef[PRE_MPI_GROUP_NULL]) bad_ = NEUTRAL_MPI_ERR_GROUP;
#define ARG_GROUP(x) at(KIND_GROUP, *x)
#define AFTER_GROUP NONE
#define LENGTH_GROUP NONE
#define FACE_INFO REF
#define BEFORE_INFO NONE
#define ARG_INFO(x) at(KIND_INFO, *x)
#define AFTER_INFO NONE
#define LENGTH_INFO NONE
#define FACE_ERRH REF
#define BEFORE_ERRH NONE
#define ARG_ERRH(x) at(KIND_ERRH, *x)
#define AFTER_ERRH NONE
#define LENGTH_ERRH NONE
#define FACE_TYPEIF(x, condition) int *x
#define BEFORE_TYPEIF NONE
#define ARG_TYPEIF(x, condition) at(KIND_TYPE, *x)
#define AFTER_TYPEIF NONE
#define LENGTH_TYPEIF NONE
#define unless_in_place(buf, n) (buf_in(buf) == NEUTRAL_IN_PLACE ? 0 : (n))
#define FACE_TYPES REF2
#define BEFORE_TYPES(x, n) ARRAY_OF(object *, x##_, COUNT_OF(n) + 1); for (int i_ = 0; i_ < COUNT_OF(n); i_++) x##_[i_] = at(KIND_TYPE, x[i_]);
#define ARG_TYPES(x, n) x##_
#define AFTER_TYPES NONE
#define LENGTH_TYPES NONE
#define FACE_NEWCOMM REF
#define BEFORE_NEWCOMM(x) object *x##_ = NULL;
#define ARG_NEWCOMM(x) &x##_
#define AFTER_NEWCOMM(x) if (x##_) *x = x##_->index;
#define LENGTH_NEWCOMM NONE
#define FACE_NEWTYPE REF
#define BEFORE_NEWTYPE(x) object *x##_ = NULL;
#define ARG_NEWTYPE(x) &x##_
#define AFTER_NEWTYPE(x) if (x##_) *x = x##_->index;
#define LENGTH_NEWTYPE NONE
#define FACE_NEWOP REF
#define BEFORE_NEWOP(x) object *x##_ = NULL;
#define ARG_NEWOP(x) &x##_
#define AFTER_NEWOP(x) if (x##_) *x = x##_->index;
#define LENGTH_NEWOP NONE
#define FACE_NEWGROUP REF
#define BEFORE_NEWGROUP(x) object *x##_ = NULL;
#define ARG_NEWGROUP(x) &x##_
#define AFTER_NEWGROUP(x) if (x##_) *x = x##_->index;
#define LENGTH_NEWGROUP NONE
#define FACE_NEWREQ REF
#define BEFORE_NEWREQ(x) object *x##_ = NULL;
#define ARG_NEWREQ(x) &x##_
#define AFTER_NEWREQ(x) if (x##_) *x = x##_->index;
#define LENGTH_NEWREQ NONE
#define FACE_NEWINFO REF
#define BEFORE_NEWINFO(x) object *x##_ = NULL;
#define ARG_NEWINFO(x) &x##_
#define AFTER_NEWINFO(x) if (x##_) *x = x##_->index;
#define LENGTH_NEWINFO NONE
#define FACE_GETERRH REF
#define BEFORE_GETERRH(x) object *x##_ = NULL;
#define ARG_GETERRH(x) &x##_
#define AFTER_GETERRH(x) if (x##_) *x = x##_->index;
#define LENGTH_GETERRH NONE
/* A number that was never given. */
#define BEFORE_FREE(kind, x, no_object) object *x##_ = at(KIND_##kind, *x); if (!x##_) bad_ = NEUTRAL_MPI_ERR_##no_object;
#define FACE_FREECOMM REF
#define BEFORE_FREECOMM(x) BEFORE_FREE(COMM, x, COMM)
#define ARG_FREECOMM(x) &x##_
#define AFTER_FREECOMM(x) if (x##_) *x = x##_->index;
#define LENGTH_FREECOMM NONE
#define FACE_FREETYPE REF
#define BEFORE_FREETYPE(x) BEFORE_FREE(TYPE, x, TYPE)
#define ARG_FREETYPE(x) &x##_
#define AFTER_FREETYPE(x) if (x##_) *x = x##_->index;
#define LENGTH_FREETYPE NONE
#define FACE_TYPEREF REF
#define BEFORE_TYPEREF(x) BEFORE_FREE(TYPE, x, TYPE)
#define ARG_TYPEREF(x) &x##_
#define AFTER_TYPEREF(x) if (x##_) *x = x##_->index;
#define LENGTH_TYPEREF NONE
#define FACE_FREEOP REF
#define BEFORE_FREEOP(x) BEFORE_FREE(OP, x, OP)
#define ARG_FREEOP(x) &x##_
#define AFTER_FREEOP(x) if (x##_) *x = x##_->index;
#define LENGTH_FREEOP NONE
#define FACE_FREEGROUP REF
#define BEFORE_FREEGROUP(x) BEFORE_FREE(GROUP, x, GROUP)
#define ARG_FREEGROUP(x) &x##_
#define AFTER_FREEGROUP(x) if (x##_) *x = x##_->index;
#define LENGTH_FREEGROUP NONE
#define FACE_FREEINFO REF
#define BEFORE_FREEINFO(x) BEFORE_FREE(INFO, x, INFO)
#define ARG_FREEINFO(x) &x##_
#define AFTER_FREEINFO(x) if (x##_) *x = x##_->index;
#define LENGTH_FREEINFO NONE
#define FACE_REQ REF
#define BEFORE_REQ(x) BEFORE_FREE(REQ, x, REQUEST)
#define ARG_REQ(x) &x##_
#define AFTER_REQ(x) if (x##_) *x = x##_->index;
#define LENGTH_REQ NONE
#define FACE_REQS REF2
#define BEFORE_REQS(x, n) if (COUNT_OF(n) < 0) bad_ = NEUTRAL_MPI_ERR_ARG; ARRAY_OF(object *, x##_, COUNT_OF(n) + 1); for (int i_ = 0; i_ < COUNT_OF(n); i_++) if (!(x##_[i_] = at(KIND_REQ, x[i_]))) bad_ = NEUTRAL_MPI_ERR_REQUEST;
#define ARG_REQS(x, n) x##_
#define AFTER_REQS(x, n) for (int i_ = 0; !bad_ && i_ < COUNT_OF(n); i_++) x[i_] = x##_[i_]->index;
#define LENGTH_REQS NONE
/* statuses: six integers with the layout of struct status, but not necessarily its alignment */
#define FACE_STATUS REF
#define BEFORE_STATUS(x) struct status x##_; if (!ignored(x)) memcpy(&x##_, x, sizeof x##_);
#define ARG_STATUS(x) ignored(x) ? NULL : &x##_
#define AFTER_STATUS(x) if (!ignored(x)) memcpy(x, &x##_, sizeof x##_);
#define LENGTH_STATUS NONE
#define FACE_STATUSES REF2
#define BEFORE_STATUSES(x, n) ARRAY_OF(struct status, x##_, COUNT_OF(n) + 1); if (!ignored(x)) memcpy(x##_, x, COUNT_OF(n) * sizeof *x##_);
#define ARG_STATUSES(x, n) ignored(x) ? NULL : x##_
#define AFTER_STATUSES(x, n) if (!ignored(x)) memcpy(x, x##_, COUNT_OF(n) * sizeof *x##_);
#define LENGTH_STATUSES NONE
#define FACE_CSTATUS REF
#define BEFORE_CSTATUS(x) struct status x##_; memcpy(&x##_, x, sizeof x##_);
#define ARG_CSTATUS(x) &x##_
#define AFTER_CSTATUS NONE
#define LENGTH_CSTATUS NONE
/* strings. Their lengths are int, as in Open MPI: its mpi_f08 passes no more, and the bytes next to it on the stack are
 * arbitrary. The first four bytes of gfortran's own size_t are the same. */
#define FACE_STR(x) const char *x
#define BEFORE_STR(x) char *x##_ = str_in(x, x##_len);
#define ARG_STR(x) x##_
#define AFTER_STR(x) free(x##_);
#define LENGTH_STR(x) , int x##_len
#define FACE_OSTR(x, len, max) char *x
#define BEFORE_OSTR(x, len, max) char x##_[8200] = "";
#define ARG_OSTR(x, len, max) x##_
#define AFTER_OSTR(x, len, max) str_out(x##_, x, x##_len); /* *len may be longer, as with Open MPI */
#define LENGTH_OSTR(x, len, max) , int x##_len

#define FACE_LOCK REF
#define BEFORE_LOCK NONE
#define ARG_LOCK DEREF
#define AFTER_LOCK NONE
#define LENGTH_LOCK NONE
#define FACE_CONST REF2                     /* the neutral values are Open MPI's */
#define BEFORE_CONST NONE
#define ARG_CONST(x, which) *x
#define AFTER_CONST NONE
#define LENGTH_CONST NONE
#define FACE_OCONST REF2
#define BEFORE_OCONST NONE
#define ARG_OCONST FIRST
#define AFTER_OCONST NONE
#define LENGTH_OCONST NONE
#define FACE_DISP(x) long *x
#define BEFORE_DISP NONE
#define ARG_DISP DEREF
#define AFTER_DISP NONE
#define LENGTH_DISP NONE
#define FACE_OFFSET(x) long *x
#define BEFORE_OFFSET NONE
#define ARG_OFFSET DEREF
#define AFTER_OFFSET NONE
#define LENGTH_OFFSET NONE
#define FACE_COUNT64(x) long *x
#define BEFORE_COUNT64 NONE
#define ARG_COUNT64 DEREF
#define AFTER_COUNT64 NONE
#define LENGTH_COUNT64 NONE
#define FACE_OOFFSET(x) long *x
#define BEFORE_OOFFSET NONE
#define ARG_OOFFSET SAME
#define AFTER_OOFFSET NONE
#define LENGTH_OOFFSET NONE
#define FACE_OCOUNT(x) long *x
#define BEFORE_OCOUNT NONE
#define ARG_OCOUNT SAME
#define AFTER_OCOUNT NONE
#define LENGTH_OCOUNT NONE
#define FACE_IOAINT(x) long *x
#define BEFORE_IOAINT NONE
#define ARG_IOAINT SAME
#define AFTER_IOAINT NONE
#define LENGTH_IOAINT NONE
#define FACE_WIN REF
#define BEFORE_WIN NONE
#define ARG_WIN(x) at(KIND_WIN, *x)
#define AFTER_WIN NONE
#define LENGTH_WIN NONE
#define FACE_FILE REF
#define BEFORE_FILE NONE
#define ARG_FILE(x) at(KIND_FILE, *x)
#define AFTER_FILE NONE
#define LENGTH_FILE NONE
#define FACE_ANYWIN FACE_WIN
#define BEFORE_ANYWIN NONE
#define ARG_ANYWIN ARG_WIN
#define AFTER_ANYWIN NONE
#define LENGTH_ANYWIN NONE
#define FACE_ANYFILE FACE_FILE
#define BEFORE_ANYFILE NONE
#define ARG_ANYFILE ARG_FILE
#define AFTER_ANYFILE NONE
#define LENGTH_ANYFILE NONE
#define FACE_REQIN REF
#define BEFORE_REQIN NONE
#define ARG_REQIN(x) at(KIND_REQ, *x)
#define AFTER_REQIN NONE
#define LENGTH_REQIN NONE
#define FACE_SESSION REF
#define BEFORE_SESSION NONE
#define ARG_SESSION(x) at(KIND_SESSION, *x)
#define AFTER_SESSION NONE
#define LENGTH_SESSION NONE
#define FACE_NEWSESSION REF
#define BEFORE_NEWSESSION(x) object *x##_ = NULL;
#define ARG_NEWSESSION(x) &x##_
#define AFTER_NEWSESSION(x) if (x##_) *x = x##_->index;
#define LENGTH_NEWSESSION NONE
#define FACE_FREESESSION REF
#define BEFORE_FREESESSION(x) BEFORE_FREE(SESSION, x, SESSION)
#define ARG_FREESESSION(x) &x##_
#define AFTER_FREESESSION(x) if (x##_) *x = x##_->index;
#define LENGTH_FREESESSION NONE
#define FACE_OPSET(x, len) char *x
#define BEFORE_OPSET(x, len) char x##_[300] = ""; int x##_wanted = *len;
#define ARG_OPSET(x, len) x##_
#define AFTER_OPSET(x, len) if (!rc && x##_wanted) str_out(x##_, x, x##_len);
#define LENGTH_OPSET(x, len) , int x##_len
#define FACE_NEWWIN REF
#define BEFORE_NEWWIN(x) object *x##_ = NULL;
#define ARG_NEWWIN(x) &x##_
#define AFTER_NEWWIN(x) if (x##_) *x = x##_->index;
#define LENGTH_NEWWIN NONE
#define FACE_NEWFILE REF
#define BEFORE_NEWFILE(x) object *x##_ = NULL;
#define ARG_NEWFILE(x) &x##_
#define AFTER_NEWFILE(x) if (x##_) *x = x##_->index;
#define LENGTH_NEWFILE NONE
#define FACE_NEWMSG REF
#define BEFORE_NEWMSG(x) object *x##_ = NULL;
#define ARG_NEWMSG(x) &x##_
#define AFTER_NEWMSG(x) if (x##_) *x = x##_->index;
#define LENGTH_NEWMSG NONE
#define FACE_FREEWIN REF
#define BEFORE_FREEWIN(x) BEFORE_FREE(WIN, x, WIN)
#define ARG_FREEWIN(x) &x##_
#define AFTER_FREEWIN(x) if (x##_) *x = x##_->index;
#define LENGTH_FREEWIN NONE
#define FACE_FREEFILE REF
#define BEFORE_FREEFILE(x) BEFORE_FREE(FILE, x, FILE)
#define ARG_FREEFILE(x) &x##_
#define AFTER_FREEFILE(x) if (x##_) *x = x##_->index;
#define LENGTH_FREEFILE NONE
#define FACE_FREEERRH REF
#define BEFORE_FREEERRH(x) BEFORE_FREE(ERRH, x, ARG)
#define ARG_FREEERRH(x) &x##_
#define AFTER_FREEERRH(x) if (x##_) *x = x##_->index;
#define LENGTH_FREEERRH NONE
#define FACE_MSG REF
#define BEFORE_MSG(x) BEFORE_FREE(MSG, x, REQUEST)
#define ARG_MSG(x) &x##_
#define AFTER_MSG(x) if (x##_) *x = x##_->index;
#define LENGTH_MSG NONE
#define FACE_WEIGHTS REF
#define BEFORE_WEIGHTS NONE
#define ARG_WEIGHTS(x) (x == &mpi_fortran_unweighted_ ? NULL : x)
#define AFTER_WEIGHTS NONE
#define LENGTH_WEIGHTS NONE
#define FACE_OWEIGHTS REF
#define BEFORE_OWEIGHTS NONE
#define ARG_OWEIGHTS(x) (x == &mpi_fortran_unweighted_ ? NULL : x)
#define AFTER_OWEIGHTS NONE
#define LENGTH_OWEIGHTS NONE
#define FACE_OTOPO REF
#define BEFORE_OTOPO NONE
#define ARG_OTOPO SAME
#define AFTER_OTOPO NONE
#define LENGTH_OTOPO NONE
#define FACE_OCOMBINER REF
#define BEFORE_OCOMBINER NONE
#define ARG_OCOMBINER SAME
#define AFTER_OCOMBINER NONE
#define LENGTH_OCOMBINER NONE
#define FACE_RANGES REF
#define BEFORE_RANGES NONE
#define ARG_RANGES SAME
#define AFTER_RANGES NONE
#define LENGTH_RANGES NONE
#define FACE_OERRCODE REF
#define BEFORE_OERRCODE NONE
#define ARG_OERRCODE SAME
#define AFTER_OERRCODE NONE
#define LENGTH_OERRCODE NONE
#define FACE_OADDR(x) void *x
#define BEFORE_OADDR NONE
#define ARG_OADDR SAME
#define AFTER_OADDR NONE
#define LENGTH_OADDR NONE
#define FACE_ERRCODE REF
#define BEFORE_ERRCODE NONE
#define ARG_ERRCODE DEREF
#define AFTER_ERRCODE NONE
#define LENGTH_ERRCODE NONE
#define FACE_DISTRIBS REF2
#define BEFORE_DISTRIBS NONE
#define ARG_DISTRIBS FIRST
#define AFTER_DISTRIBS NONE
#define LENGTH_DISTRIBS NONE
#define FACE_DARGS REF2
#define BEFORE_DARGS NONE
#define ARG_DARGS FIRST
#define AFTER_DARGS NONE
#define LENGTH_DARGS NONE
#define FACE_OKEY(x) char *x
#define BEFORE_OKEY(x) char x##_[300] = "";
#define ARG_OKEY(x) x##_
#define AFTER_OKEY(x) str_out(x##_, x, x##_len);
#define LENGTH_OKEY(x) , int x##_len
#define FACE_OSTRN(x, n) char *x
#define BEFORE_OSTRN(x, n) char *x##_ = need(calloc(1, *n + 2));
#define ARG_OSTRN(x, n) x##_
#define AFTER_OSTRN(x, n) if (!bad_ && *flag) str_out(x##_, x, x##_len); free(x##_);
#define LENGTH_OSTRN(x, n) , int x##_len
#define FACE_IOSTATUS REF
#define BEFORE_IOSTATUS(x) struct status x##_; memcpy(&x##_, x, sizeof x##_);
#define ARG_IOSTATUS(x) &x##_
#define AFTER_IOSTATUS(x) memcpy(x, &x##_, sizeof x##_);
#define LENGTH_IOSTATUS NONE
// clang-format on
#include "faces/kinds_holder.h"
