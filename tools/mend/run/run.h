/* Inside `mend run`: what was asked for (run.c), its folder (run_folder.c), how it is launched (run_launch.c), what it says
 * while it runs (run_follow.c). */
#ifndef MEND_TOOL_RUN_H
#define MEND_TOOL_RUN_H

#include <mend/plan.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct run_job {
    int ranks, spares, retries;
    bool online, raw, quiet, automatic, resume;
    long from;       /* resume this version; -1: the newest */
    double every;    /* seconds between versions */
    double mtbf;     /* believed, for --every auto */
    double patience; /* seconds that a recovery may take */
    /* levels: every so many versions, 0: not used */
    const char *levels;
    int partner_every, local_every, erasure_every, disk_every, erasure_k, erasure_m;
    const char *local_dir;
    char id[32];     /* names this job's node-local files */
    const char *mpi; /* openmpi or mpich */
    char dir[4096];
    char input[4096]; /* a file; "": a pipe, a terminal, nothing */
    long input_at;
    const char *host, *hostfile, *launcher_args;
    char **program; /* and its arguments, NULL at the end */
};

/* How far the job is, read from its events. */
struct run_progress {
    long version, exited, left, playing, failures, recoveries, restarts;
    double version_at, last_recovery, last_failure, checkpoint_seconds, longest_recovery;
    bool gave_up, ended_by_program, refused;
    bool windows;        /* it gave up because of them */
    bool resumed;        /* a version that mend restart may have chosen */
    double repair_since; /* the first notice of a failure that is not mended yet; 0: none */
    int ended_rank;
    char ended_how[16];
    int program_code;
    double every; /* in force */
    pid_t *born;  /* processes of this launch on this machine, and how many are through MPI_Init */
    bool *past;   /* [born_count]: it has ended */
    int born_count, started;
    double last_born;
    bool elsewhere;        /* some of them are on another machine (by --launcher-args) */
    double deserted_since; /* all of them are dead, or have given up; 0: not so */
};

struct run_follower {
    const struct run_job *job;
    struct run_progress now;
    long long events_at;
    char *part; /* of a line that is not whole yet */
    size_t part_size;
    long long *printed; /* [ranks][2]: bytes of DIR/output that were printed */
    bool *said;         /* [ranks]: that it has ended, in this launch */
    int *waited;        /* the same: calls since an unfinished line stands there */
    bool ending;
    mend_plan_online planner; /* with --every auto */
    bool planning;
    bool core_to_spare; /* for what is done in the background */
    long last_global;   /* version */
    double torn_at;     /* the failure that a launch is to mend; 0: none */
    bool line_shown;    /* the status line is on the terminal */
    ino_t folder;       /* DIR, as it was at the start */
    double looked_at;   /* whether it is still there */
    int missed;         /* times in a row that it was not */
};

/* The launcher's command line, ended by NULL; false with a sentence in mend_error_text(). */
bool run_command(const struct run_job *job, bool resume, char ***command);
pid_t run_start(char **command, bool mixed); /* mixed: its output and the program's are one */
/* End the launcher and what is left of its ranks. */
void run_end(pid_t launcher);
void run_adopt(void); /* processes that lose their launcher become ours */
void run_clear(void); /* end what is left of a launch */

void follow_begin(struct run_follower *f, const struct run_job *job);
void follow_attempt(struct run_follower *f); /* a new launch: nobody plays yet */
void follow(struct run_follower *f);         /* print what is new, look at the events */
void follow_status(struct run_follower *f);  /* the status line, on a terminal */
/* A process died before all were through MPI_Init: the others wait for it for ever. */
bool follow_stillborn(const struct run_follower *f);
/* Nobody is left but the launcher. */
bool follow_deserted(struct run_follower *f);
/* A recovery does not end: a rank never came to it (it is stopped, or its MPI library waits). */
bool follow_stuck(const struct run_follower *f);
/* DIR was removed: output, versions and what is needed to put files back went with it. */
bool follow_lost(struct run_follower *f);
void follow_replaced(struct run_follower *f);
void follow_torn_down(struct run_follower *f); /* it will be launched again */
/* The job does not come back: print what its ranks had printed since the last version. */
void follow_last_words(struct run_follower *f);
void follow_end(struct run_follower *f);

int run_prepare_folder(struct run_job *job); /* takes it, or says why not */
int run_job_write(const struct run_job *job, const char *state);
#endif
