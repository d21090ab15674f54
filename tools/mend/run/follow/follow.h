/* Following a job while it runs: its output, its events, the reports of its launcher, and whether it still runs as it
 * should. */
#ifndef MEND_TOOL_RUN_FOLLOW_H
#define MEND_TOOL_RUN_FOLLOW_H

#include "metrics/metrics.h"
#include "run/run.h"

#include <mend/plan.h>

#include <stdio.h>
#include <sys/types.h>
#include <time.h>

/* What a job lost (losses.c): work that it repeated, and levels that it could not write. */
enum { LOSSES_VERSIONS = 256, LOSSES_LEVELS = 8 };

struct run_losses {
    double began; /* the first event; 0: none yet */
    struct {
        mend_version_t version;
        double at;
    } saved[LOSSES_VERSIONS]; /* a ring of the newest */
    long count;
    double again;    /* seconds of work that was done again */
    long from_start; /* recoveries that found no version */
    struct {
        char name[16];
        long failures;
    } level[LOSSES_LEVELS];
};

void losses_saved(struct run_losses *l, mend_version_t version, double at);
/* At the time `failed` the job went back to `version`; 0: to its beginning. */
void losses_rollback(struct run_losses *l, mend_version_t version, double failed);
/* A level could not be written. True: this is the first time. */
bool losses_level(struct run_losses *l, const char *name);
/* ", 1.2 s of work done again", ", level global failed 3 times": for the summary. */
void losses_print(const struct run_losses *l, FILE *to);

/* The progress of the job, from its events. */
struct run_progress {
    mend_version_t version;
    long exited, left, playing, failures, recoveries, restarts, refilled;
    double version_at, last_recovery, last_failure, checkpoint_seconds, longest_recovery;
    bool gave_up, ended_by_program, refused;
    bool windows;        /* it gave up because of them */
    bool resumed;        /* a version that mend restart may have chosen */
    double repair_since; /* when the failure that is not repaired yet was noticed; 0: none */
    int ended_rank;
    char ended_how[16];
    int program_code;
    double every; /* in force */
    pid_t *born;  /* processes of this launch on this machine, and how many are through MPI_Init */
    bool *past;   /* [born_count]: it has ended */
    int born_count, started;
    int dead; /* of those that were born, and when we looked */
    double counted_at;
    double last_born;
    long events_lost;      /* that ranks could not write */
    int output_lost_rank;  /* whose last output could not be written; -1: none */
    int output_lost_why;   /* errno */
    bool fell;             /* our launcher says: a process died before all were through MPI_Init */
    int fell_rank;         /* the first of them; -1: not known */
    int fell_code;         /* with which it exited; 0: a signal ended it */
    bool printing;         /* our launcher has only output left, for a slow reader */
    bool elsewhere;        /* some of them are on another machine (by --launcher-args) */
    double deserted_since; /* since when all are dead or have given up; 0: not so */
    struct run_losses lost;
};

/* The last crash that the program caused itself. */
struct run_crash {
    int rank, signal;
    unsigned long long at, process;
    mend_version_t version; /* the newest when it came */
    long survived;          /* recoveries until then */
    int times;              /* at the same place, one after the other */
    bool again;             /* without a new version in between, or for the third time */
};

/* Ranks that answer nobody (silence.c). */
struct run_silence {
    double limit;          /* seconds; 0: no check */
    pid_t *player;         /* [ranks]: its process; 0: not known */
    struct timespec pulse; /* the time of DIR/pulse, and since when it is that; 0: there is none */
    double pulse_at, looked_at;
    bool told;         /* the user knows that rank 0 does not answer */
    bool told_stopped; /* the user knows who is stopped, in this recovery */
    bool must_end;     /* the job must be launched again */
};

/* --every auto (interval.c). Its levels, the cheapest first; memory and partner are one. */
enum run_level { RUN_MEMORY, RUN_LOCAL, RUN_ERASURE, RUN_GLOBAL, RUN_LEVELS };
struct run_interval {
    mend_plan_online planner;
    bool planning;
    int levels;                      /* that are planned */
    enum run_level kind[RUN_LEVELS]; /* of each */
    double cost[RUN_LEVELS];         /* seconds of a save there, smoothed, by kind */
    double beside[RUN_LEVELS];       /* the same, of what is done in the background */
    double told[RUN_LEVELS];         /* seconds between two, as DIR/every has them */
    bool failed;                     /* something has */
    bool fetched;                    /* from another level than memory, since the last recovery */
    bool slow_told;                  /* the user knows that the interval cannot be kept */
    bool core_to_spare;              /* for what is done in the background */
    mend_version_t last[RUN_LEVELS]; /* the newest version there, by kind */
};

