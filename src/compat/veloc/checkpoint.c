/* The VeloC face: making checkpoints.
 *
 * Protocol of begin … end:
 *   1. begin opens the name's store and remembers name and version; nothing is written.
 *   2. mem copies the chosen regions: the program may change them before end, as with VeloC.
 *      Route_file hands out a path in scratch that the program writes to.
 *   3. end: all ranks agree that each had success; then one save with the copies and the files'
 *      contents as streams. The store's save is atomic: a death anywhere before its commit leaves
 *      the version before.
 * VELOC_Checkpoint needs no copy of its own: its regions are streamed from where they are.
 */
#include "client.h"

#include <base/event.h>
#include <base/fail.h>
#include <base/io.h>
#include <device/device.h>
#include <image/image.h>
#include <veloc.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void end_phase(struct veloc_client *client)
{
    client->phase = VELOC_IDLE;
    client->piece_count = 0;
}

static int begin(struct veloc_client *client, const char *name, int version)
{
    int code = mend_veloc_begin(client, name, version);
    if (code)
        return code;
    client->phase = VELOC_IN_CHECKPOINT;
    client->piece_count = 0;
    return MEND_OK;
}

int VELOC_Checkpoint_begin(const char *name, int version)
{
    return mend_veloc_result(begin(mend_veloc_client(), name, version));
}

struct veloc_piece *mend_veloc_next_piece(struct veloc_client *client)
{
    if (client->piece_count == client->piece_room) {
        size_t room = client->piece_room ? 2 * client->piece_room : 8;
        struct veloc_piece *more = realloc(client->pieces, room * sizeof *more);
        if (!more)
            return NULL;
        memset(more + client->piece_room, 0, (room - client->piece_room) * sizeof *more);
        client->pieces = more;
        client->piece_room = room;
    }
    struct veloc_piece *piece = &client->pieces[client->piece_count];
    free(piece->original);
    free(piece->routed);
    piece->original = piece->routed = NULL;
    client->piece_count++;
    return piece;
}

static struct veloc_piece *piece_of(struct veloc_client *client, int id)
{
    for (size_t i = 0; i < client->piece_count; i++)
        if (client->pieces[i].id == id)
            return &client->pieces[i];
    return mend_veloc_next_piece(client);
}

static int copy_region(struct veloc_client *client, const struct veloc_region *region)
{
    struct veloc_piece *piece = piece_of(client, region->id);
    if (!piece)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for region %d", region->id);
    if (!piece->copy || piece->room < region->bytes) {
        free(piece->copy);
        piece->room = region->bytes ? region->bytes : 1;
        piece->copy = malloc(piece->room);
        if (!piece->copy) {
            piece->room = 0;
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a copy of region %d (%zu bytes)",
                             region->id, region->bytes);
        }
    }
    piece->id = region->id;
    piece->bytes = region->bytes;
    return mend_device_copy(piece->copy, region->address, region->bytes);
}

static int take(struct veloc_client *client, int mode, const int *ids, int id_count)
{
    if (!client)
        return MEND_ERR_STATE;
    if (client->phase != VELOC_IN_CHECKPOINT)
        return mend_fail(MEND_ERR_STATE, "VELOC_Checkpoint_begin has not been called");
    struct veloc_region *chosen;
    size_t count;
    int code = mend_veloc_select(client, mode, ids, id_count, &chosen, &count);
    if (!code && count == 0)
        code = mend_fail(MEND_ERR_REGION, "the selection of regions to save is empty");
    for (size_t i = 0; i < count && !code; i++)
        code = copy_region(client, &chosen[i]);
    free(chosen);
    return code;
}

int VELOC_Checkpoint_mem(void)
{
    return mend_veloc_result(take(mend_veloc_client(), VELOC_CKPT_ALL, NULL, 0));
}

int VELOC_Checkpoint_selective(int mode, int *ids, int id_count)
{
    return mend_veloc_result(take(mend_veloc_client(), mode, ids, id_count));
}

/* ---- saving ---------------------------------------------------------------------------------- */

