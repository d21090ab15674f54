/* The FTI face: life time, variables. */
#include "client.h"

#include <base/event.h>
#include <base/fail.h>
#include <base/log.h>
#include <faces/faces.h>
#include <fti.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

MPI_Comm FTI_COMM_WORLD = MPI_COMM_NULL;
static struct fti_client *the_client;

struct fti_client *mend_fti_client(void)
{
    if (!the_client)
        mend_fail(MEND_ERR_STATE, "FTI_Init has not been called");
    return the_client;
}

int mend_fti_result(int code)
{
    if (code >= 0)
        return FTI_SCES;
    mend_log(MEND_LOG_ERROR, "%s", mend_error_text());
    return FTI_NSCS;
}

int mend_fti_agree(struct fti_client *client, int code)
{
    return mend_face_agree(client->comm, code);
}

void mend_fti_end_look(struct fti_client *client)
{
    if (client->looking)
        mend_store_end_restore(client->store);
    client->looking = false;
}

/* ---- life time ------------------------------------------------------------------------------- */

/* The failure domain of a rank: its host; with local_test, one machine plays the nodes. */
static void name_domain(const struct fti_client *client, char *name, size_t size)
{
    if (client->config.local_test)
        snprintf(name, size, "node%ld", client->rank / client->config.node_size);
    else
        gethostname(name, size - 1);
}

static int open_store(struct fti_client *client)
{
    char name[64 + FTI_EXEC_ID], domain[256] = "";
    mend_store_options options;
    name_domain(client, domain, sizeof domain);
    int code = mend_fti_agree(client, mend_store_defaults(&options));
    if (!code)
        code = mend_face_domains(client->comm, domain, &client->domains);
    if (code)
        return code;
    bool several = client->domains > 1;
    for (int level = 0; level < MEND_LEVEL_COUNT; level++)
        options.level[level] = (mend_level_options){.every = level != MEND_LEVEL_MEMORY, .keep = 1};
    options.level[MEND_LEVEL_PARTNER].every = options.level[MEND_LEVEL_ERASURE].every = several;
    options.local_dir = client->config.local_dir;
    options.global_dir = client->config.global_dir;
    options.domain = domain;
    /* a group of group_size nodes stands the loss of half of them, as with FTI */
    int group = (int)client->config.group_size;
    mend_face_parity(client->domains, group, group / 2, &options);
    snprintf(name, sizeof name, "fti-%s", client->config.exec_id);
    if (!several && client->rank == 0)
        mend_log(MEND_LOG_WARNING,
                 "all ranks are on one node: levels 2 and 3 of FTI keep local files only");
    return mend_store_open(client->comm, -1, name, &options, &client->store);
}

/* What there is to recover, opened so that its sizes can be asked for. A version that turns out to be damaged is
 * passed over: mend_store_newest() then names an older one. Nothing is no error here; FTI_Init says it. */
static int look(struct fti_client *client)
{
    mend_version_t version;
    size_t bytes = 0;
    int code = MEND_ERR_DAMAGED;
    if (client->config.failure == 0)
        return MEND_OK;
    while (code == MEND_ERR_DAMAGED) {
        code = mend_store_newest(client->store, &version);
        if (!code)
            code = mend_store_begin_look(client->store, version, -1);
    }
    if (code == MEND_ERR_NO_VERSION) {
        client->lost = true;
        return MEND_OK;
    }
    if (code)
        return code;
    client->looking = true;
    client->version = version;
    client->status = client->config.failure == 2 ? 2 : 1;
    if (mend_store_saved_size(client->store, INT_MIN, &bytes) == MEND_OK &&
        bytes == sizeof client->last_id)
        code = mend_store_read(client->store, INT_MIN, 0, &client->last_id, bytes);
    return code ? code : mend_fti_names_get(client);
}

