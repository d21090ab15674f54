/* The FTI face: checkpoints and recovery. */
#include "client.h"

#include <base/event.h>
#include <base/fail.h>
#include <base/log.h>
#include <fti.h>

#include <limits.h>

/* ---- saving ---------------------------------------------------------------------------------- */

int mend_fti_check_level(int level)
{
    return level >= FTI_L1 && level <= FTI_L4_DCP
               ? MEND_OK
               : mend_fail(MEND_ERR_ARGUMENT, "FTI has no checkpoint level %d", level);
}

/* 1 to 4 of any level. */
static int plain(int level)
{
    return level > FTI_L4 ? level - FTI_L4 : level;
}

static int level_bit(const struct fti_client *client, int level, unsigned *bit)
{
    static const mend_level levels[] = {[FTI_L1] = MEND_LEVEL_LOCAL,
                                        [FTI_L2] = MEND_LEVEL_PARTNER,
                                        [FTI_L3] = MEND_LEVEL_ERASURE,
                                        [FTI_L4] = MEND_LEVEL_GLOBAL};
    int code = mend_fti_check_level(level);
    if (code)
        return code;
    level = plain(level);
    bool alone = client->domains == 1 && (level == FTI_L2 || level == FTI_L3);
    *bit = MEND_LEVEL_BIT(alone ? MEND_LEVEL_LOCAL : levels[level]);
    return MEND_OK;
}

/* The first checkpoint of a run goes into the configuration, so that the next start of a job that died recovers. A
 * death before this: the next start is what this one was. */
static int tell(struct fti_client *client)
{
    if (client->told)
        return MEND_OK;
    int code = mend_fti_agree(client, client->rank == 0 ? mend_fti_config_write(&client->config, 1)
                                                        : MEND_OK);
    client->told = code == MEND_OK;
    return code;
}

/* The store takes a number even if it then keeps nothing of the version. */
int mend_fti_store(struct fti_client *client, const mend_save_options *options)
{
    mend_version_t version = client->version + client->failed + 1;
    int code = mend_store_save_with(client->store, version, options);
    client->failed = code ? client->failed + 1 : 0;
    if (!code)
        client->version = version;
    return code;
}

/* The program's number is kept beside its variables; versions only ever grow. */
int mend_fti_save(struct fti_client *client, int id, int level)
{
    mend_save_options options = {.sync = 1, .full = level != FTI_L1_DCP && level != FTI_L4_DCP};
    int code = level_bit(client, level, &options.levels);
    if (code)
        return code;
    mend_fti_end_look(client);
    client->last_id = id;
    code =
        mend_store_region(client->store, INT_MIN, "id", &client->last_id, sizeof client->last_id);
    if (!code)
        code = mend_fti_names_put(client);
    code = mend_fti_agree(client, code);
    if (!code)
        code = mend_fti_store(client, &options);
    if (code)
        return mend_fail_within(code, "FTI checkpoint %d at level %d", id, level);
    client->last_level = plain(level);
    client->status = 0;
    for (int i = 0; i < client->variable_count; i++)
        client->variables[i].stored = client->variables[i].bytes;
    return tell(client);
}

int FTI_Checkpoint(int id, int level)
{
    struct fti_client *client = mend_fti_client();
    int code = !client ? MEND_ERR_STATE
               : client->parts == FTI_PARTS_NONE
                   ? mend_fti_save(client, id, level)
                   : mend_fail(MEND_ERR_STATE, "FTI_Checkpoint is called between "
                                               "FTI_InitICP and FTI_FinalizeICP");
    return mend_fti_result(code) == FTI_SCES ? FTI_DONE : FTI_NSCS;
}

/* ---- recovering ------------------------------------------------------------------------------ */

static int put_back(struct fti_client *client, struct fti_variable *v)
{
    size_t bytes = 0;
    int code = mend_store_saved_size(client->store, v->id, &bytes);
    if (!code && bytes != v->bytes)
        code = mend_fail(MEND_ERR_SIZE, "variable %d has %zu bytes in the checkpoint and %zu here",
                         v->id, bytes, v->bytes);
    if (!code)
        code = mend_store_read(client->store, v->id, 0, v->address, bytes);
    if (!code)
        v->stored = bytes;
    return code;
}

/* Sizes first, so that an error changes nothing. */
static int check_sizes(struct fti_client *client)
{
    int code = MEND_OK;
    for (int i = 0; i < client->variable_count && !code; i++) {
        size_t bytes;
        const struct fti_variable *v = &client->variables[i];
        code = mend_store_saved_size(client->store, v->id, &bytes);
        if (!code && bytes != v->bytes)
            code =
                mend_fail(MEND_ERR_SIZE, "variable %d has %zu bytes in the checkpoint and %zu here",
                          v->id, bytes, v->bytes);
    }
    return code;
}

