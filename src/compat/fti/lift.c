/* The FTI face: the last checkpoint is kept at level 4. Programs free their variables before FTI_Finalize, so it comes
 * from where it was saved, not from their memory. */
#include "client.h"

#include <base/fail.h>
#include <fti.h>

#include <stdlib.h>

struct copies {
    int count, *ids;
    void **memory;
    size_t *bytes;
};

static void free_copies(struct copies *c)
{
    for (int i = 0; i < c->count && c->memory; i++)
        free(c->memory[i]);
    free(c->ids);
    free(c->memory);
    free(c->bytes);
}

/* All regions of the opened version, in memory. */
static int read_all(mend_store *store, struct copies *c)
{
    int code = mend_store_saved_count(store, &c->count);
    if (code)
        return code;
    size_t room = (size_t)(c->count > 0 ? c->count : 1);
    c->ids = calloc(room, sizeof *c->ids);
    c->memory = calloc(room, sizeof *c->memory);
    c->bytes = calloc(room, sizeof *c->bytes);
    if (!c->ids || !c->memory || !c->bytes)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a list of %d variables", c->count);
    for (int i = 0; i < c->count && !code; i++) {
        code = mend_store_saved_region(store, i, &c->ids[i], &c->bytes[i], NULL);
        if (!code && !(c->memory[i] = malloc(c->bytes[i] ? c->bytes[i] : 1)))
            code = mend_fail(MEND_ERR_NO_MEMORY, "no memory for %zu bytes of variable %d",
                             c->bytes[i], c->ids[i]);
        if (!code)
            code = mend_store_read(store, c->ids[i], 0, c->memory[i], c->bytes[i]);
    }
    return code;
}

/* 1. Open the last version and read this rank's part. 2. All ranks say that they have it. 3. Save the copies as the next
 * version at level 4. A death before the end: the version before it is still there. */
int mend_fti_lift_last(struct fti_client *client)
{
    struct copies c = {0};
    mend_fti_end_look(client);
    int code = mend_store_begin_look(client->store, client->version, -1);
    if (code)
        return mend_fail_within(code, "the last FTI checkpoint");
    client->looking = true;
    code = read_all(client->store, &c);
    mend_fti_end_look(client);
    for (int i = 0; i < c.count && !code; i++)
        code = mend_store_region(client->store, c.ids[i], NULL, c.memory[i], c.bytes[i]);
    code = mend_fti_agree(client, code);
    mend_save_options options = {.levels = MEND_LEVEL_BIT(MEND_LEVEL_GLOBAL),
                                 .sync = 1,
                                 .full = 1,
                                 .ids = c.ids,
                                 .id_count = c.count};
    if (!code)
        code = mend_fti_store(client, &options);
    free_copies(&c);
    if (code)
        return mend_fail_within(code, "the last FTI checkpoint to level 4");
    client->last_level = FTI_L4;
    return MEND_OK;
}
