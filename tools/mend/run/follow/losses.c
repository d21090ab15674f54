#include "follow.h"

#include <string.h>

void losses_saved(struct run_losses *l, mend_version_t version, double at)
{
    long last = (l->count + LOSSES_VERSIONS - 1) % LOSSES_VERSIONS;
    if (l->count && l->saved[last].version == version)
        return; /* another level, or another rank */
    l->saved[l->count % LOSSES_VERSIONS].version = version;
    l->saved[l->count % LOSSES_VERSIONS].at = at;
    l->count++;
}

void losses_rollback(struct run_losses *l, mend_version_t version, double failed)
{
    double since = l->began;
    l->from_start += version <= 0;
    for (long i = l->count; version > 0 && i-- > 0 && l->count - i <= LOSSES_VERSIONS;)
        if (l->saved[i % LOSSES_VERSIONS].version == version) {
            since = l->saved[i % LOSSES_VERSIONS].at;
            break;
        }
    if (failed > since)
        l->again += failed - since;
}

bool losses_level(struct run_losses *l, const char *name)
{
    for (int i = 0; i < LOSSES_LEVELS; i++) {
        if (!l->level[i].name[0])
            snprintf(l->level[i].name, sizeof l->level[i].name, "%s", name);
        if (strncmp(l->level[i].name, name, sizeof l->level[i].name - 1) == 0)
            return l->level[i].failures++ == 0;
    }
    return false;
}

void losses_print(const struct run_losses *l, FILE *to)
{
    if (l->again > 0)
        fprintf(to, ", %.1f s of work done again", l->again);
    if (l->from_start)
        fprintf(to, " (%ld time%s from the beginning)", l->from_start,
                l->from_start == 1 ? "" : "s");
    for (int i = 0; i < LOSSES_LEVELS && l->level[i].failures; i++)
        fprintf(to, ", LEVEL %s FAILED %ld time%s", l->level[i].name, l->level[i].failures,
                l->level[i].failures == 1 ? "" : "s");
}
