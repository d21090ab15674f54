/* mpi/kept.h - arrays that the library reads again when an operation ends (kept.c). */
#ifndef CAPSULE_MPI_KEPT_H
#define CAPSULE_MPI_KEPT_H
#include <mpi.h>
#ifdef OPEN_MPI
int kept_ialltoallw(const void *s, const int *sns, const int *sds, const MPI_Datatype *sts, void *r,
                    const int *rns, const int *rds, const MPI_Datatype *rts, MPI_Comm comm,
                    MPI_Request *request);
#define MPI_Ialltoallw kept_ialltoallw
#endif
#endif
