/* output/output.h - what the application prints, and that it ends itself. */
#ifndef CAPSULE_OUTPUT_H
#define CAPSULE_OUTPUT_H
#include "ground/ground.h"

/* --- output.c: what the application prints, held back until it cannot be rolled back --- */
int output_is_held(void); /* in this job */
void output_open(const char *dir);
void output_resume(const uint64_t printed[2]);
void output_play(int rank); /* this process plays that rank from now on */
void output_start(void);    /* ... from its very beginning */
long output_write(int fd, const char *bytes, size_t count); /* from the trap handler */
void output_commit(void); /* everything written so far will not be rolled back */
int output_direct(void);  /* hold back no more; 0: not all could be written */
int output_last(
    void);            /* keep what is held back for `mend run`: this may be the end; 0: could not */
int output_end(void); /* the same: this is the end */
/* Of a capture: keep what is held back, tell where it ends; its version is complete; it is resumed. */
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
void ended_lend_pointer(void);  /* to the MPI library's handlers of crashes */
void ended_watch_crashes(void); /* keep what the program printed before one */
#endif
