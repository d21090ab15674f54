/* online/meeting.h - the job as its processes know it, and the meeting that decides what each of them plays.
 */
#ifndef CAPSULE_ONLINE_MEETING_H
#define CAPSULE_ONLINE_MEETING_H
#include "online/plan.h"

extern struct job {
    int world_size;                /* of the application */
    int rank;                      /* played by this process; -1: spare */
    mend_version_t version;        /* newest checkpoint; 0: the beginning */
    mend_version_t copied_version; /* the newest that partners have, too */
    int finished;                  /* the application has called MPI_Finalize */
    int began_mpi;                 /* it has called MPI_Init */
    MPI_Comm base;                 /* all live processes, including spares */
    MPI_Comm control;              /* the processes of online.world, for our own messages */
    int argc;                      /* of the application */
    char **argv;
    struct plan plan;
    int took_in;         /* this meeting has a new process */
    int unsure;          /* whether all have agreed that the job has finished */
    struct context back; /* to the application that finishes */
} job;

/* Meets until a meeting succeeds. Returns only if the application has finished. */
void meet(void);
#endif
