/* The SCR face: datasets by name; those that are not offered any more. */
#include "client.h"

#include <base/fail.h>
#include <base/io.h>
#include <faces/faces.h>
#include <scr.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_LIMIT = 1 << 20 };

/* ---- versions -------------------------------------------------------------------------------- */

int mend_scr_open_version(struct scr_client *client, mend_version_t version, bool restart)
{
    int ranks = 0, code = restart ? mend_store_begin_restore(client->store, version, -1)
                                  : mend_store_begin_look(client->store, version, -1);
    if (code)
        return code;
    code = mend_store_saved_ranks(client->store, &ranks);
    if (!code && ranks != client->size)
        code = mend_fail(MEND_ERR_RANK_COUNT, "it was written by %d ranks, this job has %d", ranks,
                         client->size);
    if (!code)
        code = mend_scr_record_read(client);
    code = mend_face_agree(client->comm, code);
    if (code)
        mend_store_end_restore(client->store);
    return code;
}

static bool is_dropped(const struct scr_client *client, mend_version_t version)
{
    for (int i = 0; i < client->dropped_count; i++)
        if (client->dropped[i] == version)
            return true;
    return false;
}

int mend_scr_newest(struct scr_client *client, mend_version_t *version)
{
    int code = mend_store_newest_until(client->store, client->limit, version);
    while (!code && is_dropped(client, *version)) {
        if (*version == 0)
            return mend_fail(MEND_ERR_NO_VERSION, "there is no checkpoint that was not dropped");
        code = mend_store_newest_until(client->store, *version - 1, version);
    }
    return code;
}

/* All that there are, newest first. Collective, as mend_store_versions is: it asks first how many. */
static int list_versions(struct scr_client *client, mend_version_t **versions, int *count)
{
    int room = 0, code = mend_store_versions(client->store, NULL, 0, &room);
    *versions = calloc((size_t)room + 1, sizeof **versions);
    if (!*versions)
        return code ? code : mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d versions", room);
    if (!code)
        code = mend_store_versions(client->store, *versions, room, count);
    *count = *count < room ? *count : room;
    return code;
}

int mend_scr_find(struct scr_client *client, const char *name, mend_version_t *version)
{
    mend_version_t *versions = NULL;
    int count = 0, code = list_versions(client, &versions, &count);
    bool found = false;
    for (int i = 0; i < count && !code && !found; i++) {
        code = mend_scr_open_version(client, versions[i], false);
        if (code == MEND_ERR_DAMAGED || code == MEND_ERR_RANK_COUNT) {
            code = MEND_OK; /* not this one, then */
            continue;
        }
        if (code)
            break;
        mend_store_end_restore(client->store);
        found = strcmp(client->name, name) == 0 && !is_dropped(client, versions[i]);
        if (found)
            *version = versions[i];
    }
    free(versions);
    return code    ? code
           : found ? MEND_OK
                   : mend_fail(MEND_ERR_NOT_FOUND, "there is no dataset %s", name);
}

/* ---- dropped --------------------------------------------------------------------------------- */

static int parse_dropped(struct scr_client *client, char *text)
{
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
        char *end;
        mend_version_t version = strtol(line, &end, 10);
        if (!*line)
            continue;
        if (*end || version < 0)
            return mend_fail(MEND_ERR_FORMAT, "%s/dropped: \"%s\" is not a version", client->home,
                             line);
        mend_version_t *more =
            realloc(client->dropped, (size_t)(client->dropped_count + 1) * sizeof *more);
        if (!more)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a list of versions");
        client->dropped = more;
        client->dropped[client->dropped_count++] = version;
    }
    return MEND_OK;
}

static int read_list(struct scr_client *client)
{
    char *path, *text = NULL;
    size_t size;
    if (asprintf(&path, "%s/dropped", client->home) < 0)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a path");
    int code = access(path, F_OK) ? MEND_OK : mend_io_read_file(path, FILE_LIMIT, &text, &size);
    if (!code && text)
        code = parse_dropped(client, text);
    free(text);
    free(path);
    return code;
}

