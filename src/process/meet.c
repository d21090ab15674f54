/* The meeting: one procedure for the start, for every repair and for the end.
 *
 *  1. Revoke the base communicator (all living processes, spares too) and everything made from the
 *     resilient one, so that nobody waits for a message that will not come.
 *  2. Gather all who live (ulfm/hall.c); this waits for those who compute. Shrink the base to them.
 *     In the first meeting, connect everybody with everybody (ulfm/connect.c).
 *  3. Everybody shows a card: its rank, its generation, whether it has finished.
 *  4. Everybody computes the same plan from the same cards (seating.c).
 *  5. Carry it out: new processes, the new resilient communicator, the builders.
 *  6. Gather once more, so that all know the same deaths, and agree. From 2 to here nobody leaves: a process in trouble
 *     revokes the base and what it has made from it, so that nobody waits for it in 3 to 5, and votes no.
 *  7. If all voted yes and nobody died, adopt what was made. Otherwise begin again at 1.
 * In 2 and 6, Open MPI's agreement may hang. It is left after a time, by all; see ulfm/hall.c. Who has left 6
 * does not know whether others have adopted: the next gathering tells, and then it adopts as well.
 *
 * A death before or in 2 is left out by the shrink. A death in 3 to 6 makes some or all of the
 * others fail there; they vote no, or the agreement itself reports it, to all alike. Nothing of the
 * old state is given up before 7, so that beginning again is always possible. A death after 6 is
 * noticed by the next call on the new communicator: the next meeting. */
#include "internal.h"

#include <base/event.h>
#include <base/fail.h>
#include <base/fault.h>
#include <base/log.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { VOTE_OK = 1, VOTE_MEMORY = 2, VOTE_ALL = 3 };

/* Without a hall: a dead process is known to MPI at the latest when its connection breaks, and when a busy machine
 * finds the time to say so. */
static const double failure_patience = 5;
/* The same for those who were called by a revoke, which may be that of the job's end. */
static const double news_patience = 0.1;

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

/* ---- one attempt ----------------------------------------------------------------------------- */

struct attempt {
    int n, me; /* processes in the base, and this one */
    struct mend_meeting_card *cards;
    struct mend_seating plan;
    int *domains; /* of the last generation, from one who knows them */
    MPI_Comm world;
    struct mend_family *family;
    MPI_Comm larger_base;   /* with spawned processes */
    struct mend_hall *hall; /* a new one, or more places for that of old */
    int vote;
    bool unsure; /* the agreement was left */
    double began, shrunk, acted;
};

static void settle_doubt(mend_process *p);

static bool shrink_base(mend_process *p, struct attempt *a)
{
    MPI_Comm alive;
    mend_board_phase(p->board, PHASE_SHRINK);
    MEND_FAULT_POINT(process_meet_begin);
    if (!p->fresh)
        mend_ulfm_revoke(p->base);
    mend_board_ring(p->board);
    MPI_Comm old = p->base;
    mend_hall_gather(p->hall, &p->base);
    if (p->base != old) /* an agreement on the old one was left: it stays as it is */
        mend_nudge_watch(p->nudge, p->base, MPI_COMM_NULL);
    settle_doubt(p);
    /* Without a hall the news of the death could come inside the agreement of the shrink, which crashes
     * there now and then (cures.def: late_event). Who ends the job knows of none; its spares wait for
     * nothing, that once. */
    if (!p->hall && !p->fresh && !p->passed)
        mend_ulfm_await_failure(p->base, news_patience);
    if (mend_hall_shrink(p->hall, p->base, &alive) != MPI_SUCCESS)
        return false;
    PMPI_Comm_set_errhandler(alive, MPI_ERRORS_RETURN);
    mend_nudge_watch(p->nudge, alive, MPI_COMM_NULL);
    if (!p->fresh)
        mend_process_retire(p, p->base);
    p->base = alive;
    p->fresh = false;
    PMPI_Comm_size(alive, &a->n);
    PMPI_Comm_rank(alive, &a->me);
    a->shrunk = mend_now();
    MEND_FAULT_POINT(process_meet_shrunk);
    return true;
}

