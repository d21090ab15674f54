/* round/due.h - which levels a version is written to besides memory.
 *
 * Without a plan every rank knows it from the version's number (every n-th). With one (`mend run --every auto`) the
 * coordinator decides by the clock, and its order to save carries the answer: all ranks write the same levels, whatever
 * each of them has read.
 */
#ifndef CAPSULE_DUE_H
#define CAPSULE_DUE_H
#include <stdint.h>

/* What a plan may speak of: memory and partner are there at every version. */
enum due_level { DUE_LOCAL, DUE_ERASURE, DUE_GLOBAL, DUE_LEVELS };
/* Bits of an order: 1 << level for "the plan speaks of this level" and, shifted by DUE_NOW, for "it is due now". */
enum { DUE_NOW = 16 };

/* DIR/every has changed, or has not: the time between versions, and between versions of each level. */
void due_follow_plan(double now);
/* The levels of an order to save, now. */
uint64_t due_levels(double now);
/* That order was carried out everywhere. */
void due_saved(uint64_t levels, double now);
/* One level's part of an order: 1 it is due, 0 it is not, -1 the plan does not speak of it. */
int due_at(uint64_t levels, enum due_level level);
#endif
