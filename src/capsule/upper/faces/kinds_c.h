/* kinds_c.h - a C face's side of each kind of argument: its C parameter (PARAM), code before the call
 * of the core (BEFORE), the argument itself (ARG), code after the call (AFTER).
 */
// clang-format off
#undef PARAM
#define PARAM(kind, ...) FACE_##kind(__VA_ARGS__)
#define BEFORE(kind, ...) BEFORE_##kind(__VA_ARGS__)
#define ARG(kind, ...) ARG_##kind(__VA_ARGS__)
#define AFTER(kind, ...) AFTER_##kind(__VA_ARGS__)
#define SAME(x) x
#define FIRST(x, ...) x
#define NONE(...)
/* A result needs a place. NULL_ERROR: the error that this ABI's library gives for a null pointer. */
#define NEEDED(x) if (__builtin_expect(!(x), 0)) bad_ = NEUTRAL_MPI_ERR_ARG;
#define NEEDED_OF(kind, x) if (__builtin_expect(!(x), 0)) bad_ = NULL_ERROR(kind);
/* The same for an array of n. GIVEN: how many of them there are to convert. */
#define NEEDED_N(kind, x, n) if (__builtin_expect(!(x) && (n) > 0, 0)) bad_ = NULL_ERROR(kind);
#define GIVEN(x, n) ((x) ? (n) : 0)
#ifdef MPICH_ABI
#define NOT_NEGATIVE(n) if (__builtin_expect((n) < 0, 0)) bad_ = NEUTRAL_MPI_ERR_COUNT;
#else
#define NOT_NEGATIVE(n) if (__builtin_expect((n) < 0, 0)) bad_ = NEUTRAL_MPI_ERR_ARG;
#endif
#define comm_size(c) others_in(IN_COMM(c))

