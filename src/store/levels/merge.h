#ifndef STORE_MERGE_H
#define STORE_MERGE_H

#include "internal.h"

/* Replace the newest files, if their chains are long, by whole ones. Called by the engine when it
 * is idle; leaves off soon when store->hurry is set. */
void merge_all(mend_store *store);
/* Chains of so many deltas are merged. */
int merge_from(const mend_store *store);

#endif