/* Rank 0's word on which run this is. A new start gets a new name. */
static int share_run(struct fti_client *client)
{
    struct {
        long failure;
        char exec_id[FTI_EXEC_ID];
    } run = {.failure = client->config.failure};
    if (run.failure == 0) {
        time_t now = time(NULL);
        struct tm date;
        localtime_r(&now, &date);
        strftime(client->config.exec_id, FTI_EXEC_ID, "%Y-%m-%d_%H-%M-%S", &date);
        size_t used = strlen(client->config.exec_id);
        snprintf(client->config.exec_id + used, FTI_EXEC_ID - used, "_%d", (int)getpid());
    }
    memcpy(run.exec_id, client->config.exec_id, FTI_EXEC_ID);
    if (MPI_Bcast(&run, sizeof run, MPI_BYTE, 0, client->comm) != MPI_SUCCESS)
        return mend_fail(MEND_ERR_PEER_FAILED, "a rank died, or MPI failed, inside FTI_Init");
    client->config.failure = run.failure;
    memcpy(client->config.exec_id, run.exec_id, FTI_EXEC_ID);
    return MEND_OK;
}

/* 1. All read the file; one who cannot says so. 2. Rank 0 names the run. 3. The store opens, and what can be
 * recovered is looked at. The file changes with the first checkpoint (mend_fti_save). */
static int start(struct fti_client *client, const char *config_file)
{
    int code = mend_fti_agree(client, mend_fti_config_read(&client->config, config_file));
    if (!code)
        code = share_run(client);
    if (!code)
        code = open_store(client);
    if (!code)
        code = mend_fti_agree(client, look(client));
    client->told = client->config.failure == 1;
    return code;
}

static void free_client(struct fti_client *client)
{
    if (client->comm != MPI_COMM_NULL)
        MPI_Comm_free(&client->comm);
    mend_fti_config_free(&client->config);
    mend_fti_names_free(client);
    for (int i = 0; i < client->variable_count; i++)
        free(client->variables[i].part);
    free(client->variables);
    free(client->type_sizes);
    free(client);
}

/* FTI_Init inside a run: what was before ends as by a crash, and its checkpoints can be recovered. */
static void abandon(void)
{
    struct fti_client *client = the_client;
    if (!client)
        return;
    if (client->rank == 0)
        mend_log(MEND_LOG_INFO, "FTI_Init is called again: its variables are forgotten");
    the_client = NULL;
    mend_fti_end_look(client);
    mend_store_close(client->store);
    free_client(client);
    if (FTI_COMM_WORLD != MPI_COMM_NULL)
        MPI_Comm_free(&FTI_COMM_WORLD);
}