/* plain values */
#define FACE_INT(x) int x
#define BEFORE_INT NONE
#define ARG_INT SAME
#define AFTER_INT NONE
#define FACE_FLAG FACE_INT
#define BEFORE_FLAG NONE
#define ARG_FLAG SAME
#define AFTER_FLAG NONE
#define FACE_AINT(x) MPI_Aint x
#define BEFORE_AINT NONE
#define ARG_AINT SAME
#define AFTER_AINT NONE
#define FACE_ADDR(x) const void *x
#define BEFORE_ADDR NONE
#define ARG_ADDR SAME
#define AFTER_ADDR NONE
#define FACE_INTS(x) const int *x
#define BEFORE_INTS NONE
#define ARG_INTS SAME
#define AFTER_INTS NONE
#ifdef MPICH_ABI
#define FACE_PARTS FACE_INTS
#else
#define FACE_PARTS(x) int *x
#endif
#define BEFORE_PARTS NONE
#define ARG_PARTS SAME
#define AFTER_PARTS NONE
#define FACE_FLAGS FACE_INTS
#define BEFORE_FLAGS NONE
#define ARG_FLAGS SAME
#define AFTER_FLAGS NONE
#define FACE_AINTS(x) const MPI_Aint *x
#define BEFORE_AINTS NONE
#define ARG_AINTS SAME
#define AFTER_AINTS NONE
#define FACE_OINT(x) int *x
#define BEFORE_OINT NEEDED
#define ARG_OINT SAME
#define AFTER_OINT NONE
#define FACE_IOINT FACE_OINT
#define BEFORE_IOINT NEEDED
#define ARG_IOINT SAME
#define AFTER_IOINT NONE
#define FACE_OFLAG FACE_OINT
#define BEFORE_OFLAG NEEDED
#define ARG_OFLAG SAME
#define AFTER_OFLAG NONE
#define FACE_OINTS FACE_OINT
#define BEFORE_OINTS NONE
#define ARG_OINTS SAME
#define AFTER_OINTS NONE
#define FACE_OFLAGS FACE_OINT
#define BEFORE_OFLAGS NONE
#define ARG_OFLAGS SAME
#define AFTER_OFLAGS NONE
#define FACE_OINDEX FACE_OINT
#define BEFORE_OINDEX NEEDED
#define ARG_OINDEX SAME
#define AFTER_OINDEX NONE
#define FACE_OINDEXES(x, n) int *x
#define BEFORE_OINDEXES(x, n) NEEDED_N(ARG, x, n)
#define ARG_OINDEXES FIRST
#define AFTER_OINDEXES NONE
#define FACE_OAINT(x) MPI_Aint *x
#define BEFORE_OAINT NEEDED
#define ARG_OAINT SAME
#define AFTER_OAINT NONE
#define FACE_STR(x) const char *x
#define BEFORE_STR NONE
#define ARG_STR SAME
#define AFTER_STR NONE
/* The lower half's string may be longer than this ABI's buffer. */
#define FACE_OSTR(x, len, max) char *x
#define BEFORE_OSTR(x, len, max) char x##_[8200] = ""; NEEDED(x)
#define ARG_OSTR(x, len, max) x##_
#define AFTER_OSTR(x, len, max) if (!rc) { if (*len > max - 1) *len = max - 1; memcpy(x, x##_, *len); x[*len] = 0; }
/* values with special meanings */
#define FACE_RANK FACE_INT
#define BEFORE_RANK NONE
#define ARG_RANK rank_in
#define AFTER_RANK NONE
#define FACE_TAG FACE_INT
#define BEFORE_TAG NONE
#define ARG_TAG tag_in
#define AFTER_TAG NONE
#define FACE_SPLIT FACE_INT
#define BEFORE_SPLIT NONE
#define ARG_SPLIT split_in
#define AFTER_SPLIT NONE
#define FACE_ORDER FACE_INT
#define BEFORE_ORDER NONE
#define ARG_ORDER order_in
#define AFTER_ORDER NONE
#define FACE_TYPECLASS FACE_INT
#define BEFORE_TYPECLASS NONE
#define ARG_TYPECLASS typeclass_in
#define AFTER_TYPECLASS NONE
#define FACE_CBUF(x) const void *x
#define BEFORE_CBUF NONE
#define ARG_CBUF buf_in
#define AFTER_CBUF NONE
#define FACE_BUF(x) void *x
#define BEFORE_BUF NONE
#define ARG_BUF buf_in
#define AFTER_BUF NONE
#define FACE_ORANK FACE_OINT
#define BEFORE_ORANK NEEDED
#define ARG_ORANK SAME
#define AFTER_ORANK(x) *x = rank_out(*x);
#define FACE_RANKS(x, n) const int *x
#define BEFORE_RANKS(x, n) NEEDED_N(GROUP, x, n) ARRAY_OF(int, x##_, n + 1); for (int i_ = 0; i_ < GIVEN(x, n); i_++) x##_[i_] = rank_in(x[i_]);
#define ARG_RANKS(x, n) x##_
#define AFTER_RANKS NONE
#define FACE_ORANKS(x, n) int *x
#define BEFORE_ORANKS(x, n) NEEDED_N(GROUP, x, n)
#define ARG_ORANKS FIRST
#define AFTER_ORANKS(x, n) for (int i_ = 0; i_ < n; i_++) x[i_] = rank_out(x[i_]);
/* handles in */
#define FACE_COMM(x) MPI_Comm x
#define BEFORE_COMM NONE
#define ARG_COMM IN_COMM
#define AFTER_COMM NONE
#define FACE_ANYCOMM FACE_COMM
#define BEFORE_ANYCOMM NONE
#define ARG_ANYCOMM IN_COMM
#define AFTER_ANYCOMM NONE
#define FACE_TYPE(x) MPI_Datatype x
#define BEFORE_TYPE NONE
#define ARG_TYPE IN_TYPE
#define AFTER_TYPE NONE
#define FACE_TYPEIF(x, condition) MPI_Datatype x
#define BEFORE_TYPEIF NONE
#define ARG_TYPEIF(x, condition) IN_TYPE(x)
#define AFTER_TYPEIF NONE
#define FACE_OP(x) MPI_Op x
#define BEFORE_OP NONE
#define ARG_OP IN_OP
#define AFTER_OP NONE
#define FACE_GROUP(x) MPI_Group x
#define BEFORE_GROUP(x) if (!IN_GROUP(x) || IN_GROUP(x) == predef[PRE_MPI_GROUP_NULL]) bad_ = NEUTRAL_MPI_ERR_GROUP;
#define ARG_GROUP IN_GROUP
#define AFTER_GROUP NONE
#define FACE_INFO(x) MPI_Info x
#define BEFORE_INFO NONE
#define ARG_INFO IN_INFO
#define AFTER_INFO NONE
#define FACE_ERRH(x) MPI_Errhandler x
#define BEFORE_ERRH NONE
#define ARG_ERRH IN_ERRH
#define AFTER_ERRH NONE
#define FACE_TYPES(x, n) const MPI_Datatype *x
#define unless_in_place(buf, n) ((buf) == MPI_IN_PLACE ? 0 : (n))
#define BEFORE_TYPES(x, n) NEEDED_N(ARG, x, n) ARRAY_OF(object *, x##_, n + 1); for (int i_ = 0; i_ < GIVEN(x, n); i_++) x##_[i_] = IN_TYPE(x[i_]);
#define ARG_TYPES(x, n) x##_
#define AFTER_TYPES NONE
/* handles out */
#define BEFORE_NEW(x) object *x##_ = NULL;
#define ARG_NEW(x) &x##_
#define FACE_NEWCOMM(x) MPI_Comm *x
#define BEFORE_NEWCOMM(x) BEFORE_NEW(x) NEEDED_OF(COMM, x)
#define ARG_NEWCOMM ARG_NEW
#define AFTER_NEWCOMM(x) if (x##_) *x = OUT_COMM(x##_);
#define FACE_NEWTYPE(x) MPI_Datatype *x
#define BEFORE_NEWTYPE(x) BEFORE_NEW(x) NEEDED_OF(TYPE, x)
#define ARG_NEWTYPE ARG_NEW
#define AFTER_NEWTYPE(x) if (x##_) *x = OUT_TYPE(x##_);
#define FACE_NEWGROUP(x) MPI_Group *x
#define BEFORE_NEWGROUP(x) BEFORE_NEW(x) NEEDED_OF(GROUP, x)
#define ARG_NEWGROUP ARG_NEW
#define AFTER_NEWGROUP(x) if (x##_) *x = OUT_GROUP(x##_);
#define FACE_NEWREQ(x) MPI_Request *x
#define BEFORE_NEWREQ(x) BEFORE_NEW(x) NEEDED_OF(REQUEST, x)
#define ARG_NEWREQ ARG_NEW
#define AFTER_NEWREQ(x) if (x##_) *x = OUT_REQ(x##_);
#define FACE_NEWINFO(x) MPI_Info *x
#define BEFORE_NEWINFO(x) BEFORE_NEW(x) NEEDED_OF(INFO, x)
#define ARG_NEWINFO ARG_NEW
#define AFTER_NEWINFO(x) if (x##_) *x = OUT_INFO(x##_);
#define FACE_GETERRH(x) MPI_Errhandler *x
#define BEFORE_GETERRH(x) BEFORE_NEW(x) NEEDED(x)
#define ARG_GETERRH ARG_NEW
#define AFTER_GETERRH(x) if (x##_) *x = OUT_ERRH(x##_);
/* handles in and out */
/* A handle that stands for nothing, not even for the null handle: 0 in Open MPI's ABI, a number never given in MPICH's. */
#define BEFORE_FREE(kind, x, no_place, no_object) object *x##_ = x ? IN_##kind(*x) : NULL; \
    if (__builtin_expect(!x##_, 0)) bad_ = x ? NEUTRAL_MPI_ERR_##no_object : NULL_ERROR(no_place);
#define FACE_FREECOMM(x) MPI_Comm *x
#define BEFORE_FREECOMM(x) BEFORE_FREE(COMM, x, COMM, COMM)
#define ARG_FREECOMM ARG_NEW
#define AFTER_FREECOMM(x) *x = OUT_COMM(x##_);
#define FACE_FREETYPE(x) MPI_Datatype *x
#define BEFORE_FREETYPE(x) BEFORE_FREE(TYPE, x, TYPE, TYPE)
#define ARG_FREETYPE ARG_NEW
#define AFTER_FREETYPE(x) *x = OUT_TYPE(x##_);
#define FACE_TYPEREF FACE_FREETYPE
#define BEFORE_TYPEREF BEFORE_FREETYPE
#define ARG_TYPEREF ARG_NEW
#define AFTER_TYPEREF AFTER_FREETYPE
#define FACE_FREEOP(x) MPI_Op *x
#define BEFORE_FREEOP(x) BEFORE_FREE(OP, x, OP, OP)
#define ARG_FREEOP ARG_NEW
#define AFTER_FREEOP(x) *x = OUT_OP(x##_);
#define FACE_FREEGROUP(x) MPI_Group *x
#define BEFORE_FREEGROUP(x) BEFORE_FREE(GROUP, x, GROUP, GROUP)
#define ARG_FREEGROUP ARG_NEW
#define AFTER_FREEGROUP(x) *x = OUT_GROUP(x##_);
#define FACE_SESSION(x) MPI_Session x
#define BEFORE_SESSION NONE
#define ARG_SESSION IN_SESSION
#define AFTER_SESSION NONE
#define FACE_NEWSESSION(x) MPI_Session *x
#define BEFORE_NEWSESSION(x) BEFORE_NEW(x) NEEDED_OF(ARG, x)
#define ARG_NEWSESSION ARG_NEW
#define AFTER_NEWSESSION(x) if (x##_) *x = OUT_SESSION(x##_);
#define FACE_FREESESSION(x) MPI_Session *x
#define BEFORE_FREESESSION(x) BEFORE_FREE(SESSION, x, ARG, SESSION)
#define ARG_FREESESSION ARG_NEW
#define AFTER_FREESESSION(x) *x = OUT_SESSION(x##_);
#define FACE_OPSET(x, len) char *x
#define BEFORE_OPSET NONE
#define ARG_OPSET FIRST
#define AFTER_OPSET NONE
#define FACE_FREEINFO(x) MPI_Info *x
#define BEFORE_FREEINFO(x) BEFORE_FREE(INFO, x, INFO, INFO)
#define ARG_FREEINFO ARG_NEW
#define AFTER_FREEINFO(x) *x = OUT_INFO(x##_);
#define FACE_REQ(x) MPI_Request *x
#define FACE_REQS(x, n) MPI_Request *x
#define FACE_STATUS(x) MPI_Status *x
#define FACE_STATUSES(x, n) MPI_Status *x
#define FACE_CSTATUS(x) const MPI_Status *x
#define AFTER_CSTATUS NONE
#ifdef SAME_LAYOUT                      /* requests and statuses look like the core's: no copies */
#define BEFORE_REQ(x) NEEDED_OF(REQUEST, x)
#define ARG_REQ(x) (object **)x
#define AFTER_REQ NONE
#define BEFORE_REQS(x, n) NEEDED_N(REQUEST, x, n) NOT_NEGATIVE(n)
#define ARG_REQS(x, n) (object **)x
#define AFTER_REQS NONE
#define BEFORE_STATUS NONE
#define ARG_STATUS(x) (x == MPI_STATUS_IGNORE ? NULL : (struct status *)x)
#define AFTER_STATUS NONE
#define BEFORE_STATUSES NONE
#define ARG_STATUSES(x, n) (x == MPI_STATUSES_IGNORE ? NULL : (struct status *)x)
#define AFTER_STATUSES NONE
#define BEFORE_CSTATUS NEEDED
#define ARG_CSTATUS(x) (const struct status *)x
#else
#define BEFORE_REQ(x) object *x##_ = x ? IN_REQ(*x) : NULL; NEEDED(x)
#define ARG_REQ ARG_NEW
#define AFTER_REQ(x) *x = OUT_REQ(x##_);
#define BEFORE_REQS(x, n) NEEDED_N(REQUEST, x, n) NOT_NEGATIVE(n) ARRAY_OF(object *, x##_, n + 1); for (int i_ = 0; i_ < GIVEN(x, n); i_++) x##_[i_] = IN_REQ(x[i_]);
#define ARG_REQS(x, n) x##_
#define AFTER_REQS(x, n) for (int i_ = 0; i_ < n; i_++) x[i_] = OUT_REQ(x##_[i_]); error_holder = NULL; /* with several requests, MPICH does not use the communicator's error handler */
#define BEFORE_STATUS(x) struct status x##_; if (x != MPI_STATUS_IGNORE) { NEEDED(x) if (x) status_in(x, &x##_); }
#define ARG_STATUS(x) x == MPI_STATUS_IGNORE ? NULL : &x##_
#define AFTER_STATUS(x) if (x != MPI_STATUS_IGNORE) status_out(&x##_, x);
#define BEFORE_STATUSES(x, n) if (x != MPI_STATUSES_IGNORE) { NEEDED_N(ARG, x, n) } ARRAY_OF(struct status, x##_, n + 1); if (x != MPI_STATUSES_IGNORE) for (int i_ = 0; i_ < GIVEN(x, n); i_++) status_in(&x[i_], &x##_[i_]);
#define ARG_STATUSES(x, n) x == MPI_STATUSES_IGNORE ? NULL : x##_
#define AFTER_STATUSES(x, n) if (x != MPI_STATUSES_IGNORE) for (int i_ = 0; i_ < n; i_++) { \
        status_out(&x##_[i_], &x[i_]); if (rc == NEUTRAL_MPI_ERR_IN_STATUS) x[i_].MPI_ERROR = error_out(x##_[i_].error); }
#define BEFORE_CSTATUS(x) struct status x##_ = {0}; NEEDED(x) if (x) status_in(x, &x##_);
#define ARG_CSTATUS(x) &x##_
#endif

#define FACE_LOCK(x) int x
#define BEFORE_LOCK NONE
#define ARG_LOCK lock_in
#define AFTER_LOCK NONE
/* `which` names the conversion: amode_in, compare_out, ... */
#define FACE_CONST(x, which) int x
#define BEFORE_CONST NONE
#define ARG_CONST(x, which) which##_in(x)
#define AFTER_CONST NONE
#define FACE_OCONST(x, which) int *x
#define BEFORE_OCONST(x, which) NEEDED(x)
#define ARG_OCONST FIRST
#define AFTER_OCONST(x, which) if (!rc) *x = which##_out(*x);
#define FACE_DISP(x) MPI_Offset x
#define BEFORE_DISP NONE
#define ARG_DISP(x) disp_in((long)x)
#define AFTER_DISP NONE
#define FACE_OFFSET(x) MPI_Offset x
#define BEFORE_OFFSET NONE
#define ARG_OFFSET(x) (long)x
#define AFTER_OFFSET NONE
#define FACE_COUNT64(x) MPI_Count x
#define BEFORE_COUNT64 NONE
#define ARG_COUNT64(x) (long)x
#define AFTER_COUNT64 NONE
#define FACE_OOFFSET(x) MPI_Offset *x
#define BEFORE_OOFFSET NEEDED
#define ARG_OOFFSET(x) (long *)x
#define AFTER_OOFFSET NONE
#define FACE_OCOUNT(x) MPI_Count *x
#define BEFORE_OCOUNT NEEDED
#define ARG_OCOUNT(x) (long *)x
#define AFTER_OCOUNT NONE
#define FACE_IOAINT(x) MPI_Aint *x
#define BEFORE_IOAINT NEEDED
#define ARG_IOAINT(x) (long *)x
#define AFTER_IOAINT NONE
#define FACE_WIN(x) MPI_Win x
#define BEFORE_WIN NONE
#define ARG_WIN IN_WIN
#define AFTER_WIN NONE
#define FACE_FILE(x) MPI_File x
#define BEFORE_FILE NONE
#define ARG_FILE IN_FILE
#define AFTER_FILE NONE
#define FACE_ANYWIN FACE_WIN
#define BEFORE_ANYWIN NONE
#define ARG_ANYWIN IN_WIN
#define AFTER_ANYWIN NONE
#define FACE_ANYFILE FACE_FILE
#define BEFORE_ANYFILE NONE
#define ARG_ANYFILE IN_FILE
#define AFTER_ANYFILE NONE
#define FACE_REQIN(x) MPI_Request x
#define BEFORE_REQIN NONE
#define ARG_REQIN IN_REQ
#define AFTER_REQIN NONE
#define FACE_NEWWIN(x) MPI_Win *x
#define BEFORE_NEWWIN(x) BEFORE_NEW(x) NEEDED_OF(WIN, x)
#define ARG_NEWWIN ARG_NEW
#define AFTER_NEWWIN(x) if (x##_) *x = OUT_WIN(x##_);
#define FACE_NEWFILE(x) MPI_File *x
#define BEFORE_NEWFILE(x) BEFORE_NEW(x) NEEDED_OF(FILE, x)
#define ARG_NEWFILE ARG_NEW
#define AFTER_NEWFILE(x) if (x##_) *x = OUT_FILE(x##_);
#define FACE_NEWMSG(x) MPI_Message *x
#define BEFORE_NEWMSG(x) BEFORE_NEW(x) NEEDED_OF(ARG, x)
#define ARG_NEWMSG ARG_NEW
#define AFTER_NEWMSG(x) if (x##_) *x = OUT_MSG(x##_);
#define FACE_FREEWIN(x) MPI_Win *x
#define BEFORE_FREEWIN(x) BEFORE_FREE(WIN, x, WIN, WIN)
#define ARG_FREEWIN ARG_NEW
#define AFTER_FREEWIN(x) *x = OUT_WIN(x##_);
#define FACE_FREEFILE(x) MPI_File *x
#define BEFORE_FREEFILE(x) BEFORE_FREE(FILE, x, FILE, FILE)
#define ARG_FREEFILE ARG_NEW
#define AFTER_FREEFILE(x) *x = OUT_FILE(x##_);
#define FACE_FREEERRH(x) MPI_Errhandler *x
#define BEFORE_FREEERRH(x) BEFORE_FREE(ERRH, x, ARG, ARG)
#define ARG_FREEERRH ARG_NEW
#define AFTER_FREEERRH(x) *x = OUT_ERRH(x##_);
#define FACE_MSG(x) MPI_Message *x
#define BEFORE_MSG(x) BEFORE_FREE(MSG, x, REQUEST, REQUEST)
#define ARG_MSG ARG_NEW
#define AFTER_MSG(x) *x = OUT_MSG(x##_);
#define FACE_WEIGHTS(x) const int *x
#define BEFORE_WEIGHTS NONE
#define ARG_WEIGHTS(x) (x == MPI_UNWEIGHTED ? NULL : x ? x : no_weights)
#define AFTER_WEIGHTS NONE
#define FACE_OWEIGHTS(x) int *x
#define BEFORE_OWEIGHTS NONE
#define ARG_OWEIGHTS(x) (x == MPI_UNWEIGHTED ? NULL : x)
#define AFTER_OWEIGHTS NONE
#define FACE_OTOPO(x) int *x
#define BEFORE_OTOPO NEEDED
#define ARG_OTOPO SAME
#define AFTER_OTOPO(x) *x = topo_out(*x);
#define FACE_OCOMBINER(x) int *x
#define BEFORE_OCOMBINER NEEDED
#define ARG_OCOMBINER SAME
#define AFTER_OCOMBINER(x) *x = combiner_out(*x);
#define FACE_RANGES(x) int x[][3]
#define BEFORE_RANGES NONE
#define ARG_RANGES(x) &x[0][0]
#define AFTER_RANGES NONE
#define FACE_OADDR(x) void *x
#define BEFORE_OADDR NEEDED
#define ARG_OADDR SAME
#define AFTER_OADDR NONE
#define FACE_OKEY(x) char *x
#define BEFORE_OKEY NONE
#define ARG_OKEY SAME
#define AFTER_OKEY NONE
#define FACE_ERRCODE(x) int x
#define BEFORE_ERRCODE NONE
#define ARG_ERRCODE error_in
#define AFTER_ERRCODE NONE
#define FACE_OERRCODE(x) int *x
#define BEFORE_OERRCODE NEEDED
#define ARG_OERRCODE SAME
#define AFTER_OERRCODE(x) *x = error_out(*x);
#define FACE_DISTRIBS(x, n) const int *x
#define BEFORE_DISTRIBS(x, n) NEEDED_N(ARG, x, n) ARRAY_OF(int, x##_, n + 1); for (int i_ = 0; i_ < GIVEN(x, n); i_++) x##_[i_] = distrib_in(x[i_]);
#define ARG_DISTRIBS(x, n) x##_
#define AFTER_DISTRIBS NONE
#define FACE_DARGS(x, n) const int *x
#define BEFORE_DARGS(x, n) NEEDED_N(ARG, x, n) ARRAY_OF(int, x##_, n + 1); for (int i_ = 0; i_ < GIVEN(x, n); i_++) x##_[i_] = darg_in(x[i_]);
#define ARG_DARGS(x, n) x##_
#define AFTER_DARGS NONE
#define FACE_OSTRN(x, n) char *x
#define BEFORE_OSTRN(x, n) NEEDED_OF(INFO_VALUE, x)
#define ARG_OSTRN FIRST
#define AFTER_OSTRN NONE
#define FACE_IOSTATUS(x) MPI_Status *x
#ifdef SAME_LAYOUT
#define BEFORE_IOSTATUS NONE
#define ARG_IOSTATUS(x) (struct status *)x
#define AFTER_IOSTATUS NONE
#else
#define BEFORE_IOSTATUS(x) struct status x##_ = {0}; NEEDED(x) if (x) status_in(x, &x##_);
#define ARG_IOSTATUS(x) &x##_
#define AFTER_IOSTATUS(x) status_out(&x##_, x);
#endif
// clang-format on
#include "faces/kinds_holder.h"
