#ifndef STORE_MERGE_H
#define STORE_MERGE_H

#include "internal.h"

/* Replace the newest files, if their chains are long, by whole ones. The engine calls this when it is idle. It stops
 * soon after store->hurry is set. */
void merge_all(mend_store *store);
/* The length of a chain from which on we merge it. */
int merge_from(const mend_store *store);

#endif
