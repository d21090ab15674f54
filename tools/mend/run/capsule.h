/* Where the capsules are, and what a job's folder says of itself. */
#ifndef MEND_TOOL_CAPSULE_H
#define MEND_TOOL_CAPSULE_H
#include <stdbool.h>
#include <stddef.h>

/* lib/mend/capsule.MPI beside this command, or in the build. */
bool capsule_find(const char *mpi, char *path, size_t size);
#endif
