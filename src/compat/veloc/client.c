/* The VeloC face: life time, regions, stores. */
#include "client.h"

#include <base/fail.h>
#include <base/io.h>
#include <base/log.h>
#include <faces/faces.h>
#include <veloc.h>

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct veloc_client *the_client;

struct veloc_client *mend_veloc_client(void)
{
    if (!the_client)
        mend_fail(MEND_ERR_STATE, "VELOC_Init has not been called");
    return the_client;
}

int mend_veloc_result(int code)
{
    if (code >= 0)
        return VELOC_SUCCESS;
    mend_log(MEND_LOG_ERROR, "%s", mend_error_text());
    return VELOC_FAILURE;
}

int mend_veloc_all(struct veloc_client *client, bool yes, bool *all)
{
    int mine = yes, everyone = mine;
    if (client->comm != MPI_COMM_NULL &&
        MPI_Allreduce(&mine, &everyone, 1, MPI_INT, MPI_MIN, client->comm) != MPI_SUCCESS)
        return mend_fail(MEND_ERR_PEER_FAILED, "a rank died, or MPI failed, while all agreed");
    *all = everyone != 0;
    return MEND_OK;
}

static int count_domains(struct veloc_client *client)
{
    char own[256] = "";
    if (client->config.failure_domain)
        strncpy(own, client->config.failure_domain, sizeof own - 1);
    else
        gethostname(own, sizeof own - 1);
    return mend_face_domains(client->comm, own, &client->domains);
}

static void free_client(struct veloc_client *client)
{
    for (size_t i = 0; i < client->region_count; i++)
        free(client->regions[i].name);
    free(client->regions);
    for (size_t i = 0; i < client->piece_room; i++) {
        free(client->pieces[i].copy);
        free(client->pieces[i].original);
        free(client->pieces[i].routed);
    }
    free(client->pieces);
    for (struct veloc_named *n = client->named, *next; n; n = next) {
        next = n->next;
        free(n);
    }
    if (client->comm != MPI_COMM_NULL)
        MPI_Comm_free(&client->comm);
    mend_veloc_config_free(&client->config);
    free(client);
}

static int start(MPI_Comm comm, int id, const char *cfg_file)
{
    if (the_client)
        return mend_fail(MEND_ERR_STATE, "VELOC_Init was called twice");
    struct veloc_client *client = calloc(1, sizeof *client);
    if (!client)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the VeloC client");
    client->comm = MPI_COMM_NULL;
    client->rank = id;
    client->size = client->domains = 1;
    int code = mend_veloc_config_read(&client->config, cfg_file);
    if (comm != MPI_COMM_NULL) {
        /* a rank that cannot read the file must not leave the others waiting */
        if (MPI_Comm_dup(comm, &client->comm) != MPI_SUCCESS) {
            client->comm = MPI_COMM_NULL;
            free_client(client);
            return mend_fail(MEND_ERR_MPI, "the communicator could not be duplicated");
        }
        MPI_Comm_set_errhandler(client->comm, MPI_ERRORS_RETURN);
        MPI_Comm_rank(client->comm, &client->rank);
        MPI_Comm_size(client->comm, &client->size);
        bool all;
        int agreed = mend_veloc_all(client, code == MEND_OK, &all);
        if (!code && (agreed || !all))
            code = mend_fail(MEND_ERR_CONFIG, "another rank could not read its configuration");
        if (!code)
            code = count_domains(client);
    }
    if (code) {
        free_client(client);
        return code;
    }
    the_client = client;
    return MEND_OK;
}

int VELOC_Init(MPI_Comm comm, const char *cfg_file)
{
    if (comm == MPI_COMM_NULL)
        return mend_veloc_result(
            mend_fail(MEND_ERR_ARGUMENT, "VELOC_Init was given MPI_COMM_NULL"));
    return mend_veloc_result(start(comm, 0, cfg_file));
}

int VELOC_Init_single(unsigned int id, const char *cfg_file)
{
    if (id > INT_MAX)
        return mend_veloc_result(
            mend_fail(MEND_ERR_ARGUMENT, "the id %u is larger than %d", id, INT_MAX));
    return mend_veloc_result(start(MPI_COMM_NULL, (int)id, cfg_file));
}

