/* What the kernel, or a container's profile, lets processes of ours do: without some system calls the capsule cannot hold
 * an unmodified program. */
#ifndef MEND_TOOL_FILTERS_H
#define MEND_TOOL_FILTERS_H

/* The first such call that is refused, and why (an errno); NULL: none. They are tried in a child. "seccomp": processes may
 * not install filters. */
const char *filters_denied(int *error);
/* TOOL_OK, or TOOL_FAILED with a message from `command`. */
int filters_check(const char *command);

#endif