struct run_follower {
    struct run_crash crash;
    struct run_job *job;
    struct run_silence silence;
    struct run_progress now;
    long long events_at;
    char *part; /* of a line that is not complete yet */
    size_t part_size;
    char told[1024]; /* the same, of the launcher's reports */
    size_t told_size;
    long long *printed;      /* [ranks][2]: bytes of DIR/output that were printed */
    int printed_fd;          /* where that is kept (printed.c) */
    struct metrics *metrics; /* with --metrics, and when they are due */
    double metrics_at;
    bool warned;              /* by Slurm, on some node */
    bool leaving;             /* we asked the job for a checkpoint and to stop */
    bool *said;               /* [ranks]: that it has ended, in this launch */
    double *unfinished_since; /* the same: since when a line without an end stands there; 0 */
    bool ending;
    bool unprinted;  /* some of the output could not be written to standard output */
    bool unread;     /* nobody reads it, and the job is to end */
    bool blocked[2]; /* nobody reads standard output, or error, for now */
    int turn[2];     /* whose output comes first */
    struct run_interval interval;
    mend_version_t *written; /* [ranks]: the newest version that the rank has on disk; -1: none */
    mend_version_t on_disk;  /* the same, of all ranks: what a relaunch resumes from */
    double torn_at;          /* the failure that a launch is to mend; 0: none */
    bool line_shown;         /* the status line is on the terminal */
    ino_t mark;              /* DIR/running, as it was at the start */
    double looked_at;        /* when we last checked that it is still there */
    int missed;              /* consecutive times that it was not */
};

/* interval.c: how long until the next version (--every), at each level. */
void interval_begin(struct run_follower *f);
/* A version was saved at this level, from began to ended; global: in the background. */
void interval_saved(struct run_follower *f, const char *level, mend_version_t version, double began,
                    double ended);
void interval_fetched(struct run_follower *f); /* a version, from another level than memory */
/* A failure was survived, in place or (relaunched) by a new launch. */
void interval_failed(struct run_follower *f, bool relaunched, double failed, double resumed);
void interval_tell(struct run_follower *f); /* tell the ranks */

/* The last line. */
void run_summary(const struct run_follower *f, int launches, double seconds, int code, bool json);
/* The file of --metrics; not more often than every ten seconds, unless it is the last time. */
void follow_metrics(struct run_follower *f, bool last);
void printed_begin(struct run_follower *f);
void printed_note(struct run_follower *f, int rank, int stream);
void printed_end(struct run_follower *f);

/* Read our own launcher's reports from the descriptor `report` (reports.c). */
void follow_reports(struct run_job *job, struct run_follower *f, int report);

void follow_begin(struct run_follower *f, struct run_job *job);
void follow_attempt(struct run_follower *f); /* a new launch: no rank has a process yet */
void follow(struct run_follower *f);         /* print what is new, look at the events */
void follow_output(struct run_follower *f);  /* print what is new */
void follow_events(struct run_follower *f);  /* look at the events */
/* ends.c: read how ranks ended from DIR/ends */
void follow_ends(struct run_follower *f);
const char *crash_name(int signal);
void follow_wipe_line(struct run_follower *f); /* the status line */
void follow_status(struct run_follower *f);    /* the status line, on a terminal */
/* The state of a process as /proc/PID/stat has it; 0: there is none. */
char follow_state(pid_t pid);
/* A process died before all had passed MPI_Init: the others would wait for it forever. */
bool follow_stillborn(struct run_follower *f);
bool follow_fell(const struct run_follower *f); /* the same, of a launch that is over */
/* The launcher hangs: all ranks are dead, or, in a job that is not repaired in place, one of them. It does not hang while
 * it prints. */
bool follow_deserted(struct run_follower *f);
/* A recovery does not end: a rank never came to it (it is stopped, or its MPI library waits). */
bool follow_stuck(const struct run_follower *f);
/* Look for ranks that do not answer. True: relaunch the job because of one. */
bool silence_look(struct run_follower *f);
void silence_attempt(struct run_follower *f);
void silence_playing(struct run_follower *f, int rank, pid_t pid);
void silence_heard(struct run_follower *f, int rank, double seconds, const char *how);
void silence_answers(struct run_follower *f, int rank);
void silence_end(struct run_follower *f);
/* DIR was removed, with the output, the versions and the records that restore files. The ranks may make files there
 * meanwhile, so that some of it is left: DIR/running, which they never touch, tells. */
ino_t follow_mark(const struct run_follower *f); /* 0: it is gone */
bool follow_lost(struct run_follower *f);
void follow_replaced(struct run_follower *f);
void follow_torn_down(struct run_follower *f); /* it will be launched again */
/* The job will not be relaunched: print what its ranks have printed since the last version. */
void follow_last_words(struct run_follower *f);
void follow_end(struct run_follower *f);
#endif
