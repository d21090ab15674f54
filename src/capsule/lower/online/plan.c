/* recover_plan.c - every process computes the same plan from the same cards. */
#include "recover_plan.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

unsigned host_number(void)
{
    char name[256] = "";
    const char *domain = getenv("MEND_ONLINE_DOMAIN"); /* tests: failure domains on one machine */
    gethostname(name, sizeof name - 1);
    unsigned h = 2166136261u;
    for (const char *p = domain ? domain : name; *p; p++)
        h = (h ^ (unsigned char)*p) * 16777619u;
    return h;
}

int plan_holds(const struct plan *plan, int process, int rank, int version)
{
    for (int i = 0; i < IMAGES_HELD; i++)
        if (plan->card[process].image[i].version == version &&
            plan->card[process].image[i].rank == rank)
            return 1;
    return 0;
}

int plan_holder(const struct plan *plan, int rank, int version)
{
    for (int pass = 0; pass < 2; pass++)
        for (int p = 0; p < plan->processes; p++)
            if ((pass || plan->card[p].rank == rank) && plan_holds(plan, p, rank, version))
                return p;
    return -1;
}

int plan_partner(const struct plan *plan, int rank)
{
    return (rank + plan->shift) % plan->ranks;
}

int plan_partner_of(const struct plan *plan, int rank)
{
    return (rank + plan->ranks - plan->shift) % plan->ranks;
}

/* The newest version of which every rank's image is in somebody's memory, and for which files can be put back:
 * the other levels may have a newer one. */
static void choose_version(struct plan *plan)
{
    int floor = 0;
    for (int p = 0; p < plan->processes; p++)
        floor = plan->card[p].floor > floor ? plan->card[p].floor : floor;
    plan->version = 0;
    for (int p = 0; p < plan->processes; p++)
        for (int i = 0; i < IMAGES_HELD; i++) {
            int version = plan->card[p].image[i].version, all = 1;
            if (version <= plan->version || version < floor)
                continue;
            for (int r = 0; r < plan->ranks && all; r++)
                all = plan_holder(plan, r, version) >= 0;
            if (all)
                plan->version = version;
        }
}

/* Spares take the places of the dead: rather one on a host that keeps no image of that rank, so
 * that one host does not hold both. */
static void fill_places(struct plan *plan)
{
    for (int r = 0; r < plan->ranks; r++) {
        if (plan->player[r] >= 0)
            continue;
        int keeper = plan_holder(plan, r, plan->version), best = -1, best_score = -1;
        for (int p = 0; p < plan->processes; p++) {
            int taken = plan->card[p].rank >= 0;
            for (int q = 0; q < plan->ranks && !taken; q++)
                taken = plan->player[q] == p;
            int score = keeper < 0 || plan->card[keeper].host != plan->card[p].host;
            if (!taken && score > best_score) {
                best = p;
                best_score = score;
            }
        }
        plan->player[r] = best;
        if (best < 0)
            plan->hopeless = 1;
    }
}

/* The distance to the partner: as many pairs as possible on different hosts. */
static int choose_shift(const struct plan *plan)
{
    int best = 1, best_apart = -1;
    for (int shift = 1; shift < plan->ranks; shift++) {
        int apart = 0;
        for (int r = 0; r < plan->ranks; r++)
            apart += plan->card[plan->player[r]].host !=
                     plan->card[plan->player[(r + shift) % plan->ranks]].host;
        if (apart > best_apart) {
            best = shift;
            best_apart = apart;
        }
    }
    return plan->ranks > 1 ? best : 0;
}

void plan_make(struct plan *plan, int ranks)
{
    int done = 0;
    plan->ranks = ranks;
    plan->player = realloc(plan->player, (size_t)ranks * sizeof *plan->player);
    if (!plan->player)
        die("no memory for %d ranks", ranks);
    for (int r = 0; r < ranks; r++)
        plan->player[r] = -1;
    for (int p = 0; p < plan->processes; p++)
        if (plan->card[p].rank >= 0) {
            plan->player[plan->card[p].rank] = p;
            done += plan->card[p].finished;
        }
    plan->id = 0;
    for (int p = 0; p < plan->processes; p++)
        if (plan->card[p].id > plan->id)
            plan->id = plan->card[p].id;
    plan->finished = done == ranks;
    plan->windows = 0;
    for (int p = 0; p < plan->processes; p++)
        plan->windows |= plan->card[p].windows > 0;
    plan->hopeless = plan->windows;
    plan->rank = -1;
    choose_version(plan);
    if (!plan->finished)
        fill_places(plan);
    for (int r = 0; r < ranks; r++)
        if (plan->player[r] == plan->me)
            plan->rank = r;
    if (!plan->hopeless && !plan->finished)
        plan->shift = choose_shift(plan);
}
