/* border/kinds.h - the neutral C parameter of each kind of argument (table/functions.def).
 * OBJECT is the type of a handle: struct object * in the core, handle_t in the lower half.
 */
#ifndef CAPSULE_BORDER_KINDS_H
#define CAPSULE_BORDER_KINDS_H
// clang-format off
#define PARAM(kind, ...) PARAM_##kind(__VA_ARGS__)
#define PARAM_INT(x) int x
#define PARAM_FLAG(x) int x
#define PARAM_RANK(x) int x
#define PARAM_TAG(x) int x
#define PARAM_SPLIT(x) int x
#define PARAM_ORDER(x) int x
#define PARAM_TYPECLASS(x) int x
#define PARAM_AINT(x) long x
#define PARAM_CBUF(x) const void *x
#define PARAM_BUF(x) void *x
#define PARAM_ADDR(x) const void *x
#define PARAM_COMM(x) OBJECT x
#define PARAM_ANYCOMM(x) OBJECT x
#define PARAM_TYPE(x) OBJECT x
#define PARAM_OP(x) OBJECT x
#define PARAM_GROUP(x) OBJECT x
#define PARAM_INFO(x) OBJECT x
#define PARAM_ERRH(x) OBJECT x
#define PARAM_TYPES(x, n) OBJECT const *x
#define PARAM_TYPEIF(x, condition) OBJECT x
#define PARAM_NEWCOMM(x) OBJECT *x
#define PARAM_NEWTYPE(x) OBJECT *x
#define PARAM_NEWOP(x) OBJECT *x
#define PARAM_NEWGROUP(x) OBJECT *x
#define PARAM_NEWREQ(x) OBJECT *x
#define PARAM_NEWINFO(x) OBJECT *x
#define PARAM_GETERRH(x) OBJECT *x
#define PARAM_FREECOMM(x) OBJECT *x
#define PARAM_FREETYPE(x) OBJECT *x
#define PARAM_TYPEREF(x) OBJECT *x
#define PARAM_FREEOP(x) OBJECT *x
#define PARAM_FREEGROUP(x) OBJECT *x
#define PARAM_FREEINFO(x) OBJECT *x
#define PARAM_REQ(x) OBJECT *x
#define PARAM_REQS(x, n) OBJECT *x
#define PARAM_INTS(x) const int *x
#define PARAM_PARTS(x) const int *x
#define PARAM_FLAGS(x) const int *x
#define PARAM_RANKS(x, n) const int *x
#define PARAM_AINTS(x) const long *x
#define PARAM_OINTS(x) int *x
#define PARAM_OFLAGS(x) int *x
#define PARAM_ORANKS(x, n) int *x
#define PARAM_OINDEXES(x, n) int *x
#define PARAM_OINT(x) int *x
#define PARAM_IOINT(x) int *x
#define PARAM_OFLAG(x) int *x
#define PARAM_ORANK(x) int *x
#define PARAM_OINDEX(x) int *x
#define PARAM_OAINT(x) long *x
#define PARAM_STATUS(x) struct status *x
#define PARAM_STATUSES(x, n) struct status *x
#define PARAM_CSTATUS(x) const struct status *x
#define PARAM_STR(x) const char *x
#define PARAM_OSTR(x, len, max) char *x
/* constants that differ between the ABIs, windows, files, matched messages, large integers */
#define PARAM_LOCK(x) int x
#define PARAM_CONST(x, which) int x
#define PARAM_OCONST(x, which) int *x
#define PARAM_OFFSET(x) long x
#define PARAM_DISP(x) long x
#define PARAM_COUNT64(x) long x
#define PARAM_OOFFSET(x) long *x
#define PARAM_OCOUNT(x) long *x
#define PARAM_IOAINT(x) long *x
#define PARAM_WIN(x) OBJECT x
#define PARAM_ANYWIN(x) OBJECT x
#define PARAM_FILE(x) OBJECT x
#define PARAM_ANYFILE(x) OBJECT x
#define PARAM_REQIN(x) OBJECT x
#define PARAM_SESSION(x) OBJECT x
#define PARAM_NEWSESSION(x) OBJECT *x
#define PARAM_FREESESSION(x) OBJECT *x
#define PARAM_NEWWIN(x) OBJECT *x
#define PARAM_NEWFILE(x) OBJECT *x
#define PARAM_NEWMSG(x) OBJECT *x
#define PARAM_FREEWIN(x) OBJECT *x
#define PARAM_FREEFILE(x) OBJECT *x
#define PARAM_FREEERRH(x) OBJECT *x
#define PARAM_MSG(x) OBJECT *x
#define PARAM_WEIGHTS(x) const int *x
#define PARAM_OWEIGHTS(x) int *x
#define PARAM_OTOPO(x) int *x
#define PARAM_OCOMBINER(x) int *x
#define PARAM_RANGES(x) const int *x
#define PARAM_OADDR(x) void *x
#define PARAM_IOSTATUS(x) struct status *x
#define PARAM_OKEY(x) char *x
#define PARAM_ERRCODE(x) int x
#define PARAM_OERRCODE(x) int *x
#define PARAM_DISTRIBS(x, n) const int *x
#define PARAM_DARGS(x, n) const int *x
#define PARAM_OSTRN(x, n) char *x
#define PARAM_OPSET(x, len) char *x
// clang-format on
#endif
