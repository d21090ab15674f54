#include "seating.h"

#include <mend/process.h>

#include <stdlib.h>
#include <string.h>

const char *mend_seating_policy_name(int policy)
{
    static const char *const names[] = {"none", "spare", "spawn", "shrink", "stop"};
    return policy >= 0 && policy <= MEND_POLICY_STOP ? names[policy] : "?";
}

void mend_seating_clear(struct mend_seating *plan)
{
    free(plan->player);
    free(plan->old_rank);
    free(plan->replaced);
    free(plan->failed);
    memset(plan, 0, sizeof *plan);
}

/* Sum up the cards, before any decision. */
static void read_cards(struct mend_seating *plan, const struct mend_meeting_card *cards, int n,
                       int *size)
{
    plan->generation = -1;
    plan->veteran = -1;
    plan->action = PLAN_RESUME;
    plan->builders = -1;
    for (int i = 0; i < n; i++) {
        if (cards[i].generation > plan->generation) {
            plan->generation = cards[i].generation;
            plan->veteran = i;
        }
        if (cards[i].rules != cards[0].rules)
            plan->action = PLAN_MISMATCH;
    }
    for (int i = 0; i < n && plan->veteran < 0; i++)
        if (cards[i].size != cards[0].size)
            plan->action = PLAN_MISMATCH;
    for (int i = 0; i < n; i++)
        if (cards[i].refused)
            plan->action = PLAN_REFUSED;
    for (int i = 0; i < n; i++) {
        plan->newcomers |= plan->generation >= 0 && cards[i].generation < 0;
        if (cards[i].passed)
            plan->action = PLAN_FINISHED;
        if (plan->builders < 0 || cards[i].builders < plan->builders)
            plan->builders = cards[i].builders;
    }
    *size = plan->veteran >= 0 ? cards[plan->veteran].size : cards[0].size;
}

static int domain_of(const struct mend_seating *plan, const struct mend_meeting_card *cards,
                     const int *domains, int rank)
{
    if (plan->player[rank] >= 0)
        return cards[plan->player[rank]].domain;
    return domains ? domains[rank] : 0;
}

/* The best spare for a dead rank: in the same failure domain if possible, where it may share memory and files, and
 * not in the domain that holds the copy of the rank's data, unless there is no other. */
static int choose_spare(struct mend_seating *plan, const struct mend_meeting_card *cards, int n,
                        const bool *taken, const int *domains,
                        const struct mend_seating_rules *rules, int rank, int size)
{
    int apart = rules->keep_apart ? rules->keep_apart(rank, size, rules->keep_apart_arg) : -1;
    int avoid =
        apart >= 0 && apart < size && apart != rank ? domain_of(plan, cards, domains, apart) : 0;
    int home = domains ? domains[rank] : 0, best = -1, best_cost = 3;
    for (int i = 0; i < n; i++) {
        if (cards[i].rank >= 0 || taken[i])
            continue;
        int cost = avoid && cards[i].domain == avoid ? 2 : home && cards[i].domain == home ? 0 : 1;
        if (cost < best_cost) {
            best = i;
            best_cost = cost;
        }
    }
    plan->n_too_close += best_cost == 2;
    return best;
}

/* Fill as many holes as there are spares. Returns how many holes are left. */
static int fill_with_spares(struct mend_seating *plan, const struct mend_meeting_card *cards, int n,
                            bool *taken, const int *domains, const struct mend_seating_rules *rules,
                            int size)
{
    int holes = 0;
    for (int rank = 0; rank < size; rank++) {
        if (plan->player[rank] >= 0)
            continue;
        int spare = choose_spare(plan, cards, n, taken, domains, rules, rank, size);
        if (spare < 0) {
            holes++;
            continue;
        }
        taken[spare] = true;
        plan->player[rank] = spare;
        plan->spares--;
    }
    return holes;
}

static int close_ranks(struct mend_seating *plan, int size)
{
    int kept = 0;
    for (int rank = 0; rank < size; rank++) {
        if (plan->player[rank] < 0)
            continue;
        plan->player[kept] = plan->player[rank];
        plan->old_rank[kept++] = plan->old_rank[rank];
    }
    return kept;
}

