#ifndef MEND_TOOL_STARTABLE_H
#define MEND_TOOL_STARTABLE_H

#include <stdbool.h>

/* TOOL_OK, or TOOL_FAILED and a message with the reason. elsewhere: the program runs on other machines, and may
 * be missing on this one. */
int startable_check(const char *name, bool elsewhere);

#endif
