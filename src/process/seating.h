/* Who plays which rank from now on. Pure arithmetic on the cards of all living processes: every
 * process computes the same plan, so nothing has to be sent. No MPI in here. */
#ifndef PROCESS_SEATING_H
#define PROCESS_SEATING_H

#include <stdbool.h>
#include <stdint.h>

/* Spawning is tried so often in one repair: Open MPI may fail an attempt because news of a death, or a revoke, comes
 * late, and the next one succeeds. */
enum { PLAN_POLICIES = 4, PLAN_SPAWN_ATTEMPTS = 3 };

/* What a process tells the others in a meeting. Sent as bytes. */
struct mend_meeting_card {
    int32_t rank;           /* it plays; -1: a spare or a newcomer */
    int32_t generation;     /* the last one it was part of; -1: none */
    int32_t size;           /* of the resilient communicator then */
    int32_t born;           /* generation in which it took its rank */
    int32_t settled;        /* last generation in which its data was right; -1: never */
    int32_t domain;         /* failure domain */
    int32_t seat;           /* rank in the communicator of the start; -1: spawned later */
    int32_t passed;         /* saw that all ranks came to finalize */
    int32_t spawn_failures; /* how often spawning was tried in this repair, in vain */
    int32_t builders;       /* how many it has */
    int32_t rules;          /* hash of the options that must be equal */
    int32_t refused;        /* this process cannot go on with what was asked (start only) */
    int32_t hall;           /* enum mend_hall_state of its own */
    uint64_t nonce;         /* a random number, to name things after */
};

/* Policies in the order they are tried, as in mend_policy; 0 ends the list. */
struct mend_seating_rules {
    int order[PLAN_POLICIES];
    int (*keep_apart)(int rank, int size, void *arg);
    void *keep_apart_arg;
};

enum mend_seating_action {
    PLAN_RESUME,   /* go on as `player` says */
    PLAN_SPAWN,    /* make `spawn` new processes first, then meet again */
    PLAN_FINISHED, /* all ranks came to finalize */
    PLAN_STOP,     /* no allowed policy can repair this */
    PLAN_MISMATCH, /* the options differ between processes */
    PLAN_REFUSED   /* some process cannot go on (start only) */
};

struct mend_seating {
    enum mend_seating_action action;
    int policy;     /* the last one that was needed; 0: none */
    int generation; /* of the new one */
    int size;       /* of the resilient communicator */
    int spares;     /* left */
    int spawn;
    int builders; /* how many of them all processes have */
    int veteran;  /* a process that knows the last generation; -1: none */
    bool newcomers;
    int *player;    /* [size] process that plays each rank */
    int *old_rank;  /* [size] its number in the last generation, by new rank */
    bool *replaced; /* [size] its process may lack its data */
    int n_failed;
    int *failed; /* ranks that died, old numbers */
    /* Spares that share a domain with the copy of their rank, for want of others. */
    int n_too_close;
};

/* `domains` has the failure domain of each rank of the last generation. NULL on want of memory is
 * reported as -1, else 0. Free with mend_seating_clear. */
int mend_seating_make(struct mend_seating *plan, const struct mend_meeting_card *cards, int n,
                      const int *domains, const struct mend_seating_rules *rules);
void mend_seating_clear(struct mend_seating *plan);
const char *mend_seating_policy_name(int policy);

#endif
