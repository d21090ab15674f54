/* A safe MPI_Sendrecv for Open MPI 5.0.
 *
 * When its send fails with MPIX_ERR_REVOKED, Open MPI's cancels its receive, even if there is none because the source
 * is MPI_PROC_NULL. It then follows a pointer that was never set, and the process crashes in the middle of a failure
 * that it should survive. Programs with open boundaries do this in every halo exchange. So we turn a call without a
 * source into a send, and a receive from MPI_PROC_NULL for the status. All other calls go to the next definition of
 * the same name, a tool's or the library's. */
#include <base/log.h>

#include <dlfcn.h>
#include <mpi.h>

#define EXPORT __attribute__((weak, visibility("default")))

typedef int sendrecv(const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int,
                     MPI_Comm, MPI_Status *);

EXPORT int MPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int to, int out_tag,
                        void *in, int in_count, MPI_Datatype in_type, int from, int in_tag,
                        MPI_Comm comm, MPI_Status *status)
{
    static sendrecv *next;
    if (from == MPI_PROC_NULL && to != MPI_PROC_NULL) {
        int rc = MPI_Send(out, out_count, out_type, to, out_tag, comm);
        return rc ? rc : MPI_Recv(in, in_count, in_type, MPI_PROC_NULL, in_tag, comm, status);
    }
    if (!next)
        next = (sendrecv *)dlsym(RTLD_NEXT, "MPI_Sendrecv");
    if (!next) {
        mend_log(MEND_LOG_ERROR, "ulfm: cannot find MPI_Sendrecv of the MPI library: Mend needs a "
                                 "shared MPI library (libmpi.so), not a static one");
        return MPI_ERR_OTHER;
    }
    return next(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm,
                status);
}
