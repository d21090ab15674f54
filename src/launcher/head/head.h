/* Inside the head: its loop (head.c), what nodes say (hear.c), starting nodes (start.c), nodes that come later
 * (later.c), new processes (fill.c), fences, data and names (gather.c), streams (streams.c),
 * nodes that are silent (silence.c). */
#ifndef MEND_LAUNCHER_HEAD_H
#define MEND_LAUNCHER_HEAD_H

#include "hosts.h"
#include "job.h"
#include "protocol.h"

#include <sys/resource.h>
#include <sys/types.h>

enum node_state {
    NODE_STARTING, /* the head has not sent it the job */
    NODE_UP,
    NODE_LOST, /* given up: the head ignores whatever it sends */
    NODE_BYE
};
struct head_node {
    enum node_state state;
    bool here;
    bool asked; /* for a sign of life, since it last sent something */
    bool late;  /* it came while the job ran, and the job does not depend on it: see later.c */
    struct link link;
    pid_t agent;         /* the local daemon, or the agent that started a remote one */
    double began, heard; /* when the start began; when it last sent something */
    double pause;        /* late: before this attempt */
};

enum rank_state { RANK_WAITS, RANK_RUNS, RANK_DONE, RANK_DEAD };

struct absent; /* a node that may come, or come back: later.c */
struct fill;   /* a process added later: fill.c */
struct wanted; /* a lookup of a name not published yet */
struct fence;  /* an incomplete fence */
struct asked;  /* an unanswered modex */
struct name;   /* a published name */

struct newcomer { /* connected, not authenticated yet */
    struct link link;
    double since;
};
enum { NEWCOMERS = 64 };

struct stream { /* our stdout or stderr */
    struct wire bytes;
    size_t at;
    uint32_t *owner; /* of each piece: its node, and its size */
    size_t *size;
    size_t pieces, room;
    bool failed; /* a write failed, and a message says so */
};

struct head {
    struct hosts hosts;
    struct job job;
    struct head_node *nodes; /* [hosts.count] */
    enum rank_state *ranks;
    uint32_t left;     /* members of the job that have not ended */
    bool tell;         /* report a death to the others; otherwise a death ends the job */
    double start_time; /* seconds until a daemon must have said hello */
    const char *agent, *interface;
    struct rlimit files; /* the limit of descriptors that our children get */
    const char *host_list, *host_file, *added_file; /* where the hosts come from; NULL: not given */
    struct absent *absent;
    double retry; /* seconds until the head tries an absent node again; 0: never */
    bool reread;  /* these files may have changed */
    unsigned char secret[SECRET_SIZE];
    int listener;
    struct scout { /* a process that finds out where to listen, while the job runs */
        pid_t pid;
        int answer; /* -1: there is none */
        uint32_t node;
    } scout;
    char address[64], port[16];
    struct newcomer newcomers[NEWCOMERS];
    struct fence *fences;
    struct asked *asked;
    struct name *names;
    struct wanted *wanted;
    struct fill *fills;    /* [job.processes - job.ranks] */
    uint32_t keep;         /* how many processes should be alive; 0: start none */
    uint32_t fills_failed; /* in a row */
    double fill_failed;    /* when the last of these was counted */
    double fill_next;      /* start none before this time, because the last ones have failed */
    double fill_quiet;     /* nor before this one, because the job is repairing itself */
    uint32_t fills_hasty;  /* losses for which it offered one since the last checkpoint */
    bool fill_news;        /* there was a loss since the last offer */
    double fill_offered;   /* when it last offered one */
    uint32_t next_asked;
    uint64_t next_number;
    struct stream out[2];
    bool input_open;
    size_t input_ahead;
    int report;          /* to `mend run`, one line for each event; -1: none */
    struct wire reports; /* not written yet; and reports_at, how much of it is */
    size_t reports_at;
    bool ending;
    double end_limit;
    bool hurried; /* a signal ends the job, or `mend run` is gone: do not wait for slow readers */
    int code;
    bool failed;             /* code is that of the first failure */
    uint64_t sent, received; /* messages on closed links, beats included */
    uint64_t beats;          /* of them beats, which depend on time rather than on work */
    uint64_t fence_count, fence_messages;
};

