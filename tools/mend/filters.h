/* May a process of ours install seccomp filters? The capsule cannot hold an unmodified program without. */
#ifndef MEND_TOOL_FILTERS_H
#define MEND_TOOL_FILTERS_H

/* Tried in a child: 0, or the errno with which the kernel or a container's profile refuses. */
int filters_try(void);
/* TOOL_OK, or TOOL_FAILED with a message from `command`. */
int filters_check(const char *command);

#endif
