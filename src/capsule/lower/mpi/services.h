/* mpi/services.h - internal to mpi/: the hand-written services of the lower half, each as lower_<name>(). */
#ifndef CAPSULE_MPI_SERVICES_H
#define CAPSULE_MPI_SERVICES_H
int error_out(int rc); /* converts an error of this library to the neutral class */
#define SERVICE(type, name, ...) type lower_##name(__VA_ARGS__);
#include "table/services.def"
#undef SERVICE
#endif