/* Those who are spawned later connect when they join (spawn.c). */
static bool connect_first(mend_process *p)
{
    if (p->now.generation >= 0 || p->seat < 0)
        return true;
    mend_board_phase(p->board, PHASE_CONNECT);
    int rc = mend_ulfm_connect(p->base);
    MEND_FAULT_POINT(process_meet_connected);
    return rc == MPI_SUCCESS;
}

static struct mend_meeting_card my_card(mend_process *p)
{
    struct mend_meeting_card card = {
        .rank = p->now.rank,
        .generation = p->now.generation,
        .size = p->now.size,
        .born = p->born,
        .settled = p->settled,
        .domain = p->domain,
        .seat = p->seat,
        .passed = p->passed,
        .spawn_failures = p->spawn_failures,
        .builders = p->n_builders,
        .rules = p->rules_hash,
        .refused = p->stage == STAGE_STOPPED,
        .hall = mend_hall_state(p->hall),
    };
    if (getrandom(&card.nonce, sizeof card.nonce, GRND_NONBLOCK) != sizeof card.nonce)
        card.nonce = (uint64_t)(mend_process_wall() * 1e6) ^ ((uint64_t)getpid() << 40);
    return card;
}

/* Newcomers do not know in which failure domain the dead have lived: one who does tells all. */
static int share_domains(mend_process *p, struct attempt *a)
{
    int veteran = -1, newest = -1, newcomers = 0;
    for (int i = 0; i < a->n; i++)
        if (a->cards[i].generation > newest) {
            newest = a->cards[i].generation;
            veteran = i;
        }
    for (int i = 0; i < a->n; i++)
        newcomers |= newest >= 0 && a->cards[i].generation < 0;
    if (newest < 0)
        return MPI_SUCCESS;
    size_t size = (size_t)a->cards[veteran].size;
    a->domains = calloc(size + 1, sizeof *a->domains);
    if (!a->domains)
        return MPI_ERR_NO_MEM;
    if (p->domains)
        memcpy(a->domains, p->domains, size * sizeof *a->domains);
    return newcomers ? PMPI_Bcast(a->domains, (int)size, MPI_INT, veteran, p->base) : MPI_SUCCESS;
}

static bool show_cards(mend_process *p, struct attempt *a)
{
    struct mend_meeting_card mine = my_card(p);
    mend_board_phase(p->board, PHASE_CARDS);
    a->cards = malloc((size_t)a->n * sizeof *a->cards);
    if (!a->cards) {
        a->vote &= ~VOTE_MEMORY;
        return false;
    }
    int rc = PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, a->cards, sizeof mine, MPI_BYTE, p->base);
    if (rc == MPI_SUCCESS)
        rc = share_domains(p, a);
    if (rc == MPI_SUCCESS &&
        mend_seating_make(&a->plan, a->cards, a->n, a->domains, &p->rules) != 0)
        rc = MPI_ERR_NO_MEM;
    if (rc == MPI_ERR_NO_MEM)
        a->vote &= ~VOTE_MEMORY;
    MEND_FAULT_POINT(process_meet_cards);
    return rc == MPI_SUCCESS;
}

/* Nobody has a hall (at the start, and after newcomers have joined), or its places are running out. */
static bool needs_hall(const struct attempt *a)
{
    int none = 0, used = 0;
    for (int i = 0; i < a->n; i++) {
        none += a->cards[i].hall == HALL_NONE;
        used += a->cards[i].hall == HALL_USED;
    }
    return none == a->n || (none == 0 && used > 0);
}

static void take_hall(mend_process *p, struct attempt *a)
{
    if (a->hall && p->hall)
        mend_hall_add(p->hall, a->hall);
    else if (a->hall)
        p->hall = a->hall;
    a->hall = NULL;
}

