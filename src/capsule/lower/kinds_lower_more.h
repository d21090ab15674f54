/* kinds_lower_more.h - the lower half's side of the further kinds. Continues kinds_lower.h. */
// clang-format off
#define BEFORE_AINT(x)
#define ARG_AINT(x) x
#define AFTER_AINT(x)
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
#define AFTER_WIN(x) deaf_calls--;
#define BEFORE_FILE(x) file_call();
#define ARG_FILE(x) ((MPI_File)(x))
#define AFTER_FILE(x) deaf_calls--;
#define BEFORE_NEWMSG(x) MPI_Message x##_ = MPI_MESSAGE_NULL;
#define ARG_NEWMSG(x) &x##_
#define AFTER_NEWMSG(x) *x = (handle_t)x##_;
#define BEFORE_MSG(x) MPI_Message x##_ = (MPI_Message)*x;
#define ARG_MSG(x) &x##_
#define AFTER_MSG(x) *x = (handle_t)x##_;
// clang-format on
