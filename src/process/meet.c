/* The meeting: one procedure for the start, for every repair and for the end.
 *
 *  1. Revoke the base communicator (all living processes, including spares) and everything made from the resilient
 *     one, so that nobody waits for a message that will not come.
 *  2. Gather all living processes (ulfm/hall.c); this waits for those that compute. Shrink the base to them. In the
 *     first meeting, connect every process to every other (ulfm/connect.c).
 *  3. Each process shows a card: its rank, its generation, whether it has finished.
 *  4. Each process computes the same plan from the same cards (seating.c).
 *  5. Carry out the plan: new processes, the new resilient communicator, the builders.
 *  6. Vote (ulfm/hall.c). From 2 to here nobody leaves: a process in trouble revokes the base and what it has made from
 *     it, so that nobody waits for it in 3 to 5, and votes no.
 *  7. If all voted yes, adopt what was made. Otherwise begin again at 1.
 * A process that a death has kept from the result of 6 does not know whether others have adopted. It learns so in 2 of
 * the next attempt, and then adopts as well.
 *
 * If a process dies before 2, the shrink leaves it out; in 2, all begin again. If it dies in 3 to 5, some or all of the
 * others fail there and vote no. If it dies in 6, they have its vote or begin again. Nobody gives up the old state before 7,
 * so it is always possible to begin again. A death after 6 shows in the next call on the new communicator, and leads
 * to the next meeting. */
#include "attempt.h"

#include <base/event.h>
#include <base/fail.h>
#include <base/fault.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double mend_process_wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void mend_process_alarm(mend_process *p, int mpi_code)
{
    if (atomic_exchange(&p->trouble, true))
        return;
    double begin = mend_now();
    int comms = 0;
    p->t_detect = mend_process_wall();
    p->now.caused_by = mpi_code;
    mend_event("process.detect", ev_int("generation", p->now.generation),
               ev_int("mpi_code", mpi_code));
    MEND_FAULT_POINT(process_alarm);
    if (p->family)
        comms = mend_comms_revoke(p->family);
    mend_ulfm_revoke(p->base);
    mend_board_ring(p->board);
    mend_event("process.revoke", ev_int("communicators", comms + 1),
               ev_real("seconds", mend_now() - begin));
}

/* ---- communicators of the past --------------------------------------------------------------- */

void mend_process_free_retired(mend_process *p, bool all)
{
    int kept = 0;
    for (int i = 0; i < p->n_retired; i++) {
        struct retired *old = &p->retired[i];
        if (all || old->generation + RETIRED_GENERATIONS <= p->now.generation ||
            i < p->n_retired - RETIRED_MAX / 2)
            PMPI_Comm_free(&old->comm);
        else
            p->retired[kept++] = *old;
    }
    p->n_retired = kept;
}

void mend_process_retire(mend_process *p, MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL)
        return;
    if (p->n_retired == RETIRED_MAX)
        mend_process_free_retired(p, false);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    p->retired[p->n_retired++] = (struct retired){comm, p->now.generation};
}

/* ---- the loop -------------------------------------------------------------------------------- */

static int stopped(mend_process *p, const struct attempt *a)
{
    char list[200] = "";
    int n = 0, i = 0;
    for (; i < a->plan.n_failed && n < 160; i++)
        n += snprintf(list + n, sizeof list - (size_t)n, "%s%d", i ? ", " : "", a->plan.failed[i]);
    if (i < a->plan.n_failed)
        snprintf(list + n, sizeof list - (size_t)n, " and %d more", a->plan.n_failed - i);
    p->stage = STAGE_STOPPED;
    mend_event("process.stop", ev_int("generation", p->now.generation), ev_str("ranks", list),
               ev_int("processes", a->n));
    return mend_fail(
        MEND_ERR_STOPPED,
        "%d processes are left, no spare for the dead ranks %s, and no other repair is "
        "allowed",
        a->n, list);
}

/* Step 7. */
static int conclude(mend_process *p, struct attempt *a)
{
    switch (a->plan.action) {
    case PLAN_RESUME:
        return mend_world_adopt(p, &a->plan, a->cards, a->n, a->me, a->world, a->family);
    case PLAN_FINISHED: p->stage = STAGE_FINISHED; return 0;
    case PLAN_STOP: return stopped(p, a);
    case PLAN_MISMATCH:
        p->stage = STAGE_STOPPED;
        return mend_fail(MEND_ERR_ARGUMENT, "the processes were started with different options");
    case PLAN_REFUSED:
        p->stage = STAGE_STOPPED;
        return mend_fail(MEND_ERR_ARGUMENT, "a process could not start with the options given");
    case PLAN_SPAWN: break; /* handled by the loop */
    }
    return mend_fail(MEND_ERR_INTERNAL, "the repair's plan has no conclusion");
}

