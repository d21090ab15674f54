/* mpi/kinds.h - the lower half's side of each kind of argument: what happens before the call of the real MPI
 * (BEFORE), what is passed (ARG), what happens after it (AFTER). */
// clang-format off
#define BEFORE(kind, ...) BEFORE_##kind(__VA_ARGS__)
#define ARG(kind, ...) ARG_##kind(__VA_ARGS__)
#define AFTER(kind, ...) AFTER_##kind(__VA_ARGS__)
#define comm_size(c) size_of_comm(c)

#define BEFORE_INT(x)
#define ARG_INT(x) x
#define AFTER_INT(x)
#define BEFORE_RANK(x)
#define ARG_RANK(x) rank_in(x)
#define AFTER_RANK(x)
#define BEFORE_TAG(x)
#define ARG_TAG(x) tag_in(x)
#define AFTER_TAG(x)
#define BEFORE_CBUF(x)
#define ARG_CBUF(x) buf_in(x)
#define AFTER_CBUF(x)
#define BEFORE_BUF(x)
#define ARG_BUF(x) buf_in(x)
#define AFTER_BUF(x)
#define BEFORE_COMM(x)
#define ARG_COMM(x) COMM(x)
#define AFTER_COMM(x)
#define BEFORE_TYPE(x)
#define ARG_TYPE(x) TYPE(x)
#define AFTER_TYPE(x)
#define unless_in_place(buf, n) ((buf) == NEUTRAL_IN_PLACE ? 0 : (n))
#define BEFORE_TYPEIF(x, condition)
#define ARG_TYPEIF(x, condition) TYPE(x)
#define AFTER_TYPEIF(x, condition)
#define BEFORE_OP(x)
#define ARG_OP(x) OP(x)
#define AFTER_OP(x)
#define BEFORE_INFO(x)
#define ARG_INFO(x) ((void)x, MPI_INFO_NULL)      /* info objects live above; hints are dropped */
#define AFTER_INFO(x)
#define BEFORE_INTS(x)
#define ARG_INTS(x) x
#define AFTER_INTS(x)
#define BEFORE_OINTS(x)
#define ARG_OINTS(x) x
#define AFTER_OINTS(x)
#define BEFORE_OINT(x)
#define ARG_OINT(x) x
#define AFTER_OINT(x)
#define BEFORE_IOINT(x)
#define ARG_IOINT(x) x
#define AFTER_IOINT(x)
#define BEFORE_OFLAG(x)
#define ARG_OFLAG(x) x
#define AFTER_OFLAG(x)
#define BEFORE_OAINT(x)
#define ARG_OAINT(x) x
#define AFTER_OAINT(x)
#ifdef OPEN_MPI /* see also mpi/kept.c */
#define BEFORE_TYPES(x, n) const MPI_Datatype *x##_ = (const MPI_Datatype *)x;
#else
#define BEFORE_TYPES(x, n) ARRAY_OF(MPI_Datatype, x##_, n); for (int i_ = 0; i_ < n; i_++) x##_[i_] = TYPE(x[i_]);
#endif
#define ARG_TYPES(x, n) x##_
#define AFTER_TYPES(x, n)
#define BEFORE_NEWCOMM(x) MPI_Comm x##_ = MPI_COMM_NULL; creation_begin();
#define ARG_NEWCOMM(x) &x##_
#define AFTER_NEWCOMM(x) creation_end(); *x = (handle_t)x##_; comm_made(x##_); MEND_FAULT_POINT(capsule_comm_made);
#define BEFORE_NEWREQ(x) MPI_Request x##_ = MPI_REQUEST_NULL;
#define ARG_NEWREQ(x) &x##_
#define AFTER_NEWREQ(x) *x = (handle_t)x##_;
#define BEFORE_STATUS(x) MPI_Status x##_ = { 0 }; if (x) { x##_.MPI_SOURCE = x->source; x##_.MPI_TAG = x->tag; } /* files set neither */
#define ARG_STATUS(x) x ? &x##_ : MPI_STATUS_IGNORE
#define AFTER_STATUS(x) if (x) status_out(&x##_, x);

#define BEFORE_AINT(x)
#define ARG_AINT(x) x
#define AFTER_AINT(x)
#define BEFORE_CONST(x, which)
#define ARG_CONST(x, which) x
#define AFTER_CONST(x, which)
#define BEFORE_OFFSET(x)
#define ARG_OFFSET(x) x
#define AFTER_OFFSET(x)
#define BEFORE_FLAG(x)
#define ARG_FLAG(x) x
#define AFTER_FLAG(x)
#define BEFORE_COUNT64(x)
#define ARG_COUNT64(x) x
#define AFTER_COUNT64(x)
#define BEFORE_OOFFSET(x) MPI_Offset x##_ = 0;
#define ARG_OOFFSET(x) &x##_
#define AFTER_OOFFSET(x) *x = x##_;
#define BEFORE_OCOUNT(x) MPI_Count x##_ = 0;
#define ARG_OCOUNT(x) &x##_
#define AFTER_OCOUNT(x) *x = x##_;
#define BEFORE_AINTS(x)
#define ARG_AINTS(x) x
#define AFTER_AINTS(x)
#define BEFORE_IOAINT(x)
#define ARG_IOAINT(x) x
#define AFTER_IOAINT(x)
#define BEFORE_STR(x)
#define ARG_STR(x) x
#define AFTER_STR(x)
#define BEFORE_OADDR(x)
#define ARG_OADDR(x) x
#define AFTER_OADDR(x)
#define BEFORE_WIN(x) window_call();
#define ARG_WIN(x) ((MPI_Win)(x))
#define AFTER_WIN(x) online.deaf_calls--;
#define BEFORE_FILE(x) file_call();
#define ARG_FILE(x) ((MPI_File)(x))
#define AFTER_FILE(x) online.deaf_calls--;
#define BEFORE_NEWMSG(x) MPI_Message x##_ = MPI_MESSAGE_NULL;
#define ARG_NEWMSG(x) &x##_
#define AFTER_NEWMSG(x) *x = (handle_t)x##_;
#define BEFORE_MSG(x) MPI_Message x##_ = (MPI_Message)*x;
#define ARG_MSG(x) &x##_
#define AFTER_MSG(x) *x = (handle_t)x##_;
// clang-format on
