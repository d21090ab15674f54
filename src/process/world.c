/* A new generation: the resilient communicator, what the builders make from it, and the state that describes it. */
#include "internal.h"

#include <base/event.h>
#include <base/fail.h>
#include <base/log.h>

#include <stdlib.h>
#include <string.h>

/* Collective over the base. MPI_Comm_create needs less from the others than a split, because all know the group
 * already. If it fails, the handle may be garbage, so we drop it. */
int mend_world_make(mend_process *p, const struct mend_seating *plan, int me, MPI_Comm *world,
                    struct mend_family **family)
{
    MPI_Group all, members;
    MPI_Comm made = MPI_COMM_NULL;
    bool active = false;
    for (int rank = 0; rank < plan->size; rank++)
        active |= plan->player[rank] == me;
    PMPI_Comm_group(p->base, &all);
    PMPI_Group_incl(all, plan->size, plan->player, &members);
    int rc = PMPI_Comm_create(p->base, members, &made);
    PMPI_Group_free(&members);
    PMPI_Group_free(&all);
    if (rc != MPI_SUCCESS || !active)
        return rc;
    PMPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN); /* until it is adopted */
    *world = made;
    *family = mend_comms_family(made, p->base, p);
    return *family ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

int mend_world_build(mend_process *p, struct mend_family *family, int count)
{
    for (int i = 0; i < count; i++) {
        MPI_Comm made = MPI_COMM_NULL;
        int rc = p->builders[i].build(mend_comms_root(family), &made, p->builders[i].arg);
        if (rc != MPI_SUCCESS)
            return rc;
        *p->builders[i].made = p->building[i] = made;
    }
    return MPI_SUCCESS;
}

/* Drop what the builders made in an attempt that failed. */
void mend_world_discard(mend_process *p)
{
    for (int i = 0; i < p->n_builders; i++) {
        mend_process_retire(p, p->building[i]);
        p->building[i] = *p->builders[i].made = MPI_COMM_NULL;
    }
}

static void keep_built(mend_process *p)
{
    for (int i = 0; i < p->n_builders; i++) {
        mend_process_retire(p, p->built[i]);
        p->built[i] = p->building[i];
        *p->builders[i].made = p->built[i];
        p->building[i] = MPI_COMM_NULL;
    }
}

static void *array(size_t n, size_t size)
{
    return calloc(n + 1, size);
}

struct tables {
    int *domains, *failed, *replaced;
    mend_role *roles;
    bool *is_spare;
};

static void free_tables(struct tables *t)
{
    free(t->domains);
    free(t->failed);
    free(t->replaced);
    free(t->roles);
    free(t->is_spare);
}

static bool fill_tables(struct tables *t, const struct mend_seating *plan,
                        const struct mend_meeting_card *cards, int n, int *n_replaced)
{
    size_t size = (size_t)plan->size;
    *t = (struct tables){array(size, sizeof(int)), array((size_t)plan->n_failed, sizeof(int)),
                         array(size, sizeof(int)), array(size, sizeof(mend_role)),
                         array((size_t)n, sizeof(bool))};
    if (!t->domains || !t->failed || !t->replaced || !t->roles || !t->is_spare)
        return false;
    *n_replaced = 0;
    memset(t->is_spare, 1, (size_t)n);
    for (int rank = 0; rank < plan->size; rank++) {
        const struct mend_meeting_card *card = &cards[plan->player[rank]];
        t->is_spare[plan->player[rank]] = false;
        t->domains[rank] = card->domain;
        t->roles[rank] = plan->generation == 0                 ? MEND_ROLE_INITIAL
                         : card->rank < 0 || card->settled < 0 ? MEND_ROLE_RECOVERED
                                                               : MEND_ROLE_SURVIVOR;
        if (plan->replaced[rank])
            t->replaced[(*n_replaced)++] = rank;
    }
    memcpy(t->failed, plan->failed, (size_t)plan->n_failed * sizeof(int));
    return true;
}

static void announce(mend_process *p, const struct mend_seating *plan)
{
    if (plan->policy == MEND_POLICY_SHRINK || plan->policy == MEND_POLICY_SPAWN)
        mend_event("process.policy", ev_str("policy", mend_seating_policy_name(plan->policy)),
                   ev_str("reason", "no spare is left"), ev_int("size", plan->size));
    if (plan->policy == MEND_POLICY_SHRINK && p->now.rank == 0)
        mend_log(MEND_LOG_WARNING, "process: no spare is left; %d ranks continue", plan->size);
    if (plan->n_too_close > 0)
        mend_event("process.domain", ev_int("too_close", plan->n_too_close));
}

/* All have agreed, so adopt the new generation. Only a lack of memory can make this fail, and only in this process:
 * it stops, and the others see one more failure. */
int mend_world_adopt(mend_process *p, const struct mend_seating *plan,
                     const struct mend_meeting_card *cards, int n, int me, MPI_Comm world,
                     struct mend_family *family)
{
    struct tables t;
    int n_replaced;
    if (!fill_tables(&t, plan, cards, n, &n_replaced)) {
        free_tables(&t);
        p->stage = STAGE_STOPPED;
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d ranks", plan->size);
    }
    mend_nudge_watch(p->nudge, p->base, world);
    mend_nudge_refill(p->nudge);
    bool was_active = p->now.rank >= 0 && p->now.generation >= 0;
    if (p->family) {
        MPI_Comm old = mend_comms_root(p->family);
        mend_comms_dissolve(p->family);
        mend_process_retire(p, old);
    }
    p->family = family;
    free(p->domains);
    free(p->failed);
    free(p->replaced);
    free(p->roles);
    free(p->is_spare);
    p->domains = t.domains;
    p->failed = t.failed;
    p->replaced = t.replaced;
    p->roles = t.roles;
    p->is_spare = t.is_spare;

    int rank = -1;
    for (int r = 0; r < plan->size; r++)
        if (plan->player[r] == me)
            rank = r;
    if (rank >= 0 && !was_active)
        p->born = plan->generation;
    p->now = (mend_repair){
        .generation = plan->generation,
        .role = rank >= 0 ? p->roles[rank] : MEND_ROLE_SPARE,
        .comm = world,
        .rank = rank,
        .size = plan->size,
        .policy = plan->policy,
        .spares = plan->spares,
        .n_failed = plan->n_failed,
        .failed = p->failed,
        .n_replaced = n_replaced,
        .replaced = p->replaced,
        .caused_by = p->now.caused_by,
        .detected = p->t_detect,
        .repaired = mend_process_wall(),
    };
    if (plan->generation == 0 && rank >= 0)
        p->settled = 0;
    p->spawn_failures = p->passed = 0;
    keep_built(p);
    mend_process_free_retired(p, false);
    mend_board_unlink(p->board);
    p->callbacks_due = rank >= 0 && plan->generation > 0;
    p->stage = rank >= 0 ? STAGE_CALLING : STAGE_SPARE;
    announce(p, plan);
    atomic_store(&p->trouble, false);
    if (family && p->options.resume != MEND_RESUME_MANUAL)
        mend_comms_set_errhandler(family, p->handler);
    return 0;
}
