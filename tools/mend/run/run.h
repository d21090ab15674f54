/* Inside `mend run`: the job that the command line asks for (options.c, levels.c), its folder (folder.c), its launches
 * (launches.c). Rooms, each knows those named before it: check/ (can it run at all?), start/ (starts the launcher),
 * follow/ (watches the job while it runs). */
#ifndef MEND_TOOL_RUN_H
#define MEND_TOOL_RUN_H

#include "session.h"
#include "slurm/slurm.h"

#include <image/image.h>
#include <mend/types.h>

#include <stdbool.h>
#include <stddef.h>

struct run_job {
    int ranks, spares, retries;
    bool online, raw, quiet, automatic, resume, detach, full;
    int refill;          /* new processes in place of spares that were used; -1: not set */
    mend_version_t from; /* resume this version; -1: the newest */
    double every;        /* seconds between versions */
    double mtbf;         /* the user's estimate, for --every auto; 0: not set */
    double share;        /* of the time that versions may then take */
    double patience;     /* seconds that a recovery may take */
    double hang_timeout; /* seconds until we replace a rank that does not answer; 0: never */
    /* levels: every so many versions, 0: not used */
    const char *levels;
    int partner_every, local_every, erasure_every, disk_every, erasure_k, erasure_m;
    bool local_fixed, erasure_fixed, disk_fixed; /* by the user: the planner leaves them alone */
    const char *local_dir;
    char id[MEND_JOB_ID];    /* random; also names this job's node-local files */
    mend_image_job identity; /* what its images and logs carry */
    const char *build; /* of the program when the job began, from job.json; NULL: it begins now */
    const char *abi;   /* that it was built for, from there; NULL: not known, or it begins now */
    bool rebuilt;      /* the user knows that the program is another one now */
    bool from_start;   /* put the versions aside */
    const char *mpi;   /* openmpi or mpich */
    char dir[4096];
    char input[4096]; /* a file; "": a pipe, a terminal, nothing */
    long input_at;
    const char *host, *hostfile, *launcher_args;
    /* "mpirun"; "mend": our own, see src/launcher; else our own, and this command starts it on other machines */
    const char *launcher, *bind, *interface;
    double node_timeout; /* seconds of silence; 0: not set */
    struct slurm_allocation slurm;
    bool placed;         /* nodes and launcher are those of Slurm's allocation */
    const char *metrics; /* a file for Prometheus; NULL: none */
    double stop_before;  /* seconds before the allocation ends; 0: not; < 0: not set */
    const char *add;     /* machines for the job that runs in dir; NULL: this starts a job */
    char *avoid;         /* nodes that were lost, with commas; NULL: none */
    char **program;      /* and its arguments, NULL at the end */
    /* the present launch (start/launch_job.c) */
    char meeting[40];           /* its name, in the job's events; "": none yet */
    char session[SESSION_PATH]; /* mpirun's folder; "": none */
};

extern const char run_help[];
/* The command line; an exit code. */
int run_options(struct run_job *job, bool *json, int argc, char **argv);
int run_parse_levels(struct run_job *job, const char *text); /* an exit code */
bool run_parse_share(const char *text, double *share);       /* "1%", "0.5 %" */
/* Launch the job until it has ended: an exit code. */
int run_launches(struct run_job *job, bool json);

/* Does our own launcher start it, not mpirun? */
bool run_is_ours(const struct run_job *job);

/* add.c: machines for a job that runs */
int run_add_hosts(const struct run_job *job); /* mend run --add: an exit code */
void run_added_path(const char *dir, char *path, size_t size);
long long run_added_size(const struct run_job *job);
bool run_has_terminal(void);
/* SIGHUP came: does it mean that the terminal is gone, or that the host file has changed? */
bool run_is_hung_up(const struct run_job *job, bool had_terminal);

int run_detach(const struct run_job *job); /* -1 in the process that continues, else an exit code */
int run_prepare_folder(struct run_job *job);     /* locks it, or reports why not */
bool run_has_version(const struct run_job *job); /* complete, in its folder */
int run_job_write(const struct run_job *job, const char *state);
/* Free the disk space that is reserved for the last records of a job whose disk is full. */
void run_reserve(const struct run_job *job);
void run_release(const struct run_job *job);
#endif
