/* life/life.h - the beginning and the end of MPI below, for sessions. */
#ifndef CAPSULE_LIFE_H
#define CAPSULE_LIFE_H
#include "core/core.h"
#pragma GCC visibility push(hidden)

int session_begins(int required, int *provided); /* the first call of a process: by all ranks */
void session_ends(void);

#pragma GCC visibility pop
#endif
