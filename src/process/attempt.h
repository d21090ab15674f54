/* One attempt of a meeting (attempt.c), and what the loop around it does with the result (meet.c). */
#ifndef PROCESS_ATTEMPT_H
#define PROCESS_ATTEMPT_H

#include "internal.h"

enum { VOTE_OK = 1, VOTE_MEMORY = 2, VOTE_ALL = 3 };

struct attempt {
    int n, me; /* processes in the base; this one's number */
    struct mend_meeting_card *cards;
    struct mend_seating plan;
    int *domains; /* of the last generation, from a process that knows them */
    MPI_Comm world;
    struct mend_family *family;
    MPI_Comm larger_base;   /* with spawned processes */
    struct mend_hall *hall; /* a new one */
    int vote;
    bool unsure; /* this process has left the vote after its yes */
    double began, shrunk, acted;
};

/* Steps 2 to 6 of meet.c. True: agreed. */
bool mend_attempt(mend_process *p, struct attempt *a);
void mend_attempt_take_hall(mend_process *p, struct attempt *a); /* it was adopted */
void mend_attempt_discard(mend_process *p, struct attempt *a);   /* it failed */
void mend_attempt_clear(struct attempt *a);

/* meet.c: adopt or discard an attempt whose vote this process has left, once all have gathered. True: it was the end, and
 * p->end is its result. */
bool mend_meet_settle_doubt(mend_process *p);

#endif
