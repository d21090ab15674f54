/* MPI_Comm_create_group for resilient communicators. */
#include "comms.h"

#include <ulfm/ulfm.h>

#include <stdlib.h>

/* Join this block with the block of `leader` (a rank of comm) into a larger one. Frees the old block. */
static int join_blocks(MPI_Comm comm, MPI_Comm *block, int leader, int tag, int high)
{
    MPI_Comm both, joined, channel = mend_comms_channel(mend_comms_of(comm));
    int rc = PMPI_Intercomm_create(*block, 0, comm, leader, tag, &both);
    if (rc != MPI_SUCCESS)
        return rc;
    PMPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
    rc = mend_comms_confirm(channel, comm, both);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = PMPI_Intercomm_merge(both, high, &joined);
    if (rc != MPI_SUCCESS) {
        mend_ulfm_revoke(both);
        return rc;
    }
    PMPI_Comm_set_errhandler(joined, MPI_ERRORS_RETURN);
    rc = mend_comms_confirm(channel, comm, joined);
    if (rc != MPI_SUCCESS)
        return rc;
    PMPI_Comm_free(&both);
    PMPI_Comm_free(block);
    *block = joined;
    return MPI_SUCCESS;
}

/* Joins blocks of 1, 2, 4 ... members pairwise until one is left.
 *  1. Every member starts as a block of one.
 *  2. The first members of two neighbouring blocks find each other through `comm`; a revoke of comm ends that. A
 *     member that fails revokes its block, so that the rest of the block does not wait.
 *  3. When one block is left, all its members confirm that they hold it.
 * A death at any point becomes an error on every member, at once or at the confirmation. */
static int assemble(MPI_Comm comm, const int *members, int n, int me, int tag, MPI_Comm *block)
{
    int rc = PMPI_Comm_dup(MPI_COMM_SELF, block);
    if (rc != MPI_SUCCESS)
        return rc;
    PMPI_Comm_set_errhandler(*block, MPI_ERRORS_RETURN);
    for (int width = 1; width < n && rc == MPI_SUCCESS; width *= 2) {
        int mine = me / width, other = mine ^ 1;
        if (other * width >= n)
            continue; /* the last block has no neighbour in this round */
        rc = join_blocks(comm, block, members[other * width], tag, mine & 1);
    }
    if (rc != MPI_SUCCESS)
        mend_ulfm_revoke(*block);
    return rc;
}

int mend_comms_assemble(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made)
{
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Comm block = MPI_COMM_NULL;
    int n = 0, me = MPI_UNDEFINED, rc;
    *made = MPI_COMM_NULL;
    if ((rc = PMPI_Group_size(group, &n)) != MPI_SUCCESS ||
        (rc = PMPI_Group_rank(group, &me)) != MPI_SUCCESS)
        return rc;
    if (n == 0 || me == MPI_UNDEFINED)
        return MPI_SUCCESS;
    int *positions = malloc(2 * (size_t)n * sizeof *positions);
    if (!positions)
        return MPI_ERR_NO_MEM;
    int *members = positions + n;
    for (int i = 0; i < n; i++)
        positions[i] = i;
    PMPI_Comm_group(comm, &all);
    PMPI_Group_translate_ranks(group, n, positions, all, members);
    PMPI_Group_free(&all);

    rc = assemble(comm, members, n, me, tag, &block);
    free(positions);
    if (rc == MPI_SUCCESS) {
        MPI_Errhandler handler;
        PMPI_Comm_get_errhandler(comm, &handler);
        PMPI_Comm_set_errhandler(block, handler);
        PMPI_Errhandler_free(&handler);
        *made = block;
        return mend_comms_made(comm, made);
    }
    PMPI_Comm_call_errhandler(comm, rc); /* may jump */
    return rc;
}
