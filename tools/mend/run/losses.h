/* What a job lost on its way: work that was done again, and levels that could not be written. */
#ifndef MEND_RUN_LOSSES_H
#define MEND_RUN_LOSSES_H

#include <mend/types.h>
#include <stdbool.h>
#include <stdio.h>

enum { LOSSES_VERSIONS = 256, LOSSES_LEVELS = 8 };

struct run_losses {
    double began; /* the first event; 0: none yet */
    struct {
        mend_version_t version;
        double at;
    } saved[LOSSES_VERSIONS]; /* a ring of the newest */
    long count;
    double again;    /* seconds of work that were done again */
    long from_start; /* recoveries that found no version */
    struct {
        char name[16];
        long failures;
    } level[LOSSES_LEVELS];
};

void losses_saved(struct run_losses *l, mend_version_t version, double at);
/* The job went back at `failed` to `version`; 0: to its beginning. */
void losses_rollback(struct run_losses *l, mend_version_t version, double failed);
/* A level could not be written. True: for the first time. */
bool losses_level(struct run_losses *l, const char *name);
/* ", 1.2 s of work done again", ", level global failed 3 times": for the summary. */
void losses_print(const struct run_losses *l, FILE *to);

#endif
