/* Where the capsules are, and whether a program can use them. */
#ifndef MEND_TOOL_CAPSULE_H
#define MEND_TOOL_CAPSULE_H
#include <stdbool.h>
#include <stddef.h>

/* lib/mend/capsule.MPI beside this command, or in the build. */
bool capsule_find(const char *mpi, char *path, size_t size);
/* TOOL_FAILED, with a message from `command`: the program's C library is too old for the capsule or for our face. */
int program_check(const char *command, const char *name);
#endif