static void decide(struct mend_seating *plan, const struct mend_meeting_card *cards, int n,
                   bool *taken, const int *domains, const struct mend_seating_rules *rules,
                   int size)
{
    int holes = plan->n_failed;
    bool spawn_failed = false;
    for (int i = 0; i < n; i++)
        spawn_failed |= cards[i].spawn_failures >= PLAN_SPAWN_ATTEMPTS;
    plan->size = size;
    for (int i = 0; i < PLAN_POLICIES && holes > 0; i++) {
        switch (rules->order[i]) {
        case MEND_POLICY_SPARE:
            if (plan->spares > 0)
                plan->policy = plan->newcomers ? MEND_POLICY_SPAWN : MEND_POLICY_SPARE;
            holes = fill_with_spares(plan, cards, n, taken, domains, rules, size);
            break;
        case MEND_POLICY_SPAWN:
            if (spawn_failed)
                break;
            /* Newcomers arrive as spares, so that there is one kind of replacement. */
            if (plan->spares == 0) {
                plan->policy = MEND_POLICY_SPAWN;
                plan->action = PLAN_SPAWN;
                plan->spawn = holes;
                return;
            }
            plan->policy = MEND_POLICY_SPAWN;
            holes = fill_with_spares(plan, cards, n, taken, domains, rules, size);
            i -= holes > 0; /* not enough: look again, now without spares */
            break;
        case MEND_POLICY_SHRINK:
            plan->policy = MEND_POLICY_SHRINK;
            plan->size = close_ranks(plan, size);
            holes = plan->size > 0 ? 0 : holes;
            break;
        default: break;
        }
    }
    if (holes > 0) {
        plan->policy = MEND_POLICY_STOP;
        plan->action = PLAN_STOP;
    }
}

static void mark_replaced(struct mend_seating *plan, const struct mend_meeting_card *cards)
{
    int settled = -1;
    for (int rank = 0; rank < plan->size; rank++) {
        int s = cards[plan->player[rank]].settled;
        if (s >= 0 && (settled < 0 || s < settled))
            settled = s;
    }
    for (int rank = 0; rank < plan->size; rank++) {
        const struct mend_meeting_card *card = &cards[plan->player[rank]];
        plan->replaced[rank] =
            plan->generation > 0 && (card->rank < 0 || card->settled < 0 || card->born > settled);
    }
}

int mend_seating_make(struct mend_seating *plan, const struct mend_meeting_card *cards, int n,
                      const int *domains, const struct mend_seating_rules *rules)
{
    int size;
    memset(plan, 0, sizeof *plan);
    read_cards(plan, cards, n, &size);
    if (plan->action != PLAN_RESUME)
        return 0;
    bool *taken = calloc((size_t)n + 1, sizeof *taken);
    plan->player = malloc((size_t)size * sizeof(int) + 1);
    plan->old_rank = malloc((size_t)size * sizeof(int) + 1);
    plan->failed = malloc((size_t)size * sizeof(int) + 1);
    plan->replaced = calloc((size_t)size + 1, sizeof(bool));
    int rc = taken && plan->player && plan->old_rank && plan->failed && plan->replaced ? 0 : -1;
    if (rc == 0) {
        plan->generation++;
        for (int rank = 0; rank < size; rank++) {
            plan->player[rank] = -1;
            plan->old_rank[rank] = rank;
        }
        for (int i = 0; i < n; i++) {
            if (cards[i].rank >= 0 && cards[i].rank < size)
                plan->player[cards[i].rank] = i;
            else
                plan->spares++;
        }
        for (int rank = 0; rank < size; rank++)
            if (plan->player[rank] < 0)
                plan->failed[plan->n_failed++] = rank;
        decide(plan, cards, n, taken, domains, rules, size);
        if (plan->action == PLAN_RESUME)
            mark_replaced(plan, cards);
    }
    free(taken);
    return rc;
}
