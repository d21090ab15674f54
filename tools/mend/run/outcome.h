/* How a launch, or the whole job, has ended. */
#ifndef MEND_TOOL_RUN_OUTCOME_H
#define MEND_TOOL_RUN_OUTCOME_H

#include "follow/follow.h"

enum outcome {
    DONE,
    FAILED_BY_PROGRAM,
    TORN_DOWN,
    STILLBORN, /* a process died inside MPI_Init */
    STOPPED,   /* by a signal to this command */
    LEFT,      /* after a checkpoint, on request */
    REFUSED,
    CRASHED_AGAIN, /* at the same place: the program's own error */
    OUTPUT_LOST,   /* the program has ended, but its last output could not be written */
    FOLDER_LOST
};

struct run_end {
    enum outcome outcome; /* of the last launch */
    int code;             /* of the program, or of its launcher */
    int launches;
    double began;    /* the first of them */
    int stop_signal; /* STOPPED: by this one */
};

/* Signals to this command, from now on. */
void run_catch_signals(void);
int run_stop_signal(void); /* the one that ends the job; 0: none came */

/* This launcher must not outlive us; 0: it has ended. */
void run_launched(pid_t launcher);

/* One launch. It ends when every rank has finished, the launcher is gone, or a signal came. */
enum outcome run_launch(struct run_follower *f, char **command, int *code);

/* Is there a version that another launch can resume from? */
bool run_can_resume(const struct run_follower *f);

/* Record the end of the job and report it. Returns an exit code. */
int run_outcome(struct run_follower *f, const struct run_end *end, bool json);

#endif
