#ifndef STORE_RESTORE_H
#define STORE_RESTORE_H

#include "inventory.h"

int restore_agree(mend_store *store, int rc);
/* Restore regions with a global layout from a version of another number of ranks. Collective;
 * agreed. */
int redistribute(mend_store *store, const struct inventory *inventory,
                 const struct attempt *attempt, const int *ids, int count);

#endif
