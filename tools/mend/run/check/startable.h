#ifndef MEND_TOOL_STARTABLE_H
#define MEND_TOOL_STARTABLE_H

#include <stdbool.h>

/* TOOL_OK, or TOOL_FAILED and a sentence why it cannot start. elsewhere: it is started on other machines, and need not be
 * on this one. */
int startable_check(const char *name, bool elsewhere);

#endif
