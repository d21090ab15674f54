/* The SCR face: making datasets.
 *
 * Protocol of start … complete:
 *   1. start remembers the name and the flags; nothing is written.
 *   2. SCR_Route_file hands out paths in the cache that the program writes to.
 *   3. complete: all ranks agree that each had success and has its files; then one save of the store with the files'
 *      content and a record of their names. It is atomic: a death before its commit leaves the version before.
 *   4. An output's files are copied to their names, each by a rename, and all ranks agree that they are there.
 */
#include "client.h"

#include <base/event.h>
#include <base/fail.h>
#include <base/io.h>
#include <base/log.h>
#include <faces/faces.h>
#include <scr.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int start_output(struct scr_client *client, const char *name, int flags)
{
    if (!client)
        return MEND_ERR_STATE;
    if (client->phase != SCR_IDLE)
        return mend_fail(MEND_ERR_STATE, "SCR_Start_output is called inside an output or restart");
    if (!mend_scr_is_name(name) || flags < 0 || flags > (SCR_FLAG_CHECKPOINT | SCR_FLAG_OUTPUT))
        return mend_fail(MEND_ERR_ARGUMENT, "SCR_Start_output: \"%s\" with flags %d",
                         name ? name : "NULL", flags);
    mend_scr_remove_files(client);
    snprintf(client->name, sizeof client->name, "%s", name);
    client->flags = flags;
    client->phase = SCR_IN_OUTPUT;
    client->output_began = mend_now();
    return MEND_OK;
}

/* A dataset without a name gets SCR's: its number, from 1 on. */
static int start_unnamed(struct scr_client *client, int flags)
{
    char name[SCR_NAME];
    if (!client)
        return MEND_ERR_STATE;
    snprintf(name, sizeof name, "scr.dataset.%ld", client->version + client->outputs + 2);
    return start_output(client, name, flags);
}

int SCR_Start_output(const char *name, int flags)
{
    struct scr_client *client = mend_scr_client();
    return mend_scr_result(name ? start_output(client, name, flags) : start_unnamed(client, flags));
}

int SCR_Start_checkpoint(void)
{
    return mend_scr_result(start_unnamed(mend_scr_client(), SCR_FLAG_CHECKPOINT));
}

/* ---- saving ---------------------------------------------------------------------------------- */

struct record {
    char *text;
    size_t size;
};

static int produce_record(mend_store_sink *sink, void *arg)
{
    const struct record *record = arg;
    return mend_store_put(sink, record->text, record->size);
}

