/* kinds_fortran_more.h - Fortran's side of the further kinds (border_kinds_more.h). Continues
 * kinds_fortran.h. */
// clang-format off
#define FACE_LOCK REF
#define BEFORE_LOCK NONE
#define ARG_LOCK DEREF
#define AFTER_LOCK NONE
#define LENGTH_LOCK NONE
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
#define FACE_REQIN REF
#define BEFORE_REQIN NONE
#define ARG_REQIN(x) at(KIND_REQ, *x)
#define AFTER_REQIN NONE
#define LENGTH_REQIN NONE
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
#define BEFORE_FREEWIN(x) object *x##_ = at(KIND_WIN, *x);
#define ARG_FREEWIN(x) &x##_
#define AFTER_FREEWIN(x) *x = x##_->index;
#define LENGTH_FREEWIN NONE
#define FACE_FREEFILE REF
#define BEFORE_FREEFILE(x) object *x##_ = at(KIND_FILE, *x);
#define ARG_FREEFILE(x) &x##_
#define AFTER_FREEFILE(x) *x = x##_->index;
#define LENGTH_FREEFILE NONE
#define FACE_FREEERRH REF
#define BEFORE_FREEERRH(x) object *x##_ = at(KIND_ERRH, *x);
#define ARG_FREEERRH(x) &x##_
#define AFTER_FREEERRH(x) *x = x##_->index;
#define LENGTH_FREEERRH NONE
#define FACE_MSG REF
#define BEFORE_MSG(x) object *x##_ = at(KIND_MSG, *x);
#define ARG_MSG(x) &x##_
#define AFTER_MSG(x) *x = x##_->index;
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
#define BEFORE_OSTRN(x, n) char *x##_ = calloc(1, *n + 2);
#define ARG_OSTRN(x, n) x##_
#define AFTER_OSTRN(x, n) if (*flag) str_out(x##_, x, x##_len); free(x##_);
#define LENGTH_OSTRN(x, n) , int x##_len
#define FACE_IOSTATUS REF
#define BEFORE_IOSTATUS(x) struct status x##_; memcpy(&x##_, x, sizeof x##_);
#define ARG_IOSTATUS(x) &x##_
#define AFTER_IOSTATUS(x) memcpy(x, &x##_, sizeof x##_);
#define LENGTH_IOSTATUS NONE
