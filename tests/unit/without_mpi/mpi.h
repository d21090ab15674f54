/* What headers of the capsule say of MPI, for tests that have none. */
#ifndef TEST_WITHOUT_MPI_H
#define TEST_WITHOUT_MPI_H
typedef void *MPI_Comm;
typedef void *MPI_Request;
#define MPI_SUCCESS      0
#define MPI_REQUEST_NULL ((MPI_Request)0)
#endif
