#ifndef STORE_RESTORE_H
#define STORE_RESTORE_H

#include "restore/inventory.h"

/* The worst code of all ranks, with my own message if the failure is mine. */
int restore_worst(mend_store *store, int mine);
static inline int restore_agree(mend_store *store, int mine)
{
    int worst = restore_worst(store, mine);
    return worst ? worst : mine; /* 0 only if mine is, too */
}

/* which.c */

/* Wait for the background, then list the complete attempts, newest first. All ranks get the same.
 * The caller frees both. */
int restore_look(mend_store *store, struct inventory *inv, struct attempt **attempts, int *count);
/* The same from an inventory that is there. */
int restore_list(mend_store *store, const struct inventory *inv, struct attempt **out, int *count);
int restore_find(mend_store *store, const struct inventory *inv, mend_version_t version,
                 struct attempt *out);
/* Do not offer it again. */
void restore_mark_bad(mend_store *store, const struct attempt *a);

/* settle.c */

/* Make `present` the newest version; it and `older` ones below it stay in memory. */
void restore_settle(mend_store *store, const struct inventory *inv, const struct attempt *present,
                    int older);
/* Make the copies that this rank lacks in the background, from its part. */
int restore_rebuild_later(mend_store *store, const struct inventory *inv, const struct attempt *a,
                          struct part *part);
/* Restore regions with a global layout from a version of another number of ranks. Collective;
 * agreed. */
int redistribute(mend_store *store, const struct inventory *inventory,
                 const struct attempt *attempt, const int *ids, int count);

#endif
