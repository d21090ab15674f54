/* kinds_c_more.h - a C face's side of the further kinds (border_kinds_more.h). Continues kinds_c.h.
 */
// clang-format off
#define FACE_LOCK(x) int x
#define BEFORE_LOCK NONE
#define ARG_LOCK lock_in
#define AFTER_LOCK NONE
#define FACE_OFFSET(x) MPI_Offset x
#define BEFORE_OFFSET NONE
#define ARG_OFFSET(x) (long)x
#define AFTER_OFFSET NONE
#define FACE_COUNT64(x) MPI_Count x
#define BEFORE_COUNT64 NONE
#define ARG_COUNT64(x) (long)x
#define AFTER_COUNT64 NONE
#define FACE_OOFFSET(x) MPI_Offset *x
#define BEFORE_OOFFSET NONE
#define ARG_OOFFSET(x) (long *)x
#define AFTER_OOFFSET NONE
#define FACE_OCOUNT(x) MPI_Count *x
#define BEFORE_OCOUNT NONE
#define ARG_OCOUNT(x) (long *)x
#define AFTER_OCOUNT NONE
#define FACE_IOAINT(x) MPI_Aint *x
#define BEFORE_IOAINT NONE
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
#define FACE_REQIN(x) MPI_Request x
#define BEFORE_REQIN NONE
#define ARG_REQIN IN_REQ
#define AFTER_REQIN NONE
#define FACE_NEWWIN(x) MPI_Win *x
#define BEFORE_NEWWIN BEFORE_NEW
#define ARG_NEWWIN ARG_NEW
#define AFTER_NEWWIN(x) if (x##_) *x = OUT_WIN(x##_);
#define FACE_NEWFILE(x) MPI_File *x
#define BEFORE_NEWFILE BEFORE_NEW
#define ARG_NEWFILE ARG_NEW
#define AFTER_NEWFILE(x) if (x##_) *x = OUT_FILE(x##_);
#define FACE_NEWMSG(x) MPI_Message *x
#define BEFORE_NEWMSG BEFORE_NEW
#define ARG_NEWMSG ARG_NEW
#define AFTER_NEWMSG(x) if (x##_) *x = OUT_MSG(x##_);
#define FACE_FREEWIN(x) MPI_Win *x
#define BEFORE_FREEWIN(x) object *x##_ = IN_WIN(*x);
#define ARG_FREEWIN ARG_NEW
#define AFTER_FREEWIN(x) *x = OUT_WIN(x##_);
#define FACE_FREEFILE(x) MPI_File *x
#define BEFORE_FREEFILE(x) object *x##_ = IN_FILE(*x);
#define ARG_FREEFILE ARG_NEW
#define AFTER_FREEFILE(x) *x = OUT_FILE(x##_);
#define FACE_FREEERRH(x) MPI_Errhandler *x
#define BEFORE_FREEERRH(x) object *x##_ = IN_ERRH(*x);
#define ARG_FREEERRH ARG_NEW
#define AFTER_FREEERRH(x) *x = OUT_ERRH(x##_);
#define FACE_MSG(x) MPI_Message *x
#define BEFORE_MSG(x) object *x##_ = IN_MSG(*x);
#define ARG_MSG ARG_NEW
#define AFTER_MSG(x) *x = OUT_MSG(x##_);
#define FACE_WEIGHTS(x) const int *x
#define BEFORE_WEIGHTS NONE
#define ARG_WEIGHTS(x) (x == MPI_UNWEIGHTED ? NULL : x)
#define AFTER_WEIGHTS NONE
#define FACE_OWEIGHTS(x) int *x
#define BEFORE_OWEIGHTS NONE
#define ARG_OWEIGHTS(x) (x == MPI_UNWEIGHTED ? NULL : x)
#define AFTER_OWEIGHTS NONE
#define FACE_OTOPO(x) int *x
#define BEFORE_OTOPO NONE
#define ARG_OTOPO SAME
#define AFTER_OTOPO(x) *x = topo_out(*x);
#define FACE_OCOMBINER(x) int *x
#define BEFORE_OCOMBINER NONE
#define ARG_OCOMBINER SAME
#define AFTER_OCOMBINER(x) *x = combiner_out(*x);
#define FACE_RANGES(x) int x[][3]
#define BEFORE_RANGES NONE
#define ARG_RANGES(x) &x[0][0]
#define AFTER_RANGES NONE
#define FACE_OADDR(x) void *x
#define BEFORE_OADDR NONE
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
#define BEFORE_OERRCODE NONE
#define ARG_OERRCODE SAME
#define AFTER_OERRCODE(x) *x = error_out(*x);
#define FACE_DISTRIBS(x, n) const int *x
#define BEFORE_DISTRIBS(x, n) int x##_[n + 1]; for (int i_ = 0; i_ < n; i_++) x##_[i_] = distrib_in(x[i_]);
#define ARG_DISTRIBS(x, n) x##_
#define AFTER_DISTRIBS NONE
#define FACE_DARGS(x, n) const int *x
#define BEFORE_DARGS(x, n) int x##_[n + 1]; for (int i_ = 0; i_ < n; i_++) x##_[i_] = darg_in(x[i_]);
#define ARG_DARGS(x, n) x##_
#define AFTER_DARGS NONE
#define FACE_OSTRN(x, n) char *x
#define BEFORE_OSTRN NONE
#define ARG_OSTRN FIRST
#define AFTER_OSTRN NONE
#define FACE_IOSTATUS(x) MPI_Status *x
#ifdef SAME_LAYOUT
#define BEFORE_IOSTATUS NONE
#define ARG_IOSTATUS(x) (struct status *)x
#define AFTER_IOSTATUS NONE
#else
#define BEFORE_IOSTATUS(x) struct status x##_; status_in(x, &x##_);
#define ARG_IOSTATUS(x) &x##_
#define AFTER_IOSTATUS(x) status_out(&x##_, x);
#endif

// clang-format on
