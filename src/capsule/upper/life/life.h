/* life/life.h - starting and ending MPI in the lower half, for sessions. */
#ifndef CAPSULE_LIFE_H
#define CAPSULE_LIFE_H
#include "core/core.h"
#pragma GCC visibility push(hidden)

int session_begins(int required, int *provided); /* the first call is collective */
void session_ends(void);

#pragma GCC visibility pop
#endif
