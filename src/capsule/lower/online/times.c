/* online/times.c - how long each phase of a recovery took, for the event that ends it. */
#include "online/online.h"

#ifdef OPEN_MPI
#include <base/event.h>

#include <stdio.h>
#include <time.h>

enum { PHASES = 24 };
static struct {
    struct {
        double at;
        char name[12];
    } phase[PHASES];
    int count;
    double noticed_at;
    int repairs; /* meetings after the first */
} taken;

double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void phase(const char *name)
{
    if (taken.count == PHASES)
        return;
    taken.phase[taken.count].at = wall();
    snprintf(taken.phase[taken.count++].name, sizeof taken.phase[0].name, "%s", name);
}

void phases_begin(void)
{
    taken.count = 0;
    phase("notice");
}

void phases_noticed(void)
{
    phases_begin();
    taken.noticed_at = wall();
}

/* One event with all phases, in milliseconds. */
void phases_tell(const char *how, mend_version_t version)
{
    char text[512];
    size_t used = 0;
    if (!taken.repairs++)
        return; /* the start */
    text[0] = 0;
    for (int i = 1; i < taken.count && used < sizeof text - 32; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%.3f", i > 1 ? " " : "",
                                 taken.phase[i].name,
                                 1e3 * (taken.phase[i].at - taken.phase[i - 1].at));
    mend_event("recover.resumed", ev_str("how", how), ev_int("version", version),
               ev_int("repair", taken.repairs - 1), ev_real("seconds", wall() - taken.noticed_at),
               ev_str("phases", text));
}

int phases_repairs(void)
{
    return taken.repairs;
}
#endif
