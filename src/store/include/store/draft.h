/* For the faces above, to save memory: fill the copy that the next save keeps before that save is called, and so do without a buffer of
 * one's own and without a copy from there. */
#ifndef STORE_DRAFT_H
#define STORE_DRAFT_H

#include <mend/store.h>

#include <stdbool.h>

/* Take a copy for these streams, whose producers are not called yet: place[i] is where the bytes of stream i belong. A
 * save with the same streams uses it as it is; a producer finds its bytes there (mend_store_put_room gives the same
 * place). A save with other streams leaves it alone. Not collective. One at a time.
 * Errors: MEND_ERR_NO_MEMORY, MEND_ERR_BUSY, MEND_ERR_ARGUMENT. */
int store_draft_begin(mend_store *store, const mend_store_stream *streams, int count,
                      void *place[]);
/* The draft was saved, or is given up. If a save fails, its bytes remain until this call. */
void store_draft_end(mend_store *store);

/* May the oldest version of a level go when the next save begins, and not only when it is committed? That saves the
 * memory of one version. The caller knows that nobody needs it any more, even if the save fails. All ranks must say
 * the same. */
void store_let_oldest_go(mend_store *store, bool yes);

#endif
