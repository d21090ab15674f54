/* mpi/kept.c - arrays that the library reads again when an operation ends.
 *
 * Open MPI's MPI_Ialltoallw holds its derived datatypes until the operation ends, and finds them then through the arrays of
 * the call. The program must leave those alone, but the ones that we pass are conversions: the call's own, or memory that a
 * rollback changes while the operation still runs in the library. So the library gets copies in its own half.
 *
 * A copy is freed when the library uses its request for another such operation, which it does only after the first has
 * ended. There is at most one for each request that the library has.
 */
#include "mpi/kept.h"

#ifdef OPEN_MPI
#undef MPI_Ialltoallw
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct copy {
    struct copy *next;
    MPI_Request request;
    MPI_Datatype types[]; /* of what is sent, then of what is received */
};
enum { CHAINS = 256 };
static struct {
    pthread_mutex_t lock;
    struct copy *chain[CHAINS];
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void keep(struct copy *copy)
{
    uintptr_t at = (uintptr_t)copy->request;
    pthread_mutex_lock(&kept.lock);
    struct copy **link = &kept.chain[(at >> 6 ^ at >> 14) % CHAINS];
    for (struct copy **old = link; *old; old = &(*old)->next)
        if ((*old)->request == copy->request) {
            struct copy *ended = *old;
            *old = ended->next;
            free(ended);
            break;
        }
    copy->next = *link;
    *link = copy;
    pthread_mutex_unlock(&kept.lock);
}

static int partners(MPI_Comm comm)
{
    int n = 0, inter = 0;
    MPI_Comm_test_inter(comm, &inter);
    if (inter)
        MPI_Comm_remote_size(comm, &n);
    else
        MPI_Comm_size(comm, &n);
    return n;
}

int kept_ialltoallw(const void *s, const int *sns, const int *sds, const MPI_Datatype *sts, void *r,
                    const int *rns, const int *rds, const MPI_Datatype *rts, MPI_Comm comm,
                    MPI_Request *request)
{
    size_t n = (size_t)partners(comm);
    struct copy *copy = malloc(sizeof *copy + 2 * n * sizeof(MPI_Datatype));
    if (!copy)
        return MPI_ERR_NO_MEM;
    if (s != MPI_IN_PLACE) /* else it may be anything */
        memcpy(copy->types, sts, n * sizeof *sts);
    memcpy(copy->types + n, rts, n * sizeof *rts);
    *request = MPI_REQUEST_NULL;
    int rc = MPI_Ialltoallw(s, sns, sds, copy->types, r, rns, rds, copy->types + n, comm, request);
    if (rc != MPI_SUCCESS || *request == MPI_REQUEST_NULL) {
        free(copy);
        return rc;
    }
    copy->request = *request;
    keep(copy);
    return rc;
}
#endif
