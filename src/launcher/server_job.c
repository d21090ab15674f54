/* Describes the job to the PMIx library, before any rank starts. */
#include "server_inside.h"

#include <base/hwloc_plugins.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct done {
    pthread_mutex_t lock;
    pthread_cond_t come;
    bool done;
    pmix_status_t status;
};

static void on_done(pmix_status_t status, void *data)
{
    struct done *d = data;
    pthread_mutex_lock(&d->lock);
    d->done = true;
    d->status = status;
    pthread_cond_signal(&d->come);
    pthread_mutex_unlock(&d->lock);
}

static pmix_status_t wait_done(struct done *d, pmix_status_t rc)
{
    if (rc != PMIX_SUCCESS)
        return rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc;
    pthread_mutex_lock(&d->lock);
    while (!d->done)
        pthread_cond_wait(&d->come, &d->lock);
    pthread_mutex_unlock(&d->lock);
    return d->status;
}

#define NOT_DONE {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, PMIX_SUCCESS}

static void load_u32(pmix_info_t *info, const char *key, uint32_t value)
{
    PMIx_Info_load(info, key, &value, PMIX_UINT32);
}

static uint32_t ranks_on(const struct job *job, uint32_t node)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < job->ranks; r++)
        n += job->node_of[r] == node;
    return n;
}

/* Write all ranks as the library wants them ("0,1;2,3"), and the ranks of one node. Nodes without ranks come last,
 * and we leave them out. */
static void list_ranks(const struct job *job, uint32_t nodes, uint32_t node, struct wire *all,
                       struct wire *here)
{
    char text[16];
    for (uint32_t n = 0; n < nodes; n++) {
        const char *comma = "";
        if (n)
            wire_put_bare(all, ";", 1);
        for (uint32_t r = 0; r < job->ranks; r++)
            if (job->node_of[r] == n) {
                int length = snprintf(text, sizeof text, "%s%u", comma, r);
                wire_put_bare(all, text, (size_t)length);
                if (n == node)
                    wire_put_bare(here, text, (size_t)length);
                comma = ",";
            }
    }
    wire_put_bare(all, "", 1);
    wire_put_bare(here, "", 1);
}

static uint32_t nodes_with_ranks(const struct job *job)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < job->ranks; r++)
        n = job->node_of[r] < n ? n : job->node_of[r] + 1;
    return n;
}

static void load_rank(pmix_info_t *info, const struct job *job, uint32_t rank, uint16_t local)
{
    pmix_data_array_t *a = PMIx_Data_array_create(8, PMIX_INFO);
    pmix_info_t *p = a->array;
    pmix_rank_t r = rank;
    PMIx_Info_load(&p[0], PMIX_RANK, &r, PMIX_PROC_RANK);
    load_u32(&p[1], PMIX_APPNUM, 0);
    PMIx_Info_load(&p[2], PMIX_GLOBAL_RANK, &r, PMIX_PROC_RANK);
    PMIx_Info_load(&p[3], PMIX_APP_RANK, &r, PMIX_PROC_RANK);
    PMIx_Info_load(&p[4], PMIX_LOCAL_RANK, &local, PMIX_UINT16);
    PMIx_Info_load(&p[5], PMIX_NODE_RANK, &local, PMIX_UINT16);
    load_u32(&p[6], PMIX_NODEID, job->node_of[rank]);
    PMIx_Info_load(&p[7], PMIX_HOSTNAME, job->node_names[job->node_of[rank]], PMIX_STRING);
    PMIx_Load_key(info->key, PMIX_PROC_DATA);
    info->value.type = PMIX_DATA_ARRAY;
    info->value.data.darray = a;
}

/* Their numbers among those of the same node: one pass, because a job may have very many. */
static void load_ranks(pmix_info_t *info, const struct job *job)
{
    uint16_t *next = launcher_memory(NULL, job->nodes * sizeof *next);
    memset(next, 0, job->nodes * sizeof *next);
    for (uint32_t r = 0; r < job->ranks; r++)
        load_rank(&info[r], job, r, next[job->node_of[r]]++);
    free(next);
}

