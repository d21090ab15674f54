/* The SCR face: life time, and when. */
#include "client.h"

#include <base/event.h>
#include <base/fail.h>
#include <base/io.h>
#include <base/log.h>
#include <faces/faces.h>
#include <scr.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct scr_client *the_client;

struct scr_client *mend_scr_client(void)
{
    if (!the_client)
        mend_fail(MEND_ERR_STATE, "SCR_Init has not been called");
    return the_client;
}

int mend_scr_result(int code)
{
    if (code >= 0)
        return SCR_SUCCESS;
    mend_log(MEND_LOG_ERROR, "%s", mend_error_text());
    return SCR_FAILURE;
}

char *SCR_Get_version(void)
{
    static char version[] = SCR_VERSION;
    return version;
}

/* ---- life time ------------------------------------------------------------------------------- */

/* A job that is launched again in the same prefix finds its cache; another one does not. */
static uint64_t job_number(const struct scr_config *config)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (const char *part[] = {config->prefix, "\n", config->job_name, NULL}, **p = part; *p; p++)
        for (const char *c = *p; *c; c++)
            hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    return hash;
}

/* CACHE_BASE with %d replaced, and this job's own folder in it. */
static int make_folders(struct scr_client *client, const char *domain)
{
    const char *base = client->config.cache_base, *mark = strstr(base, "%d");
    int length = mark ? (int)(mark - base) : (int)strlen(base);
    if (asprintf(&client->cache, "%.*s%s%s/mend-scr-%u-%016" PRIx64, length, base,
                 mark ? domain : "", mark ? mark + 2 : "", (unsigned)getuid(),
                 job_number(&client->config)) < 0)
        client->cache = NULL;
    if (asprintf(&client->home, "%s/.scr-mend", client->config.prefix) < 0)
        client->home = NULL;
    if (!client->cache || !client->home)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the names of folders");
    int code = mend_io_make_private(client->cache);
    return code ? code : mend_io_make_folders(client->home);
}

static int open_store(struct scr_client *client)
{
    const struct scr_config *config = &client->config;
    mend_store_options options;
    char domain[256] = "";
    int code = mend_face_agree(client->comm, mend_store_defaults(&options));
    if (code)
        return code;
    if (options.domain && *options.domain)
        snprintf(domain, sizeof domain, "%s", options.domain);
    else
        gethostname(domain, sizeof domain - 1);
    code = mend_face_domains(client->comm, domain, &client->domains);
    if (!code)
        code = mend_face_agree(client->comm, make_folders(client, domain));
    if (code)
        return code;
    unsigned levels = mend_scr_cache_level(client) | MEND_LEVEL_BIT(MEND_LEVEL_LOCAL) |
                      (config->flush > 0 ? MEND_LEVEL_BIT(MEND_LEVEL_GLOBAL) : 0);
    for (int level = 0; level < MEND_LEVEL_COUNT; level++)
        options.level[level] = (mend_level_options){.every = (levels & MEND_LEVEL_BIT(level)) != 0,
                                                    .keep = (int)config->cache_size};
    options.level[MEND_LEVEL_GLOBAL].keep = config->prefix_size > 0 ? (int)config->prefix_size : 2;
    options.local_dir = client->cache;
    options.global_dir = client->home;
    options.domain = domain;
    mend_face_parity(client->domains, (int)config->set_size,
                     config->copy == SCR_COPY_RS ? (int)config->set_failures : 1, &options);
    if (client->domains == 1 && config->copy != SCR_COPY_SINGLE && client->rank == 0)
        mend_log(MEND_LOG_WARNING,
                 "all ranks are on one node: SCR_COPY_TYPE has no effect, files are local only");
    return mend_store_open(client->comm, -1, "scr", &options, &client->store);
}

/* 1. All read the parameters; one who cannot says so. 2. The store opens. 3. Numbers go on from the newest version
 * there is. A death before the end leaves everything as it was. */
static int start(struct scr_client *client)
{
    int code = mend_face_agree(client->comm, mend_scr_config_read(&client->config));
    if (!code)
        code = open_store(client);
    if (!code)
        code = mend_scr_dropped_read(client);
    if (code)
        return code;
    mend_scr_remove_files(client); /* of a run that died */
    code = mend_store_newest(client->store, &client->version);
    if (code == MEND_ERR_NO_VERSION) {
        client->version = -1;
        code = MEND_OK;
    }
    return code;
}

static void free_client(struct scr_client *client)
{
    if (client->cache)
        mend_scr_remove_files(client);
    if (client->comm != MPI_COMM_NULL)
        MPI_Comm_free(&client->comm);
    mend_scr_config_free(&client->config);
    free(client->cache);
    free(client->home);
    free(client->files);
    free(client->dropped);
    free(client);
}

