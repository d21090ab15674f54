/* The VeloC face: files that the program writes and reads itself, under paths in scratch. */
#include "client.h"

#include <base/fail.h>
#include <base/io.h>
#include <image/image.h>
#include <veloc.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* A new path in scratch. */
static int routed_path(struct veloc_client *client, const char *original, char **path)
{
    char *folder;
    *path = NULL;
    if (asprintf(&folder, "%s/routed-%s", client->config.scratch, client->current->name) < 0)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the path of %s", original);
    int code = mend_io_make_folders(folder);
    if (!code && asprintf(path, "%s/%d-%d-%d", folder, client->rank, client->version,
                          client->file_count++) < 0)
        code = mend_fail(MEND_ERR_NO_MEMORY, "no memory for the path of %s", original);
    free(folder);
    if (!code && strlen(*path) >= VELOC_MAX_NAME) {
        code = mend_fail(MEND_ERR_ARGUMENT, "the path %s is too long", *path);
        free(*path);
        *path = NULL;
    }
    return code;
}

/* A file of a checkpoint: remember what it is called and where the program will write it. */
static int route_new(struct veloc_client *client, const char *original, char *routed)
{
    char *path;
    int code = routed_path(client, original, &path);
    if (code)
        return code;
    struct veloc_piece *piece = mend_veloc_next_piece(client);
    char *name = strdup(original);
    if (!piece || !name) {
        client->piece_count -= piece != NULL;
        free(path);
        free(name);
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory to route %s", original);
    }
    free(piece->copy);
    *piece = (struct veloc_piece){
        .id = VELOC_FILE_ID_FIRST - (client->file_count - 1), .original = name, .routed = path};
    code = mend_io_remove(path); /* left by a run that died */
    strcpy(routed, path);
    return code;
}

const char *mend_veloc_label(const char *name, char *label)
{
    if (strlen(name) < MEND_IMAGE_LABEL)
        return name;
    snprintf(label, MEND_IMAGE_LABEL, "%.*s~%016" PRIx64, MEND_IMAGE_LABEL - 18, name,
             (uint64_t)XXH3_64bits(name, strlen(name)));
    return label;
}

/* The region of the file that the program calls `original`. VeloC has one file for each rank and version, whatever a
 * restart calls it: so the only file of a checkpoint is found under any name. */
static int find_saved_file(mend_store *store, const char *original, int *id, size_t *bytes)
{
    char buffer[MEND_IMAGE_LABEL];
    const char *wanted = mend_veloc_label(original, buffer);
    int count, files = 0;
    int code = mend_store_saved_count(store, &count);
    for (int i = 0; i < count && !code; i++) {
        int saved;
        size_t size;
        const char *label = NULL;
        code = mend_store_saved_region(store, i, &saved, &size, &label);
        if (code || saved > VELOC_FILE_ID_FIRST || !label)
            continue;
        files++;
        *id = saved;
        *bytes = size;
        if (strcmp(label, wanted) == 0)
            return MEND_OK;
    }
    if (!code && files != 1)
        code = mend_fail(MEND_ERR_NOT_FOUND,
                         "the checkpoint holds %d files of this rank, none of them %s", files,
                         original);
    return code;
}

/* A file of a restart: write it out. */
static int route_saved(struct veloc_client *client, const char *original, char *routed)
{
    mend_store *store = client->current->store;
    int id = 0;
    size_t bytes = 0;
    int code = find_saved_file(store, original, &id, &bytes);
    char *path = NULL, *content = NULL;
    if (!code)
        code = routed_path(client, original, &path);
    if (!code && !(content = malloc(bytes + 1)))
        code = mend_fail(MEND_ERR_NO_MEMORY, "no memory for %s (%zu bytes)", original, bytes);
    if (!code)
        code = mend_store_read(store, id, 0, content, bytes);
    if (!code)
        code = mend_io_replace_file(path, content, bytes);
    if (!code)
        strcpy(routed, path);
    free(content);
    free(path);
    return code;
}

int VELOC_Route_file(const char *original, char *routed)
{
    struct veloc_client *client = mend_veloc_client();
    if (!client)
        return mend_veloc_result(MEND_ERR_STATE);
    if (!original || !*original || !routed)
        return mend_veloc_result(mend_fail(MEND_ERR_ARGUMENT, "VELOC_Route_file needs two names"));
    switch (client->phase) {
    case VELOC_IN_CHECKPOINT: return mend_veloc_result(route_new(client, original, routed));
    case VELOC_IN_RESTART: return mend_veloc_result(route_saved(client, original, routed));
    case VELOC_IDLE: break;
    }
    return mend_veloc_result(
        mend_fail(MEND_ERR_STATE, "VELOC_Route_file is called outside a checkpoint or restart"));
}