int head_main(int argc, char **argv);
int head_serve(struct head *h); /* until the job ends; returns its exit code */
/* Write one line to `mend run`, and one to standard error, after what the ranks have written there. Whoever reads it may
 * be slow: the head must not wait, because without its answers all nodes would end. */
void head_report(struct head *h, const char *format, ...) __attribute__((format(printf, 2, 3)));
void head_say(struct head *h, const char *format, ...) __attribute__((format(printf, 2, 3)));
void head_lose(struct head *h, uint32_t node, const char *how);
void head_fail(struct head *h, int code); /* the first one decides */
void head_close(struct head *h, struct head_node *n);
void head_tell(struct head *h, uint32_t except, const struct wire *dead); /* all other nodes */
void head_end(struct head *h);         /* ask all nodes to end their ranks */
void head_wait_longer(struct head *h); /* a node that ends says something */
void head_orphan(struct head *h);      /* `mend run` is gone */

double silence_limit(const struct head *h); /* seconds */
void silence_check(struct head *h, double asked);

void hear_node(struct head *h, uint32_t i); /* there is something to read */

bool start_all(struct head *h);
bool start_later(struct head *h, uint32_t node); /* a node that hosts already has */
void start_accept(struct head *h);
void start_hear(struct head *h, struct newcomer *c); /* a message from a newcomer */
void start_hear_scout(struct head *h);               /* its answer, or its end */
void start_tick(struct head *h, double now);

void gather_fence(struct head *h, uint32_t node, struct wire_reader *r);
void gather_check(struct head *h); /* after a death: some fences may be complete now */
void gather_lost(struct head *h, uint32_t node);
void gather_grow(struct head *h); /* there are more nodes */
void gather_modex(struct head *h, uint32_t node, struct wire_reader *r);
void gather_give(struct head *h, uint32_t node, struct wire_reader *r);
void gather_name(struct head *h, uint32_t node, uint32_t kind, struct wire_reader *r);

/* Lookups that wait for names beginning with this port get an error. */
void gather_dropped(struct head *h, const char *port);

/* All machines that the job may use now. False: a source is not valid; a message says which. */
bool later_hosts(struct head *h, struct hosts *all);
/* Note that a machine is not there. The head tries it again after a while. */
void later_absent(struct head *h, const char *name, uint32_t slots);
void later_lost(struct head *h, uint32_t node); /* before or after it was up */
void later_up(struct head *h, uint32_t node);
void later_tick(struct head *h, double now);

void fill_tick(struct head *h, double now);
void fill_grow(struct head *h); /* there are more nodes */
void fill_tell(struct head *h,
               uint32_t node); /* announce all processes added later to a node that has just come */
void fill_added(struct head *h, uint32_t node, struct wire_reader *r);
bool fill_is_member(const struct head *h, uint32_t process); /* a part of the job */
void fill_died(struct head *h);                              /* a process that the others know */
/* The process is dead. False: nobody has met it yet. */
bool fill_ended(struct head *h, uint32_t process);
/* Handle a name of ours that a rank publishes or looks up. False: not one of ours. `*text`: the answer, or NULL. */
bool fill_name(struct head *h, uint32_t kind, const char *key, const char *value,
               const char **text);

void streams_output(struct head *h, uint32_t node, struct wire_reader *r);
void streams_write(struct head *h, int stream); /* as much as it takes without blocking */
void streams_report(struct head *h);            /* the same */
bool streams_reports(const struct head *h);     /* some are left */
void streams_input(struct head *h);
bool streams_wanted(const struct head *h); /* we can forward more input */
#endif
