/* border_kinds_more.h - neutral parameters of further kinds: constants that the ABIs spell
 * differently, windows, files, matched messages, large integers. Continues border_kinds.h. */
#ifndef CAPSULE_BORDER_KINDS_MORE_H
#define CAPSULE_BORDER_KINDS_MORE_H
// clang-format off
#define PARAM_LOCK(x) int x
#define PARAM_OFFSET(x) long x
#define PARAM_COUNT64(x) long x
#define PARAM_OOFFSET(x) long *x
#define PARAM_OCOUNT(x) long *x
#define PARAM_IOAINT(x) long *x
#define PARAM_WIN(x) OBJECT x
#define PARAM_FILE(x) OBJECT x
#define PARAM_REQIN(x) OBJECT x
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
// clang-format on
#endif
