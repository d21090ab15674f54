/* For the interfaces above the store, to save memory: fill the copy that the next save keeps before calling that
 * save. This avoids a buffer of one's own, and a copy from it. */
#ifndef STORE_DRAFT_H
#define STORE_DRAFT_H

#include <mend/store.h>

#include <stdbool.h>

/* Take a copy for these streams, without calling their producers yet: place[i] is where the bytes of stream i belong.
 * A save with the same streams uses the copy as it is; a producer finds its bytes there (mend_store_put_room returns
 * the same place). A save with other streams leaves it alone. Not collective. One at a time. Errors:
 * MEND_ERR_NO_MEMORY, MEND_ERR_BUSY, MEND_ERR_ARGUMENT. */
int store_draft_begin(mend_store *store, const mend_store_stream *streams, int count,
                      void *place[]);
/* The draft was saved, or is given up. If a save fails, its bytes stay until this call. */
void store_draft_end(mend_store *store);

/* May the oldest version of a level go when the next save begins, rather than when it is committed? That saves the
 * memory of one version. The caller knows that nobody needs it any more, even if the save fails. All ranks must say
 * the same. */
void store_let_oldest_go(mend_store *store, bool yes);

#endif
