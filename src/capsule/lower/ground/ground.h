/* ground/ground.h - the ground that all rooms of the lower half stand on. */
#ifndef CAPSULE_GROUND_H
#define CAPSULE_GROUND_H
#include "border/border.h"

extern struct lower lower; /* mpi/functions.c */
extern struct ground {
    size_t page_size;
    int main_tid;     /* the thread that runs the application's main() */
    int recovering;   /* this job repairs itself; set by recover_main */
    uint64_t job_sum; /* identifies the job in its logs; 0: no job */
} ground;

#define ROUND_UP(x, a)   (((uintptr_t)(x) + (a) - 1) & ~((uintptr_t)(a) - 1))
#define ROUND_DOWN(x, a) ((uintptr_t)(x) & ~((uintptr_t)(a) - 1))

/* Print one sentence on stderr and end the process. */
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

double seconds_now(void);

/* --- standard.c: standard input, output and error as the launcher has given them --- */
void standard_keep(void); /* before anything else opens a file */
void standard_again(void);
int standard_is(int fd); /* 0, 1, 2: fd is that one, or a copy; -1: neither. By raw system calls */

enum { MOST_THREADS = 8 };
/* How many threads may work on this many bytes while that many ranks do the same. */
int threads_for(uint64_t bytes, uint64_t ranks);

/* 1: `mend run` launches the job again after a failure. (ground.recovering: the job repairs itself.) */
int relaunch_active(void);

/* The upper half will be replaced: round/agent.c forgets it and waits for nobody. */
void agent_abandon(void);
void recover_ended(int code); /* the application ends */
/* For a thread of the application that waits outside the MPI library: leaves for a recovery if a rank has died. */
void recover_look(void);
#endif
