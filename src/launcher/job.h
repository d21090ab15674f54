/* The job as the head describes it to the nodes. */
#ifndef MEND_LAUNCHER_JOB_H
#define MEND_LAUNCHER_JOB_H

#include "wire.h"

enum { JOB_RANKS_MAX = 1 << 20 };

struct job {
    char *name; /* the PMIx namespace: new for every launch */
    char *folder;
    uint32_t ranks, nodes, mask; /* umask */
    uint32_t timeout_ms;         /* silence that means death */
    uint32_t bind;               /* see binding.h */
    uint32_t pmi;                /* 1: the ranks are MPICH's, see pmi.h; 0: they know PMIx */
    char **node_names;           /* [nodes] */
    uint32_t processes;          /* ranks, and those that came later: each a world of its own */
    uint32_t *node_of;           /* [processes] */
    char **program, **environment;
};

void job_put(struct wire *w, const struct job *job);
void job_add(struct job *job, uint32_t node); /* one more process, there */
void job_add_node(struct job *job, const char *name);
bool job_get(struct wire_reader *r, struct job *job); /* false: not one; then it is empty */
void job_free(struct job *job);
#endif
