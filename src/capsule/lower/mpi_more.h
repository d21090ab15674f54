/* mpi_more.h - between mpi.c and mpi_more.c. */
#ifndef CAPSULE_MPI_MORE_H
#define CAPSULE_MPI_MORE_H
int error_out(int rc); /* an error of this library as the neutral class */
#define X(ret, name, args) ret lower_##name args;
LOWER_SERVICES_MORE(X)
#undef X
#endif
