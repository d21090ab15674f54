/* Starting the launcher of a job, and ending it with everything that it has started. */
#ifndef MEND_TOOL_RUN_START_H
#define MEND_TOOL_RUN_START_H

#include "run/run.h"

#include <sys/types.h>

struct run_words { /* an argument list */
    char **word;
    int count;
};
void run_add(struct run_words *w, const char *text);
void run_add_option(struct run_words *w, const char *name,
                    const char *value);                    /* unless it is NULL or "" */
void run_add_split(struct run_words *w, const char *text); /* at blanks */
/* The words of share/launch/NAME. */
int run_add_flags(struct run_words *w, const char *name);

/* The launcher's command line, with NULL at its end. False: mend_error_text() says why. */
bool run_command(struct run_job *job, bool resume, char ***command);
/* *report: a descriptor with our own launcher's reports. Negative: errno says why. */
pid_t run_start(const struct run_job *job, char **command, int *report);

/* Our own launcher (node.c, follow/reports.c). */
enum { RUN_REPORT_FD = 3 };
const char *run_usual_launcher(const struct run_job *job); /* if the user named none */
bool run_is_binding(const char *value);                    /* of --bind */
double run_silence_allowed(const struct run_job *job);     /* seconds; then a machine is lost */
bool run_node_command(const struct run_job *job, struct run_words *w);
/* End the launcher and what is left of its ranks. False: it did not end by itself, and was killed. */
bool run_end(const struct run_job *job, pid_t launcher);
/* If standard input is a terminal, the end of a pipe that delivers it; else -1. */
int run_input_start(void);
/* Start a thread that copies everything written to the returned descriptor to standard error, without Open MPI's noise
 * (-1: there is none); and wait for the last of it. */
int run_noise_start(void);
void run_noise_end(void);
/* From begin to end, stderr waits for no reader (errors.c). */
void run_errors_begin(void);
void run_errors_end(void);
/* The same for other bytes. waits: for room, if too many wait already; else they are dropped. */
void run_errors_put(const char *bytes, size_t count, bool waits);
bool run_errors_wait(void);         /* some wait for a reader */
void run_adopt(void);               /* processes that lose their launcher become ours */
void run_clear(void);               /* end what is left of a launch */
void run_tidy(struct run_job *job); /* remove the launcher's folder */
#endif
