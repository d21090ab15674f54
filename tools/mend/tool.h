/* What all subcommands share. Exit codes: 0 ok, 1 the job or check failed, 2 wrong use,
 * 3 the job was stopped after a checkpoint, on request. */
#ifndef MEND_TOOL_H
#define MEND_TOOL_H

#include <stdio.h>
#include <stdlib.h>

enum { TOOL_OK = 0, TOOL_FAILED = 1, TOOL_WRONG_USE = 2, TOOL_STOPPED = 3 };

#define COMMAND(name, summary) int mend_cmd_##name(int argc, char **argv);
#include "commands.def"
#undef COMMAND

/* "mend NAME: sentence" to stderr, and a pointer to --help; returns TOOL_WRONG_USE. */
int tool_wrong_use(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same for an option's value: what the option needs, as "auto, or a time such as 2s". */
int tool_wrong_value(const char *command, const char *option, const char *value, const char *needs);
/* "mend NAME: sentence" to stderr; returns TOOL_FAILED. */
int tool_failed(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Print it to stdout on one line, and free it. Returns an exit code; NULL, or no memory for the text, is a failure. */
struct json_t;
int tool_print_json(const char *command, struct json_t *json);

/* Return freshly allocated memory. If it is NULL, print a message and exit. A job that mend run has started is ended first
 * (run/launches.c). */
static inline void *tool_need(void *memory)
{
    if (!memory) {
        fputs("mend: no memory is left\n", stderr);
        exit(TOOL_FAILED);
    }
    return memory;
}

#endif
