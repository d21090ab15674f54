/* The head's description of the job for the nodes. */
#ifndef MEND_LAUNCHER_JOB_H
#define MEND_LAUNCHER_JOB_H

#include "wire.h"

enum { JOB_RANKS_MAX = 1 << 20 };

struct job {
    char *name; /* the PMIx namespace: a new one for every launch */
    char *folder;
    uint32_t ranks, nodes, mask; /* umask */
    uint32_t timeout_ms;         /* so much silence means that a node is dead */
    uint32_t bind;               /* see binding.h */
    uint32_t pmi;                /* 1: the ranks use MPICH, see pmi.h; 0: they speak PMIx */
    char **node_names;           /* [nodes] */
    uint32_t processes;          /* ranks, and processes added later, each in its own world */
    uint32_t *node_of;           /* [processes] */
    char **program, **environment;
};

void job_put(struct wire *w, const struct job *job);
void job_add(struct job *job, uint32_t node); /* add one process on that node */
void job_add_node(struct job *job, const char *name);
bool job_get(struct wire_reader *r, struct job *job); /* false: not valid; then *job is empty */
void job_free(struct job *job);
#endif
