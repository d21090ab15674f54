/* mpi/services.h - between mpi/: what the lower half offers by hand, lower_<name>() each. */
#ifndef CAPSULE_MPI_MORE_H
#define CAPSULE_MPI_MORE_H
int error_out(int rc); /* an error of this library as the neutral class */
#define SERVICE(type, name, ...) type lower_##name(__VA_ARGS__);
#include "table/services.def"
#undef SERVICE
#define X(ret, name, args) ret lower_##name args;
LOWER_SERVICES_MORE(X)
#undef X
#endif