/* What FTI_Init found is open already: then this call asks no other rank. Else the checkpoint that this run made last
 * is opened, by all ranks together. */
static int open_last(struct fti_client *client)
{
    if (client->looking)
        return MEND_OK;
    if (client->version < 0)
        return mend_fail(MEND_ERR_NO_VERSION, "there is no checkpoint to recover");
    int code = mend_store_begin_look(client->store, client->version, -1);
    client->looking = code == MEND_OK;
    return code;
}

static int recover(struct fti_client *client)
{
    if (!client)
        return MEND_ERR_STATE;
    int code = open_last(client);
    if (!code)
        code = check_sizes(client);
    for (int i = 0; i < client->variable_count && !code; i++)
        code = put_back(client, &client->variables[i]);
    return code;
}

int FTI_Recover(void)
{
    struct fti_client *client = mend_fti_client();
    int code = mend_fti_result(recover(client));
    if (code != FTI_SCES)
        return FTI_NREC;
    mend_fti_end_look(client);
    client->status = 0;
    return FTI_SCES;
}

int FTI_RecoverVarInit(void)
{
    struct fti_client *client = mend_fti_client();
    int code = client ? open_last(client) : MEND_ERR_STATE;
    return mend_fti_result(code) == FTI_SCES ? FTI_SCES : FTI_NREC;
}

int FTI_RecoverVar(int id)
{
    struct fti_client *client = mend_fti_client();
    int code = client && client->looking
                   ? mend_fail(MEND_ERR_REGION, "variable %d is not protected", id)
                   : mend_fail(MEND_ERR_STATE, "there is no checkpoint to recover");
    for (int i = 0; client && client->looking && i < client->variable_count; i++)
        if (client->variables[i].id == id)
            code = put_back(client, &client->variables[i]);
    return mend_fti_result(code) == FTI_SCES ? FTI_SCES : FTI_NREC;
}

int FTI_RecoverVarFinalize(void)
{
    struct fti_client *client = mend_fti_client();
    if (!client)
        return mend_fti_result(MEND_ERR_STATE);
    client->status =
        0; /* the version stays open until the next checkpoint: a program may begin again */
    return FTI_SCES;
}

/* ---- by the clock ---------------------------------------------------------------------------- */

/* The highest level of which an interval ended after `from` and by `to`; 0: none. */
static int level_due(const struct fti_config *config, double from, double to)
{
    for (int level = FTI_LEVELS; level > 0; level--) {
        double every = config->minutes[level - 1];
        if (every > 0 && (long long)(to / every) > (long long)(from / every))
            return level;
    }
    return 0;
}

/* Calls until the next look: some twenty of them in the shortest interval, so that a step costs nothing. */
static long calls_ahead(const struct fti_client *client, double now)
{
    const struct fti_clock *c = &client->clock;
    double shortest = 0,
           each = (now - c->at_time) / (double)(c->calls - c->at > 0 ? c->calls - c->at : 1);
    for (int level = 0; level < FTI_LEVELS; level++) {
        double seconds = 60 * client->config.minutes[level];
        if (seconds > 0 && (shortest == 0 || seconds < shortest))
            shortest = seconds;
    }
    double ahead = shortest == 0 ? 1 << 20 : each > 0 ? shortest / 20 / each : 1;
    return ahead < 1 ? 1 : ahead > 1 << 20 ? 1 << 20 : (long)ahead;
}

/* Rank 0 decides by its clock, all act on its word. */
static int snapshot(struct fti_client *client, int *level)
{
    struct fti_clock *c = &client->clock;
    *level = 0;
    if (++c->calls < c->next)
        return MEND_OK;
    double now = mend_now(), minutes = (now - c->begin) / 60;
    long word[2] = {level_due(&client->config, c->done, minutes), calls_ahead(client, now)};
    if (MPI_Bcast(word, 2, MPI_LONG, 0, client->comm) != MPI_SUCCESS)
        return mend_fail(MEND_ERR_PEER_FAILED, "a rank died, or MPI failed, inside FTI_Snapshot");
    *level = (int)word[0];
    c->done = minutes;
    c->at = c->calls;
    c->at_time = now;
    c->next = c->calls + word[1];
    return MEND_OK;
}

int FTI_Snapshot(void)
{
    struct fti_client *client = mend_fti_client();
    int level;
    if (!client)
        return mend_fti_result(MEND_ERR_STATE);
    if (client->status)
        return FTI_Recover();
    int code = snapshot(client, &level);
    if (code)
        return mend_fti_result(code);
    return level ? FTI_Checkpoint(client->last_id + 1, level) : FTI_SCES;
}
