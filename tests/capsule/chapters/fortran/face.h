! The three faces of MPI in Fortran, from one source: FACE is 0 for mpif.h, 1 for `use mpi`, 2 for `use mpi_f08`.
#if FACE == 2
#define THE_MODULE use mpi_f08
#define THE_HEADER
#define COMM_T type(MPI_Comm)
#define TYPE_T type(MPI_Datatype)
#define OP_T type(MPI_Op)
#define GROUP_T type(MPI_Group)
#define REQUEST_T type(MPI_Request)
#define MESSAGE_T type(MPI_Message)
#define INFO_T type(MPI_Info)
#define ERRH_T type(MPI_Errhandler)
#define WIN_T type(MPI_Win)
#define FILE_T type(MPI_File)
#define STATUS_IS(x) type(MPI_Status) :: x
#define STATUSES_ARE(x, n) type(MPI_Status) :: x(n)
#define SOURCE(x) x%MPI_SOURCE
#define TAG(x) x%MPI_TAG
#define FAILED(x) x%MPI_ERROR
#define NTH_SOURCE(x, i) x(i)%MPI_SOURCE
#define NTH_TAG(x, i) x(i)%MPI_TAG
#else
#if FACE == 1
#define THE_MODULE use mpi
#define THE_HEADER
#else
#define THE_MODULE
#define THE_HEADER include 'mpif.h'
#endif
#define COMM_T integer
#define TYPE_T integer
#define OP_T integer
#define GROUP_T integer
#define REQUEST_T integer
#define MESSAGE_T integer
#define INFO_T integer
#define ERRH_T integer
#define WIN_T integer
#define FILE_T integer
#define STATUS_IS(x) integer :: x(MPI_STATUS_SIZE)
#define STATUSES_ARE(x, n) integer :: x(MPI_STATUS_SIZE, n)
#define SOURCE(x) x(MPI_SOURCE)
#define TAG(x) x(MPI_TAG)
#define FAILED(x) x(MPI_ERROR)
#define NTH_SOURCE(x, i) x(MPI_SOURCE, i)
#define NTH_TAG(x, i) x(MPI_TAG, i)
#endif
#define ADDRESS integer(kind=MPI_ADDRESS_KIND)
#define OFFSET integer(kind=MPI_OFFSET_KIND)
#define CHECK(c) call ok(c, __FILE__, __LINE__)
#define MIX(v) call mix(int(v, 8))
