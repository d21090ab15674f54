/* The SCR face: restarting, and SCR_Route_file. */
#include "client.h"

#include <base/fail.h>
#include <base/log.h>
#include <faces/faces.h>
#include <scr.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A version that cannot be opened is passed over, as one that is not there. */
static int have_restart(struct scr_client *client, int *flag, char *name)
{
    if (!client || !flag)
        return client ? mend_fail(MEND_ERR_ARGUMENT, "SCR_Have_restart needs a flag")
                      : MEND_ERR_STATE;
    *flag = 0;
    client->offered = -1;
    if (client->phase != SCR_IDLE)
        return mend_fail(MEND_ERR_STATE, "SCR_Have_restart is called inside an output or restart");
    for (;;) {
        mend_version_t version;
        int code = mend_scr_newest(client, &version);
        if (code == MEND_ERR_NO_VERSION)
            return MEND_OK;
        if (!code)
            code = mend_scr_open_version(client, version, false);
        if (!code) {
            mend_store_end_restore(client->store);
            client->offered = version;
            *flag = 1;
            if (name)
                strcpy(name, client->name);
            mend_scr_remove_files(client);
            return MEND_OK;
        }
        if (code == MEND_ERR_PEER_FAILED || code == MEND_ERR_RANK_COUNT || version == 0)
            return code;
        mend_log(MEND_LOG_WARNING, "version %ld is skipped: %s", version, mend_error_text());
        client->limit = version - 1;
    }
}

int SCR_Have_restart(int *flag, char *name)
{
    return mend_scr_result(have_restart(mend_scr_client(), flag, name));
}

static int start_restart(struct scr_client *client, char *name)
{
    int flag = 0;
    if (!client)
        return MEND_ERR_STATE;
    if (client->phase != SCR_IDLE)
        return mend_fail(MEND_ERR_STATE, "SCR_Start_restart is called inside an output or restart");
    int code = client->offered < 0 ? have_restart(client, &flag, NULL) : MEND_OK;
    if (!code && client->offered < 0)
        code = mend_fail(MEND_ERR_NO_VERSION, "there is no checkpoint to restart from");
    if (!code)
        code = mend_scr_open_version(client, client->offered, true);
    if (code)
        return code;
    client->phase = SCR_IN_RESTART;
    if (name)
        strcpy(name, client->name);
    return MEND_OK;
}

int SCR_Start_restart(char *name)
{
    return mend_scr_result(start_restart(mend_scr_client(), name));
}

static int complete_restart(struct scr_client *client, int valid)
{
    if (!client)
        return MEND_ERR_STATE;
    if (client->phase != SCR_IN_RESTART)
        return mend_fail(MEND_ERR_STATE, "SCR_Start_restart has not been called");
    client->phase = SCR_IDLE;
    mend_store_end_restore(client->store);
    mend_scr_remove_files(client);
    int code = mend_face_agree(
        client->comm,
        valid ? MEND_OK
              : mend_fail(MEND_ERR_CANCELLED, "this rank could not restart from %s", client->name));
    if (code == MEND_OK)
        client->version = client->offered;
    else if (code != MEND_ERR_PEER_FAILED)
        client->limit = client->offered - 1;
    client->offered = -1;
    return code;
}

int SCR_Complete_restart(int valid)
{
    return mend_scr_result(complete_restart(mend_scr_client(), valid));
}

/* ---- SCR_Route_file -------------------------------------------------------------------------- */

static const char *base_of(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

/* The file of the checkpoint that the program means: by its path below the prefix; a name without a folder also means
 * the only file of that name, as with SCR. -1: none. */
static int find_saved(const struct scr_client *client, const char *name, const char *relative)
{
    int alike = 0, last = -1;
    for (int i = 0; i < client->file_count; i++) {
        if (strcmp(client->files[i].name, relative) == 0)
            return i;
        if (strcmp(base_of(client->files[i].name), name) == 0) {
            alike++;
            last = i;
        }
    }
    return alike == 1 ? last : -1;
}

/* A file of a restart is written out when it is asked for, into the cache. */
static int route_saved(struct scr_client *client, const char *name, const char *relative,
                       char *routed)
{
    int i = find_saved(client, name, relative);
    if (i < 0)
        return mend_fail(MEND_ERR_NOT_FOUND, "the checkpoint %s has no file %s of this rank",
                         client->name, relative);
    const struct scr_file *file = &client->files[i];
    int length = snprintf(routed, SCR_MAX_FILENAME, "%s/files-%d/%d/%s", client->cache,
                          client->rank, i, base_of(file->name));
    if (length >= SCR_MAX_FILENAME)
        return mend_fail(MEND_ERR_ARGUMENT, "the path of %s is too long", relative);
    return mend_scr_extract(client, i, file, routed);
}

static int route(struct scr_client *client, const char *name, char *file)
{
    if (!client)
        return MEND_ERR_STATE;
    if (!name || !*name || !file || strlen(name) >= SCR_MAX_FILENAME)
        return mend_fail(MEND_ERR_ARGUMENT, "SCR_Route_file needs two names");
    if (client->phase == SCR_IDLE) {
        strcpy(file, name);
        return MEND_OK;
    }
    char *relative;
    const char *routed;
    int code = mend_scr_relative(client, name, &relative);
    if (code)
        return code;
    if (client->phase == SCR_IN_RESTART) {
        code = route_saved(client, name, relative, file);
    } else {
        code = mend_scr_add_file(client, relative, &routed);
        if (!code)
            strcpy(file, routed);
    }
    free(relative);
    return code;
}

int SCR_Route_file(const char *name, char *file)
{
    return mend_scr_result(route(mend_scr_client(), name, file));
}
