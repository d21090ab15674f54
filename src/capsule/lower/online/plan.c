/* online/plan.c - every process computes the same plan from the same cards. */
#include "online/plan.h"
#include "online/online.h"

#include <base/config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

unsigned host_number(void)
{
    char name[256] = "";
    const char *domain = mend_setting_string(MEND_KEY_ONLINE_DOMAIN);
    gethostname(name, sizeof name - 1);
    unsigned h = 2166136261u;
    for (const char *p = domain[0] ? domain : name; *p; p++)
        h = (h ^ (unsigned char)*p) * 16777619u;
    return h;
}

static uint64_t mixed_in(uint64_t h, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        h = (h ^ (unsigned char)bytes[i]) * 1099511628211u;
    return h;
}

/* Identifies one boot of one kernel, and one pid namespace in it. */
uint64_t machine_number(void)
{
    char boot[64] = "";
    struct stat ids = {0};
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, boot, sizeof boot - 1) <= 0 || stat("/proc/self/ns/pid", &ids))
        boot[0] = 0;
    if (fd >= 0)
        close(fd);
    if (!boot[0])
        return 0;
    uint64_t h = mixed_in(14695981039346656037u, boot, strlen(boot));
    return mixed_in(h, (const char *)&ids.st_ino, sizeof ids.st_ino);
}

#ifdef OPEN_MPI
/* A process that is gone or a zombie is dead. If its parent is ours, it is a rank like us, so its number does
 * not belong to another process by now. */
static enum mend_news look_at(int pid)
{
    char path[32], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? NEWS_DEATH : NEWS_UNKNOWN;
    ssize_t n = read(fd, text, sizeof text - 1);
    int failed = errno;
    close(fd);
    if (n <= 0)
        return n < 0 && failed == ESRCH ? NEWS_DEATH : NEWS_UNKNOWN;
    text[n] = 0;
    char state, *end = strrchr(text, ')'); /* the name before it may hold anything */
    int parent;
    if (!end || sscanf(end + 1, " %c %d", &state, &parent) != 2)
        return NEWS_UNKNOWN;
    if (state == 'Z' || state == 'X')
        return NEWS_DEATH;
    return parent == getppid() ? NEWS_ALL_ALIVE : NEWS_UNKNOWN;
}

enum mend_news plan_look_at_players(const struct plan *plan)
{
    enum mend_news all = NEWS_ALL_ALIVE;
    uint64_t here = plan->card[plan->me].machine;
    for (int r = 0; r < plan->ranks; r++) {
        const struct meeting_card *card = &plan->card[plan->player[r]];
        enum mend_news one = here && card->machine == here ? look_at(card->pid) : NEWS_UNKNOWN;
        if (one == NEWS_DEATH)
            return one;
        if (one == NEWS_UNKNOWN)
            all = one;
    }
    return all;
}
#endif

int plan_holds(const struct plan *plan, int process, int rank, mend_version_t version)
{
    for (int i = 0; i < IMAGES_HELD; i++)
        if (plan->card[process].image[i].version == version &&
            plan->card[process].image[i].rank == rank)
            return 1;
    return 0;
}

int plan_is_near(const struct plan *plan, int rank)
{
    uint64_t here = plan->card[plan->me].machine;
    return here && plan->card[plan->player[rank]].machine == here;
}

int plan_holder(const struct plan *plan, int rank, mend_version_t version)
{
    int own = plan->player[rank]; /* a survivor's own memory first; ask all only for the dead */
    if (own >= 0 && plan->card[own].rank == rank && plan_holds(plan, own, rank, version))
        return own;
    for (int p = 0; p < plan->processes; p++)
        if (plan_holds(plan, p, rank, version))
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

/* The newest version of which every rank's image is in somebody's memory, and for which files can be put
 * back: the other levels may have a newer one. */
static void choose_version(struct plan *plan)
{
    mend_version_t floor = 0, lacking = 0; /* the last one that lacks some rank's image */
    for (int p = 0; p < plan->processes; p++)
        floor = plan->card[p].floor > floor ? plan->card[p].floor : floor;
    plan->version = 0;
    for (int p = 0; p < plan->processes; p++)
        for (int i = 0; i < IMAGES_HELD; i++) {
            mend_version_t version = plan->card[p].image[i].version;
            int all = 1;
            if (version <= plan->version || version < floor || version == lacking)
                continue;
            for (int r = 0; r < plan->ranks && all; r++)
                all = plan_holder(plan, r, version) >= 0;
            *(all ? &plan->version : &lacking) = version;
        }
}

/* Spares take the places of the dead: preferably on a host that keeps no image of that rank, so that no host
 * holds both. */
static void fill_places(struct plan *plan)
{
    char *taken = calloc((size_t)plan->processes, 1);
    if (!taken)
        die("no memory for %d processes", plan->processes);
    for (int p = 0; p < plan->processes; p++)
        taken[p] = plan->card[p].rank >= 0;
    for (int r = 0; r < plan->ranks; r++) {
        if (plan->player[r] >= 0)
            continue;
        int keeper = plan->version ? plan_holder(plan, r, plan->version) : -1; /* 0 is no image */
        int best = -1, best_score = -1;
        for (int p = 0; p < plan->processes; p++) {
            int score = keeper < 0 || plan->card[keeper].host != plan->card[p].host;
            if (!taken[p] && score > best_score) {
                best = p;
                best_score = score;
            }
        }
        plan->player[r] = best;
        plan->replaced++;
        if (best < 0)
            plan->hopeless = 1;
        else
            taken[best] = 1;
    }
    free(taken);
}

static unsigned host_of(const struct plan *plan, int rank)
{
    return plan->card[plan->player[rank]].host;
}

/* The most pairs that any distance can separate: all of them; but if one host has more than half of the
 * ranks, each rank elsewhere is in two pairs. (The vote finds the host with the majority, if there is one.)
 */
static int most_apart(const struct plan *plan)
{
    unsigned host = 0;
    int votes = 0, on_it = 0;
    for (int r = 0; r < plan->ranks; r++) {
        if (votes == 0)
            host = host_of(plan, r);
        votes += host_of(plan, r) == host ? 1 : -1;
    }
    for (int r = 0; r < plan->ranks; r++)
        on_it += host_of(plan, r) == host;
    return on_it > plan->ranks - on_it ? 2 * (plan->ranks - on_it) : plan->ranks;
}

/* The distance to the partner: puts as many pairs as possible on different hosts. With k consecutive ranks on
 * each host, the search ends at k. */
static int choose_shift(const struct plan *plan)
{
    int best = 1, best_apart = -1, most = most_apart(plan);
    for (int shift = 1; shift < plan->ranks && best_apart < most; shift++) {
        int apart = 0;
        for (int r = 0; r < plan->ranks; r++)
            apart += host_of(plan, r) != host_of(plan, (r + shift) % plan->ranks);
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
    plan->windows = plan->unclean = 0;
    for (int p = 0; p < plan->processes; p++) {
        plan->windows |= plan->card[p].windows > 0;
        plan->unclean |= plan->card[p].unclean > 0;
    }
    plan->replaced = 0;
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
