/* Inside the head: its loop (head.c), starting nodes (start.c), nodes that come later (later.c), new processes (fill.c),
 * fences, data and names (gather.c), streams (streams.c). */
#ifndef MEND_LAUNCHER_HEAD_H
#define MEND_LAUNCHER_HEAD_H

#include "hosts.h"
#include "job.h"
#include "protocol.h"

#include <sys/types.h>

enum node_state {
    NODE_STARTING, /* its daemon has not said hello */
    NODE_UP,
    NODE_LOST, /* given up: whatever it says is not heard any more */
    NODE_BYE
};
struct head_node {
    enum node_state state;
    bool here;
    bool late; /* it came while the job ran, which does not depend on it: see later.c */
    struct link link;
    pid_t agent;         /* on this machine: the daemon, or what has started it on another */
    double began, heard; /* when */
};

enum rank_state { RANK_WAITS, RANK_RUNS, RANK_DONE, RANK_DEAD };

struct absent; /* a node that is to come, or to come back: later.c */
struct fill;   /* a process that came later: fill.c */
struct wanted; /* a name that was not published yet */
struct fence;  /* not complete yet */
struct asked;  /* a modex that was not answered */
struct name;   /* published */

struct newcomer { /* connected, not known yet */
    struct link link;
    double since;
};
enum { NEWCOMERS = 64 };

struct stream { /* of ours: 1, 2 */
    struct wire bytes;
    size_t at;
    uint32_t *owner; /* of each piece: its node, and how much */
    size_t *size;
    size_t pieces, room;
};

struct head {
    struct hosts hosts;
    struct job job;
    struct head_node *nodes; /* [hosts.count] */
    enum rank_state *ranks;
    uint32_t left;     /* ranks that have not ended */
    bool tell;         /* a death is told to the others; else it ends the job */
    double start_time; /* seconds until a daemon must have said hello */
    const char *agent, *interface;
    const char *host_list, *host_file, *added_file; /* who may be in hosts; NULL: nobody says */
    struct absent *absent;
    double retry; /* seconds until a node that is absent is tried again; 0: never */
    bool reread;  /* these files may have changed */
    unsigned char secret[SECRET_SIZE];
    int listener;
    char address[64], port[16];
    struct newcomer newcomers[NEWCOMERS];
    struct fence *fences;
    struct asked *asked;
    struct name *names;
    struct wanted *wanted;
    struct fill *fills;    /* [job.processes - job.ranks] */
    uint32_t keep;         /* so many processes shall live; 0: none are started */
    uint32_t fills_failed; /* in a row */
    double fill_next;      /* not before this time */
    uint32_t fills_hasty;  /* offered since a checkpoint */
    double fill_offered;   /* when the last one was */
    uint32_t next_asked;
    uint64_t next_number;
    struct stream out[2];
    bool input_open;
    size_t input_ahead;
    int report; /* to `mend run`, a line for each thing; -1: none */
    bool ending;
    double end_limit;
    int code;
    bool failed;             /* code is of the first failure */
    uint64_t sent, received; /* messages of links that are closed, less beats */
    uint64_t beats;          /* of them: they come with time, not with what is done */
    uint64_t fence_count, fence_messages;
};

int head_main(int argc, char **argv);
int head_serve(struct head *h); /* until the end of the job: its exit code */
void head_report(struct head *h, const char *format, ...) __attribute__((format(printf, 2, 3)));
void head_lose(struct head *h, uint32_t node, const char *how);
void head_end(struct head *h); /* ask all nodes to end their ranks */

bool start_all(struct head *h);
bool start_later(struct head *h, uint32_t node); /* one of hosts */
void start_accept(struct head *h);
void start_hear(struct head *h, struct newcomer *c); /* of one who has just come */
void start_tick(struct head *h, double now);

void gather_fence(struct head *h, uint32_t node, struct wire_reader *r);
void gather_check(struct head *h); /* after a death: some may be complete now */
void gather_lost(struct head *h, uint32_t node);
void gather_grow(struct head *h); /* there are more nodes */
void gather_modex(struct head *h, uint32_t node, struct wire_reader *r);
void gather_give(struct head *h, uint32_t node, struct wire_reader *r);
void gather_name(struct head *h, uint32_t node, uint32_t kind, struct wire_reader *r);

/* Who waits for names that begin with this port gets an error. */
void gather_dropped(struct head *h, const char *port);

/* All machines that the job may use now. False: one of the sources is not valid, which is said. */
bool later_hosts(const struct head *h, struct hosts *all);
/* It is not there; it is tried again after a while. */
void later_absent(struct head *h, const char *name, uint32_t slots);
void later_lost(struct head *h, uint32_t node); /* before or after it was up */
void later_up(struct head *h, uint32_t node);
void later_tick(struct head *h, double now);

void fill_tick(struct head *h, double now);
void fill_grow(struct head *h); /* there are more nodes */
void fill_tell(struct head *h,
               uint32_t node); /* all that came later, to a node that has just come */
void fill_added(struct head *h, uint32_t node, struct wire_reader *r);
bool fill_is_member(const struct head *h, uint32_t process); /* a part of the job */
/* It is dead. False: nobody knows it yet. */
bool fill_ended(struct head *h, uint32_t process);
/* A name that is ours: published or asked for by the ranks. False: not one of ours. `*text`: the answer or NULL. */
bool fill_name(struct head *h, uint32_t kind, const char *key, const char *value,
               const char **text);

void streams_output(struct head *h, uint32_t node, struct wire_reader *r);
void streams_write(struct head *h, int stream); /* not more than can be written at once */
void streams_input(struct head *h);
bool streams_wanted(const struct head *h); /* more input could be sent on */
#endif
