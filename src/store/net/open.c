/* Opening and closing a net. */
#include "net/inside.h"

#include <stdlib.h>

#include <base/fail.h>

int net_alone(int rank, struct net **out)
{
    struct net *net = calloc(1, sizeof *net);
    if (!net)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a store");
    net->alone = net->threads = true;
    net->rank = rank;
    net->size = 1;
    *out = net;
    return 0;
}

/* Make both lanes from comm, in order of the logical ranks. A failed split leaves a handle that we must not touch. */
static int make_lanes(struct net *net, MPI_Comm comm, int logical_rank)
{
    int rc = MPI_Comm_split(comm, 0, logical_rank, &net->comm[CALL]);
    if (rc != MPI_SUCCESS)
        net->comm[CALL] = net->comm[WORK] = MPI_COMM_NULL;
    if (rc == MPI_SUCCESS) {
        MPI_Comm_set_errhandler(net->comm[CALL], MPI_ERRORS_RETURN);
        rc = MPI_Comm_split(comm, 0, logical_rank, &net->comm[WORK]);
        if (rc != MPI_SUCCESS)
            net->comm[WORK] = MPI_COMM_NULL;
        else
            MPI_Comm_set_errhandler(net->comm[WORK], MPI_ERRORS_RETURN);
    }
    return rc;
}

/* Protocol of opening on comm:
 *   1. Split comm twice. A death may make this fail on some ranks and succeed on others.
 *   2. A rank that saw an error revokes comm. The others meet it in a reduction on comm, which then fails for all.
 *   3. If the reduction succeeds, both lanes exist everywhere. A death from now on shows on the lanes.
 * We replace comm's error handler for that time: it may be one that jumps. */
static int agree_on_lanes(struct net *net, MPI_Comm comm, int rc)
{
    int mine = -1, ok[2] = {rc == MPI_SUCCESS, 0}, all[2] = {0, 0};
    if (ok[0])
        MPI_Comm_rank(net->comm[CALL], &mine);
    ok[1] = mine == net->rank; /* the logical ranks are 0 to size-1, each once */
    if (!ok[0])
        mend_ulfm_revoke(comm);
    int reduced = MPI_Allreduce(ok, all, 2, MPI_INT, MPI_MIN, comm);
    if (reduced != MPI_SUCCESS)
        mend_ulfm_revoke(comm);
    if (rc != MPI_SUCCESS || reduced != MPI_SUCCESS || !all[0]) {
        if (net->comm[CALL] != MPI_COMM_NULL && net->comm[WORK] != MPI_COMM_NULL)
            net_break(net);
        int class = MPI_SUCCESS, code = rc != MPI_SUCCESS ? rc : reduced;
        MPI_Error_class(code, &class);
        /* A death inside a split may show as another error; by now comm is revoked because of it. */
        if (mend_ulfm_built() &&
            (mend_ulfm_is_failure(code) || mend_ulfm_is_revoked(comm) || code == MPI_SUCCESS))
            return mend_fail(MEND_ERR_PEER_FAILED,
                             "a process died while the store was being opened");
        return mend_fail(MEND_ERR_MPI,
                         "the store's communicator could not be made (MPI error class %d)", class);
    }
    if (!all[1])
        return mend_fail(MEND_ERR_ARGUMENT, "the logical ranks are not 0 to %d, each once",
                         net->size - 1);
    return 0;
}

int net_open(MPI_Comm comm, int logical_rank, struct net **out)
{
    MPI_Errhandler handler;
    int level = MPI_THREAD_SINGLE, initialised = 0, finalised = 0, mine = -1;

    MPI_Initialized(&initialised);
    MPI_Finalized(&finalised);
    if (!initialised || finalised)
        return mend_fail(MEND_ERR_STATE, "MPI is not initialised, or has been finalised");
    struct net *net = calloc(1, sizeof *net);
    if (!net)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a store");
    mend_ulfm_survive_broken_pipes();
    MPI_Query_thread(&level);
    net->threads = level == MPI_THREAD_MULTIPLE;
    MPI_Comm_rank(comm, &mine);
    MPI_Comm_size(comm, &net->size);
    net->rank = logical_rank < 0 ? mine : logical_rank;

    MPI_Comm_get_errhandler(comm, &handler);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int rc = agree_on_lanes(net, comm, make_lanes(net, comm, net->rank));
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    if (rc == MEND_ERR_ARGUMENT) {
        net_close(net);
        return rc;
    }
    if (rc) {
        free(net);
        return rc;
    }
    *out = net;
    return 0;
}

void net_close(struct net *net)
{
    int finalised = 0;
    if (!net)
        return;
    if (!net->alone) {
        MPI_Finalized(&finalised);
        /* Leave a broken communicator alone: its context id must not be reused. */
        if (!finalised && !net_broken(net)) {
            MPI_Comm_free(&net->comm[CALL]);
            MPI_Comm_free(&net->comm[WORK]);
        }
    }
    free(net->posted[CALL].list);
    free(net->posted[WORK].list);
    free(net);
}
