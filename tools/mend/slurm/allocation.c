/* What Slurm has allocated to this job, from the variables that sbatch, salloc and srun set. */
#include "hostlist.h"
#include "slurm.h"

#include <base/fail.h>
#include <mend/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *value_of(const char *name, const char *other)
{
    const char *value = getenv(name);
    if ((!value || !*value) && other)
        value = getenv(other);
    return value && *value ? value : NULL;
}

static long number_of(const char *name, const char *other)
{
    const char *value = value_of(name, other);
    return value ? atol(value) : 0;
}

/* In the form of squeue: a task of an array has the array's number and its own. */
static void name_job(struct slurm_allocation *a, const char *id)
{
    const char *array = value_of("SLURM_ARRAY_JOB_ID", NULL),
               *task = value_of("SLURM_ARRAY_TASK_ID", NULL);
    if (array && task)
        snprintf(a->job, sizeof a->job, "%.31s_%.31s", array, task);
    else
        snprintf(a->job, sizeof a->job, "%.63s", id);
    a->job[strspn(a->job, "0123456789_")] = 0; /* it becomes part of a path */
}

/* Processes per node: as many as tasks were requested there, or as processors if that is not enough. */
static bool count_slots(const struct slurm_allocation *a, int *slots)
{
    const char *tasks = value_of("SLURM_TASKS_PER_NODE", NULL),
               *processors = value_of("SLURM_JOB_CPUS_PER_NODE", NULL);
    long sum = 0;
    bool known = tasks && hostlist_numbers(tasks, slots, a->nodes);
    for (int i = 0; known && i < a->nodes; i++)
        sum += slots[i];
    if (known && (sum >= a->tasks || !processors) && (a->tasks || sum > a->nodes))
        return true;
    return (processors && hostlist_numbers(processors, slots, a->nodes)) || known;
}

static bool list_hosts(struct slurm_allocation *a, const char *text)
{
    struct hostlist list = {0};
    bool ok = hostlist_expand(text, &list);
    a->nodes = list.count;
    int *slots = ok ? calloc((size_t)list.count, sizeof *slots) : NULL;
    size_t size = 1;
    for (int i = 0; i < list.count; i++)
        size += strlen(list.name[i]) + 16;
    a->hosts = slots ? calloc(1, size) : NULL;
    ok = a->hosts && count_slots(a, slots);
    for (int i = 0, used = 0; ok && i < list.count; i++)
        used += snprintf(a->hosts + used, size - (size_t)used, "%s%s:%d", i ? "," : "",
                         list.name[i], slots[i]);
    free(slots);
    hostlist_free(&list);
    return ok;
}

bool slurm_find(struct slurm_allocation *a)
{
    *a = (struct slurm_allocation){0};
    const char *id = value_of("SLURM_JOB_ID", "SLURM_JOBID"),
               *nodes = value_of("SLURM_JOB_NODELIST", "SLURM_NODELIST");
    if (!id || !nodes)
        return true;
    name_job(a, id);
    a->life = (int)number_of("SLURM_RESTART_COUNT", NULL);
    a->tasks = (int)number_of("SLURM_NTASKS", "SLURM_NPROCS");
    a->ends_at = (double)number_of("SLURM_JOB_END_TIME", NULL);
    if (!a->job[0] || !list_hosts(a, nodes)) {
        a->job[0] = 0;
        return mend_fail(MEND_ERR_ARGUMENT,
                         "Slurm's job %s: its nodes \"%s\" (SLURM_JOB_NODELIST) or their tasks "
                         "(SLURM_TASKS_PER_NODE) cannot be read",
                         id, nodes),
               false;
    }
    return true;
}
