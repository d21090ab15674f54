/* Inside a node's daemon: its loop (node.c), its ranks (node_ranks.c), its PMIx server (server.c). */
#ifndef MEND_LAUNCHER_NODE_H
#define MEND_LAUNCHER_NODE_H

#include "job.h"
#include "protocol.h"

#include <poll.h>
#include <sys/types.h>
#include <time.h>

struct node_rank {
    uint32_t rank;
    uint32_t place; /* among the processors, see binding.h */
    pid_t pid;      /* 0: it has ended */
    int streams[2]; /* its output and its messages, here to read; -1: closed */
    bool leaves;    /* it has called MPI_Abort, and ends by itself */
};

struct node {
    struct link head;
    uint32_t index;
    struct job job;
    char **added;     /* to the environment of a process that came later */
    char folder[128]; /* of this launch, in TMPDIR */
    struct node_rank *ranks;
    uint32_t count, left, places; /* places: of those that were started first */
    double lease, next_beat;      /* see protocol.h, 6 */
    timer_t fence;                /* set to a moment after the end of the lease */
    size_t ahead;                 /* bytes of output that the head has not taken yet */
    int input;                    /* of rank 0, to write; -1: none, or closed */
    struct wire waiting_input;    /* and how much of it was written */
    size_t input_at;
    bool input_ended;
    bool lent; /* Slurm gave us this machine: its SIGTERM is a warning, see protocol.h */
    bool ending;
    double kill_at;  /* who is left then is killed; 0: done */
    struct pmi *pmi; /* NULL: the ranks know PMIx */
};

/* The daemon's whole life. `fd`: connected to the head, who knows us. */
int node_serve(int fd, uint32_t index);
/* Read where the head is from standard input, connect, say hello. */
int node_connect_and_serve(void);

/* SAY_ADD; SAY_KILL. */
void ranks_add(struct node *n, struct wire_reader *r);
void ranks_kill(struct node *n, uint32_t process);
bool ranks_start(struct node *n, char *why, size_t size);
void ranks_reap(struct node *n); /* those that have ended are told */
void ranks_signal(struct node *n, int signal);
/* End all of them, and whatever they have started. False: some are still there. */
bool ranks_end(struct node *n);
/* What they have printed; `all`: whatever the window. */
void ranks_read(struct node *n, struct node_rank *r, int stream, bool all);
void ranks_feed(struct node *n);
#endif
