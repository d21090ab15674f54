/* A repair as simple as can be, for tests of the store alone: the process layer is not involved.
 *
 * What all do next is agreed, never reduced: a reduction that a death cuts short succeeds for some and fails for
 * others, and spares that leave after the last one are missed by those who have to go back. All meet in a hall
 * (ulfm/hall.h). Who has left a vote does as if it had failed: whoever acted upon it comes to the next meeting, where
 * all say again who they are. */
#ifndef STORE_MEET_H
#define STORE_MEET_H

#include "../mpi/store_common.h"

#include <fcntl.h>
#include <mend/event.h>
#include <sys/stat.h>
#include <ulfm/hall.h>
#include <ulfm/ulfm.h>
#include <unistd.h>

static MPI_Comm world, job = MPI_COMM_NULL; /* everybody alive; those who work */
static int np, me = -1;                     /* my logical rank; -1: spare */
static int failures;                        /* this process was a spare and took a place */
static struct mend_hall *hall;              /* of all processes of the start */

/* The store's events: mpitest checks them against the schema. */
static void note_events(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/events.jsonl", getenv("MEND_TEST_DIR"));
    mend_event_open(path);
}

/* Have all that live in `world` said yes? The answer is the same for all, or no for those who left the agreement.
 *   1. A reduction: a wait that a revoke ends. Whoever says no, or sees it fail, revokes.
 *   2. The agreement, which everybody reaches soon. */
static bool agreed(bool yes)
{
    int all = yes;
    if (!yes || MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, world) != MPI_SUCCESS)
        all = 0;
    if (!all)
        MPIX_Comm_revoke(world);
    if (mend_hall_agree(hall, world, &all) != MPI_SUCCESS || !all)
        return false;
    mend_hall_adopted(hall);
    return true;
}

/* Everybody meets: shrink, tell each other who is who, give the free logical ranks to spares. Until
 * all agree. */
static bool meet(void)
{
    for (;;) {
        MPI_Comm alive;
        bool first = !hall;
        if (first)
            hall = mend_hall_borrow(MPI_COMM_WORLD, true);
        if (world != MPI_COMM_WORLD)
            MPIX_Comm_revoke(world);
        mend_hall_gather(&hall);
        if (mend_hall_shrink(hall, world, &alive) != MPI_SUCCESS)
            continue;
        MPI_Comm_set_errhandler(alive, MPI_ERRORS_RETURN);
        int n, mine = me, ok = 1, roles[64];
        MPI_Comm_size(alive, &n);
        ok = MPI_Allgather(&mine, 1, MPI_INT, roles, 1, MPI_INT, alive) == MPI_SUCCESS;
        int r, new_me = me, spare = 0, taken[64] = {0};
        MPI_Comm_rank(alive, &r);
        for (int i = 0; ok && i < n; i++)
            if (roles[i] >= 0)
                taken[roles[i]] = 1;
        for (int lost = 0; ok && lost < np; lost++) {
            if (taken[lost])
                continue;
            while (spare < n && roles[spare] >= 0)
                spare++;
            if (spare == n) {
                char text[400];
                int at = 0;
                for (int i = 0; i < n && at < 380; i++)
                    at += snprintf(text + at, sizeof text - (size_t)at, " %d", roles[i]);
                fprintf(stderr, "no spare is left for rank %d; the roles are%s\n", lost, text);
                return false;
            }
            if (spare == r)
                new_me = lost;
            roles[spare++] = lost;
        }
        MPI_Comm next = MPI_COMM_NULL;
        if (ok)
            ok = MPI_Comm_split(alive, new_me >= 0 ? 0 : 1, new_me, &next) == MPI_SUCCESS &&
                 (!first || mend_ulfm_connect(alive) == MPI_SUCCESS);
        world = alive;
        if (agreed(ok)) {
            MPI_Comm_set_errhandler(next, MPI_ERRORS_RETURN);
            if (new_me != me)
                failures++;
            me = new_me;
            job = next;
            return true;
        }
    }
}

/* Whoever leaves is dead to those who are still in the last agreement: wait until all are out of it, or dead; or
 * for a while, if the agreement has told somebody else that it failed. */
static void leave_together(void)
{
    char path[4200];
    struct stat st = {0};
    int n = 0;
    MPI_Comm_size(world, &n);
    snprintf(path, sizeof path, "%s/out", getenv("MEND_TEST_DIR"));
    int fd = open(path, O_CREAT | O_WRONLY | O_APPEND, 0600);
    CHECK(fd >= 0 && write(fd, "x", 1) == 1);
    for (int i = 0;
         i < 30000 && fstat(fd, &st) == 0 && st.st_size < n - mend_ulfm_failed(world, NULL); i++) {
        mend_ulfm_progress(MPI_COMM_SELF);
        usleep(1000);
    }
    close(fd);
}

/* The end is agreed: nobody leaves while another has to go back. */
static bool all_done(bool done)
{
    if (!done && job != MPI_COMM_NULL && me >= 0)
        MPIX_Comm_revoke(job); /* as the process layer does: nobody may wait for us in vain */
    if (!agreed(done))
        return false;
    leave_together();
    return true;
}

#endif