static bool carry_out(mend_process *p, struct attempt *a)
{
    switch (a->plan.action) {
    case PLAN_SPAWN:
        mend_board_phase(p->board, PHASE_SPAWN);
        return mend_spawn_more(p, a->plan.spawn, &a->larger_base) == MPI_SUCCESS;
    case PLAN_RESUME:
        mend_board_phase(p->board, PHASE_WORLD);
        if (p->now.generation < 0 && p->seat >= 0)
            mend_board_share(p->board, a->cards[0].nonce);
        int rc =
            needs_hall(a) ? mend_hall_open(p->base, p->agreement_timeout, &a->hall) : MPI_SUCCESS;
        if (rc == MPI_SUCCESS)
            rc = mend_world_make(p, &a->plan, a->me, &a->world, &a->family);
        MEND_FAULT_POINT(process_meet_world);
        if (rc == MPI_SUCCESS && a->family && a->plan.builders > 0) {
            mend_board_phase(p->board, PHASE_BUILD);
            rc = mend_comms_confirm(p->base, p->base, a->world);
            if (rc == MPI_SUCCESS)
                rc = mend_world_build(p, a->family, a->plan.builders);
        }
        if (rc == MPI_ERR_NO_MEM)
            a->vote &= ~VOTE_MEMORY;
        return rc == MPI_SUCCESS;
    default: return true; /* nothing to make */
    }
}

static void discard(mend_process *p, struct attempt *a)
{
    mend_hall_close(a->hall, false);
    if (a->family) {
        mend_world_discard(p);
        mend_comms_dissolve(a->family);
    }
    mend_process_retire(p, a->world);
    mend_process_retire(p, a->larger_base);
    if (a->plan.action == PLAN_SPAWN)
        p->spawn_failures++;
}

/* The agreement was left. What all have computed from the same cards needs no agreement if it is an end; what
 * has been made is kept until the next gathering, and those who have adopted it are called there. */
static bool keep_in_doubt(mend_process *p, struct attempt *a)
{
    if (a->plan.action != PLAN_RESUME)
        return a->plan.action != PLAN_SPAWN;
    p->doubt = malloc(sizeof *p->doubt);
    if (!p->doubt) { /* nobody can help: to the others one more failure, which they can repair */
        mend_log(MEND_LOG_ERROR, "process: no memory to keep a repair in doubt");
        abort();
    }
    *p->doubt = *a;
    mend_ulfm_revoke(p->base);
    if (a->family)
        mend_comms_revoke(a->family);
    *a = (struct attempt){.vote = VOTE_ALL};
    return false;
}

/* Steps 2 to 6. True: agreed. */
static bool attempt(mend_process *p, struct attempt *a)
{
    *a = (struct attempt){.world = MPI_COMM_NULL, .larger_base = MPI_COMM_NULL, .vote = VOTE_ALL};
    a->began = mend_now();
    if (!shrink_base(p, a))
        return false;
    bool ok = connect_first(p) && show_cards(p, a) && carry_out(p, a);
    a->acted = mend_now();
    if (!ok)
        a->vote &= ~VOTE_OK;
    if (!ok || mend_ulfm_is_revoked(p->base)) {
        mend_ulfm_revoke(p->base);
        if (a->family) /* others may wait in what their builders made from it */
            mend_comms_revoke(a->family);
        if (!p->hall && a->vote & VOTE_MEMORY)
            mend_ulfm_await_failure(p->base, failure_patience);
    }
    mend_board_phase(p->board, PHASE_AGREE);
    MEND_FAULT_POINT(process_meet_vote);
    mend_hall_assemble(p->hall);
    int mine = a->vote,
        rc = mend_hall_agree(p->hall, p->base, &a->vote, a->plan.action == PLAN_SPAWN);
    a->unsure = rc != MPI_SUCCESS && mine == VOTE_ALL && mend_hall_unsure(p->hall);
    MEND_FAULT_POINT(process_meet_agreed);
    mend_event("process.agree", ev_int("vote", a->vote), ev_int("mpi_code", rc),
               ev_int("processes", a->n), ev_real("shrink", a->shrunk - a->began),
               ev_real("act", a->acted - a->shrunk), ev_real("agree", mend_now() - a->acted));
    if (rc == MPI_SUCCESS && a->vote == VOTE_ALL)
        return true;
    if (rc != MPI_SUCCESS)
        a->vote |= VOTE_MEMORY; /* the vote itself did not succeed */
    return a->unsure ? keep_in_doubt(p, a) : (discard(p, a), false);
}