int VELOC_Finalize(int drain)
{
    struct veloc_client *client = mend_veloc_client();
    if (!client)
        return mend_veloc_result(MEND_ERR_STATE);
    int first_error = MEND_OK;
    for (struct veloc_named *n = client->named; n; n = n->next) {
        int code = mend_store_close(n->store);
        if (code && !first_error)
            first_error = code;
    }
    free_client(client);
    the_client = NULL;
    return drain ? mend_veloc_result(first_error) : VELOC_SUCCESS;
}

/* ---- stores ---------------------------------------------------------------------------------- */

static void set_level(mend_store_options *options, mend_level level, bool used, long keep)
{
    options->level[level].every = used;
    options->level[level].keep = keep > 0 && keep < INT_MAX ? (int)keep : INT_MAX;
}

static int fill_options(const struct veloc_client *client, mend_store_options *options)
{
    const struct veloc_config *config = &client->config;
    int code = mend_store_defaults(options);
    if (code)
        return code;
    options->local_dir = config->scratch;
    options->global_dir = config->persistent;
    options->domain = config->failure_domain;
    bool erasure = client->domains > 1 && config->ec_interval >= 0;
    set_level(options, MEND_LEVEL_MEMORY, false, 1);
    set_level(options, MEND_LEVEL_LOCAL, true, config->scratch_versions);
    set_level(options, MEND_LEVEL_PARTNER, false, 1);
    set_level(options, MEND_LEVEL_ERASURE, erasure, config->scratch_versions);
    set_level(options, MEND_LEVEL_GLOBAL, config->persistent && config->persistent_interval >= 0,
              config->max_versions);
    options->erasure_k = client->domains > 8 ? 7 : client->domains - 1;
    options->erasure_m = 1;
    if (!erasure)
        options->erasure_k = 1;
    return MEND_OK;
}

static bool is_name(const char *name)
{
    size_t length = name ? strlen(name) : 0;
    return length > 0 && length <= 64 && name[0] != '.' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
               length;
}

int mend_veloc_store(struct veloc_client *client, const char *name, struct veloc_named **named)
{
    if (!is_name(name))
        return mend_fail(MEND_ERR_ARGUMENT,
                         "\"%s\" is not a checkpoint name (letters, digits, _ - . ; at most 64)",
                         name ? name : "NULL");
    for (struct veloc_named *n = client->named; n; n = n->next) {
        if (strcmp(n->name, name) == 0) {
            *named = n;
            return MEND_OK;
        }
    }
    mend_store_options options;
    int code = fill_options(client, &options);
    struct veloc_named *n = code ? NULL : calloc(1, sizeof *n);
    if (!code && !n)
        code = mend_fail(MEND_ERR_NO_MEMORY, "no memory for the checkpoint %s", name);
    if (!code && client->comm != MPI_COMM_NULL)
        code = mend_store_open(client->comm, client->rank, name, &options, &n->store);
    else if (!code)
        code = mend_store_open_alone(name, client->rank, &options, &n->store);
    if (code) {
        free(n);
        return mend_fail_within(code, "checkpoint %s", name);
    }
    strcpy(n->name, name);
    n->last_erasure = n->last_persistent = -1e300;
    n->next = client->named;
    client->named = n;
    *named = n;
    return MEND_OK;
}

int mend_veloc_begin(struct veloc_client *client, const char *name, int version)
{
    if (!client)
        return MEND_ERR_STATE;
    if (client->phase != VELOC_IDLE)
        return mend_fail(MEND_ERR_STATE, "a checkpoint or restart has begun and not ended");
    if (version < 0)
        return mend_fail(MEND_ERR_ARGUMENT, "the version %d is negative", version);
    client->version = version;
    client->file_count = 0;
    return mend_veloc_store(client, name, &client->current);
}

/* ---- regions --------------------------------------------------------------------------------- */