int mend_scr_dropped_read(struct scr_client *client)
{
    int code = mend_face_agree(client->comm, client->rank == 0 ? read_list(client) : MEND_OK);
    if (code)
        return code;
    int count = client->dropped_count;
    if (MPI_Bcast(&count, 1, MPI_INT, 0, client->comm) != MPI_SUCCESS)
        return mend_fail(MEND_ERR_PEER_FAILED, "a rank died, or MPI failed, inside SCR_Init");
    if (client->rank > 0 && count > 0)
        client->dropped = calloc((size_t)count, sizeof *client->dropped);
    code = mend_face_agree(client->comm,
                           count > 0 && !client->dropped
                               ? mend_fail(MEND_ERR_NO_MEMORY, "no memory for a list of versions")
                               : MEND_OK);
    if (code)
        return code;
    client->dropped_count = count;
    if (count > 0 && MPI_Bcast(client->dropped, count, MPI_LONG, 0, client->comm) != MPI_SUCCESS)
        return mend_fail(MEND_ERR_PEER_FAILED, "a rank died, or MPI failed, inside SCR_Init");
    return MEND_OK;
}

static int write_list(const struct scr_client *client)
{
    char *path, *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out || asprintf(&path, "%s/dropped", client->home) < 0)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a list of versions");
    for (int i = 0; i < client->dropped_count; i++)
        fprintf(out, "%ld\n", client->dropped[i]);
    int code = fclose(out) ? mend_fail(MEND_ERR_NO_MEMORY, "no memory for a list of versions")
                           : mend_io_replace_file(path, text, size);
    free(text);
    free(path);
    return code;
}

int mend_scr_dropped_change(struct scr_client *client, mend_version_t add, mend_version_t from)
{
    int kept = 0, before = client->dropped_count, code = MEND_OK;
    for (int i = 0; i < before; i++)
        if (client->dropped[i] < from)
            client->dropped[kept++] = client->dropped[i];
    client->dropped_count = kept;
    if (add >= 0) {
        mend_version_t *more = realloc(client->dropped, (size_t)(kept + 1) * sizeof *more);
        if (more) {
            client->dropped = more;
            client->dropped[client->dropped_count++] = add;
        } else {
            code = mend_fail(MEND_ERR_NO_MEMORY, "no memory for a list of versions");
        }
    }
    if (add < 0 && kept == before)
        return MEND_OK;
    if (!code && client->rank == 0)
        code = write_list(client);
    return mend_face_agree(client->comm, code);
}

/* ---- the calls ------------------------------------------------------------------------------- */

static int begin(struct scr_client *client, const char *what, const char *name)
{
    if (!client)
        return MEND_ERR_STATE;
    if (client->phase != SCR_IDLE)
        return mend_fail(MEND_ERR_STATE, "%s is called inside an output or a restart", what);
    if (!mend_scr_is_name(name))
        return mend_fail(MEND_ERR_ARGUMENT, "%s needs the name of a dataset", what);
    return MEND_OK;
}

static int current(struct scr_client *client, const char *name)
{
    mend_version_t version;
    int code = begin(client, "SCR_Current", name);
    if (!code)
        code = mend_scr_find(client, name, &version);
    if (!code)
        code = mend_scr_open_version(client, version, true);
    if (code)
        return code;
    mend_store_end_restore(client->store);
    client->version = client->limit = version;
    return MEND_OK;
}

int SCR_Current(const char *name)
{
    return mend_scr_result(current(mend_scr_client(), name));
}

/* The files that this rank has written under their names. */
static int remove_placed(struct scr_client *client)
{
    int code = MEND_OK;
    for (int i = 0; i < client->file_count && !code; i++) {
        char *path;
        if (asprintf(&path, "%s/%s", client->config.prefix, client->files[i].name) < 0)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a path");
        code = mend_io_remove(path);
        free(path);
    }
    return code;
}

static int drop(struct scr_client *client, const char *what, const char *name, bool files)
{
    mend_version_t version;
    int code = begin(client, what, name);
    if (!code)
        code = mend_scr_find(client, name, &version);
    if (!code)
        code = mend_scr_dropped_change(client, version, LONG_MAX);
    if (!code && files)
        code = mend_face_agree(client->comm, remove_placed(client));
    return code;
}

int SCR_Drop(const char *name)
{
    return mend_scr_result(drop(mend_scr_client(), "SCR_Drop", name, false));
}

int SCR_Delete(const char *name)
{
    return mend_scr_result(drop(mend_scr_client(), "SCR_Delete", name, true));
}
