/* faces/kinds_large.h - the kinds of argument of table/large.def: the parameter (L_PARAM), code before the call of the function
 * without _c (L_BEFORE), what is passed to it (L_ARG), code after the call (L_AFTER), the argument itself (L_SELF).
 */
// clang-format off
#define L_PARAM(kind, ...) L_PARAM_##kind(__VA_ARGS__)
#define L_BEFORE(kind, ...) L_BEFORE_##kind(__VA_ARGS__)
#define L_ARG(kind, ...) L_ARG_##kind(__VA_ARGS__)
#define L_AFTER(kind, ...) L_AFTER_##kind(__VA_ARGS__)
#define L_SELF(kind, ...) L_SELF_##kind(__VA_ARGS__)
#define L_SELF_PLAIN(type, x) x
#define L_SELF_COUNT(x) x
#define L_SELF_COUNTS(x, n) x
#define L_SELF_WIDE(x) x
#define L_SELF_WIDES(x) x
#define L_PARAM_PLAIN(type, x) type x
#define L_BEFORE_PLAIN(type, x)
#define L_ARG_PLAIN(type, x) x
#define L_AFTER_PLAIN(type, x)
#define L_PARAM_MANY(n, t) MPI_Count n, MPI_Datatype t
#define L_BEFORE_MANY(n, t) MPI_Datatype t##_made_ = MPI_DATATYPE_NULL; if (n > INT_MAX) bad_ |= many(&n, &t, &t##_made_) != 0;
#define L_ARG_MANY(n, t) (int)n, t
#define L_AFTER_MANY(n, t) if (t##_made_ != MPI_DATATYPE_NULL) PMPI_Type_free(&t##_made_);
#define L_PARAM_COUNT(x) MPI_Count x
#define L_BEFORE_COUNT(x) bad_ |= x > INT_MAX;
#define L_ARG_COUNT(x) (int)x
#define L_AFTER_COUNT(x)
#define L_PARAM_AINT_COUNT(x) MPI_Aint x
#define L_BEFORE_AINT_COUNT(x) bad_ |= x > INT_MAX;
#define L_ARG_AINT_COUNT(x) (int)x
#define L_AFTER_AINT_COUNT(x)
#define L_PARAM_COUNTS(x, n) const MPI_Count *x
#define L_BEFORE_COUNTS(x, n) int *x##_ = narrow(&list_, n, x, &bad_);
#define L_ARG_COUNTS(x, n) x##_
#define L_AFTER_COUNTS(x, n)
#define L_PARAM_DISPS(x, n) const MPI_Aint *x
#define L_BEFORE_DISPS(x, n) int *x##_ = narrow(&list_, n, x, &bad_);
#define L_ARG_DISPS(x, n) x##_
#define L_AFTER_DISPS(x, n)
#define L_PARAM_WIDE(x) MPI_Count x
#define L_BEFORE_WIDE(x)
#define L_ARG_WIDE(x) (MPI_Aint)x
#define L_AFTER_WIDE(x)
#define L_PARAM_WIDES(x) const MPI_Count *x
#define L_BEFORE_WIDES(x)
#define L_ARG_WIDES(x) (const MPI_Aint *)x
#define L_AFTER_WIDES(x)
#define L_PARAM_WIDE_REF(x) MPI_Count *x
#define L_BEFORE_WIDE_REF(x)
#define L_ARG_WIDE_REF(x) (MPI_Aint *)x
#define L_AFTER_WIDE_REF(x)
#define L_PARAM_IO_COUNT(x) MPI_Count *x
#define L_BEFORE_IO_COUNT(x) int x##_ = (int)*x; bad_ |= *x > INT_MAX;
#define L_ARG_IO_COUNT(x) &x##_
#define L_AFTER_IO_COUNT(x) *x = x##_;
#define L_PARAM_O_COUNT(x) MPI_Count *x
#define L_BEFORE_O_COUNT(x) int x##_ = 0;
#define L_ARG_O_COUNT(x) &x##_
#define L_AFTER_O_COUNT(x) *x = x##_;
#define L_PARAM_O_AINT(x) MPI_Aint *x
#define L_BEFORE_O_AINT(x) int x##_ = 0;
#define L_ARG_O_AINT(x) &x##_
#define L_AFTER_O_AINT(x) *x = x##_;
// clang-format on
