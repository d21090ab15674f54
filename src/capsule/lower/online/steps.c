/* online/steps.c - the steps of a meeting that make or move something: communicators, messages, images. See
 * the list in meeting.c. Each returns 0 if a peer failed. */
#include "online/plan.h"
#include "online/online.h"
#include "output/output.h"

#ifdef OPEN_MPI
#include "online/levels.h"

#include <base/event.h>
#include <ulfm/ulfm.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Two rounds of one byte from everybody to everybody. Whatever a process had sent to us before arrives before
 * its byte. When the second byte is here, the messages that were in flight when the communicators were
 * revoked have been received to their end (or refused): a late fragment would be written into the memory of
 * the upper half that is about to be loaded. */
int flush_messages(const struct plan *plan, MPI_Comm base)
{
    int ok = 1;
    char *bytes = calloc((size_t)plan->processes, 2);
    MPI_Request *request = malloc(2 * (size_t)plan->processes * sizeof *request);
    if (!bytes || !request)
        die("no memory for %d messages", plan->processes);
    for (int round = 0; round < 2 && ok; round++) {
        int n = 0;
        for (int p = 0; p < plan->processes && ok; p++) {
            ok = TRY(MPI_Irecv(&bytes[p], 1, MPI_BYTE, p, 3 + round, base, &request[n]));
            n += ok;
        }
        for (int p = 0; p < plan->processes && ok; p++) {
            ok = TRY(
                MPI_Isend(&bytes[plan->processes], 1, MPI_BYTE, p, 3 + round, base, &request[n]));
            n += ok;
        }
        if (!ok)
            mend_ulfm_revoke(base);
        for (int i = 0; i < n; i++)
            ok = TRY(MPI_Wait(&request[i], MPI_STATUS_IGNORE)) && ok;
    }
    free(request);
    if (ok)
        free(bytes); /* else a receive may still be pending: leave it the byte */
    return ok;
}

/* After a failure a handle may be garbage: keep none. */
int build_world(const struct plan *plan, MPI_Comm base, MPI_Comm *control)
{
    MPI_Comm w, c, s;
    creation_begin_in_meeting(base);
    int ok = TRY(MPI_Comm_split(base, plan->rank >= 0 ? 0 : MPI_UNDEFINED, plan->rank, &w));
    if (!ok)
        return creation_settle(), 0;
    creation_end();
    if (plan->rank < 0)
        return 1;
    MPI_Comm_set_errhandler(w, MPI_ERRORS_RETURN);
    creation_begin_in_meeting(w);
    ok = TRY(MPI_Comm_dup(w, &c)) && TRY(MPI_Comm_dup(MPI_COMM_SELF, &s));
    if (!ok)
        return creation_settle(), 0;
    creation_end();
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(s, MPI_ERRORS_RETURN);
    creation_note(c);
    creation_note(s);
    online.world = w;
    *control = c;
    online.self = s;
    return 1;
}

/* Each image of the version must be at its player and at its partner's player; all transfers in one order, so
 * that they cannot block each other. */
int spread_images(struct plan *plan, MPI_Comm base, MPI_Comm control)
{
    if (!plan->version)
        return plan->rank < 0 || levels_fetch(control, plan->rank, &plan->version);
    for (int r = 0; r < plan->ranks; r++) {
        int from = plan_holder(plan, r, plan->version);
        int to[2] = {plan->player[r], plan->player[plan_partner(plan, r)]};
        for (int i = 0; i < 2; i++) {
            if (plan_holds(plan, to[i], r, plan->version) ||
                (i && (to[1] == to[0] || !levels_partner_due(0))))
                continue;
            int near =
                plan->card[from].machine && plan->card[from].machine == plan->card[to[i]].machine;
            if (plan->me == from &&
                !held_move(held_find(r, plan->version), to[i], NULL, 0, near, base))
                return 0;
            if (plan->me == to[i]) {
                struct held_image *image = held_new();
                if (!held_move(NULL, 0, image, from, near, base))
                    return 0;
                image->rank = r;
                image->version = plan->version;
            }
        }
    }
    return 1;
}

/* No process is left for some rank, or this job cannot be repaired. The images in memory would be lost with
 * it: write them to disk, for a new job. */
void job_give_up(const struct plan *plan, MPI_Comm base)
{
    int saved = 1, flag;
    output_last();
    for (int r = 0; r < plan->ranks && plan->version; r++)
        if (plan_holder(plan, r, plan->version) == plan->me)
            saved &= global_write(held_find(r, plan->version), plan->ranks, plan->id);
    flag = saved;
    agree_to_end(base, &flag);
    if (plan->me == 0) {
        const char *how = plan->version && flag ? "the last version is on disk"
                                                : "no version in memory is complete";
        mend_event("recover.gave_up", ev_int("version", plan->version), ev_int("saved", flag),
                   ev_int("windows", plan->windows));
        if (plan->windows)
            fprintf(stderr, "mend: cannot repair in place while windows are open; %s\n", how);
        else
            fprintf(stderr, "mend: %d processes are left for %d ranks; %s\n", plan->processes,
                    plan->ranks, how);
        MPI_Abort(MPI_COMM_WORLD, EXIT_GAVE_UP);
    }
    sleep(2); /* MPI_Abort does not always end the others */
    _exit(EXIT_GAVE_UP);
}
#endif
