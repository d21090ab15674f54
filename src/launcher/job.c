#include "job.h"

#include <stdlib.h>
#include <string.h>

void job_put(struct wire *w, const struct job *job)
{
    wire_put_text(w, job->name);
    wire_put_text(w, job->folder);
    wire_put_u32(w, job->ranks);
    wire_put_u32(w, job->mask);
    wire_put_u32(w, job->timeout_ms);
    wire_put_u32(w, job->bind);
    wire_put_u32(w, job->pmi);
    wire_put_list(w, job->node_names);
    for (uint32_t r = 0; r < job->ranks; r++)
        wire_put_u32(w, job->node_of[r]);
    wire_put_list(w, job->program);
    wire_put_list(w, job->environment);
}

static char *copy(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(launcher_memory(NULL, size), text, size);
}

static bool get(struct wire_reader *r, struct job *job)
{
    job->name = copy(wire_get_text(r));
    job->folder = copy(wire_get_text(r));
    job->ranks = wire_get_u32(r);
    job->mask = wire_get_u32(r);
    job->timeout_ms = wire_get_u32(r);
    job->bind = wire_get_u32(r);
    job->pmi = wire_get_u32(r);
    job->node_names = wire_get_list(r);
    if (!job->node_names || job->ranks == 0 || job->ranks > JOB_RANKS_MAX ||
        job->ranks > r->left / 4)
        return false;
    while (job->node_names[job->nodes])
        job->nodes++;
    job->node_of = launcher_memory(NULL, job->ranks * sizeof *job->node_of);
    for (uint32_t i = 0; i < job->ranks; i++)
        if ((job->node_of[i] = wire_get_u32(r)) >= job->nodes)
            return false;
    job->program = wire_get_list(r);
    job->environment = wire_get_list(r);
    job->processes = job->ranks;
    return wire_ended(r) && job->program && job->program[0] && job->environment &&
           job->timeout_ms > 0;
}

void job_add(struct job *job, uint32_t node)
{
    job->node_of = launcher_memory(job->node_of, (job->processes + 1) * sizeof *job->node_of);
    job->node_of[job->processes++] = node;
}

void job_add_node(struct job *job, const char *name)
{
    job->node_names = launcher_memory(job->node_names, (job->nodes + 2) * sizeof *job->node_names);
    job->node_names[job->nodes++] = copy(name);
    job->node_names[job->nodes] = NULL;
}

bool job_get(struct wire_reader *r, struct job *job)
{
    *job = (struct job){0};
    if (get(r, job))
        return true;
    job_free(job);
    return false;
}

void job_free(struct job *job)
{
    free(job->name);
    free(job->folder);
    free(job->node_of);
    wire_free_list(job->node_names);
    wire_free_list(job->program);
    wire_free_list(job->environment);
    *job = (struct job){0};
}
