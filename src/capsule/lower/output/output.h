/* output/output.h - what the application prints, and how it ends itself. */
#ifndef CAPSULE_OUTPUT_H
#define CAPSULE_OUTPUT_H
#include "ground/ground.h"

/* --- output.c: holds output back until it cannot be rolled back --- */
int output_is_held(void); /* in this job */
void output_open(const char *dir);
void output_resume(const uint64_t printed[2]);
void output_play(int rank); /* this process plays that rank from now on */
void output_start(void);    /* ... from its very beginning */
long output_write(int fd, const char *bytes, size_t count); /* from the trap handler */
void output_commit(void); /* nothing written so far will be rolled back */
int output_direct(void);  /* stop holding back; 0: some could not be written */
int output_last(void);    /* save held-back output for `mend run`: this may be the end; 0: failed */
int output_end(void);     /* the same: this is the end */
/* For a capture: save held-back output and its end (aside); its version is complete (settle); it is resumed
 * (take_back). */
int output_aside(int capture, uint64_t mark[2]);
void output_settle(int capture, const uint64_t mark[2]);
void output_take_back(int capture);
struct output_state {
    uint64_t from[2], to[2]; /* bytes held back, by number: standard output, standard error */
};
struct output_state output_state(void);
const char *output_bytes(int stream);
void output_restore(const struct output_state *state, const char *out, const char *err);
/* --- ended.c: the program ends itself --- */
void ended_watch(void);
void ended_by_exit(int code);
int ended_output(void);
void ended_well(void);
void ended_left(void);
void ended_lend_pointer(void);  /* to the MPI library's crash handlers */
void ended_watch_crashes(void); /* save what the program printed before a crash */
#endif