static pmix_status_t register_job(const struct job *job, uint32_t node, const char *folder)
{
    enum { FACTS = 15 };
    struct wire all = {0}, here = {0}, names = {0};
    char *nodes = NULL, *ranks = NULL;
    uint32_t mine = ranks_on(job, node), node_count = nodes_with_ranks(job);
    list_ranks(job, node_count, node, &all, &here);
    for (uint32_t n = 0; n < node_count; n++) {
        wire_put_bare(&names, ",", n > 0);
        wire_put_bare(&names, job->node_names[n], strlen(job->node_names[n]));
    }
    wire_put_bare(&names, "", 1);
    PMIx_generate_regex((char *)names.bytes, &nodes);
    PMIx_generate_ppn((char *)all.bytes, &ranks);
    pmix_info_t *info = PMIx_Info_create(FACTS + job->ranks);
    PMIx_Info_load(&info[0], PMIX_NODE_MAP, nodes, PMIX_REGEX);
    PMIx_Info_load(&info[1], PMIX_PROC_MAP, ranks, PMIX_REGEX);
    PMIx_Info_load(&info[2], PMIX_JOBID, job->name, PMIX_STRING);
    load_u32(&info[3], PMIX_JOB_SIZE, job->ranks);
    load_u32(&info[4], PMIX_UNIV_SIZE, job->ranks);
    load_u32(&info[5], PMIX_MAX_PROCS, job->ranks);
    load_u32(&info[6], PMIX_NUM_NODES, node_count);
    load_u32(&info[7], PMIX_NODE_SIZE, mine);
    load_u32(&info[8], PMIX_LOCAL_SIZE, mine);
    PMIx_Info_load(&info[9], PMIX_LOCAL_PEERS, here.bytes, PMIX_STRING);
    load_u32(&info[10], PMIX_JOB_NUM_APPS, 1);
    load_u32(&info[11], PMIX_APPNUM, 0);
    load_u32(&info[12], PMIX_APP_SIZE, job->ranks);
    PMIx_Info_load(&info[13], PMIX_NSDIR, folder, PMIX_STRING);
    PMIx_Info_load(&info[14], PMIX_TMPDIR, folder, PMIX_STRING);
    load_ranks(info + FACTS, job);
    struct done d = NOT_DONE;
    pmix_status_t rc = wait_done(&d, PMIx_server_register_nspace(job->name, (int)mine, info,
                                                                 FACTS + job->ranks, on_done, &d));
    PMIx_Info_free(info, FACTS + job->ranks);
    wire_free(&all);
    wire_free(&here);
    wire_free(&names);
    free(nodes);
    free(ranks);
    return rc;
}

/* The daemon discovers the machine's topology once, for all its ranks. The ranks get the job's environment, not the
 * daemon's. */
static pmix_status_t start_library(uint32_t node, const char *host, const char *folder)
{
    pmix_info_t *info = PMIx_Info_create(5);
    pmix_rank_t rank = node;
    bool share = true;
    mend_hwloc_without_gpus();
    PMIx_Info_load(&info[0], PMIX_SERVER_TMPDIR, folder, PMIX_STRING);
    PMIx_Info_load(&info[1], PMIX_SERVER_NSPACE, "mend-node", PMIX_STRING);
    PMIx_Info_load(&info[2], PMIX_SERVER_RANK, &rank, PMIX_PROC_RANK);
    PMIx_Info_load(&info[3], PMIX_HOSTNAME, host, PMIX_STRING);
    PMIx_Info_load(&info[4], PMIX_SERVER_SHARE_TOPOLOGY, &share, PMIX_BOOL);
    pmix_status_t rc = PMIx_server_init(&server_module, info, 5);
    PMIx_Info_free(info, 5);
    return rc;
}

static void keep_goodbyes(uint32_t processes)
{
    pthread_mutex_lock(&server.lock);
    server.goodbye = launcher_memory(server.goodbye, processes * sizeof *server.goodbye);
    for (; server.goodbyes < processes; server.goodbyes++)
        server.goodbye[server.goodbyes] = false;
    pthread_mutex_unlock(&server.lock);
}

static pmix_status_t register_client(uint32_t process)
{
    pmix_proc_t p;
    struct done d = NOT_DONE;
    server_name(process, &p);
    return wait_done(&d, PMIx_server_register_client(&p, getuid(), getgid(), NULL, on_done, &d));
}

/* Register a world of one with the library, like a job of its own. */
bool server_add(uint32_t process, const char *folder)
{
    pmix_proc_t p;
    uint32_t here = server.job->node_of[process] == server.node ? 0 : 1, there = 0;
    server_name(process, &p);
    struct job one = {.name = p.nspace,
                      .ranks = 1,
                      .processes = 1,
                      .nodes = 1,
                      .node_names =
                          (char *[]){server.job->node_names[server.job->node_of[process]], NULL},
                      .node_of = &there};
    keep_goodbyes(server.job->processes);
    pmix_status_t rc = register_job(&one, here, folder);
    if (rc == PMIX_SUCCESS && here == 0)
        rc = register_client(process);
    if (rc != PMIX_SUCCESS)
        fprintf(stderr, "mend-node: the PMIx library refused a new process: %s\n",
                PMIx_Error_string(rc));
    return rc == PMIX_SUCCESS;
}

bool server_open(const struct job *job, uint32_t node, const char *folder, char *why, size_t size)
{
    server.job = job;
    server.node = node;
    server.last = &server.first;
    server.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    keep_goodbyes(job->ranks);
    pmix_status_t rc = start_library(node, job->node_names[node], folder);
    if (rc == PMIX_SUCCESS && !server_watch())
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    if (rc == PMIX_SUCCESS)
        rc = register_job(job, node, folder);
    for (uint32_t r = 0; rc == PMIX_SUCCESS && r < job->ranks; r++)
        if (job->node_of[r] == node)
            rc = register_client(r);
    if (rc != PMIX_SUCCESS)
        snprintf(why, size, "the PMIx library failed: %s", PMIx_Error_string(rc));
    return rc == PMIX_SUCCESS;
}

char **server_environment(uint32_t process, char *const *base)
{
    size_t n = 0;
    while (base[n])
        n++;
    char **environment = launcher_memory(NULL, (n + 1) * sizeof *environment);
    for (size_t i = 0; i < n; i++)
        environment[i] = launcher_text(base[i]);
    environment[n] = NULL;
    pmix_proc_t p;
    server_name(process, &p);
    PMIx_server_setup_fork(&p, &environment);
    return environment;
}

void server_close(void)
{
    PMIx_server_finalize();
}
