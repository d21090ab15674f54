/* One attempt of a meeting: steps 2 to 6 of meet.c. */
#include "attempt.h"

#include <base/event.h>
#include <base/fault.h>
#include <base/log.h>

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Without a hall: MPI learns of a death when the connection breaks at the latest, but a busy machine may take a while
 * to report that. */
static const double failure_patience = 5;
/* The same for a process that a revoke has called; the revoke may only mean the end of the job. */
static const double news_patience = 0.1;

static bool shrink_base(mend_process *p, struct attempt *a)
{
    MPI_Comm alive;
    mend_board_phase(p->board, PHASE_SHRINK);
    MEND_FAULT_POINT(process_meet_begin);
    if (!p->fresh)
        mend_ulfm_revoke(p->base);
    mend_board_ring(p->board);
    mend_hall_gather(&p->hall);
    /* Without a hall, the notice of the death could arrive inside the shrink's agreement, which crashes now and then
     * (cures.def: late_event). At the end of a job there may be no death; then this costs the spares one short wait. */
    if (!p->hall && !p->fresh && !p->passed)
        mend_ulfm_await_failure(p->base, news_patience);
    if (mend_hall_shrink(p->hall, p->base, &alive) != MPI_SUCCESS)
        return false;
    if (mend_meet_settle_doubt(p))
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

/* Spawned processes connect when they join (spawn.c). */
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
    };
    if (getrandom(&card.nonce, sizeof card.nonce, GRND_NONBLOCK) != sizeof card.nonce)
        card.nonce = (uint64_t)(mend_process_wall() * 1e6) ^ ((uint64_t)getpid() << 40);
    return card;
}

/* Newcomers do not know the failure domains of the dead, so a process that does tells all. */
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

/* At the start the hall is that of the caller's communicator: open our own. Nobody votes yes before all hold it. */
static int open_hall(mend_process *p, struct attempt *a)
{
    if (mend_hall_is_own(p->hall))
        return MPI_SUCCESS;
    int rc = mend_hall_open(p->base, &a->hall);
    if (rc == MPI_SUCCESS && a->hall)
        rc = mend_comms_confirm(p->base, p->base, mend_hall_channel(a->hall));
    return rc;
}

void mend_attempt_take_hall(mend_process *p, struct attempt *a)
{
    mend_hall_take(&p->hall, a->hall);
    a->hall = NULL;
}

static bool carry_out(mend_process *p, struct attempt *a)
{
    switch (a->plan.action) {
    case PLAN_SPAWN:
        mend_board_phase(p->board, PHASE_SPAWN);
        return mend_spawn_more(p, a) == MPI_SUCCESS;
    case PLAN_RESUME:
        mend_board_phase(p->board, PHASE_WORLD);
        if (p->now.generation < 0 && p->seat >= 0)
            mend_board_share(p->board, a->cards[0].nonce);
        int rc = open_hall(p, a);
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

void mend_attempt_discard(mend_process *p, struct attempt *a)
{
    mend_hall_refuse(a->hall);
    if (a->family) {
        mend_world_discard(p);
        mend_comms_dissolve(a->family);
    }
    mend_process_retire(p, a->world);
    mend_process_retire(p, a->larger_base);
    if (a->plan.action == PLAN_SPAWN)
        p->spawn_failures++;
}

/* This process has left the vote after its yes. If newcomers were to join, go to the hall that has them: who knows better
 * revokes its channel (ulfm/hall.c). Otherwise keep what was made until the next gathering, and revoke it, so that those
 * who have adopted it come there. (At the first meeting, an end that all compute from the same cards holds.) */
static bool keep_in_doubt(mend_process *p, struct attempt *a)
{
    bool end = a->plan.action != PLAN_RESUME && a->plan.action != PLAN_SPAWN;
    if (a->plan.action == PLAN_SPAWN || (end && !mend_hall_is_own(p->hall)))
        return true;
    mend_attempt_take_hall(p, a);
    p->doubt = malloc(sizeof *p->doubt);
    if (!p->doubt) { /* to the others this is one more failure, which they can repair */
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
bool mend_attempt(mend_process *p, struct attempt *a)
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
    int mine = a->vote, rc = mend_hall_agree(p->hall, p->base, &a->vote);
    a->unsure = rc != MPI_SUCCESS && mine == VOTE_ALL && mend_hall_unsure(p->hall);
    MEND_FAULT_POINT(process_meet_agreed);
    mend_event("process.agree", ev_int("vote", a->vote), ev_int("mpi_code", rc),
               ev_int("processes", a->n), ev_real("shrink", a->shrunk - a->began),
               ev_real("act", a->acted - a->shrunk), ev_real("agree", mend_now() - a->acted));
    if (rc == MPI_SUCCESS && a->vote == VOTE_ALL)
        return true;
    if (rc != MPI_SUCCESS)
        a->vote |= VOTE_MEMORY; /* the vote itself did not take place */
    return a->unsure ? keep_in_doubt(p, a) : (mend_attempt_discard(p, a), false);
}

void mend_attempt_clear(struct attempt *a)
{
    mend_seating_clear(&a->plan);
    free(a->cards);
    free(a->domains);
}
