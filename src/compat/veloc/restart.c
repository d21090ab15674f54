/* The VeloC face: restarting. */
#include "client.h"

#include <base/fail.h>
#include <veloc.h>

#include <limits.h>
#include <stdlib.h>

int VELOC_Restart_test(const char *name, int version)
{
    struct veloc_client *client = mend_veloc_client();
    struct veloc_named *named;
    if (!client)
        return mend_veloc_result(MEND_ERR_STATE);
    if (version < 0)
        return mend_veloc_result(
            mend_fail(MEND_ERR_ARGUMENT, "the version %d is negative", version));
    int code = mend_veloc_store(client, name, &named);
    if (code)
        return mend_veloc_result(code);
    mend_version_t newest;
    code = version == 0 ? mend_store_newest_until(named->store, INT_MAX, &newest)
                        : mend_store_newest_until(named->store, version - 1, &newest);
    /* no version is an ordinary answer: nothing to log */
    return code ? VELOC_FAILURE : (int)newest;
}

static int begin(struct veloc_client *client, const char *name, int version)
{
    int code = mend_veloc_begin(client, name, version);
    if (code)
        return code;
    code = mend_store_begin_restore(client->current->store, version, -1);
    int ranks = client->size;
    if (!code && client->comm != MPI_COMM_NULL)
        code = mend_store_saved_ranks(client->current->store, &ranks);
    if (!code && ranks != client->size) {
        mend_store_end_restore(client->current->store);
        code = mend_fail(MEND_ERR_RANK_COUNT, "it was written by %d ranks, this job has %d", ranks,
                         client->size);
    }
    if (code)
        return mend_fail_within(code, "restart of %s, version %d", name, version);
    client->phase = VELOC_IN_RESTART;
    return MEND_OK;
}

int VELOC_Restart_begin(const char *name, int version)
{
    return mend_veloc_result(begin(mend_veloc_client(), name, version));
}

/* All sizes are looked at before the first byte is changed. */
static int recover(struct veloc_client *client, int mode, const int *ids, int id_count)
{
    if (!client)
        return MEND_ERR_STATE;
    if (client->phase != VELOC_IN_RESTART)
        return mend_fail(MEND_ERR_STATE, "VELOC_Restart_begin has not been called");
    mend_store *store = client->current->store;
    struct veloc_region *chosen;
    size_t count;
    int code = mend_veloc_select(client, mode, ids, id_count, &chosen, &count);
    for (size_t i = 0; i < count && !code; i++) {
        size_t bytes;
        code = mend_store_saved_size(store, chosen[i].id, &bytes);
        if (!code && bytes > chosen[i].bytes)
            code = mend_fail(MEND_ERR_REGION, "region %d has %zu bytes, but %zu were saved",
                             chosen[i].id, chosen[i].bytes, bytes);
        chosen[i].bytes = bytes;
    }
    for (size_t i = 0; i < count && !code; i++)
        code = mend_store_read(store, chosen[i].id, 0, chosen[i].address, chosen[i].bytes);
    free(chosen);
    return code;
}

int VELOC_Recover_mem(void)
{
    return mend_veloc_result(recover(mend_veloc_client(), VELOC_RECOVER_ALL, NULL, 0));
}

int VELOC_Recover_selective(int mode, int *ids, int id_count)
{
    return mend_veloc_result(recover(mend_veloc_client(), mode, ids, id_count));
}

int VELOC_Recover_size(int id)
{
    struct veloc_client *client = mend_veloc_client();
    size_t bytes;
    if (!client || client->phase != VELOC_IN_RESTART)
        return -1;
    if (mend_store_saved_size(client->current->store, id, &bytes) || bytes > INT_MAX)
        return -1;
    return (int)bytes;
}

static int finish(struct veloc_client *client, int success)
{
    if (!client)
        return MEND_ERR_STATE;
    if (client->phase != VELOC_IN_RESTART)
        return mend_fail(MEND_ERR_STATE, "VELOC_Restart_begin has not been called");
    client->phase = VELOC_IDLE;
    int code = mend_store_end_restore(client->current->store);
    bool all;
    int agreed = mend_veloc_all(client, code == MEND_OK && success, &all);
    if (!code && agreed)
        code = agreed;
    if (!code && !all)
        code = mend_fail(MEND_ERR_CANCELLED, "a rank could not restart from version %d",
                         client->version);
    return code;
}

int VELOC_Restart_end(int success)
{
    return mend_veloc_result(finish(mend_veloc_client(), success));
}

int VELOC_Restart(const char *name, int version)
{
    struct veloc_client *client = mend_veloc_client();
    int code = begin(client, name, version);
    if (code)
        return mend_veloc_result(code);
    int recovered = recover(client, VELOC_RECOVER_ALL, NULL, 0);
    if (recovered)
        mend_veloc_result(recovered);
    code = finish(client, recovered == MEND_OK);
    return mend_veloc_result(recovered ? recovered : code);
}

int VELOC_Cleanup(const char *name)
{
    struct veloc_client *client = mend_veloc_client();
    struct veloc_named *named;
    if (!client)
        return mend_veloc_result(MEND_ERR_STATE);
    if (client->phase != VELOC_IDLE)
        return mend_veloc_result(
            mend_fail(MEND_ERR_STATE, "a checkpoint or restart has begun and not ended"));
    int code = mend_veloc_store(client, name, &named);
    return mend_veloc_result(code ? code : mend_store_discard(named->store));
}
