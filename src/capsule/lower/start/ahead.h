/* start/ahead.h - pages made before they are needed; see ahead.c. */
#ifndef CAPSULE_AHEAD_H
#define CAPSULE_AHEAD_H
#include <stddef.h>

void ahead_reserve(size_t bytes); /* so many shall be ready */
int ahead_more(void);             /* makes a part of them; 0: all are there */
/* The private anonymous mapping at `to`, which nobody has written to, gets pages that are ready. 0: there are not so
 * many, and it stays as it is. */
int ahead_take(void *to, size_t bytes);
void ahead_free(void); /* those that are left */
#endif
