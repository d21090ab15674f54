/* ground/ground.h - what all rooms of the lower half stand on. */
#ifndef CAPSULE_GROUND_H
#define CAPSULE_GROUND_H
#include "border/border.h"

extern struct lower lower; /* mpi.c */
extern struct ground {
    size_t page_size;
    int main_tid;     /* the thread that runs the application's main() */
    int recovering;   /* the job repairs itself: set by recover_main */
    uint64_t job_sum; /* of the job, in its logs; 0: of none */
} ground;

#define ROUND_UP(x, a)   (((uintptr_t)(x) + (a) - 1) & ~((uintptr_t)(a) - 1))
#define ROUND_DOWN(x, a) ((uintptr_t)(x) & ~((uintptr_t)(a) - 1))

/* One sentence on stderr, and the end of the process. */
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

double seconds_now(void);
/* How the job survives failures: it repairs itself (ground.recovering), or mend run launches it again. */
int relaunch_active(void);

/* The upper half will be replaced: round/agent.c forgets it and waits for nobody. */
void agent_abandon(void);
void recover_ended(int code); /* the application ends; tells if it did so without MPI_Finalize */
#endif
