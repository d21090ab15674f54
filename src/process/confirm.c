/* Do all members of a new communicator hold it? See mend_comms_confirm in comms.h. */
#include "comms.h"

#include <ulfm/ulfm.h>

#include <sched.h>
#include <stdlib.h>

/* Wait until all requests are complete, or until channel or parent is revoked. After a failure the requests stay:
 * Open MPI aborts if a request fails after it was freed. */
static int poll_requests(MPI_Comm channel, MPI_Comm parent, int n, MPI_Request *requests)
{
    int done = 0, rc = MPI_SUCCESS;
    for (unsigned turn = 0; rc == MPI_SUCCESS && !done; turn++) {
        rc = PMPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
        if (rc == MPI_SUCCESS && !done &&
            (mend_ulfm_is_revoked(channel) || mend_ulfm_is_revoked(parent)))
            rc = mend_ulfm_revoked_code();
        if (!done && turn % 16 == 15)
            sched_yield();
    }
    return rc;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Append the ranks of a group, as ranks of `in`, to `members`. False: some are not in it. */
static bool translate(MPI_Group group, MPI_Group in, int *members, int *count)
{
    int n = 0;
    bool all = true;
    PMPI_Group_size(group, &n);
    for (int i = 0; i < n; i++) {
        PMPI_Group_translate_ranks(group, 1, &i, in, &members[*count + i]);
        all &= members[*count + i] != MPI_UNDEFINED;
    }
    *count += n;
    return all;
}

/* List the members of `made` (both sides of an intercommunicator) by their rank in `channel`, sorted, so that all
 * have the same list. */
static bool list_members(MPI_Comm channel, MPI_Comm made, int *members, int *count)
{
    MPI_Group in, group;
    int inter = 0;
    *count = 0;
    PMPI_Comm_group(channel, &in);
    PMPI_Comm_group(made, &group);
    bool all = translate(group, in, members, count);
    PMPI_Group_free(&group);
    PMPI_Comm_test_inter(made, &inter);
    if (inter) {
        PMPI_Comm_remote_group(made, &group);
        all &= translate(group, in, members, count);
        PMPI_Group_free(&group);
    }
    PMPI_Group_free(&in);
    qsort(members, (size_t)*count, sizeof *members, compare);
    return all;
}

/* A barrier in log2(n) rounds of empty messages. Nobody leaves before all its messages have arrived. */
static int barrier(MPI_Comm channel, MPI_Comm parent, const int *members, int n)
{
    enum { TAG = 31000 };
    int rank, me = 0, rc = MPI_SUCCESS;
    PMPI_Comm_rank(channel, &rank);
    while (me < n && members[me] != rank)
        me++;
    for (int reach = 1, round = 0; reach < n && rc == MPI_SUCCESS; reach *= 2, round++) {
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        int from = members[(me + n - reach) % n], to = members[(me + reach) % n];
        rc = PMPI_Irecv(NULL, 0, MPI_BYTE, from, TAG + round, channel, &requests[0]);
        if (rc == MPI_SUCCESS)
            rc = PMPI_Isend(NULL, 0, MPI_BYTE, to, TAG + round, channel, &requests[1]);
        if (rc == MPI_SUCCESS)
            rc = poll_requests(channel, parent, 2, requests);
    }
    return rc;
}

int mend_comms_confirm(MPI_Comm channel, MPI_Comm parent, MPI_Comm made)
{
    int local = 0, remote = 0, n, inter = 0, rc = MPI_ERR_NO_MEM;
    PMPI_Comm_size(made, &local);
    PMPI_Comm_test_inter(made, &inter);
    if (inter)
        PMPI_Comm_remote_size(made, &remote);
    int *members = malloc(((size_t)local + (size_t)remote) * sizeof *members);
    if (members)
        /* With processes from outside the family there is no common channel to wait on. */
        rc = list_members(channel, made, members, &n) ? barrier(channel, parent, members, n)
                                                      : MPI_SUCCESS;
    free(members);
    if (rc != MPI_SUCCESS)
        mend_ulfm_revoke(made);
    return rc;
}