static int init(void)
{
    int running = 0;
    if (the_client)
        return mend_fail(MEND_ERR_STATE, "SCR_Init was called twice");
    MPI_Initialized(&running);
    if (!running)
        return mend_fail(MEND_ERR_STATE, "SCR_Init is called before MPI_Init");
    struct scr_client *client = calloc(1, sizeof *client);
    if (!client)
        return mend_fail(MEND_ERR_NO_MEMORY, "no memory for the SCR client");
    client->version = client->flushed = client->offered = -1;
    client->limit = LONG_MAX;
    if (MPI_Comm_dup(MPI_COMM_WORLD, &client->comm) != MPI_SUCCESS) {
        free(client);
        return mend_fail(MEND_ERR_MPI, "MPI_COMM_WORLD could not be duplicated");
    }
    MPI_Comm_set_errhandler(client->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(client->comm, &client->rank);
    MPI_Comm_size(client->comm, &client->size);
    client->began = client->last_checkpoint = mend_now();
    int code = start(client);
    if (code) {
        mend_store_close(client->store);
        free_client(client);
        return code;
    }
    the_client = client;
    if (client->config.current[0] && SCR_Current(client->config.current) != SCR_SUCCESS)
        mend_log(MEND_LOG_WARNING, "SCR_CURRENT: there is no dataset %s", client->config.current);
    return MEND_OK;
}

int SCR_Init(void)
{
    return mend_scr_result(init());
}

static int finish(struct scr_client *client)
{
    if (!client)
        return MEND_ERR_STATE;
    if (client->phase != SCR_IDLE)
        mend_log(MEND_LOG_WARNING, "SCR_Finalize: the dataset %s was not completed", client->name);
    if (client->phase == SCR_IN_RESTART)
        mend_store_end_restore(client->store);
    int code = mend_scr_flush_last(client);
    int closed = mend_store_close(client->store);
    free_client(client);
    the_client = NULL;
    return code ? code : closed;
}

int SCR_Finalize(void)
{
    return mend_scr_result(finish(mend_scr_client()));
}

/* ---- when ------------------------------------------------------------------------------------ */

/* The job should end: the time is nearly over, or somebody asked for it. */
static int should_exit(const struct scr_client *client)
{
    const struct scr_config *c = &client->config;
    char *path;
    if (!c->halt_enabled)
        return 0;
    if (c->halt_seconds > 0 && c->end_time > 0 && time(NULL) + c->halt_seconds >= c->end_time)
        return 1;
    if (asprintf(&path, "%s/halt", client->home) < 0)
        return 0;
    int asked = access(path, F_OK) == 0;
    free(path);
    return asked;
}

static int need_checkpoint(struct scr_client *client)
{
    const struct scr_config *c = &client->config;
    double now = mend_now(), spent = client->checkpoint_seconds, ran = now - client->began - spent;
    client->need_calls++;
    if (should_exit(client))
        return 1;
    if (!c->checkpoint_interval && !c->checkpoint_seconds && !(c->checkpoint_overhead > 0))
        return 1;
    if (c->checkpoint_interval > 0 && client->need_calls % c->checkpoint_interval == 0)
        return 1;
    if (c->checkpoint_seconds > 0 && now - client->last_checkpoint >= (double)c->checkpoint_seconds)
        return 1;
    if (!(c->checkpoint_overhead > 0))
        return 0;
    if (client->checkpoints == 0)
        return 1;
    /* would one more at the mean cost stay below the share that is allowed? */
    return 100 * (spent + spent / client->checkpoints) <= c->checkpoint_overhead * ran;
}

/* Rank 0 decides, all act on its word. */
static int decide(struct scr_client *client, int *flag, int word)
{
    if (!flag)
        return mend_fail(MEND_ERR_ARGUMENT, "a flag is needed");
    if (MPI_Bcast(&word, 1, MPI_INT, 0, client->comm) != MPI_SUCCESS)
        return mend_fail(MEND_ERR_PEER_FAILED, "a rank died, or MPI failed, while rank 0 decided");
    *flag = word;
    return MEND_OK;
}

int SCR_Need_checkpoint(int *flag)
{
    struct scr_client *client = mend_scr_client();
    return mend_scr_result(client ? decide(client, flag, need_checkpoint(client)) : MEND_ERR_STATE);
}

int SCR_Should_exit(int *flag)
{
    struct scr_client *client = mend_scr_client();
    return mend_scr_result(client ? decide(client, flag, should_exit(client)) : MEND_ERR_STATE);
}
