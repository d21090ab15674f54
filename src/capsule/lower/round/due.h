/* round/due.h - the levels that a version is written to besides memory.
 *
 * Without a plan every rank derives them from the version's number (every n-th). With one (`mend run --every
 * auto`) the coordinator decides by the clock, and its order to save carries the answer: all ranks write the
 * same levels, whatever each of them has read.
 */
#ifndef CAPSULE_DUE_H
#define CAPSULE_DUE_H
#include <stdint.h>

/* The levels that a plan may mention: memory and partner do not depend on it. */
enum due_level { DUE_LOCAL, DUE_ERASURE, DUE_GLOBAL, DUE_LEVELS };
/* Bits of an order: 1 << level for "the plan mentions this level" and, shifted by DUE_NOW, for "it is due
 * now". */
enum { DUE_NOW = 16 };

/* Rereads DIR/every: the time between versions, and between versions of each level. */
void due_follow_plan(double now);
/* The levels of an order to save, now. */
uint64_t due_levels(double now);
/* That order was carried out everywhere. */
void due_saved(uint64_t levels, double now);
/* One level's part of an order: 1: it is due; 0: it is not; -1: the plan does not mention it. */
int due_at(uint64_t levels, enum due_level level);
#endif