static int produce_memory(mend_store_sink *sink, void *arg)
{
    struct veloc_piece *piece = arg;
    return mend_store_put(sink, piece->copy, piece->bytes);
}

static int produce_file(mend_store_sink *sink, void *arg)
{
    struct veloc_piece *piece = arg;
    int fd = open(piece->routed, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return mend_fail_errno("cannot read the routed file %s", piece->routed);
    void *room = piece->bytes ? mend_store_put_room(sink, piece->bytes) : NULL;
    int code = MEND_OK;
    if (piece->bytes && !room)
        code = MEND_ERR_NO_MEMORY;
    else if (piece->bytes)
        code = mend_io_read(fd, room, piece->bytes, piece->routed);
    close(fd);
    return code;
}

/* The sizes of the files are those at the end; a file that was never written is a failure. */
static int measure_files(struct veloc_client *client)
{
    for (size_t i = 0; i < client->piece_count; i++) {
        struct veloc_piece *piece = &client->pieces[i];
        struct stat st;
        if (!piece->routed)
            continue;
        if (stat(piece->routed, &st))
            return mend_fail_errno("the routed file %s (%s)", piece->routed, piece->original);
        piece->bytes = (size_t)st.st_size;
    }
    return MEND_OK;
}

static void remove_files(struct veloc_client *client)
{
    for (size_t i = 0; i < client->piece_count; i++)
        if (client->pieces[i].routed)
            unlink(client->pieces[i].routed);
}

/* Which levels take this version? Rank 0's clock decides, so that all ranks do the same. */
static int due_levels(struct veloc_client *client, unsigned *levels)
{
    struct veloc_named *named = client->current;
    const struct veloc_config *config = &client->config;
    double now = mend_now();
    *levels = MEND_LEVEL_BIT(MEND_LEVEL_LOCAL);
    if (client->domains > 1 && config->ec_interval >= 0 &&
        now - named->last_erasure >= (double)config->ec_interval)
        *levels |= MEND_LEVEL_BIT(MEND_LEVEL_ERASURE);
    if (config->persistent && config->persistent_interval >= 0 &&
        now - named->last_persistent >= (double)config->persistent_interval)
        *levels |= MEND_LEVEL_BIT(MEND_LEVEL_GLOBAL);
    if (client->comm != MPI_COMM_NULL &&
        MPI_Bcast(levels, 1, MPI_UNSIGNED, 0, client->comm) != MPI_SUCCESS)
        return mend_fail(MEND_ERR_PEER_FAILED, "a rank died, or MPI failed, before the save");
    if (*levels & MEND_LEVEL_BIT(MEND_LEVEL_ERASURE))
        named->last_erasure = now;
    if (*levels & MEND_LEVEL_BIT(MEND_LEVEL_GLOBAL))
        named->last_persistent = now;
    return MEND_OK;
}

static int save_pieces(struct veloc_client *client)
{
    mend_store_stream *streams = calloc(client->piece_count + 1, sizeof *streams);
    char(*labels)[MEND_IMAGE_LABEL] = calloc(client->piece_count + 1, sizeof *labels);
    if (!streams || !labels) {
        free(streams);
        free(labels);
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for %zu regions", client->piece_count);
    }
    for (size_t i = 0; i < client->piece_count; i++) {
        struct veloc_piece *piece = &client->pieces[i];
        streams[i] = (mend_store_stream){
            .id = piece->id,
            .label = piece->original ? mend_veloc_label(piece->original, labels[i]) : NULL,
            .bytes = piece->bytes,
            .produce = piece->routed ? produce_file : produce_memory,
            .arg = piece};
    }
    mend_save_options options = {.sync = client->config.sync,
                                 .ids = (const int[]){0},
                                 .id_count = 0,
                                 .streams = streams,
                                 .stream_count = (int)client->piece_count};
    int code = due_levels(client, &options.levels);
    if (!code)
        code = mend_store_save_with(client->current->store, client->version, &options);
    free(streams);
    free(labels);
    return code;
}

static int finish(struct veloc_client *client, int success)
{
    if (!client)
        return MEND_ERR_STATE;
    if (client->phase != VELOC_IN_CHECKPOINT)
        return mend_fail(MEND_ERR_STATE, "VELOC_Checkpoint_begin has not been called");
    int code = success ? measure_files(client)
                       : mend_fail(MEND_ERR_CANCELLED, "this rank reports no success");
    bool all;
    int agreed = mend_veloc_all(client, code == MEND_OK, &all);
    if (!code && agreed)
        code = agreed;
    if (!code && !all)
        code = mend_fail(MEND_ERR_CANCELLED, "another rank reports no success for version %d",
                         client->version);
    if (!code)
        code = save_pieces(client);
    remove_files(client); /* their content is in the version, or the version is not to be */
    end_phase(client);
    return code;
}

int VELOC_Checkpoint_end(int success)
{
    return mend_veloc_result(finish(mend_veloc_client(), success));
}

/* The whole checkpoint: the regions are read where they are, so no copy of ours. */
static int checkpoint(struct veloc_client *client, const char *name, int version)
{
    int code = begin(client, name, version);
    if (code)
        return code;
    struct veloc_region *chosen;
    size_t count;
    code = mend_veloc_select(client, VELOC_CKPT_ALL, NULL, 0, &chosen, &count);
    bool all;
    int agreed = mend_veloc_all(client, code == MEND_OK, &all);
    if (!code && (agreed || !all))
        code =
            mend_fail(MEND_ERR_CANCELLED, "another rank cannot take part in version %d", version);
    mend_save_options options = {.sync = client->config.sync, .ids = (const int[]){0}};
    mend_store_stream *streams = code ? NULL : calloc(count + 1, sizeof *streams);
    struct veloc_piece *pieces = code ? NULL : calloc(count + 1, sizeof *pieces);
    if (!code && (!streams || !pieces))
        code = mend_fail(MEND_ERR_NO_MEMORY, "no memory for %zu regions", count);
    for (size_t i = 0; i < count && !code; i++) {
        pieces[i] = (struct veloc_piece){.copy = chosen[i].address, .bytes = chosen[i].bytes};
        streams[i] = (mend_store_stream){.id = chosen[i].id,
                                         .bytes = chosen[i].bytes,
                                         .produce = produce_memory,
                                         .arg = &pieces[i]};
    }
    options.streams = streams;
    options.stream_count = (int)count;
    if (!code)
        code = due_levels(client, &options.levels);
    if (!code)
        code = mend_store_save_with(client->current->store, version, &options);
    free(streams);
    free(pieces);
    free(chosen);
    end_phase(client);
    return code;
}

static int wait_for_all(struct veloc_client *client)
{
    if (!client)
        return MEND_ERR_STATE;
    if (client->phase == VELOC_IN_CHECKPOINT)
        return mend_fail(MEND_ERR_STATE, "VELOC_Checkpoint_end has not been called");
    int first_error = MEND_OK;
    for (struct veloc_named *n = client->named; n; n = n->next) {
        int code = mend_store_wait(n->store);
        if (code && !first_error)
            first_error = code;
    }
    return first_error;
}

int VELOC_Checkpoint_wait(void)
{
    return mend_veloc_result(wait_for_all(mend_veloc_client()));
}

int VELOC_Checkpoint(const char *name, int version)
{
    struct veloc_client *client = mend_veloc_client();
    int code = wait_for_all(client);
    return mend_veloc_result(code ? code : checkpoint(client, name, version));
}

int VELOC_Backend_ready(void)
{
    struct veloc_client *client = mend_veloc_client();
    if (!client)
        return mend_veloc_result(MEND_ERR_STATE);
    int ready = 1;
    for (struct veloc_named *n = client->named; n && ready; n = n->next)
        mend_store_test(n->store, &ready);
    return ready;
}

int VELOC_Checkpoint_finished(void)
{
    return VELOC_Backend_ready() == 1 ? VELOC_SUCCESS : VELOC_FAILURE;
}