static int init(const char *config_file, MPI_Comm comm)
{
    abandon();
    struct fti_client *client = calloc(1, sizeof *client);
    if (!client)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the FTI client");
    client->version = -1;
    if (comm == MPI_COMM_NULL || MPI_Comm_dup(comm, &client->comm) != MPI_SUCCESS) {
        free(client);
        return mend_fail(MEND_ERR_MPI, "FTI_Init needs a communicator that can be duplicated");
    }
    MPI_Comm_set_errhandler(client->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(client->comm, &client->rank);
    MPI_Comm_size(client->comm, &client->size);
    client->clock.begin = client->clock.at_time = mend_now();
    int code = start(client, config_file);
    if (code) {
        mend_fti_end_look(client);
        mend_store_close(client->store);
        free_client(client);
        return code;
    }
    if (MPI_Comm_dup(comm, &FTI_COMM_WORLD) != MPI_SUCCESS)
        return mend_fail(MEND_ERR_MPI, "FTI_COMM_WORLD could not be made");
    the_client = client;
    return MEND_OK;
}

int FTI_Init(const char *config_file, MPI_Comm comm)
{
    if (mend_fti_result(init(config_file, comm)) != FTI_SCES)
        return FTI_NSCS;
    if (!the_client->lost)
        return FTI_SCES;
    if (the_client->rank == 0)
        mend_log(MEND_LOG_ERROR, "failure = %ld, but no checkpoint of %s can be recovered",
                 the_client->config.failure, the_client->config.exec_id);
    return FTI_NREC;
}

int FTI_Status(void)
{
    return the_client ? the_client->status : 0;
}

/* With keep_last_ckpt the last checkpoint must be at level 4; else all are removed. The file is written last: a death
 * before it leads to one more recovery. */
static int finish(struct fti_client *client)
{
    int code = MEND_OK;
    long failure = 0;
    mend_fti_end_look(client);
    mend_fti_parts_end(client);
    if (client->config.keep_last && client->version >= 0) {
        failure = 2;
        if (client->last_level != FTI_L4)
            code = mend_fti_lift_last(client);
    } else {
        code = mend_store_discard(client->store);
    }
    code = mend_fti_agree(client, code);
    if (!code)
        code = mend_fti_agree(
            client, client->rank == 0 ? mend_fti_config_write(&client->config, failure) : MEND_OK);
    int closed = mend_store_close(client->store);
    return code ? code : closed;
}

int FTI_Finalize(void)
{
    struct fti_client *client = mend_fti_client();
    if (!client)
        return mend_fti_result(MEND_ERR_STATE);
    int code = finish(client);
    free_client(client);
    the_client = NULL;
    if (FTI_COMM_WORLD != MPI_COMM_NULL)
        MPI_Comm_free(&FTI_COMM_WORLD);
    return mend_fti_result(code);
}

/* ---- variables ------------------------------------------------------------------------------- */

static const int basic_sizes[] = {
    [FTI_CHAR] = sizeof(char),          [FTI_SHRT] = sizeof(short),
    [FTI_INTG] = sizeof(int),           [FTI_LONG] = sizeof(long),
    [FTI_UCHR] = sizeof(unsigned char), [FTI_USHT] = sizeof(unsigned short),
    [FTI_UINT] = sizeof(unsigned),      [FTI_ULNG] = sizeof(unsigned long),
    [FTI_SFLT] = sizeof(float),         [FTI_DBLE] = sizeof(double),
    [FTI_LDBE] = sizeof(long double),
};
enum { BASIC_TYPES = sizeof basic_sizes / sizeof basic_sizes[0] };

static int init_type(struct fti_client *client, FTIT_type *type, int size)
{
    if (!client)
        return MEND_ERR_STATE;
    if (!type || size < 1)
        return mend_fail(MEND_ERR_ARGUMENT, "FTI_InitType: a type of %d bytes", size);
    int *more = realloc(client->type_sizes, (size_t)(client->type_count + 1) * sizeof *more);
    if (!more)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for a type");
    client->type_sizes = more;
    client->type_sizes[client->type_count] = size;
    *type = BASIC_TYPES + client->type_count++;
    return MEND_OK;
}

int FTI_InitType(FTIT_type *type, int size)
{
    return mend_fti_result(init_type(mend_fti_client(), type, size));
}

fti_id_t FTI_InitCompositeType(const char *name, size_t size, FTIT_H5Group *group)
{
    fti_id_t type;
    (void)name;
    if (group) {
        mend_fti_result(mend_fail(MEND_ERR_UNSUPPORTED,
                                  "FTI_InitCompositeType: Mend's fti.h has no HDF5 groups"));
        return FTI_NSCS;
    }
    int bytes = size <= INT_MAX ? (int)size : 0;
    return FTI_InitType(&type, bytes) == FTI_SCES ? type : FTI_NSCS;
}

static int size_of(const struct fti_client *client, int type)
{
    if (type >= 0 && type < BASIC_TYPES)
        return basic_sizes[type];
    return type >= 0 && type - BASIC_TYPES < client->type_count
               ? client->type_sizes[type - BASIC_TYPES]
               : 0;
}

/* A type is its size here; what its parts are called matters to HDF5 only. */
static int add_field(struct fti_client *client, fti_id_t type, fti_id_t of, size_t offset,
                     long count)
{
    if (!client)
        return MEND_ERR_STATE;
    size_t end, size = (size_t)size_of(client, type), each = (size_t)size_of(client, of);
    if (!size || !each || count < 1 || __builtin_mul_overflow(each, (size_t)count, &end) ||
        __builtin_add_overflow(end, offset, &end) || end > size)
        return mend_fail(MEND_ERR_ARGUMENT,
                         "%ld elements of type %d at %zu are no field of type %d", count, of,
                         offset, type);
    return MEND_OK;
}

int FTI_AddScalarField(fti_id_t type, const char *name, fti_id_t of, size_t offset)
{
    (void)name;
    return mend_fti_result(add_field(mend_fti_client(), type, of, offset, 1));
}

int FTI_AddVectorField(fti_id_t type, const char *name, fti_id_t of, size_t offset, int dimensions,
                       int *sizes)
{
    long count = 1;
    (void)name;
    for (int i = 0; i < dimensions && count > 0 && sizes; i++)
        if (sizes[i] < 1 || __builtin_mul_overflow(count, (long)sizes[i], &count))
            count = 0;
    return mend_fti_result(add_field(mend_fti_client(), type, of, offset, sizes ? count : 0));
}

struct fti_variable *mend_fti_find(struct fti_client *client, int id)
{
    for (int i = 0; i < client->variable_count; i++)
        if (client->variables[i].id == id)
            return &client->variables[i];
    return NULL;
}

static int protect(struct fti_client *client, int id, void *address, long count, int type)
{
    size_t bytes;
    if (!client)
        return MEND_ERR_STATE;
    int size = size_of(client, type);
    if (id <= INT_MIN + 1 || count < 0 || size == 0 || (!address && count > 0) ||
        __builtin_mul_overflow((size_t)count, (size_t)size, &bytes))
        return mend_fail(MEND_ERR_ARGUMENT,
                         "FTI_Protect: variable %d, %ld elements of type %d at %p", id, count, type,
                         address);
    struct fti_variable *v = mend_fti_find(client, id);
    if (!v) {
        struct fti_variable *more =
            realloc(client->variables, (size_t)(client->variable_count + 1) * sizeof *more);
        if (!more)
            return mend_fail(MEND_ERR_NO_MEMORY, "no memory for variable %d", id);
        client->variables = more;
        v = &client->variables[client->variable_count++];
        *v = (struct fti_variable){.id = id};
    }
    v->type = type;
    v->address = address;
    v->bytes = bytes;
    return v->part ? MEND_OK : mend_store_region(client->store, id, NULL, address, bytes);
}

int FTI_Protect(int id, void *ptr, long count, FTIT_type type)
{
    return mend_fti_result(protect(mend_fti_client(), id, ptr, count, type));
}

long FTI_GetStoredSize(int id)
{
    struct fti_client *client = mend_fti_client();
    const struct fti_variable *v = client ? mend_fti_find(client, id) : NULL;
    size_t bytes = 0;
    if (!client || id <= INT_MIN + 1)
        return 0;
    if (!client->looking)
        return v ? (long)v->stored : 0;
    return mend_store_saved_size(client->store, id, &bytes) ? 0 : (long)bytes;
}

void *FTI_Realloc(int id, void *ptr)
{
    struct fti_client *client = mend_fti_client();
    struct fti_variable *v = client ? mend_fti_find(client, id) : NULL;
    long bytes = FTI_GetStoredSize(id);
    int size = v ? size_of(client, v->type) : 0;
    if (size <= 0 || bytes <= 0 || bytes % size)
        return NULL;
    void *more = realloc(ptr, (size_t)bytes);
    if (more && FTI_Protect(id, more, bytes / size, v->type) != FTI_SCES)
        mend_log(MEND_LOG_ERROR, "FTI_Realloc: variable %d is larger and not protected", id);
    return more;
}

void FTI_Print(char *message, int priority)
{
    if (the_client && the_client->rank == 0 && priority >= FTI_INFO)
        printf("[FTI] %s\n", message);
}
