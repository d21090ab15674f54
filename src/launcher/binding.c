/* We read the topology from the kernel's own files. Where the kernel does not say, we assume one NUMA domain, and one
 * core for each processor. */
#include "binding.h"

#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESSORS = 8192, DOMAINS = 1024 };

static bool has(const struct processors *p, int cpu)
{
    return CPU_ISSET_S((size_t)cpu, sizeof p->part, p->part);
}

bool binding_from(const char *name, enum binding *binding)
{
    static const char *const names[] = {"auto", "none", "core", "numa"};
    for (int i = 0; i < 4; i++)
        if (strcmp(name, names[i]) == 0) {
            *binding = (enum binding)i;
            return true;
        }
    return false;
}

/* Read a list such as "0-3,8,10-11" from a file. False: there is no such file, or it holds no such list. */
static bool read_list(const char *path, struct processors *list)
{
    char text[1 << 15]; /* every second processor, five characters each, takes 20 KiB */
    FILE *f = fopen(path, "re");
    size_t size = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[size] = 0;
    memset(list, 0, sizeof *list);
    char *rest = text;
    for (char *word; size && (word = strsep(&rest, ",\n"));) {
        long from = 0, to = 0, n = sscanf(word, "%ld-%ld", &from, &to);
        to = n == 2 ? to : from;
        for (long i = from; n >= 1 && i >= 0 && i <= to && i < PROCESSORS; i++)
            CPU_SET_S((size_t)i, sizeof list->part, list->part);
    }
    return CPU_COUNT_S(sizeof list->part, list->part) > 0;
}

static bool siblings_of(const char *system, int cpu, struct processors *list)
{
    char path[512];
    snprintf(path, sizeof path, "%s/cpu/cpu%d/topology/core_cpus_list", system, cpu);
    if (read_list(path, list))
        return true;
    snprintf(path, sizeof path, "%s/cpu/cpu%d/topology/thread_siblings_list", system, cpu);
    return read_list(path, list);
}

static void find_domains(struct topology *t, const char *system)
{
    char path[512];
    struct processors online, members;
    snprintf(path, sizeof path, "%s/node/online", system);
    bool told = read_list(path, &online);
    for (int d = 0; told && d < DOMAINS; d++) {
        snprintf(path, sizeof path, "%s/node/node%d/cpulist", system, d);
        if (!has(&online, d) || !read_list(path, &members))
            continue; /* memory without processors: not a domain for us */
        for (int cpu = 0; cpu < PROCESSORS; cpu++)
            if (has(&members, cpu))
                t->domain_of[cpu] = (int)t->domains;
        t->domains++;
    }
    t->domains += t->domains == 0;
}

static int by_domain(const void *a, const void *b)
{
    const struct core *x = a, *y = b;
    return x->domain != y->domain ? x->domain - y->domain : x->id - y->id;
}

/* Find the cores that have at least one allowed processor. */
static void find_cores(struct topology *t, const char *system)
{
    struct processors siblings;
    for (int cpu = 0; cpu < PROCESSORS; cpu++) {
        if (!has(&t->allowed, cpu) || t->core_of[cpu] >= 0)
            continue;
        bool told = siblings_of(system, cpu, &siblings);
        for (int i = cpu; told && i < PROCESSORS; i++)
            if (has(&siblings, i))
                t->core_of[i] = cpu;
        t->core_of[cpu] = cpu;
        t->cores[t->core_count++] = (struct core){cpu, t->domain_of[cpu]};
    }
    qsort(t->cores, t->core_count, sizeof *t->cores, by_domain);
}

void topology_read(struct topology *t, const char *system, const struct processors *allowed)
{
    *t = (struct topology){.allowed = *allowed};
    t->core_of = launcher_memory(NULL, PROCESSORS * sizeof *t->core_of);
    t->domain_of = launcher_memory(NULL, PROCESSORS * sizeof *t->domain_of);
    t->cores = launcher_memory(NULL, PROCESSORS * sizeof *t->cores);
    for (int i = 0; i < PROCESSORS; i++) {
        t->core_of[i] = -1;
        t->domain_of[i] = 0;
    }
    find_domains(t, system);
    find_cores(t, system);
}

void topology_free(struct topology *t)
{
    free(t->core_of);
    free(t->domain_of);
    free(t->cores);
    *t = (struct topology){0};
}

/* The allowed processors whose core, or whose domain, has this number. */
static void choose(const struct topology *t, const int *number_of, int number,
                   struct processors *chosen)
{
    memset(chosen, 0, sizeof *chosen);
    for (int cpu = 0; cpu < PROCESSORS; cpu++)
        if (has(&t->allowed, cpu) && number_of[cpu] == number)
            CPU_SET_S((size_t)cpu, sizeof chosen->part, chosen->part);
}

/* Neighbouring ranks share a domain. Each domain gets a share of the ranks in proportion to its cores. */
bool binding_choose(const struct topology *t, enum binding binding, uint32_t local, uint32_t count,
                    struct processors *chosen)
{
    if (binding == BINDING_NONE || count > t->core_count || local >= count ||
        (binding != BINDING_CORE && t->domains < 2))
        return false;
    const struct core *core =
        &t->cores[binding == BINDING_CORE ? local : (uint64_t)local * t->core_count / count];
    if (binding == BINDING_CORE)
        choose(t, t->core_of, core->id, chosen);
    else
        choose(t, t->domain_of, core->domain, chosen);
    return true;
}