static void clear(struct attempt *a)
{
    mend_seating_clear(&a->plan);
    free(a->cards);
    free(a->domains);
}

/* ---- the loop -------------------------------------------------------------------------------- */

static int stopped(mend_process *p, const struct attempt *a)
{
    char list[200] = "";
    int n = 0;
    for (int i = 0; i < a->plan.n_failed && n < 180; i++)
        n += snprintf(list + n, sizeof list - (size_t)n, "%s%d", i ? ", " : "", a->plan.failed[i]);
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

static void settle_doubt(mend_process *p)
{
    struct attempt *a = p->doubt;
    if (!a)
        return;
    p->doubt = NULL;
    bool adopted = mend_hall_was_adopted(p->hall);
    mend_event("process.doubt", ev_str("result", adopted ? "adopted" : "dropped"));
    if (adopted) {
        conclude(p, a);
        mend_hall_adopted(p->hall);
        take_hall(p, a);
        p->stage = STAGE_MEETING;
    } else {
        discard(p, a);
    }
    clear(a);
    free(a);
}

static int meet(mend_process *p)
{
    struct attempt a;
    int attempts = 1, rc;
    double begin = mend_now();
    if (p->stage != STAGE_STOPPED)
        p->stage = STAGE_MEETING;
    mend_board_meeting(p->board, p->now.rank);
    mend_ulfm_forget_kept_requests();
    for (;; attempts++) {
        bool agreed = attempt(p, &a);
        if (agreed && a.plan.action != PLAN_SPAWN)
            break;
        if (agreed) { /* the newcomers are part of the next attempt */
            mend_nudge_watch(p->nudge, a.larger_base, MPI_COMM_NULL);
            mend_process_retire(p, p->base);
            p->base = a.larger_base;
            mend_hall_close(p->hall, false); /* the newcomers are not in it */
            p->hall = NULL;
        }
        bool memory = a.vote & VOTE_MEMORY;
        clear(&a);
        if (!memory) {
            p->stage = STAGE_STOPPED;
            return mend_fail(MEND_ERR_NO_MEMORY, "a process has no memory for the repair");
        }
    }
    rc = conclude(p, &a);
    mend_hall_adopted(p->hall);
    take_hall(p, &a);
    mend_board_phase(p->board, p->stage == STAGE_SPARE ? PHASE_SPARE : PHASE_WORKING);
    mend_event("process.repair", ev_int("generation", p->now.generation),
               ev_int("attempts", attempts), ev_int("processes", a.n),
               ev_int("failed", a.plan.n_failed),
               ev_str("policy", mend_seating_policy_name(a.plan.policy)),
               ev_int("role", p->now.role), ev_real("seconds", mend_now() - begin));
    clear(&a);
    return rc;
}

int mend_process_meet(mend_process *p)
{
    if (sigsetjmp(p->hung, 1)) { /* the watchdog has thrown us out of a call */
        mend_gate_open();
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

/* The active ranks revoke the base when they need their spares or have finished. That is all a
 * spare must see; another spare's death concerns nobody. If no active rank is left to revoke it,
 * the spares must find out by themselves. Naps are ended by the bell of the node's board; 5 ms is
 * the longest delay of a spare on a node without active ranks. */
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
        if (rung) { /* the revoke is on its way: look for it closely for a while */
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
