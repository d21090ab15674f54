/* Which processors a rank may use. */
#ifndef MEND_LAUNCHER_BINDING_H
#define MEND_LAUNCHER_BINDING_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

enum binding {
    BINDING_AUTO, /* as NUMA: several jobs on a machine, and the threads of a rank, share a domain well */
    BINDING_NONE,
    BINDING_CORE, /* a core of its own */
    BINDING_NUMA  /* a NUMA domain, which it shares with its neighbours */
};

/* As many processors as Linux knows. */
struct processors {
    cpu_set_t part[8192 / CPU_SETSIZE];
};

/* "auto", "none", "core", "numa". False: none of them. */
bool binding_from(const char *name, enum binding *binding);

/* A machine's processors, as far as we may use them. */
struct core {
    int id, domain;
};
struct topology {
    struct processors allowed;
    int *core_of, *domain_of; /* [8192]: a core is named by the first of its processors */
    struct core *cores;       /* [core_count], domain by domain */
    uint32_t core_count, domains;
};
/* `system`: /sys/devices/system. */
void topology_read(struct topology *t, const char *system, const struct processors *allowed);
void topology_free(struct topology *t);
/* The processors for the local-th of the `count` ranks of this node. False: it is not bound (none asked for, more
 * ranks than cores, one NUMA domain only). */
bool binding_choose(const struct topology *t, enum binding binding, uint32_t local, uint32_t count,
                    struct processors *chosen);
#endif
