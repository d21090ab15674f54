/* Decides which process plays which rank from now on. This is pure arithmetic on the cards of all living processes:
 * every process computes the same plan, so nobody has to send it. There is no MPI here. */
#ifndef PROCESS_SEATING_H
#define PROCESS_SEATING_H

#include <stdbool.h>
#include <stdint.h>

/* How often one repair tries to spawn. Open MPI may fail an attempt because notice of a death, or a revoke, arrives
 * late, and the next attempt succeeds. */
enum { PLAN_POLICIES = 4, PLAN_SPAWN_ATTEMPTS = 3 };

/* A process shows this to the others in a meeting. It is sent as bytes. */
struct mend_meeting_card {
    int32_t rank;           /* the rank it plays; -1: a spare or a newcomer */
    int32_t generation;     /* the last one it was part of; -1: none */
    int32_t size;           /* of the resilient communicator at that time */
    int32_t born;           /* the generation in which it took its rank */
    int32_t settled;        /* the last generation in which its data was right; -1: never */
    int32_t domain;         /* failure domain */
    int32_t seat;           /* rank in the initial communicator; -1: spawned later */
    int32_t passed;         /* it saw that all ranks came to finalize */
    int32_t spawn_failures; /* how often spawning failed in this repair */
    int32_t builders;       /* how many it has */
    int32_t rules;          /* hash of the options that must be equal */
    int32_t refused;        /* it cannot continue with these options (start only) */
    uint64_t nonce;         /* a random number, for unique names */
};

/* Policies in the order to try, as in mend_policy; 0 ends the list. */
struct mend_seating_rules {
    int order[PLAN_POLICIES];
    int (*keep_apart)(int rank, int size, void *arg);
    void *keep_apart_arg;
};

enum mend_seating_action {
    PLAN_RESUME,   /* continue as `player` says */
    PLAN_SPAWN,    /* make `spawn` new processes first, then meet again */
    PLAN_FINISHED, /* all ranks came to finalize */
    PLAN_STOP,     /* no allowed policy can repair this */
    PLAN_MISMATCH, /* the options differ between processes */
    PLAN_REFUSED   /* a process cannot continue (start only) */
};

struct mend_seating {
    enum mend_seating_action action;
    int policy;     /* the last one needed; 0: none */
    int generation; /* the new one */
    int size;       /* of the resilient communicator */
    int spares;     /* how many are left */
    int spawn;
    int builders; /* how many builders all processes have */
    int veteran;  /* a process that knows the last generation; -1: none */
    bool newcomers;
    int *player;    /* [size] process that plays each rank */
    int *old_rank;  /* [size] the rank's number in the last generation, by new rank */
    bool *replaced; /* [size] the rank's process may lack its data */
    int n_failed;
    int *failed; /* ranks that died, by their old numbers */
    /* Spares in the same domain as the copy of their rank, for lack of others. */
    int n_too_close;
};

/* `domains` has the failure domain of each rank of the last generation. 0, or -1: no memory. Free the plan with
 * mend_seating_clear. */
int mend_seating_make(struct mend_seating *plan, const struct mend_meeting_card *cards, int n,
                      const int *domains, const struct mend_seating_rules *rules);
void mend_seating_clear(struct mend_seating *plan);
const char *mend_seating_policy_name(int policy);

#endif
