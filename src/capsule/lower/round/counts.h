/* counts.h - an agent's side of counts.c. */
#ifndef CAPSULE_COUNTS_H
#define CAPSULE_COUNTS_H
#include "round/control.h"

/* What was sent to each and was not told yet; from then on it is. Returns how many of list[ranks] are filled. */
size_t counts_to_tell(const long *sent, int64_t *told, int ranks, struct control_count *list);
int64_t counts_sum(const long *received, int ranks);
#endif
