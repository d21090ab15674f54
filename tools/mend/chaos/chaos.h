/* Inside `mend chaos`: the plan of faults (schedule.c), and injecting them (ranks.c, act.c, tree.c). */
#ifndef MEND_TOOL_CHAOS_H
#define MEND_TOOL_CHAOS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum chaos_kind {
    CHAOS_KILL,
    CHAOS_NODE,
    CHAOS_STOP,
    CHAOS_FILL,
    CHAOS_BREAK,
    CHAOS_FLIP,
    CHAOS_KINDS
};
enum { CHAOS_TARGETS = 64 };

extern const char *const chaos_kind_name[CHAOS_KINDS];

/* One fault. Targets are launcher ranks (or a node). If none is named, `draw`, which the seed fixes
 * beforehand, picks them among those alive. */
struct chaos_fault {
    double at; /* seconds after the first rank was seen */
    enum chaos_kind kind;
    int count; /* processes to hit, when they are drawn */
    int target[CHAOS_TARGETS], targets;
    double lasts; /* stop, fill, break: seconds until it is undone; 0: never */
    uint64_t draw;
    /* the result */
    double done_at;
    char hit[160];    /* "rank 2 (pid 1234)" */
    char result[160]; /* "killed", or why not */
};

struct chaos_plan {
    struct chaos_fault *fault;
    int count;
};

/* The same seed gives the same faults, whatever the job does. */
int chaos_plan_random(struct chaos_plan *plan, uint64_t seed, double mtbf, double duration,
                      const int weight[CHAOS_KINDS], double lasts);
/* Lines "TIME KIND [TARGET,…|*N] [DURATION]", split by newlines or ';'. */
int chaos_plan_schedule(struct chaos_plan *plan, const char *text);
uint64_t chaos_next(uint64_t *state);

/* A process of the job that a launcher started as a rank. */
struct chaos_process {
    pid_t pid;
    unsigned long long born; /* start time: detects a reused pid */
    int rank;                /* the launcher's number */
    ino_t node;              /* its UTS namespace: one per emulated node */
    pid_t group;             /* its process group */
};

struct chaos_job {
    pid_t launcher;
    int nodes;           /* emulated nodes by blocks of ranks; 0: by what the machine shows */
    int leave;           /* never kill below so many processes */
    const char *storage; /* folder to fill, break or damage; %d stands for the node */
    unsigned long long fill_limit;
    struct chaos_process *process;
    int count, largest; /* alive now; most ever seen */
    struct chaos_undo *undo;
};

/* Search /proc again for the job's ranks. */
int chaos_look(struct chaos_job *job);
/* Is it still the same process, and not another one with its ID? */
bool chaos_is_same(pid_t pid, unsigned long long born);
/* Inject it now; fills hit and result. Returns the number of processes or folders hit. */
int chaos_act(struct chaos_job *job, struct chaos_fault *fault, double now);
/* Undo what is due (stopped processes, filled disks); all of it at the end. */
void chaos_undo_due(struct chaos_job *job, double now, bool all);

/* A non-empty file somewhere below the folder, drawn at random and opened for writing; -1: none.
 * file[PATH_MAX] gets its name. */
int chaos_draw_file(const char *folder, uint64_t *draw, char *file);
/* Remove everything in the folder. */
void chaos_empty(const char *folder);

#endif