bool mend_meet_settle_doubt(mend_process *p)
{
    struct attempt *a = p->doubt;
    bool end = false;
    if (!a)
        return false;
    p->doubt = NULL;
    bool adopted = mend_hall_was_adopted(p->hall);
    mend_event("process.doubt", ev_str("result", adopted ? "adopted" : "dropped"));
    if (adopted) {
        p->end = conclude(p, a);
        mend_hall_adopted(p->hall);
        end = a->plan.action != PLAN_RESUME;
        if (end)
            mend_hall_farewell(p->hall);
        else
            p->stage = STAGE_MEETING;
    } else {
        mend_attempt_discard(p, a);
    }
    mend_attempt_clear(a);
    free(a);
    return end;
}

static int meet(mend_process *p)
{
    struct attempt a;
    int attempts = 1, rc;
    double begin = mend_now();
    bool was_running = p->stage != STAGE_STOPPED;
    if (was_running)
        p->stage = STAGE_MEETING;
    mend_board_meeting(p->board, p->now.rank);
    mend_ulfm_forget_kept_requests();
    for (;; attempts++) {
        bool agreed = mend_attempt(p, &a);
        if (agreed && a.plan.action != PLAN_SPAWN)
            break;
        if (agreed) { /* the newcomers take part in the next attempt */
            mend_nudge_watch(p->nudge, a.larger_base, MPI_COMM_NULL);
            mend_process_retire(p, p->base);
            p->base = a.larger_base;
            mend_attempt_take_hall(p, &a); /* the newcomers are in it */
        }
        bool memory = a.vote & VOTE_MEMORY;
        mend_attempt_clear(&a);
        if (p->stage == STAGE_FINISHED || (p->stage == STAGE_STOPPED && was_running))
            return p->end;
        if (!memory) {
            p->stage = STAGE_STOPPED;
            return mend_fail(MEND_ERR_NO_MEMORY, "a process has no memory for the repair");
        }
    }
    rc = conclude(p, &a);
    mend_hall_adopted(p->hall);
    if (a.plan.action != PLAN_RESUME)
        mend_hall_farewell(p->hall);
    mend_attempt_take_hall(p, &a);
    mend_board_phase(p->board, p->stage == STAGE_SPARE ? PHASE_SPARE : PHASE_WORKING);
    mend_event("process.repair", ev_int("generation", p->now.generation),
               ev_int("attempts", attempts), ev_int("processes", a.n),
               ev_int("failed", a.plan.n_failed),
               ev_str("policy", mend_seating_policy_name(a.plan.policy)),
               ev_int("role", p->now.role), ev_real("seconds", mend_now() - begin));
    mend_attempt_clear(&a);
    return rc;
}

int mend_process_meet(mend_process *p)
{
    if (sigsetjmp(p->hung, 1)) { /* the watchdog has thrown us out of a call */
        p->stage = STAGE_STOPPED;
        mend_board_phase(p->board, PHASE_WORKING);
        return mend_fail(MEND_ERR_HUNG, "%s", p->hung_text);
    }
    return meet(p);
}

/* ---- spares ---------------------------------------------------------------------------------- */

static bool all_active_dead(mend_process *p)
{
    int size;
    PMPI_Comm_size(p->base, &size);
    bool *dead = malloc((size_t)size * sizeof *dead);
    bool all = dead != NULL;
    if (dead && mend_ulfm_failed(p->base, dead) > 0) {
        for (int i = 0; i < size; i++)
            all &= dead[i] || p->is_spare[i];
    } else {
        all = false;
    }
    free(dead);
    return all;
}

/* The active ranks revoke the base when they need their spares or have finished. A spare needs to see nothing else;
 * the death of another spare concerns nobody. If no active rank is left to revoke the base, the spares must find out
 * by themselves. The bell on the node's board ends a nap. A spare on a node without active ranks reacts within 5 ms. */
int mend_process_idle(mend_process *p)
{
    const long nap_us = 5000;
    bool rung = false;
    p->stage = STAGE_SPARE;
    mend_board_phase(p->board, PHASE_SPARE);
    for (unsigned turn = 1;; turn++) {
        mend_ulfm_progress(p->base);
        if (mend_ulfm_is_revoked(p->base) || (turn % 64 == 0 && all_active_dead(p)))
            break;
        if (rung) { /* the revoke is on its way: poll for a while */
            double limit = mend_now() + 0.02;
            while (mend_now() < limit && !mend_ulfm_is_revoked(p->base)) {
                mend_ulfm_progress(p->base);
                sched_yield();
            }
            rung = false;
            continue;
        }
        rung = mend_board_nap(p->board, nap_us);
    }
    MEND_FAULT_POINT(process_spare_wake);
    p->t_detect = mend_process_wall();
    atomic_store(&p->trouble, true);
    return 0;
}
