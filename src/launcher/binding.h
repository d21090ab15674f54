/* Which processors a rank may use. */
#ifndef MEND_LAUNCHER_BINDING_H
#define MEND_LAUNCHER_BINDING_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

enum binding {
    BINDING_AUTO, /* as NUMA: several jobs on a machine, and a rank's threads, can share it */
    BINDING_NONE,
    BINDING_CORE, /* one core for each rank */
    BINDING_NUMA  /* one NUMA domain, shared with neighbouring ranks */
};

/* Room for as many processors as Linux supports. */
struct processors {
    cpu_set_t part[8192 / CPU_SETSIZE];
};

/* Parse "auto", "none", "core" or "numa". False: any other name. */
bool binding_from(const char *name, enum binding *binding);

/* The processors of this machine that we may use. */
struct core {
    int id, domain;
};
struct topology {
    struct processors allowed;
    int *core_of, *domain_of; /* [8192]: a core's number is that of its first processor */
    struct core *cores;       /* [core_count], sorted by domain */
    uint32_t core_count, domains;
};
/* `system`: /sys/devices/system. */
void topology_read(struct topology *t, const char *system, const struct processors *allowed);
void topology_free(struct topology *t);
/* Choose the processors for rank number `local` of the `count` ranks on this node. False: leave the rank unbound,
 * because nobody asked for binding, there are more ranks than cores, or there is only one NUMA domain. */
bool binding_choose(const struct topology *t, enum binding binding, uint32_t local, uint32_t count,
                    struct processors *chosen);
#endif
