/* online/times.c - how long each phase of a recovery took, for the event that ends it. */
#include "online/online.h"

#ifdef OPEN_MPI
#include <base/event.h>

#include <stdio.h>
#include <time.h>

static struct {
    double at;
    char name[12];
} phases[24];
static int phase_count;
static double noticed_at;
static int repairs; /* meetings after the first */

double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void phase(const char *name)
{
    if (phase_count == 24)
        return;
    phases[phase_count].at = wall();
    snprintf(phases[phase_count++].name, sizeof phases[0].name, "%s", name);
}

void phases_begin(void)
{
    phase_count = 0;
    phase("notice");
}

void phases_noticed(void)
{
    phases_begin();
    noticed_at = wall();
}

/* One event with all phases, in milliseconds. */
void phases_tell(const char *how, mend_version_t version)
{
    char text[512];
    size_t used = 0;
    if (!repairs++)
        return; /* the start */
    text[0] = 0;
    for (int i = 1; i < phase_count && used < sizeof text - 32; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%.3f", i > 1 ? " " : "",
                                 phases[i].name, 1e3 * (phases[i].at - phases[i - 1].at));
    mend_event("recover.resumed", ev_str("how", how), ev_int("version", version),
               ev_int("repair", repairs - 1), ev_real("seconds", wall() - noticed_at),
               ev_str("phases", text));
}

int phases_repairs(void)
{
    return repairs;
}
#endif
