/* What all subcommands share. Exit codes: 0 ok, 1 the job or check failed, 2 wrong use,
 * 3 the job was stopped after a checkpoint, as somebody had asked. */
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
/* "mend NAME: sentence" to stderr; returns TOOL_FAILED. */
int tool_failed(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* To stdout, on one line, and freed. An exit code: NULL, or no room for the text, is a failure. */
struct json_t;
int tool_print_json(const char *command, struct json_t *json);

/* Pass on memory that was just allocated; if there is none, print a message and exit: no job has started yet. */
static inline void *tool_need(void *memory)
{
    if (!memory) {
        fputs("mend: no memory is left\n", stderr);
        exit(TOOL_FAILED);
    }
    return memory;
}

#endif
