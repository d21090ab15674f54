/* Establishes connections before they are needed.
 *
 * Open MPI connects two processes over tcp when the first sends a message to the second. If the second dies before
 * the connection is established, the message waits in the transport. The collectives inside the calls that make
 * communicators (libnbc) free its request as soon as they learn of the death. When the transport then gives up the
 * message, Open MPI ends the whole process: "Send error after request freed". On an established connection a small
 * message never waits. */
#include <ulfm/ulfm.h>

#include <base/event.h>

#include <stdlib.h>
#include <sys/resource.h>

enum {
    TAG = 31900,
    LANES = 4,   /* messages alternate among the network interfaces that two nodes share */
    OTHERS = 256 /* file descriptors for all else */
};

/* Each process on another node takes a descriptor, or one for each network interface. */
void mend_ulfm_allow_connections(int processes)
{
    struct rlimit files;
    rlim_t want = 2 * (rlim_t)processes + OTHERS;
    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= want)
        return;
    files.rlim_cur = want < files.rlim_max ? want : files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

/* Every process sends empty messages to every other. Requests that are pending after a failure are not freed, for the
 * reason above. */
int mend_ulfm_connect(MPI_Comm comm)
{
    int size, rank, n = 0, rc = MPI_SUCCESS;
    double begin = mend_now();
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_rank(comm, &rank);
    mend_ulfm_allow_connections(size);
    MPI_Request *requests = malloc(2 * LANES * (size_t)size * sizeof *requests);
    if (!requests)
        return MPI_ERR_NO_MEM;
    for (int distance = 1; distance < size && rc == MPI_SUCCESS; distance++) {
        int from = (rank + size - distance) % size, to = (rank + distance) % size;
        for (int lane = 0; lane < LANES && rc == MPI_SUCCESS; lane++) {
            rc = PMPI_Irecv(NULL, 0, MPI_BYTE, from, TAG + lane, comm, &requests[n]);
            n += rc == MPI_SUCCESS;
            if (rc == MPI_SUCCESS)
                rc = PMPI_Isend(NULL, 0, MPI_BYTE, to, TAG + lane, comm, &requests[n]);
            n += rc == MPI_SUCCESS;
        }
    }
    if (rc == MPI_SUCCESS)
        rc = PMPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    free(requests);
    mend_event("process.connect", ev_int("processes", size), ev_int("mpi_code", rc),
               ev_real("seconds", mend_now() - begin));
    return rc;
}
