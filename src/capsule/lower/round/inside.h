/* round/inside.h - internal to the agent: its state, and what its files call from each other. Hold the lock,
 * unless stated otherwise. */
#ifndef CAPSULE_ROUND_INSIDE_H
#define CAPSULE_ROUND_INSIDE_H
#include "round/agent.h"

#include <pthread.h>

extern struct agent {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_mutex_t hanging_up; /* held to close the socket, or to shut it down */
    pthread_t thread;
    int running, socket, wake;
    struct upper *upper;
    uint32_t round;
    enum stop_phase phase;
    int stop_wanted; /* as soon as the GPU has been taken */
    int gpu_asked;
    double gpu_since, gpu_wait; /* for the next look whether the program uses one */
    int gpu_known,
        gpu_tried; /* rank 0: it does, and the driver can save it; an early checkpoint was requested */
    double gpu_told;     /* when we told the coordinator that the GPU keeps this rank busy */
    int stopped;         /* the rank is in stop_now() */
    uint32_t stop_round; /* the round for which it came there */
    int polls;           /* since then */
    int counts_sent, drained, drained_sent, saved, saved_sent, captured, captured_sent;
    int64_t save_code;
    uint64_t save_bytes, save_microseconds;
    mend_version_t save_version;
    struct control_save save;
    enum stop_command command;
    int64_t expected;            /* messages sent to this rank; -1: not known yet */
    int64_t *told;               /* messages to each rank, as last reported */
    struct control_clocks *last; /* the last report, at these turns of the application's loops */
    size_t last_bytes;
    unsigned turns;
    int leaving;
    volatile int requested, ending;
} agent;

/* --- agent.c --- */
void agent_wake(void);                       /* from any thread, by a raw system call */
void agent_set_phase(enum stop_phase phase); /* and shows it to the application */

/* --- report.c: to the coordinator --- */
void report_all(void);  /* everything that is new */
void report_save(void); /* this rank's image, once it is written */
void report_take_result(const struct snapshot_result *r); /* of an image, for that report */

/* --- connect.c --- */
int connect_to_coordinator(const struct control_address *address); /* -1: it cannot be reached */
#endif