static bool same_name(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static struct veloc_region *find_region(struct veloc_client *client, int id, const char *name)
{
    for (size_t i = 0; i < client->region_count; i++)
        if (client->regions[i].id == id && same_name(client->regions[i].name, name))
            return &client->regions[i];
    return NULL;
}

static int protect(int id, void *address, size_t count, size_t base_size, const char *name)
{
    struct veloc_client *client = mend_veloc_client();
    if (!client)
        return MEND_ERR_STATE;
    size_t bytes;
    if (__builtin_mul_overflow(count, base_size, &bytes) || (!address && bytes > 0))
        return mend_fail(MEND_ERR_ARGUMENT, "region %d: %zu elements of %zu bytes at %p", id, count,
                         base_size, address);
    if (id <= VELOC_FILE_ID_FIRST)
        return mend_fail(MEND_ERR_ARGUMENT, "region id %d is reserved", id);
    struct veloc_region *region = find_region(client, id, name);
    if (!region) {
        struct veloc_region *more =
            realloc(client->regions, (client->region_count + 1) * sizeof *more);
        char *copy = name ? strdup(name) : NULL;
        if (more)
            client->regions = more;
        if (!more || (name && !copy)) {
            free(copy);
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory for region %d", id);
        }
        region = &client->regions[client->region_count++];
        *region = (struct veloc_region){.id = id, .name = copy};
    }
    region->address = address;
    region->bytes = bytes;
    return MEND_OK;
}

static void remove_region(struct veloc_client *client, struct veloc_region *region)
{
    free(region->name);
    *region = client->regions[--client->region_count];
}

static int unprotect(int id, const char *name)
{
    struct veloc_client *client = mend_veloc_client();
    if (!client)
        return MEND_ERR_STATE;
    struct veloc_region *region = find_region(client, id, name);
    if (!region)
        return mend_fail(MEND_ERR_REGION, "region %d is not protected", id);
    remove_region(client, region);
    return MEND_OK;
}

static int clear(const char *name)
{
    struct veloc_client *client = mend_veloc_client();
    if (!client)
        return MEND_ERR_STATE;
    for (size_t i = client->region_count; i-- > 0;)
        if (same_name(client->regions[i].name, name))
            remove_region(client, &client->regions[i]);
    return MEND_OK;
}

int VELOC_Mem_protect(int id, void *ptr, size_t count, size_t base_size)
{
    return mend_veloc_result(protect(id, ptr, count, base_size, NULL));
}

int VELOC_Region_protect(int id, void *ptr, size_t count, size_t base_size, const char *name)
{
    if (!is_name(name))
        return mend_veloc_result(
            mend_fail(MEND_ERR_ARGUMENT, "region %d belongs to no valid checkpoint name", id));
    return mend_veloc_result(protect(id, ptr, count, base_size, name));
}

int VELOC_Mem_unprotect(int id)
{
    return mend_veloc_result(unprotect(id, NULL));
}

int VELOC_Region_unprotect(int id, const char *name)
{
    return mend_veloc_result(unprotect(id, name));
}

int VELOC_Mem_clear(void)
{
    return mend_veloc_result(clear(NULL));
}

int VELOC_Region_clear(const char *name)
{
    return mend_veloc_result(clear(name));
}

static bool is_listed(int id, const int *ids, int count)
{
    for (int i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

int mend_veloc_select(struct veloc_client *client, int mode, const int *ids, int id_count,
                      struct veloc_region **chosen, size_t *count)
{
    *chosen = NULL;
    *count = 0;
    if (mode < VELOC_CKPT_ALL || mode > VELOC_CKPT_REST)
        return mend_fail(MEND_ERR_ARGUMENT, "the selection mode %d is unknown", mode);
    if (mode != VELOC_CKPT_ALL && (id_count < 0 || (id_count > 0 && !ids)))
        return mend_fail(MEND_ERR_ARGUMENT, "the selection has %d ids and no list", id_count);
    struct veloc_region *list = malloc((client->region_count + 1) * sizeof *list);
    if (!list)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a selection");
    for (size_t i = 0; i < client->region_count; i++) {
        struct veloc_region *region = &client->regions[i];
        bool ours = !region->name ? !find_region(client, region->id, client->current->name)
                                  : same_name(region->name, client->current->name);
        bool wanted = mode == VELOC_CKPT_ALL ||
                      is_listed(region->id, ids, id_count) == (mode == VELOC_CKPT_SOME);
        if (ours && wanted)
            list[(*count)++] = *region;
    }
    *chosen = list;
    return MEND_OK;
}
