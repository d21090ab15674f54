/* Finding Mend's own files and the MPI launchers; running a child with a time limit. */
#ifndef MEND_TOOL_LAUNCH_H
#define MEND_TOOL_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

/* The path of one of Mend's files, relative to the running binary: "share/launch/openmpi",
 * "share/mpi", "lib/mend/probe-ulfm". A build folder has the layout of an installed copy. False:
 * there is none. */
bool tool_find_file(const char *name, char *path, size_t size);

/* The path of a program on $PATH; false if there is none. */
bool tool_find_program(const char *name, char *path, size_t size);

/* An argument list under construction; bounded, NULL-terminated, owns its strings. */
enum { TOOL_ARGUMENTS_MAX = 256 };
typedef struct tool_arguments {
    char *list[TOOL_ARGUMENTS_MAX + 1];
    int count;
} tool_arguments;

/* False when there is no room or memory. */
bool tool_add(tool_arguments *arguments, const char *word);
/* The words of share/launch/NAME: one a line, # starts a comment. */
bool tool_add_flags(tool_arguments *arguments, const char *name);
void tool_arguments_free(tool_arguments *arguments);

enum { TOOL_NOT_STARTED = -1, TOOL_TIMED_OUT = -2, TOOL_KILLED = -3 };

/* Run a program with stdin closed; its output (both streams, cut to size-1 bytes) goes to `output`.
 * Returns its exit code or one of the above; after `seconds`, ends it together with its process
 * group. */
int tool_capture(char *const arguments[], double seconds, char *output, size_t size);

#endif
