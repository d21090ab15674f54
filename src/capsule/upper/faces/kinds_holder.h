/* kinds_holder.h - whose error handler runs when a function fails: that of the first communicator,
 * window, file or session among its arguments, in C and in Fortran. If that is a null handle or freed,
 * the face reports it, so the core need not check.
 */
static inline int no_holder(const object *holder)
{
    return !holder                        ? 0
           : holder->kind == KIND_COMM    ? (is_comm(holder) ? 0 : NEUTRAL_MPI_ERR_COMM)
           : holder->kind == KIND_WIN     ? (holder->win.w ? 0 : NEUTRAL_MPI_ERR_WIN)
           : holder->kind == KIND_SESSION ? (holder->session.open ? 0 : NEUTRAL_MPI_ERR_SESSION)
                                          : (holder->file.f ? 0 : NEUTRAL_MPI_ERR_FILE);
}
// clang-format off
#define HOLDER(kind, ...) HOLDER_##kind(__VA_ARGS__)
#define HOLDER_ADDR NONE
#define HOLDER_AINT NONE
#define HOLDER_AINTS NONE
#ifdef MPICH_ABI
#define HOLDER_ANYCOMM NONE
#define HOLDER_ANYWIN NONE
#else /* Open MPI refuses to name the null handle */
#define HOLDER_ANYCOMM HOLDER_COMM
#define HOLDER_ANYWIN HOLDER_WIN
#endif
#define HOLDER_ANYFILE(x)
#define HOLDER_BUF NONE
#define HOLDER_CBUF NONE
#define HOLDER_OR_NULL(o, NULL_OBJECT) ({ object *o_ = o; o_ ? o_ : predef[NULL_OBJECT]; })
#define HOLDER_COMM(x) holder_ = holder_ ? holder_ : HOLDER_OR_NULL(ARG_COMM(x), PRE_MPI_COMM_NULL);
#define HOLDER_CONST NONE
#define HOLDER_OCONST NONE
#define HOLDER_DISP NONE
#define HOLDER_COUNT64 NONE
#define HOLDER_CSTATUS NONE
#define HOLDER_DARGS NONE
#define HOLDER_DISTRIBS NONE
#define HOLDER_ERRCODE NONE
#define HOLDER_ERRH NONE
#define HOLDER_FILE(x) holder_ = HOLDER_OR_NULL(ARG_FILE(x), PRE_MPI_FILE_NULL);
#define HOLDER_FLAG NONE
#define HOLDER_FLAGS NONE
#define HOLDER_FREECOMM NONE
#define HOLDER_FREEERRH NONE
#define HOLDER_FREEFILE NONE
#define HOLDER_FREEGROUP NONE
#define HOLDER_FREEINFO NONE
#define HOLDER_FREEOP NONE
#define HOLDER_FREETYPE NONE
#define HOLDER_FREEWIN NONE
#define HOLDER_GETERRH NONE
#define HOLDER_GROUP NONE
#define HOLDER_INFO NONE
#define HOLDER_INT NONE
#define HOLDER_INTS NONE
#define HOLDER_IOAINT NONE
#define HOLDER_IOINT NONE
#define HOLDER_IOSTATUS NONE
#define HOLDER_LOCK NONE
#define HOLDER_MSG NONE
#define HOLDER_NEWCOMM NONE
#define HOLDER_NEWFILE NONE
#define HOLDER_NEWGROUP NONE
#define HOLDER_NEWINFO NONE
#define HOLDER_NEWMSG NONE
#define HOLDER_NEWOP NONE
#define HOLDER_NEWREQ NONE
#define HOLDER_NEWTYPE NONE
#define HOLDER_NEWWIN NONE
#define HOLDER_OADDR NONE
#define HOLDER_OAINT NONE
#define HOLDER_OCOMBINER NONE
#define HOLDER_OCOUNT NONE
#define HOLDER_OERRCODE NONE
#define HOLDER_OFFSET NONE
#define HOLDER_OFLAG NONE
#define HOLDER_OFLAGS NONE
#define HOLDER_OINDEX NONE
#define HOLDER_OINDEXES NONE
#define HOLDER_OINT NONE
#define HOLDER_OINTS NONE
#define HOLDER_OKEY NONE
#define HOLDER_OOFFSET NONE
#define HOLDER_OP NONE
#define HOLDER_ORANK NONE
#define HOLDER_ORANKS NONE
#define HOLDER_ORDER NONE
#define HOLDER_OSTR NONE
#define HOLDER_OSTRN NONE
#define HOLDER_OTOPO NONE
#define HOLDER_OWEIGHTS NONE
#define HOLDER_PARTS NONE
#define HOLDER_RANGES NONE
#define HOLDER_RANK NONE
#define HOLDER_RANKS NONE
#define HOLDER_REQ NONE
#define HOLDER_REQIN NONE
#define HOLDER_REQS NONE
#define HOLDER_SESSION(x) holder_ = HOLDER_OR_NULL(ARG_SESSION(x), PRE_MPI_SESSION_NULL);
#define HOLDER_NEWSESSION NONE
#define HOLDER_FREESESSION NONE
#define HOLDER_OPSET NONE
#define HOLDER_SPLIT NONE
#define HOLDER_STATUS NONE
#define HOLDER_STATUSES NONE
#define HOLDER_STR NONE
#define HOLDER_TAG NONE
#define HOLDER_TYPE NONE
#define HOLDER_TYPECLASS NONE
#define HOLDER_TYPEIF NONE
#define HOLDER_TYPEREF NONE
#define HOLDER_TYPES NONE
#define HOLDER_WEIGHTS NONE
#define HOLDER_WIN(x) holder_ = HOLDER_OR_NULL(ARG_WIN(x), PRE_MPI_WIN_NULL);
// clang-format on
