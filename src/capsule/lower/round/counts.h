/* counts.h - the agent's side of counts.c. */
#ifndef CAPSULE_COUNTS_H
#define CAPSULE_COUNTS_H
#include "round/control.h"

/* Lists how many messages were sent to each rank since the last report, and counts them as reported. Returns
 * how many entries of list[ranks] are filled. */
size_t counts_to_tell(const long *sent, int64_t *told, int ranks, struct control_count *list);
int64_t counts_sum(const long *received, int ranks);
#endif