static int produce_file(mend_store_sink *sink, void *arg)
{
    const struct scr_file *file = arg;
    int fd = open(file->routed, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return mend_fail_errno("cannot read %s", file->routed);
    void *room = file->bytes ? mend_store_put_room(sink, file->bytes) : NULL;
    int code = MEND_OK;
    if (file->bytes && !room)
        code = MEND_ERR_NO_MEMORY;
    else if (file->bytes)
        code = mend_io_read(fd, room, file->bytes, file->routed);
    close(fd);
    return code;
}

unsigned mend_scr_cache_level(const struct scr_client *client)
{
    static const mend_level levels[] = {
        [SCR_COPY_SINGLE] = MEND_LEVEL_LOCAL,
        [SCR_COPY_PARTNER] = MEND_LEVEL_PARTNER,
        [SCR_COPY_XOR] = MEND_LEVEL_ERASURE,
        [SCR_COPY_RS] = MEND_LEVEL_ERASURE,
    };
    return MEND_LEVEL_BIT(client->domains > 1 ? levels[client->config.copy] : MEND_LEVEL_LOCAL);
}

/* The store takes a number even if it then keeps nothing of the version. One that lacks a level is a checkpoint: it can be
 * restored from the others, and the end of the job tries to flush it again. */
static int save_next(struct scr_client *client, const mend_save_options *options)
{
    unsigned reached = options->levels;
    mend_version_t version = client->version + client->failed + 1;
    int code = mend_store_save_with(client->store, version, options);
    if (code == MEND_ERR_DEGRADED) {
        if (client->rank == 0)
            mend_log(MEND_LOG_WARNING, "dataset %s: %s", client->name, mend_error_text());
        code = mend_store_reached(client->store, version, &reached);
    }
    client->failed = code ? client->failed + 1 : 0;
    if (code)
        return code;
    client->version = version;
    client->limit = LONG_MAX;
    if (reached & MEND_LEVEL_BIT(MEND_LEVEL_GLOBAL))
        client->flushed = version;
    return MEND_OK;
}

int mend_scr_save(struct scr_client *client, unsigned levels)
{
    struct record record = {0};
    mend_store_stream *streams = calloc((size_t)client->file_count + 1, sizeof *streams);
    int code = streams
                   ? mend_scr_record_write(client, &record.text, &record.size)
                   : mend_fail(MEND_ERR_NO_MEMORY, "no memory for %d files", client->file_count);
    for (int i = 0; i < client->file_count && !code; i++)
        streams[i] = (mend_store_stream){.id = i,
                                         .label = client->files[i].name,
                                         .bytes = client->files[i].bytes,
                                         .produce = produce_file,
                                         .arg = &client->files[i]};
    code = mend_face_agree(client->comm, code);
    if (!code && streams) {
        streams[client->file_count] = (mend_store_stream){.id = SCR_RECORD_ID,
                                                          .label = "record",
                                                          .bytes = record.size,
                                                          .produce = produce_record,
                                                          .arg = &record};
        mend_save_options options = {.levels = levels,
                                     .sync = 1,
                                     .ids = (const int[]){0},
                                     .streams = streams,
                                     .stream_count = client->file_count + 1};
        code = save_next(client, &options);
    }
    free(record.text);
    free(streams);
    return code ? code : mend_scr_dropped_change(client, -1, client->version);
}

static int checkpoint(struct scr_client *client)
{
    unsigned levels = mend_scr_cache_level(client);
    client->checkpoints++;
    if (client->config.flush > 0 &&
        (client->checkpoints % client->config.flush == 0 || client->flags & SCR_FLAG_OUTPUT))
        levels |= MEND_LEVEL_BIT(MEND_LEVEL_GLOBAL);
    int code = mend_scr_save(client, levels);
    client->last_checkpoint = mend_now();
    client->checkpoint_seconds += client->last_checkpoint - client->output_began;
    return code;
}

static int complete_output(struct scr_client *client, int valid)
{
    if (!client)
        return MEND_ERR_STATE;
    if (client->phase != SCR_IN_OUTPUT)
        return mend_fail(MEND_ERR_STATE, "SCR_Start_output has not been called");
    client->phase = SCR_IDLE;
    int code = valid ? mend_scr_measure_files(client)
                     : mend_fail(MEND_ERR_CANCELLED, "this rank's part is not valid");
    code = mend_face_agree(client->comm, code);
    if (!code && client->flags & SCR_FLAG_CHECKPOINT)
        code = checkpoint(client);
    if (!code && client->flags & SCR_FLAG_OUTPUT)
        code = mend_face_agree(client->comm, mend_scr_place_files(client));
    client->outputs += !(client->flags & SCR_FLAG_CHECKPOINT);
    mend_scr_remove_files(client);
    return code ? mend_fail_within(code, "dataset %s", client->name) : MEND_OK;
}

int SCR_Complete_output(int valid)
{
    return mend_scr_result(complete_output(mend_scr_client(), valid));
}

int SCR_Complete_checkpoint(int valid)
{
    return SCR_Complete_output(valid);
}

/* ---- at the end ------------------------------------------------------------------------------ */

/* Under the names below the prefix, from where the save reads them. */
static int place_saved(struct scr_client *client)
{
    int code = MEND_OK;
    for (int i = 0; i < client->file_count && !code; i++) {
        struct scr_file *file = &client->files[i];
        if (asprintf(&file->routed, "%s/%s", client->config.prefix, file->name) < 0) {
            file->routed = NULL;
            code = mend_fail(MEND_ERR_NO_MEMORY, "no memory for a path");
        } else {
            code = mend_scr_extract(client, i, file, file->routed);
        }
    }
    return code;
}

int mend_scr_flush_last(struct scr_client *client)
{
    if (client->config.flush == 0 || client->checkpoints == 0 || client->flushed == client->version)
        return MEND_OK;
    int code = mend_scr_open_version(client, client->version, false);
    if (code)
        return code;
    code = mend_face_agree(client->comm, place_saved(client));
    mend_store_end_restore(client->store);
    if (!code)
        code = mend_scr_save(client, MEND_LEVEL_BIT(MEND_LEVEL_GLOBAL));
    mend_scr_remove_files(client);
    return code;
}
