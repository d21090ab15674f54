/* The FTI face: a checkpoint in parts. A variable is copied when it is added, so the program may change it at once; the
 * checkpoint itself is made at the end. */
#include "client.h"

#include <base/fail.h>
#include <fti.h>

#include <stdlib.h>
#include <string.h>

static int begin(struct fti_client *client, int id, int level, bool activate)
{
    if (!client)
        return MEND_ERR_STATE;
    if (client->parts != FTI_PARTS_NONE)
        return mend_fail(MEND_ERR_STATE, "FTI_InitICP: FTI_FinalizeICP has not been called");
    int code = mend_fti_check_level(level);
    if (code)
        return code;
    client->parts = activate ? FTI_PARTS_ON : FTI_PARTS_OFF;
    client->parts_id = id;
    client->parts_level = level;
    return MEND_OK;
}

int FTI_InitICP(int id, int level, bool activate)
{
    return mend_fti_result(begin(mend_fti_client(), id, level, activate));
}

static int add(struct fti_client *client, int id)
{
    if (!client)
        return MEND_ERR_STATE;
    if (client->parts == FTI_PARTS_NONE)
        return mend_fail(MEND_ERR_STATE, "FTI_AddVarICP: FTI_InitICP has not been called");
    if (client->parts == FTI_PARTS_OFF)
        return MEND_OK;
    struct fti_variable *v = mend_fti_find(client, id);
    if (!v || v->part)
        return mend_fail(MEND_ERR_REGION, "FTI_AddVarICP: variable %d is %s", id,
                         v ? "in this checkpoint already" : "not protected");
    void *part = malloc(v->bytes ? v->bytes : 1);
    if (!part)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a copy of variable %d", id);
    if (v->bytes)
        memcpy(part, v->address, v->bytes);
    int code = mend_store_region(client->store, id, NULL, part, v->bytes);
    if (code)
        free(part);
    else
        v->part = part;
    return code;
}

int FTI_AddVarICP(int id)
{
    return mend_fti_result(add(mend_fti_client(), id));
}

int mend_fti_parts_end(struct fti_client *client)
{
    int code = MEND_OK;
    client->parts = FTI_PARTS_NONE;
    for (int i = 0; i < client->variable_count; i++) {
        struct fti_variable *v = &client->variables[i];
        if (!v->part)
            continue;
        int back = mend_store_region(client->store, v->id, NULL, v->address, v->bytes);
        code = code ? code : back;
        free(v->part);
        v->part = NULL;
    }
    return code;
}

static int end(struct fti_client *client)
{
    if (!client)
        return MEND_ERR_STATE;
    if (client->parts == FTI_PARTS_NONE)
        return mend_fail(MEND_ERR_STATE, "FTI_FinalizeICP: FTI_InitICP has not been called");
    int code = client->parts == FTI_PARTS_ON
                   ? mend_fti_save(client, client->parts_id, client->parts_level)
                   : MEND_OK;
    int back = mend_fti_parts_end(client);
    return code ? code : back;
}

int FTI_FinalizeICP(void)
{
    return mend_fti_result(end(mend_fti_client()));
}
