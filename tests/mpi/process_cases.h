/* What the cases of process_cases have in common, and those that are in files of their own. */
#ifndef PROCESS_CASES_H
#define PROCESS_CASES_H
#include "process_test.h"

#include <base/event.h>

static inline mend_process *start(mend_process_options options)
{
    mend_process *p = NULL;
    options.spares = test_spares();
    EXPECT(mend_process_open(MPI_COMM_WORLD, &options, &p) == 0);
    return p;
}

/* Work that proves that all are there: the sum of all ranks, some times. */
static inline void add_up(MPI_Comm comm, int times)
{
    int rank, size, sum;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < times; i++) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        EXPECT(sum == size * (size - 1) / 2);
    }
}

static inline void finish(mend_process *p)
{
    int rank = mend_process_state(p)->rank;
    EXPECT(mend_process_close(p) == 0);
    if (rank == 0)
        test_pass();
}

static const mend_process_options jump = {.resume = MEND_RESUME_JUMP};

/* process_cases_comms.c */
void derived(const char *kind);
void making(const char *kind);
void callbacks(void);
void in_callback(void);
void builders(void);
int build_pairs(MPI_Comm comm, MPI_Comm *made, void *arg);
void requests(void);
/* process_cases_hang.c */
void stopped(void);
void watchdog(void);
void watchdog_away(void);
#endif
