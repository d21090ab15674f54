/* Inside a node's daemon: its loop (node.c), its ranks (node_ranks.c), its end (node_bye.c), its PMIx server (server*.c). */
#ifndef MEND_LAUNCHER_NODE_H
#define MEND_LAUNCHER_NODE_H

#include "job.h"
#include "protocol.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>

struct node_rank {
    uint32_t rank;
    uint32_t place; /* its number for binding.h */
    pid_t pid;      /* 0: has ended */
    int streams[2]; /* the read ends of stdout and stderr; -1: closed */
    bool leaves;    /* has called MPI_Abort and ends by itself */
};

struct node {
    struct link head;
    uint32_t index;
    struct job job;
    char **added;     /* additional environment of a process added later */
    char folder[128]; /* for this launch, in TMPDIR */
    char shared[64];  /* and in /dev/shm; "": none */
    struct node_rank *ranks;
    uint32_t count, left, places; /* places: how many ranks this node started first */
    double lease, next_beat;      /* see protocol.h, 6 */
    timer_t fence;                /* fires a moment after the lease ends */
    double stalled, stalled_at;   /* so long we stood still at most in this lease, and when */
    size_t ahead;                 /* bytes of output that the head has not taken */
    int input;                    /* write end of rank 0's stdin; -1: none, or closed */
    struct wire waiting_input;    /* and input_at, how much of it is written */
    size_t input_at;
    bool input_ended;
    struct rlimit files; /* the limit of descriptors that the ranks get; ours is higher */
    bool lent;           /* Slurm owns this machine: its SIGTERM is a warning, see protocol.h */
    bool ending;
    double kill_at;  /* kill the remaining ranks then; 0: at once */
    struct pmi *pmi; /* NULL: the ranks speak PMIx */
};

/* The daemon's whole life. `fd` is connected to the head, and authenticated. */
int node_serve(int fd, uint32_t index);
/* Read the head's address from standard input, connect, say hello, and serve. */
int node_connect_and_serve(void);

/* The kernel ends us then: see node.c. */
void node_fence_at(struct node *n, double until);
void node_beat(struct node *n, double now); /* if it is time */
/* node_bye.c. While the ranks end: say that we live, send what there is, and do not care what the head says. */
void node_talk(struct node *n, int milliseconds);
void node_say_bye(struct node *n);

/* folders.c. False: mend_error_text() says why. */
bool folders_make(struct node *n);
void folders_remove(struct node *n);
void folders_sweep(void); /* what daemons have left that were killed */

/* Handle SAY_ADD and SAY_KILL. */
void ranks_add(struct node *n, struct wire_reader *r);
void ranks_kill(struct node *n, uint32_t process);
bool ranks_start(struct node *n, char *why, size_t size);
void ranks_reap(struct node *n); /* report those that have ended */
void ranks_signal(struct node *n, int signal);
/* End all ranks and whatever they have started. False: some are still there. */
bool ranks_end(struct node *n);
/* Forward what a rank has printed. `all`: ignore the window. */
void ranks_read(struct node *n, struct node_rank *r, int stream, bool all);
void ranks_feed(struct node *n);
#endif
