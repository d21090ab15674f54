/* `mend run` inside sbatch or salloc.
 *
 *  1. allocation.c  what Slurm has allocated to us, from its variables
 *  2. place.c       ranks, nodes and launcher come from there, unless options say otherwise; and the folder: the k-th
 *                   `mend run` of a program in a job has one folder in all lives of that job, so that a life after a requeue
 *                   resumes what the one before left
 *  3. leave.c       a checkpoint and a stop in time: before the time limit, on SIGTERM, on a warning to a node
 */
#ifndef MEND_TOOL_SLURM_H
#define MEND_TOOL_SLURM_H

#include <stdbool.h>

struct slurm_allocation {
    char job[64]; /* as users write it: 12, or 12_3 for a task of an array; "": we are in none */
    int life;     /* how often the job was requeued */
    int tasks;    /* requested; 0: not set */
    int nodes;
    char *hosts;    /* NAME:SLOTS,…; the caller's */
    double ends_at; /* seconds since 1970; 0: no limit, or not known */
};

/* False: Slurm's variables make no sense; mend_error_text() says why. Without an allocation all fields are empty. */
bool slurm_find(struct slurm_allocation *a);

struct run_job;
struct run_follower;

/* 2. After the command line was read. past->resume: the job of an earlier life waits in job->dir; past->ended: it has ended well
 * there. Returns an exit code. */
struct slurm_past {
    bool resume, ended;
};
int slurm_place(struct run_job *job, struct slurm_past *past);

/* 3. Whether the job has to leave now: it is asked for a checkpoint and to stop, once. `signal`: SIGTERM has come. True: it
 * was asked, now or before. */
bool slurm_leave(struct run_follower *f, bool signal);

#endif
